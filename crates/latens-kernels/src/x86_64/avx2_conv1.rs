//! Sums of products, eight at a time.

use crate::conv1::row::{BLOCK, Row};
use std::arch::x86_64::*;

/// `biases` and the products of each latent with its taps, which are numbers of 32 bits.
///
/// # Safety
/// Callers are compiled with AVX2.
#[inline(always)]
pub(crate) unsafe fn sums(biases: &Row, taps: &[Row], before: &[i32]) -> [i64; BLOCK] {
    // SAFETY: the caller's promise; loads and stores are of whole arrays.
    unsafe {
        let biases = biases.0.as_ptr().cast::<__m256i>();
        let mut sums = [_mm256_loadu_si256(biases), _mm256_loadu_si256(biases.add(1))];
        let ((fours, rest), (before, last)) = (taps.as_chunks::<4>(), before.as_chunks::<4>());
        for (taps, xs) in fours.iter().zip(before) {
            for (taps, &x) in taps.iter().zip(xs) {
                sums = plus(sums, taps, x);
            }
        }
        for (taps, &x) in rest.iter().zip(last) {
            sums = plus(sums, taps, x);
        }
        let [low, high] = sums;
        let mut sums = [0; BLOCK];
        _mm256_storeu_si256(sums.as_mut_ptr().cast(), low);
        _mm256_storeu_si256(sums.as_mut_ptr().add(4).cast(), high);
        sums
    }
}

/// Adds a latent's products with its taps.
///
/// # Safety
/// Callers are compiled with AVX2.
#[inline(always)]
unsafe fn plus([low, high]: [__m256i; 2], taps: &Row, x: i32) -> [__m256i; 2] {
    // SAFETY: the caller's promise; loads are of a whole array.
    unsafe {
        let taps = taps.0.as_ptr().cast::<__m256i>();
        let x = _mm256_set1_epi32(x);
        [
            _mm256_add_epi64(low, _mm256_mul_epi32(x, _mm256_loadu_si256(taps))),
            _mm256_add_epi64(high, _mm256_mul_epi32(x, _mm256_loadu_si256(taps.add(1)))),
        ]
    }
}
