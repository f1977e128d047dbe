//! AVX2 kernel of [`crate::escapes`].

use crate::escapes::{WIDTH, put_at};
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
