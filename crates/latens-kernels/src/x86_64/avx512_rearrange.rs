//! AVX-512 kernel of [`crate::rearrange`]: symbols a byte each, two windows of them moved at once.

use std::arch::x86_64::*;

/// Rearranges two windows after the other, each pair by where its symbols come from.
///
/// # Safety
/// Needs AVX-512 as [`crate::dispatch::Simd::Avx512`] has it. Each place is below 32.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn rearrange(from: &[[u8; 64]], vectors: &mut [[u8; 32]]) {
    let half = _mm512_set1_epi16(0x0f0f);
    // The second window's symbols come behind those of the first one.
    let second = _mm512_mask_set1_epi64(_mm512_setzero_si512(), 0xf0, 0x2020_2020_2020_2020);
    // A pair is its first symbol and sixteen times its second one.
    let join = _mm512_set1_epi16(0x1001);
    for (vector, from) in vectors.iter_mut().zip(from) {
        // SAFETY: 32 and 64 bytes are loaded from as many.
        let (pairs, places) = unsafe {
            (_mm256_loadu_si256(vector.as_ptr().cast()), _mm512_loadu_si512(from.as_ptr().cast()))
        };
        let x = _mm512_cvtepu8_epi16(pairs);
        let symbols = _mm512_and_si512(_mm512_or_si512(x, _mm512_slli_epi16::<4>(x)), half);
        let moved = _mm512_permutexvar_epi8(_mm512_or_si512(places, second), symbols);
        let out = _mm512_cvtepi16_epi8(_mm512_maddubs_epi16(moved, join));
        // SAFETY: 32 bytes are stored to as many.
        unsafe { _mm256_storeu_si256(vector.as_mut_ptr().cast(), out) };
    }
}
