//! Portable kernels of [`crate::rans::encode`].

use crate::rans::classes::Classes;
use crate::rans::encode::tables::{ALPHABET, EncodeTables};
use crate::rans::encode::writer::Writer;
use crate::rans::state::LANES;

/// The symbols behind the last whole row.
pub(crate) fn ragged(tables: &EncodeTables, writer: &mut Writer<'_>) {
    let whole = writer.left / LANES * LANES;
    row(tables, writer, whole);
}

/// Whole rows.
pub(crate) fn rows(tables: &EncodeTables, writer: &mut Writer<'_>) {
    while writer.left > 0 {
        row(tables, writer, writer.left - LANES);
    }
}

/// The symbols from `first` on, at most a row, backwards.
#[inline(always)]
fn row(tables: &EncodeTables, writer: &mut Writer<'_>, first: usize) {
    let (steps, bits) = (tables.steps(), tables.bits());
    let symbols = &writer.symbols[first..writer.left];
    let mut at = writer.at;
    for (lane, &symbol) in symbols.iter().enumerate().rev() {
        let class = match writer.classes {
            Classes::One(class) => class,
            Classes::PerSymbol(classes) => classes[first + lane],
            Classes::Levels(levels) => levels.class(first + lane),
        };
        let step = steps[usize::from(class) * ALPHABET + usize::from(symbol)];
        let x = &mut writer.states[lane];
        #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
        let (reciprocal, packed) = (step as u32, (step >> 32) as u32);
        let (less, shift) = (packed >> 14 & 0x3fff, packed >> 28);
        // Without a branch on what is as good as random: a word is written in any case, and counts or not.
        let takes = *x >> (32 - bits) > less;
        writer.buffer[at - 2..][..2].copy_from_slice(&x.to_le_bytes()[..2]);
        at -= 2 * usize::from(takes);
        *x >>= 16 * u32::from(takes);
        let low = ((u64::from(*x) * u64::from(reciprocal)) >> 32 >> shift) as u32;
        let rest = x.wrapping_sub(low.wrapping_mul(less + 1));
        // The quotient is one too small where the rest is not below the frequency.
        let more = if rest > less { (1 << bits) - 1 - less } else { 0 };
        *x = (low << bits).wrapping_add(rest + (packed & 0x3fff) + more);
    }
    (writer.at, writer.left) = (at, first);
}
