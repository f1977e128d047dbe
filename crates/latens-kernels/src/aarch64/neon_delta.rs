//! NEON kernels of [`crate::delta`], for fields of up to [`NARROW`] bits. Wider ones take as many operations in
//! vectors of two as one by one, where they are cut out of a word by one instruction: the portable code has them.
//!
//! Eight fields of width b are exactly b bytes, so where each field lies within a group of eight depends on b
//! alone. A shuffle brings the bytes of each to a lane of 32 bits, which is shifted and masked. Even fields are
//! in one vector and odd ones in another: sums of pairs are one addition, and the sums before each pair are two steps
//! more. What the minimum adds, min_delta · (1, 2, 3, …), is carried with the last value.

use super::neon_places::{PLACES, Places};
use crate::delta::bodies::{Bodies, Run, Runs};
use crate::scalar::delta::decode_run;
use std::arch::aarch64::*;

/// Values in a group.
const GROUP: usize = 8;
/// The widest fields here: in a lane of 32 bits from any bit of its first byte on.
pub(super) const NARROW: usize = 25;
/// A group of fields of up to this width lies in a single window.
pub(super) const SINGLE: usize = 16;
/// A group is read by loads that end at most this many bytes behind it.
const REACH: usize = 16;

/// How many of a run's values lie in whole groups that may be read with the overhang of [`REACH`].
#[inline(always)]
fn readable_values(run: &Run<'_>) -> usize {
    match run.width as usize {
        0 => run.values / GROUP * GROUP,
        width if width <= NARROW => {
            let groups = run.bytes.len().saturating_sub(REACH) / width;
            groups.min(run.values / GROUP) * GROUP
        }
        _ => 0,
    }
}

/// The even fields of a group, and the odd ones.
///
/// # Safety
/// [`REACH`] bytes behind the group may be read.
#[target_feature(enable = "neon")]
#[inline]
unsafe fn fields<const IN_ONE: bool>(places: &Places, src: *const u8) -> [uint32x4_t; 2] {
    // SAFETY: the caller's promise; the second window begins in the middle of the group. Tables are as long as
    // vectors.
    let (windows, shuffles, right) = unsafe {
        let second = if IN_ONE { src } else { src.add(places.second) };
        let shuffles = [0, 1].map(|i| vld1q_u8(places.shuffle[i].as_ptr()));
        let right = [0, 1].map(|i| vld1q_s32(places.right[i].as_ptr()));
        ([vld1q_u8(src), vld1q_u8(second)], shuffles, right)
    };
    let mask = vdupq_n_u32(places.mask);
    let lanes = |i: usize| {
        let lanes = vreinterpretq_u32_u8(vqtbl1q_u8(windows[i], shuffles[i]));
        vandq_u32(vshlq_u32(lanes, right[i]), mask)
    };
    let (a, b) = (lanes(0), lanes(1));
    if IN_ONE { [a, b] } else { [vuzp1q_u32(a, b), vuzp2q_u32(a, b)] }
}

/// The sums of each field and those before it in its group.
#[target_feature(enable = "neon")]
#[inline]
fn running([even, odd]: [uint32x4_t; 2]) -> [uint32x4_t; 2] {
    let zero = vdupq_n_u32(0);
    let pairs = vaddq_u32(even, odd);
    let pairs = vaddq_u32(pairs, vextq_u32::<3>(zero, pairs));
    let with = vaddq_u32(pairs, vextq_u32::<2>(zero, pairs));
    let without = vsubq_u32(with, odd);
    [vzip1q_u32(without, with), vzip2q_u32(without, with)]
}

/// See [`crate::delta::Kernel::decode_block`].
#[target_feature(enable = "neon")]
pub(crate) fn decode_block_u32(bodies: Bodies<'_>, min: u32, last: u32, out: &mut [u32]) -> u32 {
    let at = |k: u32| min.wrapping_mul(k);
    let ramp = |k: u32| {
        let four = [at(k), at(k + 1), at(k + 2), at(k + 3)];
        // SAFETY: a vector of memory.
        unsafe { vld1q_u32(four.as_ptr()) }
    };
    let ramps = [ramp(1), ramp(5)];
    let step = vdupq_n_u32(at(8));
    let (mut out, mut last) = (out, last);
    for run in Runs::new(bodies, out.len()) {
        let (now, rest) = out.split_at_mut(run.values);
        let (groups, tail) = now.split_at_mut(readable_values(&run));
        if !groups.is_empty() {
            let mut next = ramps.map(|ramp| vaddq_u32(ramp, vdupq_n_u32(last)));
            next = match run.width as usize {
                0 => {
                    for group in groups.as_chunks_mut::<GROUP>().0 {
                        store_u32(group, next);
                        next = next.map(|x| vaddq_u32(x, step));
                    }
                    next
                }
                width if width <= SINGLE => groups_u32::<true>(&run, next, step, groups),
                _ => groups_u32::<false>(&run, next, step, groups),
            };
            last = vgetq_lane_u32::<0>(next[0]).wrapping_sub(min);
        }
        if !tail.is_empty() {
            last = decode_run(run.bytes_from(groups.len()), run.width, min, last, tail);
        }
        out = rest;
    }
    last
}

#[target_feature(enable = "neon")]
#[inline]
fn store_u32(group: &mut [u32; GROUP], [low, high]: [uint32x4_t; 2]) {
    // SAFETY: room for eight values.
    unsafe {
        vst1q_u32(group.as_mut_ptr(), low);
        vst1q_u32(group.as_mut_ptr().add(4), high);
    }
}

/// Whole groups. `next` is what the next one would be with all fields 0, `step` is 8 · min_delta.
#[target_feature(enable = "neon")]
#[inline]
fn groups_u32<const IN_ONE: bool>(
    run: &Run<'_>,
    mut next: [uint32x4_t; 2],
    step: uint32x4_t,
    out: &mut [u32],
) -> [uint32x4_t; 2] {
    let width = run.width as usize;
    let places = PLACES[width];
    let mut src = run.bytes.as_ptr();
    for group in out.as_chunks_mut::<GROUP>().0 {
        // SAFETY: `readable_values` has found as many groups to have so much behind them.
        let [low, high] = running(unsafe { fields::<IN_ONE>(&places, src) });
        store_u32(group, [vaddq_u32(next[0], low), vaddq_u32(next[1], high)]);
        let total = vaddq_u32(step, vdupq_laneq_u32::<3>(high));
        next = [vaddq_u32(next[0], total), vaddq_u32(next[1], total)];
        src = src.wrapping_add(width);
    }
    next
}

/// See [`crate::delta::Kernel::decode_block`].
#[target_feature(enable = "neon")]
pub(crate) fn decode_block_u64(bodies: Bodies<'_>, min: u64, last: u64, out: &mut [u64]) -> u64 {
    let ramp = |k: u64| {
        let two = [min.wrapping_mul(k), min.wrapping_mul(k + 1)];
        // SAFETY: a vector of memory.
        unsafe { vld1q_u64(two.as_ptr()) }
    };
    let ramps = [ramp(1), ramp(3), ramp(5), ramp(7)];
    let step = vdupq_n_u64(min.wrapping_mul(8));
    let (mut out, mut last) = (out, last);
    for run in Runs::new(bodies, out.len()) {
        let (now, rest) = out.split_at_mut(run.values);
        let (groups, tail) = now.split_at_mut(readable_values(&run));
        if !groups.is_empty() {
            let mut next = ramps.map(|ramp| vaddq_u64(ramp, vdupq_n_u64(last)));
            next = match run.width as usize {
                0 => {
                    for group in groups.as_chunks_mut::<GROUP>().0 {
                        store_u64(group, next);
                        next = next.map(|x| vaddq_u64(x, step));
                    }
                    next
                }
                width if width <= SINGLE => groups_u64::<true>(&run, next, step, groups),
                _ => groups_u64::<false>(&run, next, step, groups),
            };
            last = vgetq_lane_u64::<0>(next[0]).wrapping_sub(min);
        }
        if !tail.is_empty() {
            last = decode_run(run.bytes_from(groups.len()), run.width, min, last, tail);
        }
        out = rest;
    }
    last
}

#[target_feature(enable = "neon")]
#[inline]
fn store_u64(group: &mut [u64; GROUP], values: [uint64x2_t; 4]) {
    for (two, x) in group.as_chunks_mut::<2>().0.iter_mut().zip(values) {
        // SAFETY: room for two values.
        unsafe { vst1q_u64(two.as_mut_ptr(), x) };
    }
}

/// As [`groups_u32`]: the sums of a group's fields have 28 bits, so that they are widened last.
#[target_feature(enable = "neon")]
#[inline]
fn groups_u64<const IN_ONE: bool>(
    run: &Run<'_>,
    mut next: [uint64x2_t; 4],
    step: uint64x2_t,
    out: &mut [u64],
) -> [uint64x2_t; 4] {
    let width = run.width as usize;
    let places = PLACES[width];
    let mut src = run.bytes.as_ptr();
    for group in out.as_chunks_mut::<GROUP>().0 {
        // SAFETY: as in `groups_u32`.
        let [low, high] = running(unsafe { fields::<IN_ONE>(&places, src) });
        let values = [
            vaddw_u32(next[0], vget_low_u32(low)),
            vaddw_high_u32(next[1], low),
            vaddw_u32(next[2], vget_low_u32(high)),
            vaddw_high_u32(next[3], high),
        ];
        store_u64(group, values);
        let total = vaddw_u32(step, vdup_laneq_u32::<3>(high));
        next = next.map(|x| vaddq_u64(x, total));
        src = src.wrapping_add(width);
    }
    next
}
