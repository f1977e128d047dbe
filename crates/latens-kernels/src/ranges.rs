//! Which of many ranges each of many numbers lies in.
//!
//! Ranges are given by their lower bounds, ascending; what lies before the first belongs to it. A table by distance
//! from a middle, finer the nearer, leads to the first range that a number may be in; from there a halving search of
//! a fixed number of steps has no branch to mispredict. Where all bounds fit in registers, the search is one among
//! all of them.

use crate::dispatch::Present;
#[cfg(any(target_arch = "x86_64", test))]
use crate::dispatch::Simd;
use crate::latent::Latent;
use crate::scalar::ranges as scalar;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::{avx512_few_ranges as few, avx512_ranges as avx512};

/// Most ranges.
pub const MOST: usize = 1 << 14;
/// Cells that a doubling of the distance is cut into, as a log2: at first, and where cells would
/// be searched in more than `MOST_STEPS` steps.
const FINE: [u32; 2] = [6, 9];
const MOST_STEPS: u32 = 2;

/// Finds in which range each number lies.
#[derive(Clone, Debug)]
pub struct Ranges<L> {
    present: Present,
    /// Where there are cells, filled up with the last one, so that a step from any range that a cell names stays within.
    pub(crate) lowers: Vec<L>,
    /// The last range.
    pub(crate) last: u16,
    /// Nothing in them where bounds fit in registers.
    pub(crate) cells: Cells<L>,
}

/// What leads to a first range.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cells<L> {
    pub(crate) middle: L,
    /// Cells on either side of the middle: more than that of the farthest distance.
    pub(crate) side: usize,
    /// By cell, from the least numbers to the greatest: the range of its least number. One more at the end, so that
    /// four bytes are there from each on.
    pub(crate) first: Vec<u16>,
    /// How far behind `first` a number's range may lie: fewer than `2^steps`.
    pub(crate) steps: u32,
    /// log2 of the cells of a doubling.
    pub(crate) fine: u32,
}

/// A distance's cell: exact up to `2^(fine + 1)`, then `2^fine` cells a doubling.
#[inline(always)]
pub(crate) fn cell_of(distance: u64, fine: u32) -> usize {
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

/// Whether so many ranges fit in registers.
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(clippy::extra_unused_type_parameters, reason = "there is no such kernel")
)]
fn are_few<L: Latent>(present: Present, count: usize) -> bool {
    #[cfg(target_arch = "x86_64")]
    if present.simd() == Simd::Avx512 && L::WIDTH >= 32 {
        return count <= few::most::<L>();
    }
    let _ = (present, count);
    false
}

impl<L: Latent> Ranges<L> {
    /// For 1 to [`MOST`] lower bounds, and about so many numbers to be found.
    ///
    /// # Panics
    /// Where there are more or none.
    #[expect(clippy::cast_possible_truncation, reason = "at most 2^14 ranges")]
    pub fn new(present: Present, mut lowers: Vec<L>, numbers: usize) -> Self {
        assert!((1..=MOST).contains(&lowers.len()), "1 to 2^14 ranges");
        let last = (lowers.len() - 1) as u16;
        if are_few::<L>(present, lowers.len()) {
            return Self { present, lowers, last, cells: Cells::default() };
        }
        let mut cells = Cells::new(&lowers, FINE[0]);
        if cells.steps > MOST_STEPS && numbers >= 1 << 17 {
            cells = Cells::new(&lowers, FINE[1]);
        }
        let steps = cells.steps.max(if cells.steps > 7 { 14 } else { 0 });
        lowers.resize(lowers.len() + (1 << steps), lowers[usize::from(last)]);
        Self { present, lowers, last, cells }
    }

    /// The index of the range that holds each number, in order.
    ///
    /// # Panics
    /// Where there is not a place for each.
    pub fn find(&self, numbers: &[L], found: &mut [u16]) {
        assert!(numbers.len() == found.len(), "a place for each number");
        let done = match self.present.simd() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `present` is what the processor has.
            Simd::Avx512 if self.cells.first.is_empty() => unsafe {
                return few::find(&self.lowers, numbers, found);
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: likewise.
            Simd::Avx512 => unsafe { avx512::find(self, numbers, found) },
            _ => 0,
        };
        let (numbers, found) = (&numbers[done..], &mut found[done..]);
        self.present.call(
            #[inline(always)]
            || scalar::find(self, numbers, found),
        );
    }

    /// Whether a number lies beyond the limit of the range that it was found in: `limits` has one for each.
    ///
    /// # Panics
    /// Where there are fewer limits than ranges, or there was not one found for each number.
    pub fn exceed(&self, limits: &[L], numbers: &[L], found: &[u16]) -> bool {
        assert!(numbers.len() == found.len(), "a range for each number");
        assert!(limits.len() == usize::from(self.last) + 1, "a limit for each range");
        let (done, beyond) = match self.present.simd() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `present` is what the processor has.
            Simd::Avx512 if self.cells.first.is_empty() => unsafe {
                return few::exceed(limits, numbers, found);
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: likewise.
            Simd::Avx512 => unsafe { avx512::exceed(limits, self.last, numbers, found) },
            _ => (0, false),
        };
        let (numbers, found) = (&numbers[done..], &found[done..]);
        beyond
            || self.present.call(
                #[inline(always)]
                || scalar::exceed(limits, numbers, found),
            )
    }
}

impl<L: Latent> Cells<L> {
    #[expect(clippy::cast_possible_truncation, reason = "at most 2^14 ranges")]
    fn new(lowers: &[L], fine: u32) -> Self {
        let n = lowers.len();
        let middle = lowers[n / 2];
        let (middle64, most) = (middle.widen(), u64::MAX >> (64 - L::WIDTH));
        let side = cell_of(most, fine) + 1;
        let (mut first, mut range) = (Vec::with_capacity(2 * side + 1), 0);
        let (mut widest, mut before) = (0, 0);
        // Left of the middle distances are counted from `middle - 1` downwards.
        let left = (0..side).rev().map(|cell| {
            // The least number is the one farthest away.
            let far = cell_start(cell + 1, fine).wrapping_sub(1);
            middle64.saturating_sub(1).saturating_sub(far)
        });
        let right = (0..side).map(|cell| middle64.saturating_add(cell_start(cell, fine)).min(most));
        for start in left.chain(right) {
            while range + 1 < n && lowers[range + 1].widen() <= start {
                range += 1;
            }
            widest = widest.max(range - before);
            before = range;
            first.push(range as u16);
        }
        widest = widest.max(n - 1 - before);
        first.push(0);
        let steps = usize::BITS - widest.leading_zeros();
        Self { middle, side, first, steps, fine }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::noise;
    use crate::twin_test;

    /// Bounds and numbers of a width: small ones, some of all magnitudes, and the neighbours of bounds.
    fn cases<L: Latent>() -> Vec<(Vec<L>, Vec<L>)> {
        let mut next = noise(21);
        let mut cases = Vec::new();
        for count in [1usize, 2, 3, 10, 16, 17, 32, 33, 64, 65, 100, 129, 500, 3000, MOST] {
            for range in [8, 16, 40, 64] {
                let mut any = || match next() % 4 {
                    0 => next() % 300,
                    1 => u64::MAX - next() % 300,
                    _ => next() >> (64 - range) >> (next() % 5 * range / 5),
                };
                let mut lowers: Vec<L> = (0..count).map(|_| L::from_low(any())).collect();
                lowers.sort_unstable();
                lowers.dedup();
                let mut numbers: Vec<L> = (0..83).map(|_| L::from_low(any())).collect();
                for lower in lowers.iter().take(1000) {
                    let near = [0, 1, u64::MAX];
                    numbers.extend(near.map(|by| L::from_low(lower.widen().wrapping_add(by))));
                }
                cases.push((lowers, numbers));
            }
        }
        cases
    }

    fn find<L: Latent>(simd: Simd, lowers: &[L], numbers: &[L]) -> [Vec<u16>; 2] {
        [0, 1 << 20].map(|n| {
            let mut found = vec![0; numbers.len()];
            Ranges::new(Present::new(simd), lowers.to_vec(), n).find(numbers, &mut found);
            found
        })
    }

    fn check<L: Latent>() {
        for (lowers, numbers) in cases::<L>() {
            let search = |x: &L| lowers.partition_point(|lower| lower <= x).saturating_sub(1);
            let expect: Vec<usize> = numbers.iter().map(search).collect();
            for found in find(Simd::Scalar, &lowers, &numbers) {
                assert_eq!(found.into_iter().map(usize::from).collect::<Vec<_>>(), expect);
            }
        }
    }

    #[test]
    fn finds_what_a_search_finds() {
        check::<u8>();
        check::<u16>();
        check::<u32>();
        check::<u64>();
    }

    twin_test!(all_kernels_find_alike_16, cases::<u16>(), |simd, case| find(
        simd, &case.0, &case.1
    ));
    twin_test!(all_kernels_find_alike_32, cases::<u32>(), |simd, case| find(
        simd, &case.0, &case.1
    ));
    twin_test!(all_kernels_find_alike_64, cases::<u64>(), |simd, case| find(
        simd, &case.0, &case.1
    ));

    /// Limits that some numbers lie beyond: by number, whether it does when it is alone, and whether any does.
    fn exceed<L: Latent>(simd: Simd, lowers: &[L], numbers: &[L]) -> (Vec<bool>, bool) {
        let ranges = Ranges::new(Present::new(simd), lowers.to_vec(), 0);
        let limits: Vec<L> =
            lowers.iter().map(|lower| L::from_low(lower.widen().saturating_add(100))).collect();
        let mut found = vec![0; numbers.len()];
        ranges.find(numbers, &mut found);
        let alone = (0..numbers.len()).map(|i| {
            // Whole vectors of equal numbers.
            let (number, range) = ([numbers[i]; 17], [found[i]; 17]);
            let beyond = ranges.exceed(&limits, &number, &range);
            assert_eq!(beyond, numbers[i] > limits[usize::from(found[i])]);
            beyond
        });
        (alone.collect(), ranges.exceed(&limits, numbers, &found))
    }

    twin_test!(all_kernels_exceed_alike_16, cases::<u16>(), |simd, case| exceed(
        simd, &case.0, &case.1
    ));
    twin_test!(all_kernels_exceed_alike_32, cases::<u32>(), |simd, case| exceed(
        simd, &case.0, &case.1
    ));
    twin_test!(all_kernels_exceed_alike_64, cases::<u64>(), |simd, case| exceed(
        simd, &case.0, &case.1
    ));

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
