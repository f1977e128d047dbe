//! AVX-512 kernel of [`crate::escapes`]: the list is spread out under the mask of its places, without a branch, as
//! which vectors have one is chance.

use crate::escapes::{Set, WIDTH};
use std::arch::x86_64::*;

/// Puts the next one of `listed` in place of each symbol `escape`; those that are left over, or `None` where they run out.
///
/// # Safety
/// Needs AVX-512 as [`crate::dispatch::Simd::Avx512`] has it.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn put<'l>(
    escape: u8,
    mut listed: &'l [u8],
    mut many: &mut [[u8; WIDTH]],
) -> Option<&'l [u8]> {
    // SAFETY: as the caller vouches.
    let done = unsafe { whole(escape, &mut listed, many) };
    many = &mut many[done..];
    // Fewer than a vector are left, and zeros behind them.
    let mut last = [0; 2 * WIDTH];
    let left = listed.len().min(WIDTH);
    last[..left].copy_from_slice(&listed[..left]);
    let (mut rest, all) = (&last[..], many.len());
    // SAFETY: as the caller vouches.
    let done = unsafe { whole(escape, &mut rest, many) };
    let used = last.len() - rest.len();
    // More than there are would have come to the zeros.
    (used <= left && done == all).then(|| &listed[used..])
}

/// The same as long as a vector of `listed` is left; how many vectors that is.
///
/// # Safety
/// As [`put`].
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx2,bmi1,bmi2,popcnt")]
unsafe fn whole(escape: u8, listed: &mut &[u8], many: &mut [[u8; WIDTH]]) -> usize {
    let escapes = _mm512_set1_epi8(escape.cast_signed());
    let (mut next, all) = (*listed, many.len());
    for (done, some) in many.iter_mut().enumerate() {
        let Some((from, _)) = next.split_first_chunk::<WIDTH>() else {
            *listed = next;
            return done;
        };
        // SAFETY: 64 bytes are loaded from as many.
        let x = unsafe { _mm512_loadu_si512(some.as_ptr().cast()) };
        // SAFETY: as above.
        let from = unsafe { _mm512_loadu_si512(from.as_ptr().cast()) };
        let places = _mm512_cmpeq_epi8_mask(x, escapes);
        let put = _mm512_mask_expand_epi8(x, places, from);
        // SAFETY: 64 bytes are stored to as many.
        unsafe { _mm512_storeu_si512(some.as_mut_ptr().cast(), put) };
        next = &next[places.count_ones() as usize..];
    }
    *listed = next;
    all
}

/// Appends where members of the set are, a bit each.
///
/// # Safety
/// As [`put`].
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn places(set: &Set, many: &[[u8; WIDTH]], places: &mut Vec<u64>) {
    // SAFETY: 64 bytes are loaded from as many.
    let load = |from: &[u8; WIDTH]| unsafe { _mm512_loadu_si512(from.as_ptr().cast()) };
    let [a, b, c, d] = set.members.as_chunks().0 else { return };
    let (a, b, c, d) = (load(a), load(b), load(c), load(d));
    places.extend(many.iter().map(|some| {
        let x = load(some);
        let (low, high) = (_mm512_permutex2var_epi8(a, x, b), _mm512_permutex2var_epi8(c, x, d));
        let of_high = _mm512_movepi8_mask(x);
        _mm512_movepi8_mask(_mm512_mask_blend_epi8(of_high, low, high))
    }));
}
