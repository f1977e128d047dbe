//! AVX2 kernels of [`crate::delta`].
//!
//! Eight fields of width b are exactly b bytes, so where each field lies within a group of eight
//! depends on b alone. A group is taken apart like this, with constants from a table by width:
//!
//! 1. load a window of 16 bytes per 128-bit half (or per pair of fields, of 64-bit numbers above 21
//!    bits);
//! 2. shuffle the bytes of each field to its lane;
//! 3. shift each lane right by the field's position within its first byte, and mask;
//! 4. where a field spans one byte more than its lane, bring that byte in from a second shuffle.
//!
//! Then sums within the register in log steps. What is carried from group to group is one vector
//! that holds the last value plus the ramp min_delta · (1, 2, 3, …): the chain from one group to
//! the next is a single addition.

mod places;

use std::arch::x86_64::*;

use places::{PAIRS, PLACES_32, PLACES_64, Places};

use crate::delta::bodies::{Bodies, Run, Runs};
use crate::scalar::delta::decode_run;

/// Values in a group.
const GROUP: usize = 8;
/// Six neighbours of up to this width lie in a window of 16 bytes wherever they begin in a byte,
/// and the sum of eight fits into 32 bits.
const NARROW: u32 = 21;
/// A group of fields of up to this width lies in a single window.
const SINGLE: u32 = 16;

// How the fields of a group lie: what the loops are compiled for.
/// A group in one window.
const IN_ONE_WINDOW: u8 = 0;
/// Each field in the bytes of its lane.
const IN_LANES: u8 = 1;
/// Some fields in one byte more than their lane has.
const WIDE: u8 = 2;
/// Each field is a whole lane.
const PLAIN: u8 = 3;

/// A group is read by loads that end at most this many bytes behind its first byte, plus its
/// width: the window of the last pair begins within the group, the ninth bytes lie 8 further.
const REACH: usize = 24;

#[inline]
#[target_feature(enable = "avx2")]
fn vector(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: a load of the 32 bytes behind the reference; it asks for no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// One window of 16 bytes, in both halves.
///
/// # Safety
/// 16 bytes must be readable from `src` on.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn one_window(src: *const u8) -> __m256i {
    // SAFETY: what the caller promises.
    unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(src.cast())) }
}

/// Two windows of 16 bytes, at `low` and at `high`.
///
/// # Safety
/// 16 bytes must be readable from `src + low` and from `src + high` on.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn windows(src: *const u8, low: usize, high: usize) -> __m256i {
    // SAFETY: what the caller promises.
    unsafe {
        let low = _mm_loadu_si128(src.add(low).cast());
        let high = _mm_loadu_si128(src.add(high).cast());
        _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)
    }
}

/// Both halves of 128 bits, exchanged.
///
/// In assembly, as LLVM turns the intrinsic and the shuffles around it into three instructions
/// that cross the halves where this one will do: see `optimizations.md`.
#[inline]
#[target_feature(enable = "avx2")]
fn swap_halves(x: __m256i) -> __m256i {
    let swapped;
    // SAFETY: AVX2 is enabled; the instruction has no other effect than to set `swapped`.
    unsafe {
        std::arch::asm!("vperm2i128 {}, {}, {}, 1", out(ymm_reg) swapped, in(ymm_reg) x,
            in(ymm_reg) x, options(pure, nomem, nostack, preserves_flags));
    }
    swapped
}

/// All ones in the upper half.
#[inline]
#[target_feature(enable = "avx2")]
fn upper_half() -> __m256i {
    _mm256_setr_epi64x(0, 0, -1, -1)
}

/// How many of a run's values lie in whole groups that may be read with the overhang of [`REACH`].
#[inline(always)]
fn readable_values(run: &Run<'_>) -> usize {
    let width = run.width as usize;
    let groups = run.values / GROUP;
    let need = groups.saturating_mul(width).saturating_add(REACH);
    if need <= run.bytes.len() || width == 0 {
        groups * GROUP
    } else {
        groups.min(run.bytes.len().saturating_sub(REACH) / width) * GROUP
    }
}

// ---------------------------------------------------------------------------------------- 32 bits

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

// ---------------------------------------------------------------------------------------- 64 bits

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
        // SAFETY: as in `groups_u32`.
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
