//! The same by the instructions themselves.

use std::arch::x86_64::__m512i;

use super::rows;
use crate::dispatch::{gathers_are_slow, nearest_cache};
use crate::rans::classes::{Classes, Levels};
use crate::rans::cursor::Cursor;
use crate::rans::state::LANES;
use crate::rans::tables::Tables;
use crate::x86_64::lanes512::WIDTH;

/// Bytes of tables up to which four groups take less time than two and two where slots come by single loads and the
/// nearest cache has 32 KiB, as Zen 4's: of more tables it holds the less the more groups there are. With the 48 KiB
/// of a Zen 5 four take less time always.
const FEW: usize = 6 << 14;

/// Whole rows as long as words and symbols do not run out: of four groups at a time, and of what is left, of five
/// together as [`five`] says.
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
        if SINGLE && size_of_val(tables.slots()) > FEW && nearest_cache() <= 32 {
            return twos::<SINGLE>(tables, cursors);
        }
        let fours = (cursors.len() / 4).saturating_sub(usize::from(cursors.len() % 4 == 1));
        let (fours, rest) = cursors.split_at_mut(4 * fours);
        for four in fours.as_chunks_mut().0 {
            rows_of::<4, SINGLE>(tables, four, usize::MAX);
            // Where the last one is shorter.
            threes::<SINGLE>(tables, four);
        }
        match rest.first_chunk_mut() {
            Some(all) => five::<SINGLE>(tables, all),
            None => threes::<SINGLE>(tables, rest),
        }
        // What is left of some where others ended.
        twos::<SINGLE>(tables, cursors);
    }
}

/// Of the first three, where there are so many.
///
/// # Safety
/// As [`together`].
unsafe fn threes<const SINGLE: bool>(tables: Tables<'_>, cursors: &mut [Cursor<'_>]) {
    if let Some(three) = cursors.first_chunk_mut() {
        // SAFETY: as the caller vouches.
        unsafe { rows_of::<3, SINGLE>(tables, three, usize::MAX) }
    }
}

/// Of two at a time, and of what is left of each.
///
/// # Safety
/// As [`together`].
unsafe fn twos<const SINGLE: bool>(tables: Tables<'_>, cursors: &mut [Cursor<'_>]) {
    // SAFETY: as the caller vouches.
    unsafe {
        for two in cursors.as_chunks_mut().0 {
            rows_of::<2, SINGLE>(tables, two, usize::MAX);
        }
        for one in cursors.as_chunks_mut().0 {
            rows_of::<1, SINGLE>(tables, one, usize::MAX);
        }
    }
}

/// The last one half with the first two, half with the others, and what these four have left together: one alone would
/// take as long as two, and two almost as long as three.
///
/// # Safety
/// As [`together`].
unsafe fn five<const SINGLE: bool>(tables: Tables<'_>, cursors: &mut [Cursor<'_>; 5]) {
    let [rows @ .., last] = cursors.each_ref().map(|c| c.left() / LANES);
    // Rows of lanes after which columns are the same: else groups are not alike.
    let period = match cursors[4].classes {
        Classes::Levels(Levels { cols, .. }) => (cols.len() / LANES).max(1),
        _ => 1,
    };
    // Where the last one is as long as the others its words may run out there, a few rows early.
    let end = if rows.iter().all(|&rows| last < rows) { 0 } else { period.next_multiple_of(WIDTH) };
    let half = (last / 2).next_multiple_of(period);
    // SAFETY: as the caller vouches.
    unsafe {
        cursors.swap(2, 4);
        if let Some(three) = cursors.first_chunk_mut() {
            rows_of::<3, SINGLE>(tables, three, half);
        }
        if let Some(three) = cursors.last_chunk_mut() {
            rows_of::<3, SINGLE>(tables, three, last.saturating_sub(half + end));
        }
        cursors.swap(2, 4);
        if let Some(four) = cursors.first_chunk_mut() {
            rows_of::<4, SINGLE>(tables, four, usize::MAX);
        }
    }
}

/// # Safety
/// As [`together`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,bmi1,bmi2,popcnt")]
unsafe fn rows_of<const G: usize, const SINGLE: bool>(
    tables: Tables<'_>,
    cursors: &mut [Cursor<'_>; G],
    most: usize,
) {
    // SAFETY: as the caller vouches.
    unsafe { rows::<__m512i, G, SINGLE>(tables, cursors, most) }
}
