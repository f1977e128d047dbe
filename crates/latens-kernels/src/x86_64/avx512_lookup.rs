//! AVX-512 kernel of [`crate::lookup`]: all 256 bytes of the table are in four vectors.

use std::arch::x86_64::*;

/// Bytes of a vector.
pub(crate) const WIDTH: usize = 64;

/// Replaces each byte by what `table` has for it.
///
/// # Safety
/// Needs AVX-512.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(crate) unsafe fn replace(table: &[u8; 256], vectors: &mut [[u8; WIDTH]]) {
    let mut quarters = [_mm512_setzero_si512(); 4];
    for (quarter, from) in quarters.iter_mut().zip(table.as_chunks::<WIDTH>().0) {
        // SAFETY: 64 bytes are loaded from as many.
        *quarter = unsafe { _mm512_loadu_si512(from.as_ptr().cast()) };
    }
    let [a, b, c, d] = quarters;
    for vector in vectors {
        // SAFETY: 64 bytes are loaded from as many.
        let x = unsafe { _mm512_loadu_si512(vector.as_ptr().cast()) };
        let (low, high) = (_mm512_permutex2var_epi8(a, x, b), _mm512_permutex2var_epi8(c, x, d));
        let out = _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), low, high);
        // SAFETY: 64 bytes are stored to as many.
        unsafe { _mm512_storeu_si512(vector.as_mut_ptr().cast(), out) };
    }
}
