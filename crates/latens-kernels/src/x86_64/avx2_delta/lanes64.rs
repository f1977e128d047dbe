//! Numbers of 64 bits: a group is two vectors, and one of lanes of 32 bits where fields are short.

use super::group::{
    GROUP, IN_LANES, IN_ONE_WINDOW, NARROW, PLAIN, SINGLE, WIDE, one_window, readable_values,
    swap_halves, upper_half, vector, windows,
};
use super::places::{PAIRS, PLACES_64, Places};
use crate::delta::bodies::{Bodies, Run, Runs};
use crate::scalar::delta::decode_run;
use std::arch::x86_64::*;

/// See [`crate::delta::Kernel::decode_block`].
///
/// # Safety
/// None beyond the feature: all reads and writes lie within the slices.
#[target_feature(enable = "avx2")]
pub(crate) fn decode_block_u64(bodies: Bodies<'_>, min: u64, last: u64, out: &mut [u64]) -> u64 {
    let mut next = next_u64(min, last);
    let step = _mm256_set1_epi64x(min.wrapping_mul(8).cast_signed());
    let mut out = out;
    for run in Runs::new(bodies, out.len()) {
        let (now, rest) = out.split_at_mut(run.values);
        let (groups, tail) = now.split_at_mut(readable_values(&run));
        next = run_u64(&run, next, step, groups);
        if !tail.is_empty() {
            let last = first_u64(next[0]).wrapping_sub(min);
            let last = decode_run(run.bytes_from(groups.len()), run.width, min, last, tail);
            next = next_u64(min, last);
        }
        out = rest;
    }
    first_u64(next[0]).wrapping_sub(min)
}

/// What the next group would be with all fields 0.
#[inline]
#[target_feature(enable = "avx2")]
fn next_u64(min: u64, last: u64) -> [__m256i; 2] {
    // The ramp does not wait for the value before it, which comes in last and in one step.
    let at = |k: u64| min.wrapping_mul(k).cast_signed();
    let ramp = [
        _mm256_setr_epi64x(at(1), at(2), at(3), at(4)),
        _mm256_setr_epi64x(at(5), at(6), at(7), at(8)),
    ];
    let last = _mm256_set1_epi64x(last.cast_signed());
    [_mm256_add_epi64(ramp[0], last), _mm256_add_epi64(ramp[1], last)]
}

#[inline]
#[target_feature(enable = "avx2")]
fn first_u64(x: __m256i) -> u64 {
    _mm_cvtsi128_si64(_mm256_castsi256_si128(x)).cast_unsigned()
}

/// Decodes whole groups; see `run_u32`.
#[inline]
#[target_feature(enable = "avx2")]
fn run_u64(run: &Run<'_>, mut next: [__m256i; 2], step: __m256i, out: &mut [u64]) -> [__m256i; 2] {
    if run.width == 0 {
        for group in out.chunks_exact_mut(GROUP) {
            store_u64(group, next);
            next = [_mm256_add_epi64(next[0], step), _mm256_add_epi64(next[1], step)];
        }
        return next;
    }
    if run.width <= SINGLE {
        return narrow_u64::<IN_ONE_WINDOW>(run, next, step, out);
    }
    if run.width <= NARROW {
        return narrow_u64::<IN_LANES>(run, next, step, out);
    }
    let places = &PLACES_64[run.width as usize];
    match run.width {
        64 => groups_u64::<PLAIN>(run, places, next, step, out),
        _ if places.wide => groups_u64::<WIDE>(run, places, next, step, out),
        _ => groups_u64::<IN_LANES>(run, places, next, step, out),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store_u64(group: &mut [u64], values: [__m256i; 2]) {
    let group = &mut group[..GROUP];
    // SAFETY: `group` holds eight values of 8 bytes; the stores ask for no alignment.
    unsafe {
        _mm256_storeu_si256(group.as_mut_ptr().cast(), values[0]);
        _mm256_storeu_si256(group.as_mut_ptr().add(4).cast(), values[1]);
    }
}

/// Up to [`NARROW`] bits: unpacked and summed up in lanes of 32 bits, all eight in one vector, the
/// first four fields in the lower and the last four in the upper halves of lanes of 64 bits: a mask
/// and a shift make 64 bits of them, and nothing crosses the register but what is carried.
#[inline]
#[target_feature(enable = "avx2")]
fn narrow_u64<const FORM: u8>(
    run: &Run<'_>,
    mut next: [__m256i; 2],
    step: __m256i,
    out: &mut [u64],
) -> [__m256i; 2] {
    let width = run.width as usize;
    debug_assert!(out.len() <= readable_values(run));
    let pairs = &PAIRS[width];
    let shuffle = vector(&pairs.shuffle);
    let right = vector(&pairs.right);
    let mask = _mm256_set1_epi32((u32::MAX >> (32 - run.width)).cast_signed());
    let lower = _mm256_set1_epi64x(0xffff_ffff);
    let upper = upper_half();
    let mut src = run.bytes.as_ptr();
    for group in out.chunks_exact_mut(GROUP) {
        // SAFETY: as in `groups_u32` of `lanes32`.
        let mut x = unsafe {
            if FORM == IN_ONE_WINDOW { one_window(src) } else { windows(src, 0, pairs.upper) }
        };
        x = _mm256_srlv_epi32(_mm256_shuffle_epi8(x, shuffle), right);
        x = _mm256_and_si256(x, mask);
        x = _mm256_add_epi32(x, _mm256_slli_si256::<8>(x));
        let own = _mm256_shuffle_epi32::<0xee>(x);
        let other = swap_halves(own);
        x = _mm256_add_epi32(x, _mm256_and_si256(other, upper));
        // The sums of the first and of the last four fields, in all lanes.
        let fours = _mm256_add_epi32(own, other);
        let first = _mm256_slli_epi64::<32>(fours);
        x = _mm256_add_epi32(x, first);
        let total = _mm256_srli_epi64::<32>(_mm256_add_epi32(fours, first));
        let total = _mm256_add_epi64(total, step);
        let (low, high) = (_mm256_and_si256(x, lower), _mm256_srli_epi64::<32>(x));
        store_u64(group, [_mm256_add_epi64(low, next[0]), _mm256_add_epi64(high, next[1])]);
        next = [_mm256_add_epi64(next[0], total), _mm256_add_epi64(next[1], total)];
        src = src.wrapping_add(width);
    }
    next
}

#[inline]
#[target_feature(enable = "avx2")]
fn groups_u64<const FORM: u8>(
    run: &Run<'_>,
    places: &Places<2>,
    mut next: [__m256i; 2],
    step: __m256i,
    out: &mut [u64],
) -> [__m256i; 2] {
    let width = run.width as usize;
    debug_assert!(out.len() <= readable_values(run));
    let mask = _mm256_set1_epi64x((u64::MAX >> (64 - run.width)).cast_signed());
    let upper = upper_half();
    let mut src = run.bytes.as_ptr();
    for group in out.chunks_exact_mut(GROUP) {
        let mut x = [_mm256_setzero_si256(); 2];
        let mut totals = x;
        for (half, (x, total)) in x.iter_mut().zip(&mut totals).enumerate() {
            let [low, high] = places.window[half];
            // SAFETY: as in `groups_u32`, with the ninth bytes 8 further on.
            let mut fields = unsafe {
                match FORM {
                    PLAIN => _mm256_loadu_si256(src.add(32 * half).cast()),
                    _ => windows(src, low, high),
                }
            };
            if FORM != PLAIN {
                fields = _mm256_shuffle_epi8(fields, vector(&places.shuffle[half]));
                fields = _mm256_srlv_epi64(fields, vector(&places.right[half]));
                if FORM == WIDE {
                    // SAFETY: as above.
                    let over = unsafe { windows(src, low + 8, high + 8) };
                    let over = _mm256_shuffle_epi8(over, vector(&places.ninth[half]));
                    let over = _mm256_sllv_epi64(over, vector(&places.left[half]));
                    fields = _mm256_or_si256(fields, over);
                }
                fields = _mm256_and_si256(fields, mask);
            }
            fields = _mm256_add_epi64(fields, _mm256_slli_si256::<8>(fields));
            let own = _mm256_shuffle_epi32::<0xee>(fields);
            let other = swap_halves(own);
            *total = _mm256_add_epi64(own, other);
            *x = _mm256_add_epi64(fields, _mm256_and_si256(other, upper));
        }
        x[1] = _mm256_add_epi64(x[1], totals[0]);
        let total = _mm256_add_epi64(_mm256_add_epi64(totals[0], totals[1]), step);
        store_u64(group, [_mm256_add_epi64(x[0], next[0]), _mm256_add_epi64(x[1], next[1])]);
        next = [_mm256_add_epi64(next[0], total), _mm256_add_epi64(next[1], total)];
        src = src.wrapping_add(width);
    }
    next
}
