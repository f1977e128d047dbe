//! Lookbacks chosen by what they and the residuals will cost in the end.
//!
//! What a lookback leads to does not depend on how earlier latents are coded, so that with costs
//! given each latent's best lookback can be chosen by itself. Costs are those of the choices of the
//! pass before: a few passes bring both together.

use crate::number::Latent;
use crate::pco::delta::lookback_search;
use crate::spare;
use std::mem::take;

/// Passes over the latents.
const PASSES: usize = 4;
/// Lookbacks that are tried for every latent.
const OFTEN: usize = 40;
/// Lookbacks that the first pass tries for every latent.
const FIRST: u32 = 24;
/// log2 of the entries of each table of last places, at most.
const TABLE_LOG: u32 = 18;
/// log2 of the window, at most.
const WINDOW_LOG: u32 = 20;
/// Cells that a doubling of residuals is cut into, as a log2.
const FINE: u32 = 3;
/// Bits that a lookback of its own costs in the metadata.
const BIN: f32 = 55.0;

/// log2 of the window for pages of `n` latents.
pub(crate) fn window_log(n: usize) -> u32 {
    (n as u64).bit_length().clamp(4, WINDOW_LOG)
}

/// A lookback for each latent after the first.
pub(crate) fn parse<L: Latent>(latents: &[L], window_log: u32) -> Vec<u32> {
    let mut lookbacks = lookback_search::search(latents, window_log, 0);
    for pass in 0..PASSES {
        let costs = Costs::of(latents, &lookbacks, window_log, pass == 0);
        lookbacks.clear();
        costs.choose(latents, window_log, &mut lookbacks);
    }
    lookbacks
}

/// A residual's cell, and how many bits say where in the cell it lies.
#[inline]
fn cell_of<L: Latent>(residual: L) -> (usize, u32) {
    let is_left = residual >= L::MID;
    let size = if is_left { L::ZERO.sub(residual) } else { residual }.to_u64();
    let shift = (size | 1 << FINE).ilog2() - FINE;
    #[expect(clippy::cast_possible_truncation, reason = "below CELLS")]
    let cell = ((u64::from(shift) << FINE) + (size >> shift)) as usize;
    (2 * cell + usize::from(is_left), shift)
}

/// Cells of the widest residuals.
const CELLS: usize = 2 << (FINE + 6);
/// Kinds of keys by which earlier places are found.
const KEYS: usize = 4;

/// Bits by what has been chosen.
struct Costs {
    lookback: Vec<f32>,
    residual: [f32; CELLS],
    often: Vec<u32>,
}

impl Drop for Costs {
    fn drop(&mut self) {
        spare::give(take(&mut self.lookback));
    }
}

impl Costs {
    #[expect(clippy::cast_precision_loss, reason = "costs")]
    fn of<L: Latent>(latents: &[L], lookbacks: &[u32], window_log: u32, is_first: bool) -> Self {
        let mut counts = spare::filled(0u32, (1 << window_log) + 1);
        let mut cells = [0u32; CELLS];
        for (i, &lookback) in (1..).zip(lookbacks) {
            counts[lookback as usize] += 1;
            let before = usize::checked_sub(i, lookback as usize).map_or(L::ZERO, |j| latents[j]);
            cells[cell_of(latents[i].sub(before)).0] += 1;
        }
        let total = (lookbacks.len() as f32 + 1.0).log2();
        let bits = |count: u32| total - (count as f32 + 0.3).log2();
        // Those with bins of their own, and the others by length.
        let mut lengths = [0u32; 33];
        let own = |count: u32| bits(count) + BIN / count.max(1) as f32;
        for (lookback, &count) in (0u32..).zip(&counts) {
            if count > 0 && own(count) > (lookback.bit_length() + 4) as f32 {
                lengths[lookback.bit_length() as usize] += count;
            }
        }
        let mut lookback = spare::take((1 << window_log) + 1);
        lookback.extend((0..=1u32 << window_log).map(|lookback| {
            let length = lookback.bit_length();
            bits(lengths[length as usize]) + length.saturating_sub(1) as f32
        }));
        let mut often = Vec::new();
        for (i, cost) in (0u32..).zip(&mut lookback).skip(1) {
            let count = counts[i as usize];
            if own(count) < *cost {
                *cost = own(count);
                often.push((count, i));
            }
        }
        spare::give(counts);
        often.sort_unstable_by(|a, b| b.cmp(a));
        often.truncate(OFTEN);
        let mut often: Vec<u32> = often.into_iter().map(|(_, lookback)| lookback).collect();
        if is_first {
            for near in 1..=FIRST.min(1 << window_log) {
                lookback[near as usize] = lookback[near as usize].min(3.0 + (near as f32).log2());
                if !often.contains(&near) {
                    often.push(near);
                }
            }
        }
        let mut residual = [0.0; CELLS];
        for (cell, (cost, &count)) in residual.iter_mut().zip(&cells).enumerate() {
            let shift = ((cell / 2) >> FINE).saturating_sub(1);
            *cost = bits(count) + shift as f32;
        }
        Self { lookback, residual, often }
    }

    fn choose<L: Latent>(&self, latents: &[L], window_log: u32, lookbacks: &mut Vec<u32>) {
        let window = 1usize << window_log;
        let log = (latents.len() as u64).bit_length().clamp(4, TABLE_LOG);
        // One more than the last place of each key, 0 for none.
        let mut tables = spare::filled(0u32, KEYS << log);
        let mut last = 1u32;
        for (i, &x) in latents.iter().enumerate() {
            let mut found = [0u32; KEYS];
            let before = latents[i.saturating_sub(1)].to_u64();
            let own = x.to_u64();
            let keys = [
                own,
                own ^ before.rotate_left(23).wrapping_mul(0x9e37_79b9),
                own >> (L::BITS / 4),
                own >> (L::BITS / 2),
            ];
            #[expect(clippy::cast_possible_truncation, reason = "a chunk has 2^24 latents at most")]
            for (kind, (key, found)) in keys.into_iter().zip(&mut found).enumerate() {
                let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - log);
                let place = &mut tables[(kind << log) + hash as usize];
                let lookback = (i + 1) as u32 - *place;
                *found = if *place > 0 && lookback as usize <= window { lookback } else { 1 };
                *place = (i + 1) as u32;
            }
            if i == 0 {
                continue;
            }
            let (mut least, mut best) = (f32::INFINITY, 1);
            let mut consider = |lookback: u32| {
                let Some(earlier) = i.checked_sub(lookback as usize) else { return };
                let cost = self.lookback[lookback as usize]
                    + self.residual[cell_of(x.sub(latents[earlier])).0];
                if cost < least {
                    (least, best) = (cost, lookback);
                }
            };
            consider(1);
            consider(last);
            self.often.iter().copied().for_each(&mut consider);
            found.into_iter().for_each(&mut consider);
            last = best;
            lookbacks.push(best);
        }
        spare::give(tables);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn residuals(latents: &[u32], lookbacks: &[u32]) -> usize {
        let is_new =
            |(i, &lookback): (usize, &u32)| latents[i + 1] != latents[i + 1 - lookback as usize];
        lookbacks.iter().enumerate().filter(|&x| is_new(x)).count()
    }

    #[test]
    fn one_lookback_serves_where_many_could() {
        // Each latent has been seen 97 and also 194 and 291 places before.
        let latents: Vec<u32> =
            (0..5000u32).map(|i| (i % 97).wrapping_mul(2_654_435_761)).collect();
        let lookbacks = parse(&latents, 12);
        assert_eq!(lookbacks.len(), 4999);
        assert!(lookbacks[200..].iter().all(|&lookback| lookback == 97));
        assert!(residuals(&latents, &lookbacks) <= 100);
    }

    #[test]
    fn lookbacks_stay_within_window_and_page() {
        let latents: Vec<u16> = (0..3000u32).map(|i| (i * i % 1009) as u16).collect();
        for window_log in [1, 4, 12] {
            let lookbacks = parse(&latents, window_log);
            assert_eq!(lookbacks.len(), 2999);
            assert!(lookbacks.iter().all(|&l| (1..=1 << window_log).contains(&l)));
        }
        assert!(parse(&latents[..1], 4).is_empty());
        assert!(parse::<u8>(&[], 4).is_empty());
    }
}
