//! The bits of a page's body, written without a branch that depends on them.

use crate::bits::writer::BitWriter;
use crate::number::Latent;
use latens_kernels::dispatch::Present;
use latens_kernels::pack::{self, Place, Spans};

/// Words that are held back, at least, before they go to where bytes are kept.
const HELD: usize = if cfg!(test) { 16 } else { 1 << 11 };

/// The body of a page on its way to a writer.
#[derive(Debug)]
pub(crate) struct Body<'a> {
    writer: &'a mut BitWriter,
    words: Vec<u64>,
    at: Place,
}

impl<'a> Body<'a> {
    /// Appends to a writer; of about so many fields.
    pub(crate) fn new(writer: &'a mut BitWriter, fields: usize) -> Self {
        Self { writer, words: vec![0; HELD.min(fields + 1)], at: Place::default() }
    }

    /// Appends codes by fours as [`latens_kernels::tans::Encoder::codes`] has them.
    pub(crate) fn write_codes(&mut self, fours: &[u64]) {
        self.make_room(fours.len());
        self.at = pack::codes(Present::in_use(), &mut self.words, self.at, fours);
    }

    /// Appends the offsets of latents in bins.
    pub(crate) fn write_offsets<L: Latent>(
        &mut self,
        spans: &Spans,
        latents: &[L],
        symbols: &[u16],
    ) {
        self.make_room(latents.len());
        let present = Present::in_use();
        self.at = pack::offsets(present, &mut self.words, self.at, spans, latents, symbols);
    }

    /// Room for so many fields.
    #[inline]
    fn make_room(&mut self, fields: usize) {
        // Behind the last word that is full there is one that is not.
        if self.words.len() < self.at.full() + fields + 1 {
            self.pass_on(fields + 1);
        }
    }

    #[inline(never)]
    fn pass_on(&mut self, needed: usize) {
        self.writer.write_words(&self.words[..self.at.full()]);
        self.at = self.at.taken();
        if self.words.len() < needed {
            self.words.resize(needed, 0);
        }
    }

    /// Appends what is held back.
    pub(crate) fn finish(self) {
        self.writer.write_words(&self.words[..self.at.full()]);
        let (value, count) = self.at.pending();
        self.writer.write(value, count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::low_mask;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_the_plain_writer_has_it(
            fields in prop::collection::vec((any::<u64>(), 0u32..=64), 0..300),
        ) {
            let fields: Vec<(u64, u32)> = fields
                .into_iter()
                .map(|(value, count)| (value & low_mask(count), count))
                .collect();
            let (mut plain, mut ours) = (BitWriter::default(), BitWriter::default());
            let mut body = Body::new(&mut ours, 20);
            for chunk in fields.chunks(7) {
                let (values, counts): (Vec<u64>, Vec<u32>) = chunk.iter().copied().unzip();
                let spans = Spans::new(counts.into_iter().map(|count| (0u64, count)));
                body.write_offsets(&spans, &values, &[0, 1, 2, 3, 4, 5, 6][..chunk.len()]);
            }
            for (value, count) in fields {
                plain.write(value, count);
            }
            body.finish();
            prop_assert_eq!(ours.finish(), plain.finish());
        }
    }
}
