//! AVX-512 kernels of [`crate::rans`]: two vectors of sixteen states to a group, and up to four
//! groups side by side.
//!
//! Slots come by gather, or by single loads where gathers are slow; the states below 2^16 make a mask, and one
//! expansion under it brings the next words of the stream to the lanes that take them. A row of one group waits
//! about sixty cycles for itself, so that one group or two leave most of the processor idle. What it holds in flight
//! is little more than a row: what can be known early is found a row ahead, and of four groups one looks up while
//! another one takes its words.
//!
//! All of it is generic over [`Lanes`] and tested through the portable model of its operations.

use crate::rans::classes::{Classes, Levels};
use crate::rans::cursor::Cursor;
use crate::rans::state::{LANES, LOWER, ROW_BYTES};
use crate::rans::tables::{NTH, Tables};
use crate::x86_64::lanes512::{Lanes, SECOND, WIDTH};

/// Vectors to a group.
const VECTORS: usize = LANES / WIDTH;

/// Groups that take up more bytes do not lie one after the other.
const FAR: usize = 1 << 21;
/// The longest map that is scaled.
const MOST_SCALED: usize = 1 << 13;

/// Which [`Classes`] all groups have.
const ONE: u8 = 0;
const PER_SYMBOL: u8 = 1;
const LEVELS: u8 = 2;
/// Levels of which all columns have the same.
const PER_ROW: u8 = 3;

/// Where a group's next row comes from and goes to.
#[derive(Clone, Copy)]
struct Place {
    words: *const u8,
    out: *mut u8,
    /// Of a row's symbols, for [`PER_SYMBOL`].
    classes: *const u8,
    /// Of a row, for [`LEVELS`] and [`PER_ROW`].
    start: *const u16,
}

/// What is the same in all rows.
#[derive(Clone, Copy)]
struct Constants<V> {
    slots: *const u32,
    map: *const u8,
    table_bits: u32,
    bits: V,
    mask: V,
    lower: V,
    nth: V,
    second: u64,
}

/// Whole rows of `G` groups, as long as none's words or symbols run out; none where their classes
/// are not alike. `SINGLE`: slots by single loads.
///
/// # Safety
/// As [`Lanes`] says; each class of the groups has a table, and there are as many classes as
/// symbols.
#[inline(always)]
unsafe fn rows<V: Lanes, const G: usize, const SINGLE: bool>(
    tables: Tables<'_>,
    cursors: &mut [Cursor<'_>; G],
) {
    // SAFETY: as the caller vouches; the kinds are those of all groups.
    unsafe {
        if cursors.iter().all(|c| matches!(c.classes, Classes::One(_))) {
            return rows_by::<V, G, ONE, SINGLE>(tables, None, cursors);
        }
        if cursors.iter().all(|c| matches!(c.classes, Classes::PerSymbol(_))) {
            return rows_by::<V, G, PER_SYMBOL, SINGLE>(tables, None, cursors);
        }
        let (Classes::Levels(Levels { cols, map, highest, .. }), at) =
            (cursors[0].classes, cursors[0].written)
        else {
            return;
        };
        let alike = |c: &Cursor<'_>| match c.classes {
            Classes::Levels(levels) => {
                std::ptr::eq(levels.cols, cols) && std::ptr::eq(levels.map, map) && c.written == at
            }
            _ => false,
        };
        if !cursors.iter().all(alike) {
            return;
        }
        if highest == 0 {
            return rows_by::<V, G, PER_ROW, SINGLE>(tables, Some((&[], map)), cursors);
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
        rows_by::<V, G, LEVELS, SINGLE>(tables, Some((cols, scaled)), cursors);
    }
}

/// # Safety
/// As [`rows`]; the classes of all groups are of this kind, with this map, and for [`LEVELS`] with these
/// levels of columns and the map scaled.
#[inline(always)]
unsafe fn rows_by<V: Lanes, const G: usize, const KIND: u8, const SINGLE: bool>(
    tables: Tables<'_>,
    levels: Option<(&[u8], &[u8])>,
    cursors: &mut [Cursor<'_>; G],
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
            let mut rows = cursors.iter().map(Cursor::safe_rows).min().unwrap_or(0);
            if KIND == LEVELS {
                rows = rows.min((cols.len() - col) / LANES);
            }
            if rows == 0 {
                break;
            }
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
                let out = cursor.out[cursor.written..].as_mut_ptr();
                Place { words, out, classes, start }
            });
            let starts = places.map(|place| place.words);
            let (mut x, mut at) = (states, places);
            let levels = |row: usize| {
                let levels = |v: usize| {
                    let from = cols.as_ptr().add(col + row * LANES + v * WIDTH);
                    V::widen_bytes(&*from.cast()).byte_up()
                };
                if KIND == LEVELS { [levels(0), levels(1)] } else { [V::splat(0); VECTORS] }
            };
            // Where the next rows' tables begin is found a row before: what is in flight is little more than a row, so
            // that it would be waited for else.
            let mut tables = [(constants.slots, [V::splat(0); VECTORS]); G];
            let first = levels(0);
            for ((tables, fixed), at) in tables.iter_mut().zip(&fixed).zip(&at) {
                *tables = bases::<V, KIND>(&constants, *fixed, first, at, 0);
            }
            let mut entries = [[V::splat(0); VECTORS]; G];
            // Written out, so that what changes stays in registers.
            macro_rules! find {
                ($g:literal $(, $next:expr)?) => {
                    if $g < G {
                        let (slots, of) = tables[$g % G];
                        V::bring_near(at[$g % G].words.wrapping_add(ahead));
                        $(
                            let (next, levels) = $next;
                            let (fixed, at) = (fixed[$g % G], &at[$g % G]);
                            tables[$g % G] = bases::<V, KIND>(&constants, fixed, levels, at, next);
                        )?
                        entries[$g % G] = find::<V, SINGLE>(&constants, slots, of, &x[$g % G]);
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
            // The row behind a row and its levels of columns; there is none behind the last one.
            let next = |row: usize| {
                let next = (row + 1).min(rows - 1);
                (next, levels(next))
            };
            if G == 4 {
                // Each takes its words while the one behind it looks up: what waits for slots is not in the way then.
                let mut behind = next(0);
                find!(0, behind);
                for row in 1..rows {
                    find!(1, behind);
                    take!(0);
                    find!(2, behind);
                    take!(1);
                    find!(3, behind);
                    take!(2);
                    behind = next(row);
                    find!(0, behind);
                    take!(3);
                }
                find!(1);
                take!(0);
                find!(2);
                take!(1);
                find!(3);
                take!(2);
                take!(3);
            } else {
                const { assert!(G == 4 || G <= 2) };
                for row in 0..rows {
                    let behind = next(row);
                    find!(0, behind);
                    take!(0);
                    find!(1, behind);
                    take!(1);
                }
            }
            (states, places) = (x, at);
            for ((cursor, place), start) in cursors.iter_mut().zip(&places).zip(starts) {
                cursor.read += place.words.offset_from_unsigned(start);
                cursor.written += rows * LANES;
            }
            col = if cols.is_empty() { 0 } else { (col + rows * LANES) % cols.len() };
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

/// The table of a class.
///
/// # Safety
/// There is one.
#[inline(always)]
unsafe fn table<V>(constants: &Constants<V>, class: u8) -> *const u32 {
    // SAFETY: as the caller vouches.
    unsafe { constants.slots.add(usize::from(class) << constants.table_bits) }
}

/// Where the tables of the symbols of row `row` from `place` on begin: in slots, from some of them on.
///
/// # Safety
/// As [`Lanes`] says; there are classes of that row.
#[inline(always)]
unsafe fn bases<V: Lanes, const KIND: u8>(
    constants: &Constants<V>,
    fixed: *const u32,
    levels: [V; VECTORS],
    place: &Place,
    row: usize,
) -> (*const u32, [V; VECTORS]) {
    // SAFETY: as the caller vouches; starts leave a window of the map, whose classes all have a table.
    unsafe {
        match KIND {
            PER_SYMBOL => {
                let classes = place.classes.add(row * LANES);
                let each = [0, WIDTH]
                    .map(|v| V::widen_bytes(&*classes.add(v).cast()).shift_left(constants.bits));
                (constants.slots, each)
            }
            LEVELS => {
                let window = &*constants.map.add(usize::from(*place.start.add(row))).cast();
                (constants.slots, levels.map(|levels| levels.look_up(window, constants.second)))
            }
            PER_ROW => {
                // A number and not a vector: nothing of it is done lane by lane.
                let class = *constants.map.add(usize::from(*place.start.add(row)));
                (table(constants, class), [V::splat(0); VECTORS])
            }
            _ => (fixed, [V::splat(0); VECTORS]),
        }
    }
}

/// What the slots of a row say.
///
/// # Safety
/// As [`Lanes`] says; from `slots` on there are those that `bases` or'ed with the mask come to.
#[inline(always)]
unsafe fn find<V: Lanes, const SINGLE: bool>(
    constants: &Constants<V>,
    slots: *const u32,
    bases: [V; VECTORS],
    states: &[V; VECTORS],
) -> [V; VECTORS] {
    let mut entries = bases;
    for (x, entry) in states.iter().zip(&mut entries) {
        // SAFETY: as the caller vouches.
        *entry = unsafe { x.within_or(constants.mask, *entry).gather::<SINGLE>(slots) };
    }
    entries
}

/// Puts out the symbols of a row whose slots say `entries`, and goes on to the states of the next one.
///
/// # Safety
/// As [`Lanes`] says; 64 bytes to read from `place.words` on, 32 to write from `place.out` on.
#[inline(always)]
unsafe fn take<V: Lanes>(
    constants: &Constants<V>,
    entries: [V; VECTORS],
    states: &mut [V; VECTORS],
    place: &mut Place,
) {
    // SAFETY: as the caller vouches; each vector takes 32 bytes of words at most.
    unsafe {
        for (x, entry) in states.iter_mut().zip(&entries) {
            let product = entry.down::<20>().mul(x.shift_right(constants.bits));
            *x = product.add(entry.and(constants.nth));
        }
        entries[0].store_symbols(entries[1], &mut *place.out.cast());
        place.out = place.out.add(LANES);
        for x in states.iter_mut() {
            let to = x.below(constants.lower);
            *x = x.take_words(to, &*place.words.cast());
            place.words = place.words.add(2 * to.count_ones() as usize);
        }
    }
    const { assert!(ROW_BYTES == 2 * LANES && VECTORS == 2) };
}

#[cfg(target_arch = "x86_64")]
pub(crate) use real::together;

#[cfg(target_arch = "x86_64")]
mod real {
    use std::arch::x86_64::__m512i;

    use super::{Cursor, Tables, rows};
    use crate::dispatch::{gathers_are_slow, nearest_cache};

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
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,bmi1,bmi2,popcnt"
    )]
    unsafe fn rows_of<const G: usize, const SINGLE: bool>(
        tables: Tables<'_>,
        cursors: &mut [Cursor<'_>; G],
    ) {
        // SAFETY: as the caller vouches.
        unsafe { rows::<__m512i, G, SINGLE>(tables, cursors) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rans::tests::{cases, with_group, with_two};
    use crate::scalar::rans::finish;
    use crate::x86_64::lanes512::tests::Model;

    #[test]
    fn the_kernels_on_the_model_agree_with_scalar() {
        let mut scaled = 0;
        for case in cases() {
            let scalar = case.decode(crate::dispatch::Simd::Scalar);
            let tables = Tables::new(&case.slots, case.bits).unwrap();
            let levels = matches!(case.classes(), Classes::Levels(_));
            let one = with_group(&case, |group| {
                let mut cursors = [Cursor::new(group)];
                // SAFETY: the model needs no instructions, and looks up what is there.
                unsafe { rows::<Model, 1, false>(tables, &mut cursors) };
                let [cursor] = cursors;
                assert!(cursor.safe_rows() == 0 || levels, "the vectors did their part");
                scaled += if levels { cursor.written } else { 0 };
                finish(tables, cursor)
            });
            assert_eq!(one, scalar, "{case:?}");
            let two = with_two(&case, &case, |two| {
                let mut cursors = two.map(Cursor::new);
                // SAFETY: as above.
                unsafe { rows::<Model, 2, false>(tables, &mut cursors) };
                cursors.map(|cursor| finish(tables, cursor))
            });
            assert_eq!(two, [scalar.clone(), scalar.clone()], "{case:?}");
            let mut outs = [(); 4].map(|()| vec![0xee; case.count]);
            let mut groups = outs.each_mut().map(|out| case.group(out));
            let mut cursors = groups.each_mut().map(Cursor::new);
            // SAFETY: as above.
            unsafe { rows::<Model, 4, false>(tables, &mut cursors) };
            let read = cursors.map(|cursor| finish(tables, cursor));
            let states = groups.map(|group| group.states);
            for (i, out) in outs.into_iter().enumerate() {
                assert_eq!((read[i], out, states[i]), scalar, "{case:?}");
            }
        }
        assert!(scaled > 100_000, "levels of few enough classes");
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn slots_by_gathers_and_by_single_loads_agree() {
        use super::real::together_by;
        if !crate::dispatch::Simd::Avx512.is_available() {
            println!("no AVX-512 on this processor: nothing was compared");
            return;
        }
        for case in cases() {
            let tables = Tables::new(&case.slots, case.bits).unwrap();
            let decode = |single: bool| {
                with_two(&case, &case, |two| {
                    let mut cursors = two.map(Cursor::new);
                    // SAFETY: as just asked; the cases are valid.
                    unsafe {
                        if single {
                            together_by::<true>(tables, &mut cursors);
                        } else {
                            together_by::<false>(tables, &mut cursors);
                        }
                    }
                    cursors.map(|cursor| finish(tables, cursor))
                })
            };
            assert_eq!(decode(true), decode(false), "{case:?}");
        }
    }
}
