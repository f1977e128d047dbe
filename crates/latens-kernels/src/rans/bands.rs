//! Classes of levels written down a band at a time, for kernels that do not find them themselves.

use super::classes::Classes;
use super::cursor::Cursor;
use crate::dispatch::Present;

/// Symbols whose classes are written down at a time where a kernel does not find them itself: few
/// enough to be in the nearest cache still when they are used, beside the tables.
const BAND: usize = 1 << 12;

/// Most groups whose classes are written down together.
pub(super) const TOGETHER: usize = 4;

/// Lets `decode` go on with up to [`TOGETHER`] cursors as far as it can, their classes each with its symbol.
pub(super) fn in_bands(
    present: Present,
    cursors: &mut [Cursor<'_>],
    mut decode: impl FnMut(&mut [Cursor<'_>]),
) {
    if !cursors.iter().any(|c| matches!(c.classes, Classes::Levels(_))) {
        return decode(cursors);
    }
    let mut classes = [[0; BAND]; TOGETHER];
    loop {
        let mut moved = 0;
        let mut bands: Vec<Cursor<'_>> = Vec::with_capacity(TOGETHER);
        for (cursor, buffer) in cursors.iter_mut().zip(&mut classes) {
            let symbols = BAND.min(cursor.left());
            let classes = match cursor.classes {
                Classes::One(class) => Classes::One(class),
                Classes::PerSymbol(all) => Classes::PerSymbol(&all[cursor.written..][..symbols]),
                Classes::Levels(levels) => {
                    let classes = &mut buffer[..symbols];
                    levels.expand(present, cursor.written, classes);
                    Classes::PerSymbol(classes)
                }
            };
            let words = &cursor.words[cursor.read..];
            let (spacing, read, written) = (cursor.spacing, 0, 0);
            // None are left behind the last row, nor the bytes that would follow it.
            let out = cursor.out.get_mut(spacing.place(cursor.written)..).unwrap_or_default();
            let states = &mut *cursor.states;
            bands.push(Cursor { words, states, classes, out, spacing, symbols, read, written });
        }
        decode(&mut bands);
        let done: Vec<_> = bands.iter().map(|band| (band.read, band.written)).collect();
        for (cursor, (read, written)) in cursors.iter_mut().zip(done) {
            cursor.read += read;
            cursor.written += written;
            moved += written;
        }
        if moved == 0 {
            return;
        }
    }
}
