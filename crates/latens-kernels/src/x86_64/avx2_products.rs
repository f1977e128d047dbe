//! AVX2 kernel of [`crate::products`]: eight products in two vectors.

use crate::products::{APART, Apart};
use std::arch::x86_64::*;

/// See [`crate::products::sums`]. Products are not fused with sums, which would round otherwise.
///
/// # Safety
/// Needs AVX2, and the others have no fewer eights than `xs`.
#[target_feature(enable = "avx2")]
pub(crate) unsafe fn apart<const N: usize>(xs: &[Apart], others: [&[Apart]; N]) -> [Apart; N] {
    let mut sums = [[_mm256_setzero_pd(); 2]; N];
    for (i, xs) in xs.iter().enumerate() {
        let xs = halves(xs);
        for (sums, ys) in sums.iter_mut().zip(&others) {
            // SAFETY: there are as many eights, as the caller vouches.
            let ys = halves(unsafe { ys.get_unchecked(i) });
            for (sum, (x, y)) in sums.iter_mut().zip(xs.into_iter().zip(ys)) {
                *sum = _mm256_add_pd(*sum, _mm256_mul_pd(x, y));
            }
        }
    }
    let mut out = [[0.0; APART]; N];
    for (to, sums) in out.iter_mut().zip(sums) {
        for (to, sum) in to.as_chunks_mut::<4>().0.iter_mut().zip(sums) {
            // SAFETY: four numbers are stored to as many.
            unsafe { _mm256_storeu_pd(to.as_mut_ptr(), sum) };
        }
    }
    out
}

#[inline]
#[target_feature(enable = "avx2")]
fn halves(eight: &Apart) -> [__m256d; 2] {
    // SAFETY: twice four numbers are loaded from eight.
    unsafe { [_mm256_loadu_pd(eight.as_ptr()), _mm256_loadu_pd(eight.as_ptr().add(4))] }
}
