//! From latents to the indices of their bins.

use crate::number::Latent;

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
    /// Cells that a doubling of the distance is cut into, as a log2.
    fine: u32,
    /// Cells on either side of the middle.
    side: usize,
    /// By cell, from the least latents to the greatest: the range of its least latent.
    first: Vec<u16>,
    /// How far behind `first` a latent's range may lie: fewer than `2^steps`.
    steps: u32,
}

/// A distance's cell: exact up to `2^(fine + 1)`, then `2^fine` cells a doubling.
#[inline]
fn cell_of(distance: u64, fine: u32) -> usize {
    let shift = (63 - (distance | 1).leading_zeros()).saturating_sub(fine);
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
    /// For 1 to 2^14 lower bounds.
    pub(crate) fn new(mut lowers: Vec<L>) -> Self {
        let n = lowers.len();
        let fine = n.max(2).ilog2().clamp(2, 6);
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
        Self { lowers, last: n.saturating_sub(1), middle, fine, side, first, steps }
    }

    /// The index of the range that holds each latent, one by one in order.
    #[inline]
    pub(crate) fn for_each(&self, latents: &[L], mut found: impl FnMut(L, u16)) {
        match self.steps {
            0 => latents.iter().for_each(|&x| found(x, self.find::<0>(x))),
            1 => latents.iter().for_each(|&x| found(x, self.find::<1>(x))),
            2 => latents.iter().for_each(|&x| found(x, self.find::<2>(x))),
            3 => latents.iter().for_each(|&x| found(x, self.find::<3>(x))),
            4 => latents.iter().for_each(|&x| found(x, self.find::<4>(x))),
            5 => latents.iter().for_each(|&x| found(x, self.find::<5>(x))),
            6 => latents.iter().for_each(|&x| found(x, self.find::<6>(x))),
            7 => latents.iter().for_each(|&x| found(x, self.find::<7>(x))),
            8 | 9 => latents.iter().for_each(|&x| found(x, self.find::<9>(x))),
            _ => latents.iter().for_each(|&x| found(x, self.find::<14>(x))),
        }
    }

    #[inline]
    fn find<const STEPS: u32>(&self, x: L) -> u16 {
        let is_left = x < self.middle;
        let distance = if is_left {
            self.middle.sub(x).sub(L::ONE)
        } else {
            x.sub(self.middle)
        };
        let cell = cell_of(distance.to_u64(), self.fine);
        let cell = if is_left { self.side - 1 - cell } else { self.side + cell };
        let mut at = usize::from(self.first[cell]);
        for step in (0..STEPS).rev() {
            let next = at + (1 << step);
            at = if self.lowers[next] <= x { next } else { at };
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most 2^14 ranges")]
        let at = at.min(self.last) as u16;
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check<L: Latent>(lowers: &[L], latents: &[L]) {
        let lookup = Lookup::new(lowers.to_vec());
        let mut checked = 0;
        lookup.for_each(latents, |x, range| {
            let expect = lowers.partition_point(|&lower| lower <= x).saturating_sub(1);
            assert_eq!(usize::from(range), expect, "{x} in {lowers:?}");
            checked += 1;
        });
        assert_eq!(checked, latents.len());
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
        for fine in 2..7 {
            let last = cell_of(u64::MAX, fine);
            for cell in 0..=last {
                let start = cell_start(cell, fine);
                assert_eq!(cell_of(start, fine), cell);
                assert!(start == 0 || cell_of(start - 1, fine) == cell - 1);
            }
        }
    }
}
