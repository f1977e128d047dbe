//! Sums of products, eight at a time; those of a block that is decoded lie in halves, as one of a whole vector
//! takes longer to come by.

use super::avx2_conv1;
use crate::conv1::row::{self, Row};
use std::arch::x86_64::*;

/// The sums of a block.
#[derive(Clone, Copy)]
pub(crate) struct Sums(__m512i);

impl row::Sums for Sums {
    type Singly = avx2_conv1::Sums;
    const HASTE: bool = true;

    #[inline(always)]
    unsafe fn new(biases: &Row) -> Self {
        // SAFETY: the caller's promise; a row is an aligned vector.
        unsafe { Self(_mm512_load_si512(biases.0.as_ptr().cast())) }
    }

    #[inline(always)]
    unsafe fn plus(self, taps: &Row, x: i32) -> Self {
        // SAFETY: the caller's promise; a row is an aligned vector.
        unsafe {
            let taps = _mm512_load_si512(taps.0.as_ptr().cast());
            Self(_mm512_add_epi64(self.0, _mm512_mul_epi32(_mm512_set1_epi32(x), taps)))
        }
    }

    #[inline(always)]
    unsafe fn singly(self) -> avx2_conv1::Sums {
        // SAFETY: the caller's promise.
        unsafe {
            let high = _mm512_extracti64x4_epi64::<1>(self.0);
            avx2_conv1::Sums([_mm512_castsi512_si256(self.0), high])
        }
    }
}
