//! Numbers of 64 bits: a group is two vectors, and one of lanes of 32 bits where fields are short.

use super::group::{
    GROUP, IN_LANES, IN_ONE_WINDOW, PLAIN, QUADS, SHORT, SINGLE, WIDE, one_window, readable_values,
    swap_halves, upper_half, vector, windows,
};
use super::places::{PAIRS, PLACES_64, SHORTS};
use crate::delta::bodies::{Bodies, Run, Runs};
use crate::scalar::delta::decode_run;
use std::arch::x86_64::*;

/// What min_delta alone adds.
#[derive(Clone, Copy)]
struct Steps {
    /// To the values of a group: min_delta · (1, 2, 3, …).
    ramp: [__m256i; 2],
    /// To a whole group.
    group: __m256i,
}

impl Steps {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(min: u64) -> Self {
        let at = |k: u64| min.wrapping_mul(k).cast_signed();
        let ramp = [
            _mm256_setr_epi64x(at(1), at(2), at(3), at(4)),
            _mm256_setr_epi64x(at(5), at(6), at(7), at(8)),
        ];
        Self { ramp, group: _mm256_set1_epi64x(at(8)) }
    }

    /// What a group behind `last` would be with all fields 0.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn next(&self, last: __m256i) -> [__m256i; 2] {
        [_mm256_add_epi64(self.ramp[0], last), _mm256_add_epi64(self.ramp[1], last)]
    }
}

/// See [`crate::delta::Kernel::decode_block`].
///
/// # Safety
/// None beyond the feature: all reads and writes lie within the slices.
#[target_feature(enable = "avx2")]
pub(crate) fn decode_block_u64(bodies: Bodies<'_>, min: u64, last: u64, out: &mut [u64]) -> u64 {
    let steps = Steps::new(min);
    let mut last = _mm256_set1_epi64x(last.cast_signed());
    let mut out = out;
    for run in Runs::new(bodies, out.len()) {
        let (now, rest) = out.split_at_mut(run.values);
        let (groups, tail) = now.split_at_mut(readable_values(&run));
        last = run_u64(&run, last, &steps, groups);
        if !tail.is_empty() {
            let body = run.bytes_from(groups.len());
            let of_tail = decode_run(body, run.width, min, first_u64(last), tail);
            last = _mm256_set1_epi64x(of_tail.cast_signed());
        }
        out = rest;
    }
    first_u64(last)
}

#[inline]
#[target_feature(enable = "avx2")]
fn first_u64(x: __m256i) -> u64 {
    _mm_cvtsi128_si64(_mm256_castsi256_si128(x)).cast_unsigned()
}

/// Decodes whole groups. `last` is the value before them, in all lanes; returned is that before what
/// follows.
#[inline]
#[target_feature(enable = "avx2")]
fn run_u64(run: &Run<'_>, last: __m256i, steps: &Steps, out: &mut [u64]) -> __m256i {
    match run.width {
        0 => constant_u64(last, steps, out),
        width if width <= SHORT => short_u64(run, last, steps, out),
        width if width <= SINGLE => narrow_u64(run, last, steps, out),
        width if width <= QUADS => groups_u64::<IN_ONE_WINDOW>(run, last, steps, out),
        64 => groups_u64::<PLAIN>(run, last, steps, out),
        width if PLACES_64[width as usize].wide => groups_u64::<WIDE>(run, last, steps, out),
        _ => groups_u64::<IN_LANES>(run, last, steps, out),
    }
}

/// Fields of no bits.
#[inline]
#[target_feature(enable = "avx2")]
fn constant_u64(last: __m256i, steps: &Steps, out: &mut [u64]) -> __m256i {
    let mut next = steps.next(last);
    for group in out.chunks_exact_mut(GROUP) {
        store_u64(group, next);
        next = next.map(|x| _mm256_add_epi64(x, steps.group));
    }
    _mm256_sub_epi64(next[0], steps.ramp[0])
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

/// Up to [`SHORT`] bits: all eight fields as bytes of each lane, of which those up to the lane's own are
/// added up at once.
#[inline]
#[target_feature(enable = "avx2")]
fn short_u64(run: &Run<'_>, last: __m256i, steps: &Steps, out: &mut [u64]) -> __m256i {
    let width = run.width as usize;
    debug_assert!(out.len() <= readable_values(run));
    let places = &SHORTS[width];
    let (shuffle, left) = (vector(&places.shuffle), vector(&places.left));
    let field = u64::MAX / 255 * ((1 << run.width) - 1);
    let first = |n: u32| (field << (64 - 8 * n) >> (64 - 8 * n)).cast_signed();
    let keep = [
        _mm256_setr_epi64x(first(1), first(2), first(3), first(4)),
        _mm256_setr_epi64x(first(5), first(6), first(7), first(8)),
    ];
    let all = _mm256_set1_epi64x(first(8));
    // Upper bytes of lanes of 16 bits.
    let upper = _mm256_set1_epi64x(0x0f0d_0b09_0705_0301);
    let zero = _mm256_setzero_si256();
    let mut next = steps.next(last);
    let mut src = run.bytes.as_ptr();
    for group in out.chunks_exact_mut(GROUP) {
        // SAFETY: as in `groups_u32` of `lanes32`; these are 8 bytes.
        let x = _mm256_set1_epi64x(unsafe { src.cast::<i64>().read_unaligned() });
        let x = _mm256_mullo_epi16(_mm256_shuffle_epi8(x, shuffle), left);
        let x = _mm256_shuffle_epi8(x, upper);
        let sum = |keep| _mm256_sad_epu8(_mm256_and_si256(x, keep), zero);
        store_u64(group, [0, 1].map(|i| _mm256_add_epi64(sum(keep[i]), next[i])));
        let total = _mm256_add_epi64(sum(all), steps.group);
        next = next.map(|x| _mm256_add_epi64(x, total));
        src = src.wrapping_add(width);
    }
    _mm256_sub_epi64(next[0], steps.ramp[0])
}

/// Up to [`SINGLE`] bits: unpacked and summed up in lanes of 32 bits, all eight in one vector, the
/// first four fields in the lower and the last four in the upper halves of lanes of 64 bits: a mask
/// and a shift make 64 bits of them, and nothing crosses the register but what is carried.
#[inline]
#[target_feature(enable = "avx2")]
fn narrow_u64(run: &Run<'_>, last: __m256i, steps: &Steps, out: &mut [u64]) -> __m256i {
    let width = run.width as usize;
    debug_assert!(out.len() <= readable_values(run));
    let pairs = &PAIRS[width];
    let shuffle = vector(&pairs.shuffle);
    let right = vector(&pairs.right);
    let mask = _mm256_set1_epi32((u32::MAX >> (32 - run.width)).cast_signed());
    let lower = _mm256_set1_epi64x(0xffff_ffff);
    let upper = upper_half();
    let mut next = steps.next(last);
    let mut src = run.bytes.as_ptr();
    for group in out.chunks_exact_mut(GROUP) {
        // SAFETY: as in `groups_u32` of `lanes32`.
        let mut x = unsafe { one_window(src) };
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
        let total = _mm256_add_epi64(total, steps.group);
        let (low, high) = (_mm256_and_si256(x, lower), _mm256_srli_epi64::<32>(x));
        store_u64(group, [_mm256_add_epi64(low, next[0]), _mm256_add_epi64(high, next[1])]);
        next = [_mm256_add_epi64(next[0], total), _mm256_add_epi64(next[1], total)];
        src = src.wrapping_add(width);
    }
    _mm256_sub_epi64(next[0], steps.ramp[0])
}

/// Any width, four fields at a time in lanes of 64 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn groups_u64<const FORM: u8>(
    run: &Run<'_>,
    mut last: __m256i,
    steps: &Steps,
    out: &mut [u64],
) -> __m256i {
    let width = run.width as usize;
    let places = &PLACES_64[width];
    debug_assert!(out.len() <= readable_values(run));
    let mask = _mm256_set1_epi64x((u64::MAX >> (64 - run.width)).cast_signed());
    // What min_delta adds within a pair: sums of pairs have it, and so has what is made of them.
    let pair = _mm256_permute4x64_epi64::<0b01_00_01_00>(steps.ramp[0]);
    let mut src = run.bytes.as_ptr();
    for group in out.chunks_exact_mut(GROUP) {
        let mut values = [_mm256_setzero_si256(); 2];
        for (i, values) in values.iter_mut().enumerate() {
            let [low, high] = places.window[i];
            // SAFETY: as in `groups_u32` of `lanes32`, with the ninth bytes 8 further on.
            let mut x = unsafe {
                match FORM {
                    PLAIN => _mm256_loadu_si256(src.add(32 * i).cast()),
                    IN_ONE_WINDOW => one_window(src.add(low)),
                    _ => windows(src, low, high),
                }
            };
            if FORM != PLAIN {
                x = _mm256_shuffle_epi8(x, vector(&places.shuffle[i]));
                x = _mm256_srlv_epi64(x, vector(&places.right[i]));
                if FORM == WIDE {
                    // SAFETY: as above.
                    let over = unsafe { windows(src, low + 8, high + 8) };
                    let over = _mm256_shuffle_epi8(over, vector(&places.ninth[i]));
                    let over = _mm256_sllv_epi64(over, vector(&places.left[i]));
                    x = _mm256_or_si256(x, over);
                }
                x = _mm256_and_si256(x, mask);
            }
            let pairs = _mm256_add_epi64(x, _mm256_slli_si256::<8>(x));
            let pairs = _mm256_add_epi64(pairs, pair);
            let total = _mm256_shuffle_epi32::<0xee>(pairs);
            // The upper pair leans on the lower one.
            let with_other = _mm256_add_epi64(last, swap_halves(total));
            let before = _mm256_blend_epi32::<0xf0>(last, with_other);
            last = _mm256_add_epi64(with_other, total);
            *values = _mm256_add_epi64(pairs, before);
        }
        store_u64(group, values);
        src = src.wrapping_add(width);
    }
    last
}
