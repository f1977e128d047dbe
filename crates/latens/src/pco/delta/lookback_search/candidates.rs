//! Earlier latents that a block's latents may be coded against, and which of them is the best, all of
//! which does not hang on what is chosen for the latents right before.

use super::magnitude;
use crate::number::Latent;
use crate::pco::delta::lookback_costs::{BLOCK, Choice, Costs};
use std::hint::select_unpredictable;
use std::ops::Range;

/// log2 of the entries of each table of last places, at most.
const TABLE_LOG: u32 = 15;
/// Kinds of candidates: the last places of what a latent is known by, which is itself, its pair, its high
/// bits at some precisions.
const KINDS: usize = 5;
const ITSELF: usize = 0;
const PAIR: usize = 1;
const HIGH: usize = 2;

/// The last places of what latents are known by.
pub(super) struct Places {
    table_log: u32,
    /// By how many bits latents are cut to find others that are near.
    cuts: [u32; 3],
    /// By kind and hash of a key: the low bits of the last place that had it. That a place is
    /// ambiguous or another's does no harm: what it leads to is weighed like any other lookback.
    tables: Vec<u16>,
}

impl Places {
    /// For a page of `latents`.
    #[inline(always)]
    pub(super) fn new<L: Latent>(latents: &[L]) -> Self {
        let table_log = (latents.len() as u64).bit_length().clamp(4, TABLE_LOG);
        let spread = spread(latents);
        // A quarter, half and five eighths of the bits that differ.
        let cuts = [spread / 4, spread / 2, spread * 5 / 8];
        Self { table_log, cuts, tables: vec![0; KINDS << table_log] }
    }

    /// Notes latents' places under their keys, and finds the lookbacks to those who had them before.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the low bits are asked for")]
    pub(super) fn meet<L: Latent>(
        &mut self,
        latents: &[L],
        range: Range<usize>,
        block: &mut Block<L>,
    ) {
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
}

/// Bits of the distance from the smallest latent to the largest.
#[inline(always)]
fn spread<L: Latent>(latents: &[L]) -> u32 {
    let bounds = latents.iter().fold((L::MAX, L::ZERO), |(a, b), &x| (a.min(x), b.max(x)));
    bounds.1.sub(bounds.0).bit_length().min(L::BITS)
}

/// What is known of a block's latents.
pub(super) struct Block<L> {
    latents: [L; BLOCK],
    /// By kind of candidate: the lookback, the place it leads to, and the distance there.
    lookbacks: [[u32; BLOCK]; KINDS],
    places: [[u32; BLOCK]; KINDS],
    distances: [[L; BLOCK]; KINDS],
    /// The last place of the same pair, and whether it had the very latent.
    pub(super) pairs: [(u32, bool); BLOCK],
    /// The best of what is not among the lookbacks used last, then the best of all.
    pub(super) best: [Choice; BLOCK],
}

impl<L: Latent> Block<L> {
    pub(super) fn new() -> Self {
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
    pub(super) fn forget(&mut self) {
        self.pairs = [(1, false); BLOCK];
        self.best = [Choice::NONE; BLOCK];
    }

    /// The best candidate of each latent but for the lookbacks used last.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a chunk has 2^24 latents at most")]
    pub(super) fn weigh(
        &mut self,
        latents: &[L],
        range: Range<usize>,
        window_log: u32,
        costs: &Costs,
    ) {
        let Self { latents: own, lookbacks, places, distances, pairs, best } = self;
        own[..range.len()].copy_from_slice(&latents[range.clone()]);
        let (window, start) = (1u32 << window_log, range.start as u32);
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
        let [latest, second] = [1, 2].map(|lookback| costs.lookback(lookback));
        let (mut before, mut x1) =
            (latents[start.saturating_sub(2) as usize], latents[start as usize - 1]);
        for (j, &x) in own[..range.len()].iter().enumerate() {
            let near = [x1, before].map(|earlier| magnitude(x.sub(earlier)));
            let next_to = select_unpredictable(near[1] < near[0], second, latest);
            let next_to = costs.with_distance(next_to, near[0].min(near[1]));
            (before, x1) = (x1, x);
            let choice = |kind: usize| {
                let lookback = costs.lookback(lookbacks[kind][j]);
                costs.with_distance(lookback, distances[kind][j])
            };
            let of_keys = choice(ITSELF).or(choice(PAIR)).or(choice(HIGH));
            best[j] = of_keys.or(next_to);
            pairs[j] = (lookbacks[PAIR][j], distances[PAIR][j] == L::ZERO);
        }
    }
}
