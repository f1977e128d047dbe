//! AVX-512 kernels of [`crate::rans`]: two vectors of sixteen states to a group, and up to four
//! groups side by side. Of five none is decoded alone.
//!
//! Slots come by gather, or by single loads where gathers are slow; the states below 2^16 make a mask, and one
//! expansion under it brings the next words of the stream to the lanes that take them. A row of one group waits
//! about sixty cycles for itself, so that one group or two leave most of the processor idle. What it holds in flight
//! is little more than a row: what can be known early is found a row ahead, and of four groups one looks up while
//! another one takes its words.
//!
//! All of it is generic over [`Lanes`] and tested through the portable model of its operations.

#[cfg(target_arch = "x86_64")]
mod real;
mod row;
#[cfg(test)]
mod tests;

use crate::rans::classes::{Classes, Levels};
use crate::rans::cursor::Cursor;
use crate::rans::state::{LANES, LOWER};
use crate::rans::tables::{NTH, Tables};
use crate::x86_64::lanes512::{Lanes, SECOND, WIDTH};
#[cfg(target_arch = "x86_64")]
pub(crate) use real::together;
use row::{
    Constants, LEVELS, ONE, PER_ROW, PER_SYMBOL, Place, VECTORS, bases, numbers, table, take,
};

/// Groups that take up more bytes do not lie one after the other.
const FAR: usize = 1 << 21;
/// The longest map that is scaled.
const MOST_SCALED: usize = 1 << 13;

/// Whole rows of `G` groups, up to `most`, as long as none's words or symbols run out; none where their
/// classes or spacings are not alike. `SINGLE`: slots by single loads.
///
/// # Safety
/// As [`Lanes`] says; each class of the groups has a table, and there are as many classes as
/// symbols.
#[inline(always)]
unsafe fn rows<V: Lanes, const G: usize, const SINGLE: bool>(
    tables: Tables<'_>,
    cursors: &mut [Cursor<'_>; G],
    most: usize,
) {
    if cursors.iter().any(|c| c.spacing != cursors[0].spacing) {
        return;
    }
    // SAFETY: as the caller vouches; the kinds are those of all groups.
    unsafe {
        if cursors.iter().all(|c| matches!(c.classes, Classes::One(_))) {
            return rows_by::<V, G, ONE, SINGLE>(tables, None, cursors, most);
        }
        if cursors.iter().all(|c| matches!(c.classes, Classes::PerSymbol(_))) {
            return rows_by::<V, G, PER_SYMBOL, SINGLE>(tables, None, cursors, most);
        }
        let (Classes::Levels(Levels { cols, map, highest, .. }), at) =
            (cursors[0].classes, cursors[0].written)
        else {
            return;
        };
        // They need not have come as far, but to the same column.
        let alike = |c: &Cursor<'_>| match c.classes {
            Classes::Levels(levels) => {
                std::ptr::eq(levels.cols, cols)
                    && std::ptr::eq(levels.map, map)
                    && c.written.abs_diff(at).is_multiple_of(cols.len())
            }
            _ => false,
        };
        if !cursors.iter().all(alike) {
            return;
        }
        if highest == 0 {
            return rows_by::<V, G, PER_ROW, SINGLE>(tables, Some((&[], map)), cursors, most);
        }
        // Classes as the second bytes of where their tables begin, where that is what they fit in.
        let mut scaled = [0; MOST_SCALED];
        let Some(scaled) = scaled.get_mut(..map.len()) else { return };
        let Some(by) = tables.bits().checked_sub(8) else { return };
        for (scaled, &class) in scaled.iter_mut().zip(map) {
            if class.leading_zeros() < by {
                return;
            }
            *scaled = class << by;
        }
        rows_by::<V, G, LEVELS, SINGLE>(tables, Some((cols, scaled)), cursors, most);
    }
}

/// # Safety
/// As [`rows`]; the groups have one spacing, and classes of this kind, with this map, and for [`LEVELS`] with these
/// levels of columns and the map scaled.
#[inline(always)]
unsafe fn rows_by<V: Lanes, const G: usize, const KIND: u8, const SINGLE: bool>(
    tables: Tables<'_>,
    levels: Option<(&[u8], &[u8])>,
    cursors: &mut [Cursor<'_>; G],
    mut most: usize,
) {
    let (cols, map) = levels.unwrap_or_default();
    // SAFETY: the caller vouches for the instructions and for the slots that are looked up;
    // `safe_rows` has found 64 bytes of words a row, and 32 symbols. There are as many classes as
    // symbols, and `cols` are whole rows of lanes.
    unsafe {
        let bits = tables.bits();
        let constants = Constants {
            slots: tables.slots().as_ptr(),
            map: map.as_ptr(),
            table_bits: bits,
            step: cursors[0].spacing.step(),
            bits: V::splat(bits),
            mask: V::splat((1 << bits) - 1),
            lower: V::splat(LOWER),
            nth: V::splat(NTH),
            // Unknown to the compiler, which else makes two instructions of one.
            second: std::hint::black_box(SECOND),
        };
        let mut states = [[V::splat(0); VECTORS]; G];
        let mut fixed = [constants.slots; G];
        for ((states, fixed), cursor) in states.iter_mut().zip(&mut fixed).zip(&*cursors) {
            for (x, from) in states.iter_mut().zip(cursor.states.as_chunks().0) {
                *x = V::load(from);
            }
            if let Classes::One(class) = cursor.classes {
                *fixed = table(&constants, class);
            }
        }
        let ahead = ahead(cursors);
        let mut col = if cols.is_empty() { 0 } else { cursors[0].written % cols.len() };
        loop {
            let rows = cursors.iter().map(Cursor::safe_rows).min().unwrap_or(0).min(most);
            if rows == 0 {
                break;
            }
            most -= rows;
            let mut places = cursors.each_mut().map(|cursor| {
                let (classes, start) = match cursor.classes {
                    Classes::PerSymbol(classes) => {
                        (classes[cursor.written..].as_ptr(), std::ptr::null())
                    }
                    Classes::Levels(levels) => {
                        (std::ptr::null(), levels.starts[cursor.written / LANES..].as_ptr())
                    }
                    Classes::One(_) => (std::ptr::null(), std::ptr::null()),
                };
                let words = cursor.words[cursor.read..].as_ptr();
                let out = cursor.rest().as_mut_ptr();
                Place { words, out, classes, start }
            });
            let starts = places.map(|place| place.words);
            let (mut x, mut at) = (states, places);
            let levels = |col: usize| {
                let levels = |v: usize| {
                    let from = cols.as_ptr().add(col + v * WIDTH);
                    V::widen_bytes(&*from.cast()).byte_up()
                };
                if KIND == LEVELS { [levels(0), levels(1)] } else { [V::splat(0); VECTORS] }
            };
            // Where tables begin is found before the group ahead looks up: what is in flight is little more than a row, so
            // that it would be waited for else, and what is known earlier has no registers.
            let mut of_columns = levels(col);
            let mut tables = bases::<V, KIND>(&constants, fixed[0], of_columns, &at[0], 0);
            let mut entries = [[V::splat(0); VECTORS]; G];
            // Written out, so that what changes stays in registers.
            macro_rules! find {
                ($g:literal, $row:expr) => {
                    if $g < G {
                        let (slots, of) = tables;
                        let numbers = numbers(&constants, of, &x[$g % G]);
                        V::bring_near(at[$g % G].words.wrapping_add(ahead));
                        let next = ($g + 1) % G;
                        tables =
                            bases::<V, KIND>(&constants, fixed[next], of_columns, &at[next], $row);
                        entries[$g % G] = numbers.map(|numbers| numbers.gather::<SINGLE>(slots));
                    }
                };
            }
            macro_rules! take {
                ($g:literal) => {
                    if $g < G {
                        take(&constants, entries[$g % G], &mut x[$g % G], &mut at[$g % G]);
                    }
                };
            }
            // The row behind a row, with its levels of columns; there is none behind the last one.
            macro_rules! behind {
                ($row:expr) => {{
                    col = if col + LANES < cols.len() { col + LANES } else { 0 };
                    of_columns = levels(col);
                    ($row + 1).min(rows - 1)
                }};
            }
            match G {
                4 => {
                    // Each takes its words while the one behind it looks up: what waits for slots is not in the way then.
                    find!(0, 0);
                    for row in 0..rows {
                        find!(1, row);
                        take!(0);
                        find!(2, row);
                        take!(1);
                        let behind = behind!(row);
                        find!(3, behind);
                        take!(2);
                        if row + 1 < rows {
                            find!(0, behind);
                        }
                        take!(3);
                    }
                }
                3 => {
                    find!(0, 0);
                    for row in 0..rows {
                        find!(1, row);
                        take!(0);
                        let behind = behind!(row);
                        find!(2, behind);
                        take!(1);
                        if row + 1 < rows {
                            find!(0, behind);
                        }
                        take!(2);
                    }
                }
                2 => {
                    for row in 0..rows {
                        find!(0, row);
                        take!(0);
                        let behind = behind!(row);
                        find!(1, behind);
                        take!(1);
                    }
                }
                _ => {
                    const { assert!(0 < G && G <= 4) };
                    for row in 0..rows {
                        let behind = behind!(row);
                        find!(0, behind);
                        take!(0);
                    }
                }
            }
            (states, places) = (x, at);
            for ((cursor, place), start) in cursors.iter_mut().zip(&places).zip(starts) {
                cursor.read += place.words.offset_from_unsigned(start);
                cursor.written += rows * LANES;
            }
        }
        for (states, cursor) in states.iter().zip(cursors) {
            for (x, to) in states.iter().zip(cursor.states.as_chunks_mut().0) {
                x.store(to);
            }
        }
    }
}

/// From words to those of the groups that follow, where groups lie in memory as they are stored:
/// one after the other. What is decoded next comes near meanwhile; its checksum is what waits for
/// memory else. Where nothing lies there, nothing is lost.
fn ahead<const G: usize>(cursors: &[Cursor<'_>; G]) -> usize {
    let (first, last) = (cursors[0].words.as_ptr(), cursors[G - 1].words.as_ptr_range().end);
    Some(last.addr().wrapping_sub(first.addr())).filter(|by| *by < FAR).unwrap_or(0)
}
