//! AVX2 kernel of [`crate::escapes`].

use crate::escapes::{Set, WIDTH, put_at};
use std::arch::x86_64::*;

/// Puts the next one of `listed` in place of each symbol `escape`; those that are left over, or `None` where they run out.
///
/// # Safety
/// Needs AVX2.
#[target_feature(enable = "avx2,bmi1,popcnt")]
pub(crate) unsafe fn put<'l>(
    escape: u8,
    listed: &'l [u8],
    many: &mut [[u8; WIDTH]],
) -> Option<&'l [u8]> {
    let escapes = _mm256_set1_epi8(escape.cast_signed());
    let mut next = listed.iter();
    for some in many {
        let places = some.as_chunks::<{ WIDTH / 2 }>().0.iter().rev().fold(0, |places, half| {
            // SAFETY: 32 bytes are loaded from as many.
            let x = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
            let same = _mm256_movemask_epi8(_mm256_cmpeq_epi8(x, escapes)).cast_unsigned();
            places << (WIDTH / 2) | u64::from(same)
        });
        put_at(places, &mut next, some)?;
    }
    Some(next.as_slice())
}

/// Appends where members of the set are, a bit each.
///
/// # Safety
/// Needs AVX2.
#[target_feature(enable = "avx2,bmi1,popcnt")]
pub(crate) unsafe fn places(set: &Set, many: &[[u8; WIDTH]], places: &mut Vec<u64>) {
    // SAFETY: 16 bytes are loaded from as many.
    let table = |from: &[u8; 16]| unsafe {
        _mm256_broadcastsi128_si256(_mm_loadu_si128(from.as_ptr().cast()))
    };
    let [below, above] = set.by_low.each_ref().map(table);
    let bits = table(&std::array::from_fn(|high| 1 << (high % 8)));
    let low = _mm256_set1_epi8(15);
    places.extend(many.iter().map(|some| {
        some.as_chunks::<{ WIDTH / 2 }>().0.iter().rev().fold(0, |places, half| {
            // SAFETY: 32 bytes are loaded from as many.
            let x = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
            let (at, high) =
                (_mm256_and_si256(x, low), _mm256_and_si256(_mm256_srli_epi16::<4>(x), low));
            let (below, above) = (_mm256_shuffle_epi8(below, at), _mm256_shuffle_epi8(above, at));
            let (of_low, bit) =
                (_mm256_blendv_epi8(below, above, x), _mm256_shuffle_epi8(bits, high));
            let is_member = _mm256_cmpeq_epi8(_mm256_and_si256(of_low, bit), bit);
            places << (WIDTH / 2) | u64::from(_mm256_movemask_epi8(is_member).cast_unsigned())
        })
    }));
}
