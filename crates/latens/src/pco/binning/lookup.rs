//! From latents to the indices of their bins.

use crate::number::Latent;
use latens_kernels::dispatch::Present;

/// Cells that a doubling of the distance is cut into, as a log2: at first, and where cells would
/// be searched in more than `MOST_STEPS` steps.
const FINE: [u32; 2] = [6, 9];
const MOST_STEPS: u32 = 2;

/// Finds in which range each latent lies. The ranges are given by their lower bounds, ascending;
/// what lies before the first belongs to it.
///
/// A table by distance from a middle, finer the nearer, leads to the first range that a latent may
/// be in; from there a halving search of a fixed number of steps has no branch to mispredict.
#[derive(Clone, Debug)]
pub(crate) struct Lookup<L> {
    /// Filled up with the last one so that all steps stay within.
    lowers: Vec<L>,
    last: usize,
    middle: L,
    /// Cells on either side of the middle.
    side: usize,
    /// By cell, from the least latents to the greatest: the range of its least latent.
    first: Vec<u16>,
    /// How far behind `first` a latent's range may lie: fewer than `2^steps`.
    steps: u32,
    /// log2 of the cells of a doubling.
    fine: u32,
}

/// A distance's cell: exact up to `2^(fine + 1)`, then `2^fine` cells a doubling.
#[inline(always)]
fn cell_of(distance: u64, fine: u32) -> usize {
    let shift = (distance | 1 << fine).ilog2() - fine;
    #[expect(clippy::cast_possible_truncation, reason = "below 2^(fine + 6)")]
    let cell = ((u64::from(shift) << fine) + (distance >> shift)) as usize;
    cell
}

/// The least distance of a cell.
fn cell_start(cell: usize, fine: u32) -> u64 {
    let cell = cell as u64;
    let shift = (cell >> fine).saturating_sub(1);
    (cell - (shift << fine)) << shift
}

impl<L: Latent> Lookup<L> {
    /// For 1 to 2^14 lower bounds, and about so many latents to be found.
    pub(crate) fn new(lowers: Vec<L>, latents: usize) -> Self {
        let coarse = Self::with(lowers, FINE[0]);
        if coarse.steps <= MOST_STEPS || latents < 1 << 17 {
            return coarse;
        }
        let Self { mut lowers, last, .. } = coarse;
        lowers.truncate(last + 1);
        Self::with(lowers, FINE[1])
    }

    fn with(mut lowers: Vec<L>, fine: u32) -> Self {
        let n = lowers.len();
        let middle = lowers.get(n / 2).copied().unwrap_or(L::ZERO);
        let side = cell_of(L::MAX.to_u64(), fine) + 1;
        let (mut first, mut range) = (Vec::with_capacity(2 * side), 0);
        let (mut widest, mut before) = (0, 0);
        let (middle64, most) = (middle.to_u64(), L::MAX.to_u64());
        // Left of the middle distances are counted from `middle - 1` downwards.
        let left = (0..side).rev().map(|cell| {
            // The least latent is the one farthest away.
            let far = cell_start(cell + 1, fine).wrapping_sub(1);
            middle64.saturating_sub(1).saturating_sub(far)
        });
        let right = (0..side).map(|cell| middle64.saturating_add(cell_start(cell, fine)).min(most));
        for start in left.chain(right) {
            while range + 1 < n && lowers[range + 1].to_u64() <= start {
                range += 1;
            }
            widest = widest.max(range - before);
            before = range;
            #[expect(clippy::cast_possible_truncation, reason = "at most 2^14 ranges")]
            first.push(range as u16);
        }
        widest = widest.max(n.saturating_sub(1) - before);
        let steps = (widest as u64).bit_length();
        let filler = lowers.last().copied().unwrap_or(L::ZERO);
        lowers.resize(n + (1 << steps.max(if steps > 7 { 14 } else { 0 })), filler);
        Self { lowers, last: n.saturating_sub(1), middle, side, first, steps, fine }
    }

    /// The index of the range that holds each latent, in order.
    pub(crate) fn find(&self, latents: &[L], found: &mut [u16]) {
        Present::in_use().call(
            #[inline(always)]
            || self.find_in(latents, found),
        );
    }

    #[inline(always)]
    fn find_in(&self, latents: &[L], found: &mut [u16]) {
        match self.steps {
            0 => self.find_all::<0>(latents, found),
            1 => self.find_all::<1>(latents, found),
            2 => self.find_all::<2>(latents, found),
            3 => self.find_all::<3>(latents, found),
            4 => self.find_all::<4>(latents, found),
            5 => self.find_all::<5>(latents, found),
            6 => self.find_all::<6>(latents, found),
            7 => self.find_all::<7>(latents, found),
            8 | 9 => self.find_all::<9>(latents, found),
            _ => self.find_all::<14>(latents, found),
        }
    }

    #[inline(always)]
    fn find_all<const STEPS: u32>(&self, latents: &[L], found: &mut [u16]) {
        let Self { ref lowers, last, middle, side, ref first, fine, .. } = *self;
        let (lowers, first, middle64) = (&lowers[..], &first[..], middle.to_u64());
        for (&x, found) in latents.iter().zip(found) {
            // All ones to the left of the middle. Sums and exclusive ors with it in place of
            // choices, which compilers like to make branches of.
            let left = 0u64.wrapping_sub(u64::from(x < middle));
            let distance = x.to_u64().wrapping_sub(middle64) ^ left;
            #[expect(clippy::cast_possible_truncation, reason = "small or all ones")]
            let cell = side.wrapping_add(cell_of(distance, fine) ^ left as usize);
            let mut at = usize::from(first[cell]);
            for step in (0..STEPS).rev() {
                at += usize::from(lowers[at + (1 << step)] <= x) << step;
            }
            #[expect(clippy::cast_possible_truncation, reason = "at most 2^14 ranges")]
            let at = at.min(last) as u16;
            *found = at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check<L: Latent>(lowers: &[L], latents: &[L]) {
        for n in [0, 1 << 20] {
            let lookup = Lookup::new(lowers.to_vec(), n);
            let mut found = vec![0; latents.len()];
            lookup.find(latents, &mut found);
            for (&x, range) in latents.iter().zip(found) {
                let expect = lowers.partition_point(|&lower| lower <= x).saturating_sub(1);
                assert_eq!(usize::from(range), expect, "{x} in {lowers:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn finds_what_a_search_finds(
            lowers in prop::collection::btree_set(prop_oneof![any::<u64>(), 0..300u64], 1..200),
            latents in prop::collection::vec(prop_oneof![any::<u64>(), 0..300u64], 100),
        ) {
            let lowers: Vec<u64> = lowers.into_iter().collect();
            check(&lowers, &latents);
            let edges: Vec<u64> = lowers.iter().flat_map(|&x| [x, x.wrapping_sub(1)]).collect();
            check(&lowers, &edges);
        }

        #[test]
        fn narrow_ones_too(lowers in prop::collection::btree_set(any::<u8>(), 1..200)) {
            let lowers: Vec<u8> = lowers.into_iter().collect();
            check(&lowers, &(0..=255).collect::<Vec<_>>());
        }
    }

    #[test]
    fn cells_begin_where_they_say() {
        for fine in FINE {
            for cell in 0..=cell_of(u64::MAX, fine) {
                let start = cell_start(cell, fine);
                assert_eq!(cell_of(start, fine), cell);
                assert!(start == 0 || cell_of(start - 1, fine) == cell - 1);
            }
        }
    }
}
