//! AVX2 kernel of [`crate::taps`]: the two products of a pair and their sum are one instruction.

use crate::taps::column::{Column, LANES};
use std::arch::x86_64::*;

/// See [`crate::taps::sums`].
///
/// # Safety
/// Needs AVX2.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn sums(weights: &[[i16; 2]], columns: &[Column]) -> [i32; LANES] {
    let mut sums = [_mm256_setzero_si256(); LANES / 8];
    for ([w, x], column) in weights.iter().zip(columns) {
        let pair = i32::from(w.cast_unsigned()) | i32::from(*x) << 16;
        let weight = _mm256_set1_epi32(pair);
        for (sum, lanes) in sums.iter_mut().zip(column.0.as_chunks::<8>().0) {
            // SAFETY: 32 bytes are loaded from eight pairs of two bytes each.
            let lanes = unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) };
            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(lanes, weight));
        }
    }
    let mut out = [0; LANES];
    for (to, sum) in out.as_chunks_mut::<8>().0.iter_mut().zip(sums) {
        // SAFETY: 32 bytes are stored to eight numbers of four bytes.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), sum) };
    }
    out
}
