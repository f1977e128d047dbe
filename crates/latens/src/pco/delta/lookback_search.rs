//! Which earlier latent each latent is coded against.
//!
//! Candidates are the lookbacks used last and the last places of the same latent, of the same
//! pair of latents, and of a latent with the same high bits; the cheapest in distance and in
//! novelty wins.

use crate::number::Latent;
use latens_kernels::dispatch::Present;

/// log2 of the entries of each table of last places, at most.
const TABLE_LOG: u32 = 15;
/// Lookbacks that were used last.
const RECENT: usize = 4;
/// Lookbacks that are always looked at.
const NEAR: [u32; 2] = [1, 2];

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
    let state_n = (1usize << state_log).min(latents.len());
    let table_log = (latents.len() as u64).bit_length().clamp(4, TABLE_LOG);
    let mut searcher = Searcher::new(window_log, table_log, spread(latents));
    let mut lookbacks = Vec::with_capacity(latents.len() - state_n);
    for i in 0..latents.len() {
        let found = searcher.meet(latents, i);
        if i >= state_n {
            lookbacks.push(searcher.choose(latents, i, found));
        }
    }
    lookbacks
}

/// Bits of the distance from the smallest latent to the largest.
#[inline(always)]
fn spread<L: Latent>(latents: &[L]) -> u32 {
    let bounds = latents.iter().fold((L::MAX, L::ZERO), |(a, b), &x| (a.min(x), b.max(x)));
    bounds.1.sub(bounds.0).bit_length().min(L::BITS)
}

/// Costs are learnt anew after so many latents.
const EPOCH: u32 = 1 << 10;
/// Lookbacks up to this are counted one by one, others by their length in bits.
const SINGLE: usize = 1 << 15;
/// A lookback that was taken this often may have a bin of its own.
const OFTEN: u32 = 8;

/// What a lookback and the distance to the latent it leads to cost, in 1/16 bits, as the bins
/// will have it: learnt from what was chosen so far.
struct Costs {
    /// By length in bits of the distance.
    distance: [u32; 66],
    distance_cost: [u32; 66],
    /// By length in bits of the lookback.
    length: [u32; 26],
    length_cost: [u32; 26],
    /// By lookback, as far as counted: how often it was taken, and 16 times the log2 of that.
    single: Vec<u32>,
    single_log: Vec<u16>,
    total: u32,
    /// 16 times the log2 of the total.
    total_log: u32,
}

/// 16 times the bits of an event seen `count` times of `total`.
fn bits16(count: u32, total: u32) -> u32 {
    log16(total).saturating_sub(log16(count))
}

/// 16 times the log2, rounded down, by the highest bits.
#[inline(always)]
fn log16(x: u32) -> u32 {
    const OF_HIGHEST: [u8; 16] = [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 12, 13, 14, 15];
    let x = x.max(1);
    let highest = (x << x.leading_zeros() >> 27) & 15;
    16 * x.ilog2() + u32::from(OF_HIGHEST[highest as usize])
}

impl Costs {
    fn new(window_log: u32) -> Self {
        let singles = SINGLE.min(1 << window_log) + 1;
        let mut costs = Self {
            distance: [1; 66],
            distance_cost: [0; 66],
            length: [1; 26],
            length_cost: [0; 26],
            single: vec![0; singles],
            single_log: vec![0; singles],
            total: 0,
            total_log: 0,
        };
        for (bits, cost) in (0u32..).zip(&mut costs.distance_cost) {
            *cost = 16 * (bits + 2);
        }
        for (bits, cost) in (0u32..).zip(&mut costs.length_cost) {
            *cost = 16 * (bits + 2);
        }
        costs
    }

    #[inline(always)]
    fn of(&self, lookback: u32, distance_bits: u32) -> u32 {
        let by_length = self.length_cost[lookback.bit_length() as usize];
        let single = self.single_log.get(lookback as usize).copied().unwrap_or(0);
        // A lookback seen again and again gets a bin of its own.
        let by_itself = if single > 0 { self.total_log - u32::from(single) } else { u32::MAX >> 8 };
        by_length.min(by_itself) + self.distance_cost[distance_bits as usize]
    }

    #[inline(always)]
    fn note(&mut self, lookback: u32, distance_bits: u32) {
        self.distance[distance_bits as usize] += 1;
        self.length[lookback.bit_length() as usize] += 1;
        self.count(lookback);
        self.total += 1;
        if self.total.is_multiple_of(EPOCH) {
            self.learn();
        }
        self.total_log = log16(self.total + 1);
    }

    /// Counts a lookback that was taken, or that would have led to the very latent.
    #[inline(always)]
    fn count(&mut self, lookback: u32) {
        if let Some(single) = self.single.get_mut(lookback as usize) {
            *single += 1;
            if *single > OFTEN {
                #[expect(clippy::cast_possible_truncation, reason = "below 16 · 32")]
                let log = log16(*single) as u16;
                self.single_log[lookback as usize] = log;
            }
        }
    }

    #[inline(never)]
    fn learn(&mut self) {
        for (bits, (&count, cost)) in
            (0u32..).zip(self.distance.iter().zip(&mut self.distance_cost))
        {
            *cost = bits16(count, self.total) + 16 * bits.saturating_sub(1);
        }
        for (bits, (&count, cost)) in (0u32..).zip(self.length.iter().zip(&mut self.length_cost)) {
            *cost = bits16(count, self.total) + 16 * bits.saturating_sub(1);
        }
    }
}

/// A distance in either direction.
#[inline(always)]
pub(crate) fn magnitude<L: Latent>(distance: L) -> L {
    distance.min(L::ZERO.sub(distance))
}

/// The lookbacks used last with one of them, or a new one, put in front; without branches, as which
/// one it is comes as a surprise.
#[inline(always)]
fn in_front(recent: [u32; RECENT], used: u32) -> [u32; RECENT] {
    let mut new = [used; RECENT];
    let mut is_behind = false;
    for place in 1..RECENT {
        is_behind |= recent[place - 1] == used;
        new[place] = if is_behind { recent[place] } else { recent[place - 1] };
    }
    new
}

struct Searcher {
    window_log: u32,
    table_log: u32,
    /// By how many bits latents are cut to find others that are near.
    cuts: [u32; 3],
    /// By kind and hash of a key: the low bits of the last place that had it. That a place is
    /// ambiguous or another's does no harm: what it leads to is weighed like any other lookback.
    tables: Vec<u16>,
    recent: [u32; RECENT],
    costs: Costs,
}

/// Where among the candidates the last place of the same pair is.
const PAIR: usize = 5;

/// What a latent is known by: itself, its pair, its high bits at some precisions.
const KEYS: usize = 5;

impl Searcher {
    fn new(window_log: u32, table_log: u32, spread: u32) -> Self {
        Self {
            window_log,
            table_log,
            // A quarter, half and five eighths of the bits that differ.
            cuts: [spread / 4, spread / 2, spread * 5 / 8],
            tables: vec![0; KEYS << table_log],
            recent: [1; RECENT],
            costs: Costs::new(window_log),
        }
    }

    /// Notes a latent's place under its keys; returns the lookbacks to those who had them before.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the low bits are asked for")]
    fn meet<L: Latent>(&mut self, latents: &[L], i: usize) -> [u32; KEYS] {
        let x = latents[i].to_u64();
        let before = latents[i.saturating_sub(1)].to_u64();
        let keys = [
            x,
            x ^ before.rotate_left(23).wrapping_mul(0x9e37_79b9),
            x >> self.cuts[0],
            x >> self.cuts[1],
            x >> self.cuts[2],
        ];
        let mut lookbacks = [0; KEYS];
        for (kind, (key, lookback)) in keys.into_iter().zip(&mut lookbacks).enumerate() {
            let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - self.table_log);
            let place = &mut self.tables[(kind << self.table_log) + hash as usize];
            *lookback = u32::from((i as u16).wrapping_sub(*place));
            *place = i as u16;
        }
        lookbacks
    }

    #[inline(always)]
    fn choose<L: Latent>(&mut self, latents: &[L], i: usize, found: [u32; KEYS]) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "window_log is at most 24")]
        let window = (1u32 << self.window_log).min(i as u32);
        let x = latents[i];
        let at = |lookback: u32| {
            let lookback = if lookback.wrapping_sub(1) < window { lookback } else { 1 };
            (magnitude(x.sub(latents[i - lookback as usize])), lookback)
        };
        // Of lookbacks that cost about the same, the nearest latent: first the last one used, then
        // the others that were used of late, then those that no one has used.
        let nearest = |candidates: &[u32]| {
            candidates.iter().fold((L::MAX, 1), |best, &lookback| {
                let new = at(lookback);
                if new.0 < best.0 { new } else { best }
            })
        };
        let [last, second, others @ ..] = self.recent;
        let kinds = [
            at(last),
            at(second),
            nearest(&others),
            nearest(&NEAR),
            at(found[0]),
            at(found[1]),
            nearest(&found[2..]),
        ];
        let (mut least, mut best, mut best_bits) = (u32::MAX, 1, 0);
        for (distance, lookback) in kinds {
            let bits = distance.bit_length();
            let cost = self.costs.of(lookback, bits);
            let is_better = cost < least;
            least = least.min(cost);
            (best, best_bits) = if is_better { (lookback, bits) } else { (best, best_bits) };
        }
        // Where the last one is used again and again, the processor knows it beforehand.
        if best != last {
            self.recent = in_front(self.recent, best);
        }
        self.costs.note(best, best_bits);
        // A period whose latents cost hardly more by themselves would never begin to pay.
        let (distance, period) = kinds[PAIR];
        if distance == L::ZERO && best_bits > 0 {
            self.costs.count(period);
        }
        best
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
