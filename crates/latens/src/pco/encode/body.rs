//! The bits of a page's body, written without a branch that depends on them.

use crate::bits::writer::BitWriter;

/// Bits in words of 64.
#[derive(Debug, Default)]
pub(crate) struct Body {
    words: Vec<u64>,
    at: Place,
}

/// Where the next bit goes.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
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

impl Body {
    /// Lets `write` append at most `most` bits.
    #[inline]
    pub(crate) fn extend(&mut self, most: usize, write: impl FnOnce(&mut Cursor<'_>)) {
        let needed = self.at.full + most / 64 + 2;
        if self.words.len() < needed {
            self.words.resize(needed + self.words.len() / 2, 0);
        }
        let mut cursor = Cursor { words: &mut self.words, at: self.at };
        write(&mut cursor);
        self.at = cursor.at;
    }

    /// Appends all to a writer.
    pub(crate) fn write(&self, w: &mut BitWriter) {
        for &word in &self.words[..self.at.full] {
            w.write(word, 64);
        }
        w.write(self.at.pending, self.at.bits);
    }
}

impl Cursor<'_> {
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
            let (mut plain, mut ours, mut body) =
                (BitWriter::default(), BitWriter::default(), Body::default());
            for chunk in fields.chunks(7) {
                body.extend(7 * 64, |cursor| {
                    for &(value, count) in chunk {
                        cursor.write(value, count);
                    }
                });
            }
            for (value, count) in fields {
                plain.write(value, count);
            }
            body.write(&mut ours);
            prop_assert_eq!(ours.finish(), plain.finish());
        }
    }
}
