//! Which earlier latent each latent is coded against.
//!
//! Candidates are the lookbacks used last and the last places of the same latent, of the same
//! pair of latents, and of a latent with the same high bits; the cheapest in distance and in
//! novelty wins.
//!
//! Latents are taken in blocks, for which costs stand still: all that does not hang on what is chosen
//! for the latents right before is then found ahead of the choices, which must follow each other.

mod candidates;

use crate::number::Latent;
use crate::pco::delta::lookback_calm::Calm;
use crate::pco::delta::lookback_costs::{BLOCK, Choice, Costs};
use crate::spare;
use candidates::{Block, Places};
use latens_kernels::dispatch::Present;
use std::hint::select_unpredictable;
use std::ops::Range;

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
    let mut searcher = Searcher::new(window_log, latents);
    let mut block = Block::new();
    for start in (0..state_n).step_by(BLOCK) {
        searcher.places.meet(latents, start..state_n.min(start + BLOCK), &mut block);
    }
    let mut lookbacks = spare::take(n - state_n);
    for start in (state_n..n).step_by(BLOCK) {
        let range = start..n.min(start + BLOCK);
        if searcher.calm.is_glossed_over() {
            block.forget();
        } else {
            searcher.places.meet(latents, range.clone(), &mut block);
            block.weigh(latents, range.clone(), window_log, &searcher.costs);
        }
        searcher.choose(latents, range.clone(), &mut block);
        lookbacks.extend(block.best[..range.len()].iter().map(|choice| choice.lookback()));
    }
    lookbacks
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

struct Searcher {
    places: Places,
    /// With what each costs in this block.
    recent: [Choice; RECENT],
    calm: Calm,
    costs: Costs,
}

impl Searcher {
    #[inline(always)]
    fn new<L: Latent>(window_log: u32, latents: &[L]) -> Self {
        let costs = Costs::new::<L>(window_log);
        Self {
            places: Places::new(latents),
            recent: [costs.lookback(1); RECENT],
            calm: Calm::default(),
            costs,
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
