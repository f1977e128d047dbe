//! Sums of products, two at a time: a product of 64 bits is one of numbers of 32 bits here, which compilers do not see
//! that they are.

use crate::conv1::row::{self, BLOCK, Row};
use std::arch::aarch64::*;

/// The sums of a block.
#[derive(Clone, Copy)]
pub(crate) struct Sums([int64x2_t; BLOCK / 2]);

impl row::Sums for Sums {
    type Singly = Self;
    const HASTE: bool = true;

    #[inline(always)]
    unsafe fn new(biases: &Row) -> Self {
        let two = |i: usize| {
            // SAFETY: the caller's promise; two of eight numbers.
            unsafe { vld1q_s64(biases.0.as_ptr().add(i)) }
        };
        Self([two(0), two(2), two(4), two(6)])
    }

    #[inline(always)]
    unsafe fn plus(self, taps: &Row, x: i32) -> Self {
        let Self([a, b, c, d]) = self;
        let (low, high) = taps.0.split_at(BLOCK / 2);
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = with_products([a, b], low, x);
            let [c, d] = with_products([c, d], high, x);
            Self([a, b, c, d])
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
        let two = self.0[t / 2];
        // SAFETY: the caller's promise.
        unsafe {
            if t.is_multiple_of(2) { vgetq_lane_s64::<0>(two) } else { vgetq_lane_s64::<1>(two) }
        }
    }
}

/// Four sums with the products of a latent and its taps, of whose 64 bits the upper half says nothing new.
///
/// # Safety
/// Callers are compiled with NEON; there are four taps.
#[inline(always)]
unsafe fn with_products([a, b]: [int64x2_t; 2], taps: &[i64], x: i32) -> [int64x2_t; 2] {
    // SAFETY: the caller's promise: two vectors of taps.
    unsafe {
        let taps = taps.as_ptr().cast::<i32>();
        let taps = vuzp1q_s32(vld1q_s32(taps), vld1q_s32(taps.add(4)));
        let x = vdupq_n_s32(x);
        [vmlal_s32(a, vget_low_s32(taps), vget_low_s32(x)), vmlal_high_s32(b, taps, x)]
    }
}
