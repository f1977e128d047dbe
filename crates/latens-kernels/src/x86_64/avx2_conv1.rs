//! Sums of products, four at a time.

use crate::conv1::row::{self, Row};
use std::arch::asm;
use std::arch::x86_64::*;

/// The sums of a block.
#[derive(Clone, Copy)]
pub(crate) struct Sums(pub(super) [__m256i; 2]);

impl row::Sums for Sums {
    type Singly = Self;
    const HASTE: bool = true;

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
    unsafe fn singly(self) -> Self {
        self
    }
}

impl row::Singly for Sums {
    #[inline(always)]
    unsafe fn sum(self, t: usize) -> i64 {
        // SAFETY: the caller's promise.
        unsafe {
            let half = whole(self.0[t / 4]);
            match t % 4 {
                0 => _mm256_extract_epi64::<0>(half),
                1 => _mm256_extract_epi64::<1>(half),
                2 => _mm256_extract_epi64::<2>(half),
                _ => _mm256_extract_epi64::<3>(half),
            }
        }
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

/// Keeps the compiler from making products of their own of those that a vector has.
#[inline]
#[target_feature(enable = "avx2")]
fn whole(mut x: __m256i) -> __m256i {
    // SAFETY: no instruction.
    unsafe {
        asm!("/* {0} */", inout(ymm_reg) x, options(pure, nomem, nostack, preserves_flags));
    }
    x
}
