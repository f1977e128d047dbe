//! Scalar twin of the kernels of [`crate::ranges`].

use crate::latent::Latent;
use crate::ranges::{Cells, Ranges, cell_of};

/// See [`Ranges::find`].
#[inline(always)]
pub(crate) fn find<L: Latent>(ranges: &Ranges<L>, numbers: &[L], found: &mut [u16]) {
    match ranges.cells.steps {
        0 => find_all::<L, 0>(ranges, numbers, found),
        1 => find_all::<L, 1>(ranges, numbers, found),
        2 => find_all::<L, 2>(ranges, numbers, found),
        3 => find_all::<L, 3>(ranges, numbers, found),
        4 => find_all::<L, 4>(ranges, numbers, found),
        5 => find_all::<L, 5>(ranges, numbers, found),
        6 => find_all::<L, 6>(ranges, numbers, found),
        7 => find_all::<L, 7>(ranges, numbers, found),
        8 | 9 => find_all::<L, 9>(ranges, numbers, found),
        _ => find_all::<L, 14>(ranges, numbers, found),
    }
}

/// See [`Ranges::exceed`].
#[inline(always)]
pub(crate) fn exceed<L: Latent>(limits: &[L], numbers: &[L], found: &[u16]) -> bool {
    let beyond = numbers.iter().zip(found).map(|(&x, &range)| x > limits[usize::from(range)]);
    beyond.fold(false, |any, beyond| any | beyond)
}

#[inline(always)]
fn find_all<L: Latent, const STEPS: u32>(ranges: &Ranges<L>, numbers: &[L], found: &mut [u16]) {
    let Ranges { ref lowers, last, ref cells, .. } = *ranges;
    let Cells { middle, side, ref first, fine, .. } = *cells;
    let (lowers, first, middle64) = (&lowers[..], &first[..], middle.widen());
    for (&x, found) in numbers.iter().zip(found) {
        // All ones to the left of the middle. Sums and exclusive ors with it in place of
        // choices, which compilers like to make branches of.
        let left = 0u64.wrapping_sub(u64::from(x < middle));
        let distance = x.widen().wrapping_sub(middle64) ^ left;
        #[expect(clippy::cast_possible_truncation, reason = "small or all ones")]
        let cell = side.wrapping_add(cell_of(distance, fine) ^ left as usize);
        let mut at = usize::from(first[cell]);
        for step in (0..STEPS).rev() {
            at += usize::from(lowers[at + (1 << step)] <= x) << step;
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most 2^14 ranges")]
        let at = at as u16;
        *found = at.min(last);
    }
}
