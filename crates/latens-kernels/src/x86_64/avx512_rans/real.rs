//! The same by the instructions themselves.

use std::arch::x86_64::__m512i;

use super::rows;
use crate::dispatch::{gathers_are_slow, nearest_cache};
use crate::rans::cursor::Cursor;
use crate::rans::tables::Tables;

/// Bytes of tables up to which four groups take less time than two and two where slots come by single loads and the
/// nearest cache has 32 KiB, as Zen 4's: of more tables it holds the less the more groups there are. With the 48 KiB
/// of a Zen 5 four take less time always.
const FEW: usize = 6 << 14;

/// Whole rows as long as words and symbols do not run out: of four groups at a time, of two, and of what is left
/// of each.
///
/// # Safety
/// Needs AVX-512 as [`crate::dispatch::Simd::Avx512`] has it. Each class of the groups has a table, and there are
/// as many classes as symbols.
pub(crate) unsafe fn together(tables: Tables<'_>, cursors: &mut [Cursor<'_>]) {
    // SAFETY: as the caller vouches.
    unsafe {
        if gathers_are_slow() {
            together_by::<true>(tables, cursors);
        } else {
            together_by::<false>(tables, cursors);
        }
    }
}

/// # Safety
/// As [`together`].
pub(super) unsafe fn together_by<const SINGLE: bool>(
    tables: Tables<'_>,
    cursors: &mut [Cursor<'_>],
) {
    // SAFETY: as the caller vouches.
    unsafe {
        if !SINGLE || size_of_val(tables.slots()) <= FEW || nearest_cache() > 32 {
            let fours = cursors.as_chunks_mut().0;
            fours.iter_mut().for_each(|four| rows_of::<4, SINGLE>(tables, four));
        }
        let twos = cursors.as_chunks_mut().0;
        twos.iter_mut().for_each(|two| rows_of::<2, SINGLE>(tables, two));
        let ones = cursors.as_chunks_mut().0;
        ones.iter_mut().for_each(|one| rows_of::<1, SINGLE>(tables, one));
    }
}

/// # Safety
/// As [`together`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,bmi1,bmi2,popcnt")]
unsafe fn rows_of<const G: usize, const SINGLE: bool>(
    tables: Tables<'_>,
    cursors: &mut [Cursor<'_>; G],
) {
    // SAFETY: as the caller vouches.
    unsafe { rows::<__m512i, G, SINGLE>(tables, cursors) }
}
