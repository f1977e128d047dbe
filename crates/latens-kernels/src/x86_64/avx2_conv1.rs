//! Sums of products, four at a time.

use crate::conv1::row::{self, HALF, HalfRow, Row};
use std::arch::x86_64::*;
use std::mem::transmute;

/// The sums of a block.
#[derive(Clone, Copy)]
pub(crate) struct Sums([__m256i; 2]);

impl row::Sums for Sums {
    type Late = __m256i;

    #[inline(always)]
    unsafe fn new(biases: &Row) -> Self {
        // SAFETY: the caller's promise; loads are of halves of a line.
        unsafe { Self(halves(biases)) }
    }

    #[inline(always)]
    unsafe fn plus(self, taps: &Row, x: i32) -> Self {
        let Self([low, high]) = self;
        // SAFETY: the caller's promise; loads are of halves of a line.
        unsafe {
            let (x, taps) = (_mm256_set1_epi32(x), halves(taps));
            Self([
                _mm256_add_epi64(low, _mm256_mul_epi32(x, taps[0])),
                _mm256_add_epi64(high, _mm256_mul_epi32(x, taps[1])),
            ])
        }
    }

    #[inline(always)]
    unsafe fn halves(self) -> ([i64; HALF], __m256i) {
        // SAFETY: any bits are numbers.
        unsafe { (transmute::<__m256i, [i64; HALF]>(self.0[0]), self.0[1]) }
    }

    #[inline(always)]
    unsafe fn late(late: __m256i, taps: &[HalfRow; HALF], since: &[i32; HALF]) -> [i64; HALF] {
        // SAFETY: the caller's promise.
        unsafe { late_sums(late, taps, since) }
    }
}

/// # Safety
/// Callers are compiled with AVX2.
#[inline(always)]
unsafe fn halves(row: &Row) -> [__m256i; 2] {
    let row = row.0.as_ptr().cast::<__m256i>();
    // SAFETY: the caller's promise; a row is two aligned vectors.
    unsafe { [_mm256_load_si256(row), _mm256_load_si256(row.add(1))] }
}

/// Sums with the products of latents and their taps, one by one.
///
/// # Safety
/// Callers are compiled with AVX2.
#[inline(always)]
pub(super) unsafe fn late_sums(
    mut sums: __m256i,
    taps: &[HalfRow; HALF],
    since: &[i32; HALF],
) -> [i64; HALF] {
    // SAFETY: the caller's promise; half a row is an aligned vector, and any bits are numbers.
    unsafe {
        for (taps, &x) in taps.iter().zip(since) {
            let taps = _mm256_load_si256(taps.0.as_ptr().cast());
            sums = _mm256_add_epi64(sums, _mm256_mul_epi32(_mm256_set1_epi32(x), taps));
        }
        transmute::<__m256i, [i64; HALF]>(sums)
    }
}
