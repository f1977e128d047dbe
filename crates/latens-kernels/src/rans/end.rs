//! The end of a stream, where fewer words are left than a row of symbols might take: most symbols of what is much the
//! same, such as weights that are zero, take none.

use super::cursor::Cursor;
use super::state::{LANES, ROW_BYTES};

/// Symbols from which on words are copied to where zeros follow them.
const MANY: usize = 2 * LANES;
/// Zeros behind the last words.
const PADDED: usize = 32 * ROW_BYTES;

/// Lets `rows` decode whole rows of what is left, with zeros behind the words; whether none of these was needed.
pub(super) fn padded(cursor: &mut Cursor<'_>, mut rows: impl FnMut(&mut [Cursor<'_>])) -> bool {
    let mut complete = true;
    while cursor.left() >= MANY {
        // A byte at the end is no word.
        let left = cursor.words.get(cursor.read..).unwrap_or_default();
        let left = &left[..left.len().min(PADDED) & !1];
        let mut words = [0; PADDED];
        words[..left.len()].copy_from_slice(left);
        let mut end = [Cursor {
            words: &words,
            states: &mut *cursor.states,
            classes: cursor.classes,
            out: &mut *cursor.out,
            spacing: cursor.spacing,
            symbols: cursor.symbols,
            read: 0,
            written: cursor.written,
        }];
        rows(&mut end);
        let [Cursor { read, written, .. }] = end;
        if written == cursor.written {
            break;
        }
        complete &= read <= left.len();
        cursor.read += read.min(left.len());
        cursor.written = written;
    }
    complete
}
