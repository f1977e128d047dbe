//! AVX2 kernel of [`crate::rearrange`]: the low halves of bytes and the high ones each by a shuffle for both halves that
//! they go to.

use std::arch::x86_64::*;

use crate::rearrange::Shuffles;

/// Rearranges two windows after the other, each pair by its shuffles.
///
/// # Safety
/// Needs AVX2.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn rearrange(shuffles: &[Shuffles], vectors: &mut [[u8; 32]]) {
    let half = _mm256_set1_epi8(15);
    for (vector, by) in vectors.iter_mut().zip(shuffles) {
        macro_rules! load {
            ($from:expr) => {
                // SAFETY: 32 bytes are loaded from as many.
                unsafe { _mm256_loadu_si256($from.as_ptr().cast()) }
            };
        }
        let x = load!(vector);
        let low = _mm256_and_si256(x, half);
        let high = _mm256_and_si256(_mm256_srli_epi16::<4>(x), half);
        let [a, b, c, d] = [load!(by[0]), load!(by[1]), load!(by[2]), load!(by[3])];
        let of_low = _mm256_or_si256(_mm256_shuffle_epi8(low, a), _mm256_shuffle_epi8(high, b));
        let of_high = _mm256_or_si256(_mm256_shuffle_epi8(low, c), _mm256_shuffle_epi8(high, d));
        // Below 16, so that nothing goes from byte to byte.
        let out = _mm256_or_si256(of_low, _mm256_slli_epi16::<4>(of_high));
        // SAFETY: 32 bytes are stored to as many.
        unsafe { _mm256_storeu_si256(vector.as_mut_ptr().cast(), out) };
    }
}
