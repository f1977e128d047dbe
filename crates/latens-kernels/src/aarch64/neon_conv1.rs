//! Sums of products, two at a time: a product of 64 bits is one of numbers of 32 bits here, which compilers do not see
//! that they are.

use crate::conv1::row::{self, BLOCK, HALF, HalfRow, Row};
use std::arch::aarch64::*;

/// The sums of a block.
#[derive(Clone, Copy)]
pub(crate) struct Sums([int64x2_t; BLOCK / 2]);

impl row::Sums for Sums {
    type Late = [int64x2_t; HALF / 2];

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
        let (low, high) = taps.0.split_at(HALF);
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = with_products([a, b], low, x);
            let [c, d] = with_products([c, d], high, x);
            Self([a, b, c, d])
        }
    }

    #[inline(always)]
    unsafe fn halves(self) -> ([i64; HALF], Self::Late) {
        let Self([a, b, c, d]) = self;
        // SAFETY: the caller's promise.
        unsafe { (one_by_one([a, b]), [c, d]) }
    }

    #[inline(always)]
    unsafe fn late(
        mut late: Self::Late,
        taps: &[HalfRow; HALF],
        since: &[i32; HALF],
    ) -> [i64; HALF] {
        // SAFETY: the caller's promise.
        unsafe {
            for (taps, &x) in taps.iter().zip(since) {
                late = with_products(late, &taps.0, x);
            }
            one_by_one(late)
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

/// # Safety
/// Callers are compiled with NEON.
#[inline(always)]
unsafe fn one_by_one([a, b]: [int64x2_t; 2]) -> [i64; HALF] {
    // SAFETY: the caller's promise.
    unsafe {
        [
            vgetq_lane_s64::<0>(a),
            vgetq_lane_s64::<1>(a),
            vgetq_lane_s64::<0>(b),
            vgetq_lane_s64::<1>(b),
        ]
    }
}
