//! The bits of a page's body, written without a branch that depends on them.

use crate::bits::writer::BitWriter;

/// Words that are held back, at least, before they go to where bytes are kept.
const HELD: usize = if cfg!(test) { 16 } else { 1 << 11 };

/// The body of a page on its way to a writer.
#[derive(Debug)]
pub(crate) struct Body<'a> {
    writer: &'a mut BitWriter,
    words: Vec<u64>,
    at: Place,
}

/// Where the next bit goes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    /// Words that are full.
    full: usize,
    /// Bits of the word behind them.
    pending: u64,
    /// How many, fewer than 64.
    bits: u32,
}

/// A place and the words from there on, held while a batch is written.
pub(crate) struct Cursor<'a> {
    words: &'a mut [u64],
    at: Place,
}

impl<'a> Body<'a> {
    /// Appends to a writer.
    pub(crate) fn new(writer: &'a mut BitWriter) -> Self {
        Self { writer, words: vec![0; HELD], at: Place::default() }
    }

    /// Room for at most `most` bits. What is written there counts when it is [`Body::take`]n.
    #[inline(always)]
    pub(crate) fn cursor(&mut self, most: usize) -> Cursor<'_> {
        let needed = most / 64 + 2;
        if self.words.len() < self.at.full + needed {
            self.make_room(needed);
        }
        Cursor { words: &mut self.words, at: self.at }
    }

    /// Continues where a cursor ended.
    #[inline(always)]
    pub(crate) fn take(&mut self, end: Place) {
        self.at = end;
    }

    #[inline(never)]
    fn make_room(&mut self, needed: usize) {
        self.writer.write_words(&self.words[..self.at.full]);
        self.at.full = 0;
        if self.words.len() < needed {
            self.words.resize(needed, 0);
        }
    }

    /// Appends what is held back.
    pub(crate) fn finish(self) {
        self.writer.write_words(&self.words[..self.at.full]);
        self.writer.write(self.at.pending, self.at.bits);
    }
}

impl Cursor<'_> {
    /// Where it ends.
    #[inline(always)]
    pub(crate) fn end(self) -> Place {
        self.at
    }

    /// Appends the `count` (0 to 64) low bits of `value`; higher bits must be zero.
    #[inline(always)]
    pub(crate) fn write(&mut self, value: u64, count: u32) {
        let Place { full, pending, bits } = self.at;
        let word = pending | value << bits;
        self.words[full] = word;
        let total = bits + count;
        let is_full = total >= 64;
        // What did not fit; in two shifts, as one by 64 is none.
        let rest = (value >> 1) >> (63 - bits);
        self.at = Place {
            full: full + usize::from(is_full),
            pending: if is_full { rest } else { word },
            bits: total % 64,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_the_plain_writer_has_it(
            fields in prop::collection::vec((any::<u64>(), 0u32..=64), 0..300),
        ) {
            let fields: Vec<(u64, u32)> = fields
                .into_iter()
                .map(|(value, count)| (value & crate::bits::low_mask(count), count))
                .collect();
            let (mut plain, mut ours) = (BitWriter::default(), BitWriter::default());
            let mut body = Body::new(&mut ours);
            for chunk in fields.chunks(7) {
                let mut cursor = body.cursor(7 * 64);
                for &(value, count) in chunk {
                    cursor.write(value, count);
                }
                let end = cursor.end();
                body.take(end);
            }
            for (value, count) in fields {
                plain.write(value, count);
            }
            body.finish();
            prop_assert_eq!(ours.finish(), plain.finish());
        }
    }
}
