//! Numbers of 32 bits: a group is one vector.

use super::group::{
    GROUP, IN_LANES, IN_ONE_WINDOW, PLAIN, SINGLE, WIDE, one_window, readable_values, swap_halves,
    upper_half, vector, windows,
};
use super::places::{PLACES_32, Places};
use crate::delta::bodies::{Bodies, Run, Runs};
use crate::scalar::delta::decode_run;
use std::arch::x86_64::*;

/// See [`crate::delta::Kernel::decode_block`].
///
/// # Safety
/// None beyond the feature: all reads and writes lie within the slices.
#[target_feature(enable = "avx2")]
pub(crate) fn decode_block_u32(bodies: Bodies<'_>, min: u32, last: u32, out: &mut [u32]) -> u32 {
    let ramp = _mm256_mullo_epi32(
        _mm256_set1_epi32(min.cast_signed()),
        _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 8),
    );
    let mut next = _mm256_add_epi32(_mm256_set1_epi32(last.cast_signed()), ramp);
    let step = _mm256_set1_epi32(min.wrapping_mul(8).cast_signed());
    let mut out = out;
    for run in Runs::new(bodies, out.len()) {
        let (now, rest) = out.split_at_mut(run.values);
        let whole = if run.width > 32 { 0 } else { readable_values(&run) };
        let (groups, tail) = now.split_at_mut(whole);
        next = run_u32(&run, next, step, groups);
        if !tail.is_empty() {
            let last = first_u32(next).wrapping_sub(min);
            let last = decode_run(run.bytes_from(whole), run.width, min, last, tail);
            next = _mm256_add_epi32(_mm256_set1_epi32(last.cast_signed()), ramp);
        }
        out = rest;
    }
    first_u32(next).wrapping_sub(min)
}

#[inline]
#[target_feature(enable = "avx2")]
fn first_u32(x: __m256i) -> u32 {
    _mm256_cvtsi256_si32(x).cast_unsigned()
}

/// Decodes whole groups. `next` is what the next group would be with all fields 0, `step` is
/// 8 · min_delta.
#[inline]
#[target_feature(enable = "avx2")]
fn run_u32(run: &Run<'_>, mut next: __m256i, step: __m256i, out: &mut [u32]) -> __m256i {
    if out.is_empty() {
        return next;
    }
    if run.width == 0 {
        for group in out.chunks_exact_mut(GROUP) {
            // SAFETY: `group` holds eight values of 4 bytes; the store asks for no alignment.
            unsafe { _mm256_storeu_si256(group.as_mut_ptr().cast(), next) };
            next = _mm256_add_epi32(next, step);
        }
        return next;
    }
    let places = &PLACES_32[run.width as usize];
    match run.width {
        ..=SINGLE => groups_u32::<IN_ONE_WINDOW>(run, places, next, step, out),
        32 => groups_u32::<PLAIN>(run, places, next, step, out),
        _ if places.wide => groups_u32::<WIDE>(run, places, next, step, out),
        _ => groups_u32::<IN_LANES>(run, places, next, step, out),
    }
}

/// Of sums within the halves: for each half the total of the other half, and of both halves.
#[inline]
#[target_feature(enable = "avx2")]
fn halves_u32(x: __m256i) -> (__m256i, __m256i) {
    let own = _mm256_shuffle_epi32::<0xff>(x);
    let other = swap_halves(own);
    (other, _mm256_add_epi32(own, other))
}

#[inline]
#[target_feature(enable = "avx2")]
fn groups_u32<const FORM: u8>(
    run: &Run<'_>,
    places: &Places<1>,
    mut next: __m256i,
    step: __m256i,
    out: &mut [u32],
) -> __m256i {
    let width = run.width as usize;
    debug_assert!(out.len() <= readable_values(run));
    let shuffle = vector(&places.shuffle[0]);
    let ninth = vector(&places.ninth[0]);
    let right = vector(&places.right[0]);
    let left = vector(&places.left[0]);
    let mask = _mm256_set1_epi32((u32::MAX >> (32 - run.width)).cast_signed());
    let upper = upper_half();
    let [low, high] = places.window[0];
    let mut src = run.bytes.as_ptr();
    for group in out.chunks_exact_mut(GROUP) {
        // SAFETY: the windows begin within the group's `width` bytes and end, with the 4 bytes
        // that a wide one lies further on, less than REACH behind them; `out` has no more groups
        // than `readable_values` found to have that much left of `run.bytes`.
        let mut x = unsafe {
            match FORM {
                PLAIN => _mm256_loadu_si256(src.cast()),
                IN_ONE_WINDOW => one_window(src),
                _ => windows(src, low, high),
            }
        };
        if FORM != PLAIN {
            x = _mm256_srlv_epi32(_mm256_shuffle_epi8(x, shuffle), right);
            if FORM == WIDE {
                // SAFETY: as above.
                let over = unsafe { windows(src, low + 4, high + 4) };
                let over = _mm256_sllv_epi32(_mm256_shuffle_epi8(over, ninth), left);
                x = _mm256_or_si256(x, over);
            }
            x = _mm256_and_si256(x, mask);
        }
        x = _mm256_add_epi32(x, _mm256_slli_si256::<4>(x));
        x = _mm256_add_epi32(x, _mm256_slli_si256::<8>(x));
        let (within, total) = halves_u32(x);
        x = _mm256_add_epi32(x, _mm256_and_si256(within, upper));
        let total = _mm256_add_epi32(total, step);
        // SAFETY: `group` holds eight values of 4 bytes; the store asks for no alignment.
        unsafe {
            _mm256_storeu_si256(group.as_mut_ptr().cast(), _mm256_add_epi32(x, next));
        }
        next = _mm256_add_epi32(next, total);
        src = src.wrapping_add(width);
    }
    next
}
