//! AVX2 kernel of [`crate::trellis`]: all states in two vectors.

use crate::trellis::{Costs, STATE, STATES, parts};
use std::arch::x86_64::*;

/// See [`crate::trellis::ways`].
///
/// # Safety
/// Needs AVX2.
#[target_feature(enable = "avx2")]
pub(crate) unsafe fn ways(
    costs: &Costs,
    places: &[u8],
    sums: &mut [u32; STATES],
    from: &mut [[u8; STATES]],
) {
    let (states, rows) = parts(costs, places);
    let load = |of: *const u32| {
        // SAFETY: twice eight numbers are loaded from sixteen, or from within a row; see where it is called.
        unsafe { [_mm256_loadu_si256(of.cast()), _mm256_loadu_si256(of.add(8).cast())] }
    };
    let states = load(states.as_ptr());
    let state = _mm256_set1_epi32(STATE.cast_signed());
    for (row, from) in rows.zip(from) {
        let mut best = [_mm256_set1_epi32(-1); 2];
        for (j, &sum) in sums.iter().enumerate() {
            let way = _mm256_set1_epi32(sum.cast_signed());
            // SAFETY: rows have 31 numbers, of which these are sixteen.
            let step = load(unsafe { row.as_ptr().add(STATES - 1 - j) });
            for (best, step) in best.iter_mut().zip(step) {
                *best = _mm256_min_epu32(*best, _mm256_add_epi32(way, step));
            }
        }
        // Packed by halves of vectors, whose order is then put right.
        let [low, high] = best.map(|best| _mm256_and_si256(best, state));
        let pairs = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi32(low, high));
        let of =
            _mm_packus_epi16(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256::<1>(pairs));
        // SAFETY: sixteen bytes are stored to as many.
        unsafe { _mm_storeu_si128(from.as_mut_ptr().cast(), of) };
        for ((half, best), states) in sums.as_chunks_mut::<8>().0.iter_mut().zip(best).zip(states) {
            let sum = _mm256_add_epi32(_mm256_andnot_si256(state, best), states);
            // SAFETY: eight numbers are stored to as many.
            unsafe { _mm256_storeu_si256(half.as_mut_ptr().cast(), sum) };
        }
    }
}
