//! Which earlier latent each latent is coded against.
//!
//! Candidates are the lookbacks used last and the last places of the same latent, of the same
//! pair of latents, and of a latent with the same high bits; the cheapest in distance and in
//! novelty wins.

use crate::number::Latent;

/// log2 of the entries of each table of last places.
const TABLE_LOG: u32 = 15;
/// Lookbacks that were used last.
const RECENT: usize = 6;

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

struct Searcher {
    window_log: u32,
    /// By hash of a key: one more than the last place that had it.
    tables: Vec<Vec<u32>>,
    recent: [u32; RECENT],
    /// By lookback: how often it was used, halved now and then.
    used: Vec<u32>,
    total: u32,
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
    #[expect(clippy::cast_possible_truncation, reason = "TABLE_LOG bits are left")]
    let slot = (hash >> (64 - TABLE_LOG)) as usize;
    slot
}

impl Searcher {
    fn new(window_log: u32) -> Self {
        Self {
            window_log,
            tables: vec![vec![0; 1 << TABLE_LOG]; KEYS],
            recent: [1; RECENT],
            used: vec![0; (1 << window_log) + 1],
            total: 1,
        }
    }

    fn choose<L: Latent>(&mut self, latents: &[L], i: usize) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "window_log is at most 24")]
        let window = (1u32 << self.window_log).min(i as u32);
        let mut best = (u32::MAX, 1u32);
        let x = latents[i];
        let mut consider = |lookback: u32, used: &[u32], total: u32| {
            if lookback == 0 || lookback > window {
                return;
            }
            let distance = x.sub(latents[i - lookback as usize]);
            let magnitude = distance.bit_length().min(L::ZERO.sub(distance).bit_length());
            let count = used[lookback as usize];
            let novelty = if count == 0 {
                self.window_log + 3
            } else {
                (total.ilog2() + 1).saturating_sub(count.ilog2())
            };
            let cost = magnitude + novelty;
            if cost < best.0 {
                best = (cost, lookback);
            }
        };
        for lookback in self.recent {
            consider(lookback, &self.used, self.total);
        }
        consider(1, &self.used, self.total);
        for kind in 0..KEYS {
            let place = self.tables[kind][slot(key(latents, i, kind), kind)];
            if place > 0 {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "pages have 2^24 latents at most"
                )]
                consider(i as u32 + 1 - place, &self.used, self.total);
            }
        }
        let lookback = best.1;
        self.note(lookback);
        lookback
    }

    fn note(&mut self, lookback: u32) {
        let place = self.recent.iter().position(|&l| l == lookback).unwrap_or(RECENT - 1);
        self.recent[place] = lookback;
        self.recent[..=place].rotate_right(1);
        self.used[lookback as usize] += 1;
        self.total += 1;
        if self.total == 1 << 16 {
            self.used.iter_mut().for_each(|n| *n /= 2);
            self.total /= 2;
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
