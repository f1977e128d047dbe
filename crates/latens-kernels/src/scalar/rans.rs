//! Portable kernels of [`crate::rans`]: the twins that every other kernel is held against.

use crate::rans::classes::Classes;
use crate::rans::cursor::Cursor;
use crate::rans::state::{LANES, LOWER, ROW_BYTES};
use crate::rans::tables::{NTH, Tables, WideTables};

/// Whole rows as long as words do not run out.
pub(crate) fn rows(tables: Tables<'_>, cursor: &mut Cursor<'_>) {
    // A loop for each size: shifts by constants, and no check of what the mask makes sure of.
    macro_rules! by_bits {
        ($($bits:literal)*) => {
            match tables.bits() {
                $($bits => rows_of::<$bits, { 1 << $bits }>(tables.slots(), cursor),)*
                _ => {}
            }
        };
    }
    by_bits!(1 2 3 4 5 6 7 8 9 10 11 12 13 14);
}

fn rows_of<const BITS: u32, const SIZE: usize>(slots: &[u32], cursor: &mut Cursor<'_>) {
    let (tables, _) = slots.as_chunks::<SIZE>();
    match cursor.classes {
        Classes::One(class) => {
            let table = &tables[usize::from(class)];
            rows_by(cursor, BITS, |_| |_, slot: usize| unpack(table[slot & (SIZE - 1)]));
        }
        Classes::PerSymbol(classes) => rows_by(cursor, BITS, |first| {
            let row: &[u8; LANES] = classes[first..].first_chunk().unwrap_or(&[0; LANES]);
            move |lane: usize, slot: usize| {
                unpack(tables[usize::from(row[lane])][slot & (SIZE - 1)])
            }
        }),
        // Callers write such classes down first.
        Classes::Levels(_) => {}
    }
}

/// What is left, with zeros for words that are lacking: the bytes read, `None` where they were.
pub(crate) fn finish(tables: Tables<'_>, cursor: Cursor<'_>) -> Option<usize> {
    let classes = cursor.classes;
    let (slots, bits) = (tables.slots(), tables.bits());
    finish_by(cursor, bits, |i, slot| unpack(slots[class_of(classes, i) << bits | slot]))
}

/// Whole rows with wide tables, as long as words do not run out.
pub(crate) fn wide_rows(tables: &WideTables, cursor: &mut Cursor<'_>) {
    let classes = cursor.classes;
    rows_by(cursor, tables.bits(), |first| {
        move |lane: usize, slot: usize| wide_slot(tables, class_of(classes, first + lane), slot)
    });
}

/// As [`finish`], with wide tables.
pub(crate) fn finish_wide(tables: &WideTables, cursor: Cursor<'_>) -> Option<usize> {
    let classes = cursor.classes;
    finish_by(cursor, tables.bits(), |i, slot| wide_slot(tables, class_of(classes, i), slot))
}

#[inline(always)]
fn wide_slot(tables: &WideTables, class: usize, slot: usize) -> Slot {
    let id = tables.slots()[class << tables.bits() | slot];
    let step = tables.steps()[usize::from(id)];
    #[expect(clippy::cast_possible_truncation, reason = "14 bits")]
    let slot = slot as u32;
    let (frequency, nth) = if tables.named() {
        (step >> 20, slot.wrapping_sub(step) & NTH)
    } else {
        ((1 << tables.bits()) - (step >> 16), slot - (step & 0xffff))
    };
    Slot { frequency, nth, symbol: id.to_le_bytes()[0] }
}

/// The table of symbol `i`.
#[inline(always)]
fn class_of(classes: Classes<'_>, i: usize) -> usize {
    match classes {
        Classes::One(class) => class.into(),
        Classes::PerSymbol(classes) => classes[i].into(),
        Classes::Levels(levels) => levels.class(i).into(),
    }
}

/// A slot taken apart.
struct Slot {
    frequency: u32,
    /// How many slots of the symbol come before.
    nth: u32,
    symbol: u8,
}

#[inline(always)]
fn unpack(e: u32) -> Slot {
    Slot { frequency: e >> 20, nth: e & NTH, symbol: (e >> 12).to_le_bytes()[0] }
}

/// Whole rows. There is no branch on whether a lane takes a word: all load the next one, and only
/// those that take it move on. `row` gives, for the row that begins with this symbol, what looks up a
/// slot for a lane.
#[inline(always)]
fn rows_by<R: Fn(usize, usize) -> Slot>(
    cursor: &mut Cursor<'_>,
    bits: u32,
    row: impl Fn(usize) -> R,
) {
    let mask = (1u32 << bits) - 1;
    loop {
        let rows = cursor.safe_rows();
        if rows == 0 {
            return;
        }
        for _ in 0..rows {
            let (at, first) = (cursor.read, cursor.written);
            let Some(window) = cursor.words[at..].first_chunk::<ROW_BYTES>() else { return };
            let out = cursor.out[cursor.spacing.place(first)..].first_chunk_mut::<LANES>();
            let Some(out) = out else { return };
            let look_up = row(first);
            let mut taken = 0usize;
            for (lane, (x, out)) in cursor.states.iter_mut().zip(out).enumerate() {
                let slot = look_up(lane, (*x & mask) as usize);
                *out = slot.symbol;
                // Wraps for no state that a table leads to; in states made up it may.
                let next = slot.frequency.wrapping_mul(*x >> bits).wrapping_add(slot.nth);
                // At most 31 words were taken before: the mask only tells the compiler so.
                let from = taken & (ROW_BYTES - 2);
                let word = u16::from_le_bytes([window[from], window[from + 1]]);
                let low = next < LOWER;
                *x = if low { next << 16 | u32::from(word) } else { next };
                taken += 2 * usize::from(low);
            }
            cursor.read += taken;
            cursor.written += LANES;
        }
    }
}

/// What is left of a group, each word looked for.
fn finish_by(
    cursor: Cursor<'_>,
    bits: u32,
    look_up: impl Fn(usize, usize) -> Slot,
) -> Option<usize> {
    let Cursor { words, states, out, spacing, symbols, mut read, written, .. } = cursor;
    let mut complete = true;
    let mut first = written;
    while first < symbols {
        let row = &mut out[spacing.place(first)..][..LANES.min(symbols - first)];
        for (i, (out, x)) in (first..).zip(row.iter_mut().zip(&mut *states)) {
            let slot = look_up(i, (*x & ((1 << bits) - 1)) as usize);
            *out = slot.symbol;
            *x = slot.frequency.wrapping_mul(*x >> bits).wrapping_add(slot.nth);
            if *x < LOWER {
                let word = words.get(read..).and_then(|rest| rest.first_chunk::<2>());
                complete &= word.is_some();
                read += if word.is_some() { 2 } else { 0 };
                *x = *x << 16 | u32::from(word.map_or(0, |&word| u16::from_le_bytes(word)));
            }
        }
        first += LANES;
    }
    complete.then_some(read)
}
