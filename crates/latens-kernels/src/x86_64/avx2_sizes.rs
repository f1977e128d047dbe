//! AVX2 kernel of [`crate::sizes`].

use crate::sizes::{Run, by_runs, scalar};
use std::arch::x86_64::*;

/// Symbols of a vector.
pub(crate) const WIDTH: usize = 32;

/// The sum of the distances of symbols from `centre`, as [`crate::sizes::sum`] says.
///
/// # Safety
/// Needs AVX2.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn sum(vectors: &[[u8; WIDTH]], centre: u8, mask: u8) -> u64 {
    // Of four bits sizes are looked up.
    let is_few = mask <= 15;
    let zero = _mm256_setzero_si256();
    let (centre, mask) =
        (_mm256_set1_epi8(centre.cast_signed()), _mm256_set1_epi8(mask.cast_signed()));
    let size = |symbols: __m256i| {
        let d = _mm256_sub_epi8(symbols, centre);
        let above = _mm256_and_si256(d, mask);
        let below = _mm256_and_si256(_mm256_sub_epi8(zero, d), mask);
        _mm256_min_epu8(above, below)
    };
    let mut sums = zero;
    if is_few {
        let few = _mm256_set1_epi8(15);
        let all = _mm_set_epi64x(0x0f0e_0d0c_0b0a_0908, 0x0706_0504_0302_0100);
        let sizes = size(_mm256_broadcastsi128_si256(all));
        for vector in vectors {
            // SAFETY: 32 bytes are loaded from as many.
            let symbols = unsafe { _mm256_loadu_si256(vector.as_ptr().cast()) };
            let size = _mm256_shuffle_epi8(sizes, _mm256_and_si256(symbols, few));
            sums = _mm256_add_epi64(sums, _mm256_sad_epu8(size, zero));
        }
    } else {
        for vector in vectors {
            // SAFETY: 32 bytes are loaded from as many.
            let symbols = unsafe { _mm256_loadu_si256(vector.as_ptr().cast()) };
            sums = _mm256_add_epi64(sums, _mm256_sad_epu8(size(symbols), zero));
        }
    }
    let two = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
    let one = _mm_add_epi64(two, _mm_unpackhi_epi64(two, two));
    _mm_cvtsi128_si64(one).cast_unsigned()
}

/// As [`crate::sizes::sum_of_runs`].
///
/// # Safety
/// Needs AVX2.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn sum_of_runs(symbols: &[u8], runs: &[Run], mask: u8) -> f32 {
    by_runs(symbols, runs, |symbols, centre| {
        let (vectors, rest) = symbols.as_chunks::<WIDTH>();
        // SAFETY: as the caller vouches.
        unsafe { sum(vectors, centre, mask) + scalar(rest, centre, mask) }
    })
}
