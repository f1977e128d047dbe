//! Which earlier latent each latent is coded against.
//!
//! Candidates are the lookbacks used last and the last places of the same latent, of the same
//! pair of latents, and of a latent with the same high bits; the cheapest in distance and in
//! novelty wins.

use crate::number::Latent;

/// log2 of the entries of each table of last places.
const TABLE_LOG: u32 = 15;
/// Lookbacks that were used last.
const RECENT: usize = 4;
/// Lookbacks that are always looked at.
const NEAR: [u32; 4] = [1, 2, 3, 4];

/// log2 of the window for pages of `n` latents where the caller leaves it open.
pub(crate) fn window_log(n: usize) -> u32 {
    (n as u64).bit_length().clamp(4, 15)
}

/// A lookback for each latent after the first `2^state_log`.
pub(crate) fn search<L: Latent>(latents: &[L], window_log: u32, state_log: u32) -> Vec<u32> {
    let state_n = (1usize << state_log).min(latents.len());
    let mut searcher = Searcher::new(window_log);
    for i in 0..state_n {
        searcher.remember(latents, i);
    }
    let mut lookbacks = Vec::with_capacity(latents.len() - state_n);
    for i in state_n..latents.len() {
        lookbacks.push(searcher.choose(latents, i));
        searcher.remember(latents, i);
    }
    lookbacks
}

/// Costs are learnt anew after so many latents.
const EPOCH: usize = 1 << 10;
/// Lookbacks up to this are counted one by one, others by their length in bits.
const SINGLE: usize = 1 << 15;

/// What a lookback and the distance to the latent it leads to cost, in 1/16 bits, as the bins
/// will have it: learnt from what was chosen so far.
struct Costs {
    /// By length in bits of the distance.
    distance: [u32; 66],
    distance_cost: [u32; 66],
    /// By length in bits of the lookback.
    length: [u32; 26],
    length_cost: [u32; 26],
    /// By lookback, as far as counted.
    single: Vec<u32>,
    total: u32,
}

/// 16 times the bits of an event seen `count` times of `total`.
fn bits16(count: u32, total: u32) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "a small positive number")]
    #[expect(clippy::cast_sign_loss, reason = "total >= count")]
    let cost = (16.0 * (f64::from(total) / f64::from(count)).log2()) as u32;
    cost
}

impl Costs {
    fn new(window_log: u32) -> Self {
        let mut costs = Self {
            distance: [1; 66],
            distance_cost: [0; 66],
            length: [1; 26],
            length_cost: [0; 26],
            single: vec![0; SINGLE.min(1 << window_log) + 1],
            total: 0,
        };
        for (bits, cost) in (0u32..).zip(&mut costs.distance_cost) {
            *cost = 16 * (bits + 2);
        }
        for (bits, cost) in (0u32..).zip(&mut costs.length_cost) {
            *cost = 16 * (bits + 2);
        }
        costs
    }

    fn of(&self, lookback: u32, distance_bits: u32) -> u32 {
        let by_length = self.length_cost[lookback.bit_length() as usize];
        let single = self.single.get(lookback as usize).copied().unwrap_or(0);
        // A lookback seen again and again gets a bin of its own.
        let by_itself =
            if single > 8 { 16 * ((self.total + 1).ilog2() - single.ilog2()) } else { u32::MAX };
        by_length.min(by_itself) + self.distance_cost[distance_bits as usize]
    }

    fn note(&mut self, lookback: u32, distance_bits: u32) {
        self.distance[distance_bits as usize] += 1;
        self.length[lookback.bit_length() as usize] += 1;
        if let Some(single) = self.single.get_mut(lookback as usize) {
            *single += 1;
        }
        self.total += 1;
    }

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

struct Searcher {
    window_log: u32,
    /// By hash of a key: one more than the last place that had it.
    tables: Vec<Vec<u32>>,
    recent: [u32; RECENT],
    costs: Costs,
}

/// What a latent is known by: itself, its pair, its high bits at some precisions.
const KEYS: usize = 5;

fn key<L: Latent>(latents: &[L], i: usize, kind: usize) -> u64 {
    let x = latents[i].to_u64();
    match kind {
        0 => x,
        1 => x ^ latents[i.saturating_sub(1)].to_u64().rotate_left(23).wrapping_mul(0x9e37_79b9),
        // A quarter, half and five eighths of the bits dropped.
        2 => x >> (L::BITS / 4),
        3 => x >> (L::BITS / 2),
        _ => x >> (L::BITS * 5 / 8),
    }
}

fn slot(key: u64, kind: usize) -> usize {
    let hash = (key ^ kind as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (hash >> (64 - TABLE_LOG)) as usize
}

impl Searcher {
    fn new(window_log: u32) -> Self {
        Self {
            window_log,
            tables: vec![vec![0; 1 << TABLE_LOG]; KEYS],
            recent: [1; RECENT],
            costs: Costs::new(window_log),
        }
    }

    fn choose<L: Latent>(&mut self, latents: &[L], i: usize) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "window_log is at most 24")]
        let window = (1u32 << self.window_log).min(i as u32);
        let x = latents[i];
        let (mut least, mut best, mut best_bits) = (u32::MAX, 1u32, 0);
        let mut consider = |lookback: u32| {
            if lookback == 0 || lookback > window {
                return;
            }
            let distance = x.sub(latents[i - lookback as usize]);
            let distance_bits = distance.bit_length().min(L::ZERO.sub(distance).bit_length());
            let cost = self.costs.of(lookback, distance_bits);
            if cost < least {
                (least, best, best_bits) = (cost, lookback, distance_bits);
            }
        };
        for lookback in self.recent {
            consider(lookback);
        }
        for lookback in NEAR {
            consider(lookback);
        }
        for kind in 0..KEYS {
            let place = self.tables[kind][slot(key(latents, i, kind), kind)];
            if place > 0 {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "pages have 2^24 latents at most"
                )]
                consider(i as u32 + 1 - place);
            }
        }
        self.note(best, best_bits);
        best
    }

    fn note(&mut self, lookback: u32, distance_bits: u32) {
        let place = self.recent.iter().position(|&l| l == lookback).unwrap_or(RECENT - 1);
        self.recent[place] = lookback;
        self.recent[..=place].rotate_right(1);
        self.costs.note(lookback, distance_bits);
        if (self.costs.total as usize).is_multiple_of(EPOCH) {
            self.costs.learn();
        }
    }

    fn remember<L: Latent>(&mut self, latents: &[L], i: usize) {
        for kind in 0..KEYS {
            #[expect(clippy::cast_possible_truncation, reason = "pages have 2^24 latents at most")]
            let place = i as u32 + 1;
            self.tables[kind][slot(key(latents, i, kind), kind)] = place;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_is_found() {
        let latents: Vec<u32> =
            (0..5000u32).map(|i| (i % 97).wrapping_mul(2_654_435_761)).collect();
        let lookbacks = search(&latents, 10, 0);
        assert_eq!(lookbacks.len(), 4999);
        assert!(lookbacks[200..].iter().all(|&l| l == 97));
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
