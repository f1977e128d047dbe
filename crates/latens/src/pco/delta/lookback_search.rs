//! Which earlier latent each latent is coded against.
//!
//! Candidates are the lookbacks used last and the last places of the same latent, of the same
//! pair of latents, and of a latent with the same high bits; the cheapest in distance and in
//! novelty wins.
//!
//! Latents are taken in blocks, for which costs stand still: all that does not hang on what is chosen
//! for the latents right before is then found ahead of the choices, which must follow each other.

use crate::number::Latent;
use crate::pco::delta::lookback_calm::Calm;
use crate::pco::delta::lookback_costs::{BLOCK, Choice, Costs};
use crate::spare;
use latens_kernels::dispatch::Present;
use std::hint::select_unpredictable;
use std::ops::Range;

/// log2 of the entries of each table of last places, at most.
const TABLE_LOG: u32 = 15;
/// Lookbacks that were used last.
const RECENT: usize = 4;

/// log2 of the largest window that is chosen where the caller leaves it open.
pub(crate) const MOST_WINDOW_LOG: u32 = 15;

/// log2 of the window for pages of `n` latents where the caller leaves it open.
pub(crate) fn window_log(n: usize) -> u32 {
    (n as u64).bit_length().clamp(4, MOST_WINDOW_LOG)
}

/// A lookback for each latent after the first `2^state_log`.
pub(crate) fn search<L: Latent>(latents: &[L], window_log: u32, state_log: u32) -> Vec<u32> {
    Present::in_use().call(
        #[inline(always)]
        || search_all(latents, window_log, state_log),
    )
}

#[inline(always)]
fn search_all<L: Latent>(latents: &[L], window_log: u32, state_log: u32) -> Vec<u32> {
    let n = latents.len();
    let state_n = (1usize << state_log).min(n);
    let table_log = (n as u64).bit_length().clamp(4, TABLE_LOG);
    let mut searcher = Searcher::new::<L>(window_log, table_log, spread(latents));
    let mut block = Block::new();
    for start in (0..state_n).step_by(BLOCK) {
        searcher.meet(latents, start..state_n.min(start + BLOCK), &mut block);
    }
    let mut lookbacks = spare::take(n - state_n);
    for start in (state_n..n).step_by(BLOCK) {
        let range = start..n.min(start + BLOCK);
        if searcher.calm.is_glossed_over() {
            block.forget();
        } else {
            searcher.meet(latents, range.clone(), &mut block);
            searcher.weigh(latents, range.clone(), &mut block);
        }
        searcher.choose(latents, range.clone(), &mut block);
        lookbacks.extend(block.best[..range.len()].iter().map(|choice| choice.lookback()));
    }
    lookbacks
}

/// Bits of the distance from the smallest latent to the largest.
#[inline(always)]
fn spread<L: Latent>(latents: &[L]) -> u32 {
    let bounds = latents.iter().fold((L::MAX, L::ZERO), |(a, b), &x| (a.min(x), b.max(x)));
    bounds.1.sub(bounds.0).bit_length().min(L::BITS)
}

/// A distance in either direction.
#[inline(always)]
pub(crate) fn magnitude<L: Latent>(distance: L) -> L {
    distance.min(L::ZERO.sub(distance))
}

/// What was used last with one of them, or a new one, put in front; without branches, as which
/// one it is comes as a surprise.
#[inline(always)]
fn in_front<T: Copy + Eq>(recent: [T; RECENT], used: T) -> [T; RECENT] {
    let mut new = [used; RECENT];
    let mut is_behind = false;
    for place in 1..RECENT {
        is_behind |= recent[place - 1] == used;
        new[place] = select_unpredictable(is_behind, recent[place], recent[place - 1]);
    }
    new
}

/// What is known of a block's latents.
struct Block<L> {
    latents: [L; BLOCK],
    /// By kind of candidate: the lookback, the place it leads to, and the distance there.
    lookbacks: [[u32; BLOCK]; KINDS],
    places: [[u32; BLOCK]; KINDS],
    distances: [[L; BLOCK]; KINDS],
    /// The last place of the same pair, and whether it had the very latent.
    pairs: [(u32, bool); BLOCK],
    /// The best of what is not among the lookbacks used last, then the best of all.
    best: [Choice; BLOCK],
}

impl<L: Latent> Block<L> {
    fn new() -> Self {
        Self {
            latents: [L::ZERO; BLOCK],
            lookbacks: [[1; BLOCK]; KINDS],
            places: [[0; BLOCK]; KINDS],
            distances: [[L::ZERO; BLOCK]; KINDS],
            pairs: [(1, false); BLOCK],
            best: [Choice::NONE; BLOCK],
        }
    }

    /// Leaves nothing but the lookbacks used last to choose from.
    fn forget(&mut self) {
        self.pairs = [(1, false); BLOCK];
        self.best = [Choice::NONE; BLOCK];
    }
}

struct Searcher {
    window_log: u32,
    table_log: u32,
    /// By how many bits latents are cut to find others that are near.
    cuts: [u32; 3],
    /// By kind and hash of a key: the low bits of the last place that had it. That a place is
    /// ambiguous or another's does no harm: what it leads to is weighed like any other lookback.
    tables: Vec<u16>,
    /// With what each costs in this block.
    recent: [Choice; RECENT],
    calm: Calm,
    costs: Costs,
}

/// Kinds of candidates: the last places of what a latent is known by, which is itself, its pair, its high
/// bits at some precisions.
const KINDS: usize = 5;
const ITSELF: usize = 0;
const PAIR: usize = 1;
const HIGH: usize = 2;

impl Searcher {
    fn new<L: Latent>(window_log: u32, table_log: u32, spread: u32) -> Self {
        let costs = Costs::new::<L>(window_log);
        Self {
            window_log,
            table_log,
            // A quarter, half and five eighths of the bits that differ.
            cuts: [spread / 4, spread / 2, spread * 5 / 8],
            tables: vec![0; KINDS << table_log],
            recent: [costs.lookback(1); RECENT],
            calm: Calm::default(),
            costs,
        }
    }

    /// Notes latents' places under their keys, and finds the lookbacks to those who had them before.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the low bits are asked for")]
    fn meet<L: Latent>(&mut self, latents: &[L], range: Range<usize>, block: &mut Block<L>) {
        let [quarter, half, more] = self.cuts;
        let hash =
            |key: u64| (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - self.table_log)) as u16;
        // The latent before the block, then the block's; hashes by vectors, which only then look into tables.
        let mut values = [0; BLOCK + 1];
        values[0] = latents[range.start.saturating_sub(1)].to_u64();
        for (value, x) in values[1..].iter_mut().zip(&latents[range.clone()]) {
            *value = x.to_u64();
        }
        let mut hashes = [[0u16; BLOCK]; KINDS];
        for j in 0..BLOCK {
            let (before, x) = (values[j], values[j + 1]);
            hashes[ITSELF][j] = hash(x);
            hashes[PAIR][j] = hash(x ^ before.rotate_left(23).wrapping_mul(0x9e37_79b9));
            hashes[HIGH][j] = hash(x >> quarter);
            hashes[HIGH + 1][j] = hash(x >> half);
            hashes[HIGH + 2][j] = hash(x >> more);
        }
        let tables = self.tables.chunks_exact_mut(1 << self.table_log);
        for (table, (hashes, lookbacks)) in tables.zip(hashes.iter().zip(&mut block.lookbacks)) {
            for (i, (&hash, lookback)) in range.clone().zip(hashes.iter().zip(lookbacks)) {
                let place = &mut table[usize::from(hash)];
                *lookback = u32::from((i as u16).wrapping_sub(*place));
                *place = i as u16;
            }
        }
    }

    /// The best candidate of each latent but for the lookbacks used last.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a chunk has 2^24 latents at most")]
    fn weigh<L: Latent>(&self, latents: &[L], range: Range<usize>, block: &mut Block<L>) {
        let Block { latents: own, lookbacks, places, distances, pairs, best } = block;
        own[..range.len()].copy_from_slice(&latents[range.clone()]);
        let (window, start) = (1u32 << self.window_log, range.start as u32);
        for (lookbacks, places) in lookbacks.iter_mut().zip(&mut *places) {
            for (i, (lookback, place)) in (start..).zip(lookbacks.iter_mut().zip(places)) {
                let is_within = lookback.wrapping_sub(1) < window.min(i);
                *lookback = if is_within { *lookback } else { 1 };
                *place = i - *lookback;
            }
        }
        for j in 0..range.len().min(BLOCK) {
            for (distances, places) in distances.iter_mut().zip(&*places) {
                distances[j] = latents[places[j] as usize];
            }
        }
        for distances in &mut *distances {
            for (&x, distance) in own.iter().zip(distances) {
                *distance = magnitude(x.sub(*distance));
            }
        }
        // Of lookbacks that cost about the same, the nearest latent.
        let [.., l1, l2, l3] = lookbacks;
        let [.., d1, d2, d3] = distances;
        for (l1, (d1, (&l2, (&d2, (&l3, &d3))))) in
            l1.iter_mut().zip(d1.iter_mut().zip(l2.iter().zip(d2.iter().zip(l3.iter().zip(&*d3)))))
        {
            let (lookback, distance) = if d2 < *d1 { (l2, d2) } else { (*l1, *d1) };
            (*l1, *d1) = if d3 < distance { (l3, d3) } else { (lookback, distance) };
        }
        let [latest, second] = [1, 2].map(|lookback| self.costs.lookback(lookback));
        let (mut before, mut x1) =
            (latents[start.saturating_sub(2) as usize], latents[start as usize - 1]);
        for (j, &x) in own[..range.len()].iter().enumerate() {
            let near = [x1, before].map(|earlier| magnitude(x.sub(earlier)));
            let next_to = select_unpredictable(near[1] < near[0], second, latest);
            let next_to = self.costs.with_distance(next_to, near[0].min(near[1]));
            (before, x1) = (x1, x);
            let choice = |kind: usize| {
                let lookback = self.costs.lookback(lookbacks[kind][j]);
                self.costs.with_distance(lookback, distances[kind][j])
            };
            let of_keys = choice(ITSELF).or(choice(PAIR)).or(choice(HIGH));
            best[j] = of_keys.or(next_to);
            pairs[j] = (lookbacks[PAIR][j], distances[PAIR][j] == L::ZERO);
        }
    }

    /// The best lookbacks of a block.
    #[inline(always)]
    fn choose<L: Latent>(&mut self, latents: &[L], range: Range<usize>, block: &mut Block<L>) {
        let costs = &self.costs;
        let mut recent = self.recent.map(|choice| costs.lookback(choice.lookback()));
        let mut has_others = false;
        for (i, (&x, best)) in range.clone().zip(latents[range.clone()].iter().zip(&mut block.best))
        {
            let at = |choice: Choice| {
                let distance = magnitude(x.sub(latents[i - choice.lookback() as usize]));
                costs.with_distance(choice, distance)
            };
            let [a, b, c, d] = recent.map(at);
            let chosen = a.or(b).or(c.or(d)).or(*best);
            // Where the last one is used again and again, the processor knows it beforehand.
            if chosen.lookback() != recent[0].lookback() {
                has_others |= !recent.iter().any(|r| r.lookback() == chosen.lookback());
                recent = in_front(recent, costs.without_distance::<L>(chosen));
            }
            *best = chosen;
        }
        self.recent = recent;
        has_others |= self.costs.learn::<L>(&block.best[..range.len()], &block.pairs);
        self.calm.note(has_others);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_comes_first() {
        assert_eq!(in_front([1, 2, 3, 4], 1), [1, 2, 3, 4]);
        assert_eq!(in_front([1, 2, 3, 4], 3), [3, 1, 2, 4]);
        assert_eq!(in_front([1, 2, 3, 4], 4), [4, 1, 2, 3]);
        assert_eq!(in_front([1, 2, 3, 4], 9), [9, 1, 2, 3]);
        assert_eq!(in_front([1, 1, 1, 1], 7), [7, 1, 1, 1]);
    }

    /// A new period after a long time of another one.
    #[test]
    fn a_period_is_found_after_a_long_calm() {
        let mix = |x: u32| (x ^ x >> 15).wrapping_mul(0x85eb_ca6b);
        let noise = |i: u32| mix(mix(mix(i + 1)));
        let latent = |i: u32| if i < 40_000 { noise(i % 11) } else { noise(100 + i % 700) };
        let latents: Vec<u32> = (0..80_000).map(latent).collect();
        let lookbacks = search(&latents, 15, 0);
        let found = lookbacks[42_000..].iter().filter(|&&l| l % 700 == 0).count();
        assert!(found > 37_000, "{found}");
    }

    #[test]
    fn a_period_is_found() {
        let latents: Vec<u32> =
            (0..5000u32).map(|i| (i % 97).wrapping_mul(2_654_435_761)).collect();
        let lookbacks = search(&latents, 10, 0);
        assert_eq!(lookbacks.len(), 4999);
        assert!(lookbacks[200..].iter().all(|&l| l == 97));
    }

    #[test]
    fn a_period_is_found_among_few_values() {
        let table: Vec<u32> = (0..1000u32).map(|i| i * 617 % 1009).collect();
        let latents: Vec<u32> = table.iter().copied().cycle().take(20_000).collect();
        let lookbacks = search(&latents, 15, 0);
        let found = lookbacks[4000..].iter().filter(|&&l| l == 1000).count();
        assert!(found > 15_900, "{found}");
    }

    #[test]
    fn lookbacks_stay_within_window_and_page() {
        let latents: Vec<u16> = (0..3000u32).map(|i| (i * i % 1009) as u16).collect();
        for (window_log, state_log) in [(1, 0), (4, 4), (12, 5)] {
            let lookbacks = search(&latents, window_log, state_log);
            assert_eq!(lookbacks.len(), 3000 - (1 << state_log));
            assert!(lookbacks.iter().all(|&l| (1..=1 << window_log).contains(&l)));
        }
        assert!(search(&latents[..3], 4, 4).is_empty());
    }
}
