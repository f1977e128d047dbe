//! AVX2 kernels of [`crate::rans`]: four vectors of eight states to a group.
//!
//! Slots come by loads one by one. Which states take a word is known by their upper halves; the mask of
//! these eight bits leads to a byte shuffle that brings the next words of the stream, from one
//! load of 16 bytes, to the lanes that take them, and zeros to the others.

mod row;

use std::arch::x86_64::*;

use crate::rans::classes::Classes;
use crate::rans::cursor::Cursor;
use crate::rans::state::LANES;
use crate::rans::tables::{NTH, Tables};
pub(super) use row::Row;
use row::{By, ONE, PER_ROW, PER_SYMBOL, Place, VECTORS, look_up, refill_all};

/// Whole rows of one group, as long as its words do not run out.
///
/// # Safety
/// Each class of the group has a table, and there are as many classes as symbols.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn rows_1(tables: Tables<'_>, cursors: &mut [Cursor<'_>; 1]) {
    // SAFETY: as the caller vouches.
    unsafe { rows(tables, cursors) }
}

/// Whole rows of two groups, as long as neither's words or symbols run out.
///
/// # Safety
/// Each class of the groups has a table, and there are as many classes as symbols.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn rows_2(tables: Tables<'_>, cursors: &mut [Cursor<'_>; 2]) {
    // SAFETY: as the caller vouches.
    unsafe { rows(tables, cursors) }
}

/// # Safety
/// Needs AVX2; classes as above.
#[inline(always)]
unsafe fn rows<const G: usize>(tables: Tables<'_>, cursors: &mut [Cursor<'_>; G]) {
    // SAFETY: as the caller vouches.
    unsafe {
        let slots = tables.slots().as_ptr();
        match tables.bits() {
            // What nearly all tables have, those of pairs the first one.
            11 => rows_with(11, cursors, Slots::<11>(slots)),
            12 => rows_with(12, cursors, Slots::<12>(slots)),
            bits => rows_with(bits, cursors, Slots::<0>(slots)),
        }
    }
}

/// Slots of all tables.
#[derive(Clone, Copy)]
struct Slots<const BITS: u32>(*const u32);

impl<const BITS: u32> Row for Slots<BITS> {
    const BITS: u32 = BITS;

    #[inline(always)]
    unsafe fn four(self, a: u64, b: u64, _: *mut u8) -> __m128i {
        // SAFETY: as the caller vouches.
        unsafe { four(self.0, a, b) }
    }

    #[inline(always)]
    unsafe fn next(self, entry: __m256i, bits: __m128i, x: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let product =
                _mm256_mullo_epi32(_mm256_srli_epi32::<20>(entry), _mm256_srl_epi32(x, bits));
            let nth = _mm256_and_si256(entry, _mm256_set1_epi32(NTH.cast_signed()));
            _mm256_add_epi32(product, nth)
        }
    }
}

/// Whole rows by `row`.
///
/// # Safety
/// Needs AVX2; as many classes as symbols, each with a table.
#[inline(always)]
pub(super) unsafe fn rows_with<const G: usize, R: Row>(
    table_bits: u32,
    cursors: &mut [Cursor<'_>; G],
    row: R,
) {
    if cursors.iter().any(|cursor| cursor.spacing != cursors[0].spacing) {
        return;
    }
    // Others, and such as differ, are written down first or decoded one by one: the caller goes on.
    let all = |of: fn(&Classes<'_>) -> bool| cursors.iter().all(|cursor| of(&cursor.classes));
    // SAFETY: as the caller vouches.
    unsafe {
        if all(|classes| matches!(classes, Classes::PerSymbol(_))) {
            rows_by::<G, PER_SYMBOL, R>(table_bits, cursors, row);
        } else if all(|classes| matches!(classes, Classes::One(_))) {
            rows_by::<G, ONE, R>(table_bits, cursors, row);
        } else if all(|classes| matches!(classes, Classes::Levels(levels) if levels.highest == 0)) {
            rows_by::<G, PER_ROW, R>(table_bits, cursors, row);
        }
    }
}

/// # Safety
/// Needs AVX2; one spacing, and classes as above.
#[inline(always)]
unsafe fn rows_by<const G: usize, const CLASSES: u8, R: Row>(
    table_bits: u32,
    cursors: &mut [Cursor<'_>; G],
    row: R,
) {
    let table_bits = if R::BITS > 0 { R::BITS } else { table_bits };
    // SAFETY: the caller vouches for AVX2. Loads and stores of states are of whole arrays.
    unsafe {
        let mask = _mm256_set1_epi32((1 << table_bits) - 1);
        let bits = _mm_cvtsi32_si128(table_bits.cast_signed());
        let by = By { row, step: cursors[0].spacing.step(), mask, bits };
        let mut states = [[_mm256_setzero_si256(); VECTORS]; G];
        for (states, cursor) in states.iter_mut().zip(&*cursors) {
            for (x, from) in states.iter_mut().zip(cursor.states.as_chunks::<8>().0) {
                *x = _mm256_loadu_si256(from.as_ptr().cast());
            }
        }
        // Where all symbols of a group have one class, it is one number for all rows; a mixed
        // pair of groups has vectors of it in place of loads.
        let mut fixed = [_mm256_setzero_si256(); G];
        for (fixed, cursor) in fixed.iter_mut().zip(&*cursors) {
            if let Classes::One(class) = cursor.classes {
                *fixed = _mm256_set1_epi32(i32::from(class) << table_bits);
            }
        }
        loop {
            let rows = cursors.iter().map(Cursor::safe_rows).min().unwrap_or(0);
            if rows == 0 {
                break;
            }
            let mut places = cursors.each_mut().map(|cursor| Place {
                words: cursor.words[cursor.read..].as_ptr(),
                classes: match cursor.classes {
                    Classes::PerSymbol(classes) => classes[cursor.written..].as_ptr(),
                    Classes::Levels(levels) => {
                        levels.starts[cursor.written / LANES..].as_ptr().cast()
                    }
                    Classes::One(_) => std::ptr::null(),
                },
                map: match cursor.classes {
                    Classes::Levels(levels) => levels.map.as_ptr(),
                    _ => std::ptr::null(),
                },
                out: cursor.rest().as_mut_ptr(),
            });
            let starts = places.map(|place| place.words);
            // `safe_rows` has found 64 bytes of words a row, and 32 symbols; there are as many
            // classes.
            if let ([s, t], [p, q], [f, g]) = (&mut states[..], &mut places[..], &fixed[..]) {
                // Written out, so that what changes stays in registers. What a processor has in
                // flight is little more than a row: while one group waits for its slots, the other
                // one takes its words.
                let ((mut x, mut y), (mut at, mut to)) = ((*s, *t), (*p, *q));
                look_up::<CLASSES, R>(by, *f, &mut x, &mut at, None);
                for _ in 1..rows {
                    look_up::<CLASSES, R>(by, *g, &mut y, &mut to, Some((&mut x, &mut at.words)));
                    look_up::<CLASSES, R>(by, *f, &mut x, &mut at, Some((&mut y, &mut to.words)));
                }
                look_up::<CLASSES, R>(by, *g, &mut y, &mut to, Some((&mut x, &mut at.words)));
                refill_all(&mut y, &mut to.words);
                ((*s, *t), (*p, *q)) = ((x, y), (at, to));
            } else {
                for _ in 0..rows {
                    for ((x, place), fixed) in states.iter_mut().zip(&mut places).zip(&fixed) {
                        look_up::<CLASSES, R>(by, *fixed, x, place, None);
                        refill_all(x, &mut place.words);
                    }
                }
            }
            for ((cursor, place), start) in cursors.iter_mut().zip(&places).zip(starts) {
                cursor.read += place.words.offset_from_unsigned(start);
                cursor.written += rows * LANES;
            }
        }
        for (states, cursor) in states.iter().zip(cursors) {
            for (x, to) in states.iter().zip(cursor.states.as_chunks_mut::<8>().0) {
                _mm256_storeu_si256(to.as_mut_ptr().cast(), *x);
            }
        }
    }
}

/// Four slots, whose numbers are the halves of `a` and `b`: on Zen 3 and 4 a gather takes more steps. In assembly,
/// as the compiler joins them by steps that one port alone can do, and loads all before it joins any; not `pure`, so that it
/// stays where it is among what is settled.
///
/// # Safety
/// Needs AVX, and such slots.
#[inline(always)]
pub(crate) unsafe fn four(slots: *const u32, a: u64, b: u64) -> __m128i {
    let found;
    // SAFETY: four slots are loaded, which are there as the caller vouches.
    unsafe {
        std::arch::asm!(
            "mov {i:e}, {a:e}",
            "shr {a}, 32",
            "vmovd {found}, dword ptr [{slots} + 4 * {i}]",
            "mov {i:e}, {b:e}",
            "vpinsrd {found}, {found}, dword ptr [{slots} + 4 * {a}], 1",
            "shr {b}, 32",
            "vpinsrd {found}, {found}, dword ptr [{slots} + 4 * {i}], 2",
            "vpinsrd {found}, {found}, dword ptr [{slots} + 4 * {b}], 3",
            slots = in(reg) slots,
            a = inout(reg) a => _,
            b = inout(reg) b => _,
            i = out(reg) _,
            found = out(xmm_reg) found,
            options(nostack),
        );
    }
    found
}
