//! AVX-512 kernel of [`crate::products`]: eight products a vector.

use crate::products::{APART, Apart};
use std::arch::x86_64::*;

/// See [`crate::products::sums`]. Products are not fused with sums, which would round otherwise.
///
/// # Safety
/// Needs AVX-512 F, and the others have no fewer eights than `xs`.
#[target_feature(enable = "avx512f")]
pub(crate) unsafe fn apart<const N: usize>(xs: &[Apart], others: [&[Apart]; N]) -> [Apart; N] {
    let mut sums = [_mm512_setzero_pd(); N];
    for (i, xs) in xs.iter().enumerate() {
        // SAFETY: eight numbers are loaded from as many.
        let xs = unsafe { _mm512_loadu_pd(xs.as_ptr()) };
        for (sum, ys) in sums.iter_mut().zip(&others) {
            // SAFETY: likewise, and there are as many eights, as the caller vouches.
            let ys = unsafe { _mm512_loadu_pd(ys.get_unchecked(i).as_ptr()) };
            *sum = _mm512_add_pd(*sum, _mm512_mul_pd(xs, ys));
        }
    }
    let mut out = [[0.0; APART]; N];
    for (to, sum) in out.iter_mut().zip(sums) {
        // SAFETY: eight numbers are stored to as many.
        unsafe { _mm512_storeu_pd(to.as_mut_ptr(), sum) };
    }
    out
}
