//! The bytes of a file, with as many ahead as a structure needs.

use crate::bits::checksum::{Crc32c, TOGETHER};
use crate::error::{Error, ErrorKind, Result};
use std::io::Read;

/// Where a file's bytes come from.
pub(crate) trait Supply {
    /// The bytes that are at hand.
    fn bytes(&self) -> &[u8];

    /// Sees to it that `least` bytes are at hand, or all that there are.
    fn fill(&mut self, least: usize) -> Result<()>;

    /// Whether no more will come than are at hand.
    fn has_ended(&self) -> bool;

    /// Moves past bytes that are at hand.
    fn consume(&mut self, n: usize);

    /// Takes bytes that were consumed into their checksum, all there are.
    fn sum(&mut self);

    /// What is known of the bytes consumed.
    fn past(&self) -> &Past;

    /// The same.
    fn past_mut(&mut self) -> &mut Past;

    /// Offset in the file of the next byte.
    fn position(&self) -> u64 {
        self.past().position
    }

    /// Stops computing checksums.
    fn forget_crc(&mut self) {
        self.past_mut().crc = None;
    }

    /// The CRC-32C of what was consumed since the last call.
    fn take_crc(&mut self) -> u32 {
        self.sum();
        self.past_mut().crc.as_mut().map_or(0, |crc| std::mem::take(crc).value())
    }

    /// Moves on to the end; the last `most` bytes stay at hand. There is no checksum from here on.
    fn skip_to_end(&mut self, most: usize) -> Result<()> {
        self.forget_crc();
        loop {
            // Twice as many: what stays at hand is moved no more often than it is read.
            self.fill(2 * most)?;
            let passed = self.bytes().len().saturating_sub(most);
            self.consume(passed);
            if self.has_ended() {
                return Ok(());
            }
        }
    }

    /// Parses a structure of unknown length: tries with what is at hand and, while that is too
    /// short, with twice as much. `parse` returns its value and the bytes it used.
    fn parse<V>(&mut self, mut parse: impl FnMut(&[u8]) -> Result<(V, usize)>) -> Result<V> {
        let mut least = 64;
        loop {
            self.fill(least)?;
            match parse(self.bytes()) {
                Ok((value, used)) => {
                    self.consume(used);
                    return Ok(value);
                }
                Err(e) if e.kind() == ErrorKind::Truncated && !self.has_ended() => {
                    least = 2 * self.bytes().len().max(least);
                }
                Err(e) => return Err(Error::offset_by(e, self.position())),
            }
        }
    }
}

/// What is known of the bytes consumed.
#[derive(Debug)]
pub(crate) struct Past {
    /// Offset in the file of the next byte.
    position: u64,
    /// Of the bytes consumed since [`Supply::take_crc`]; `None` where nobody asks.
    crc: Option<Crc32c>,
}

impl Past {
    fn new(position: u64) -> Self {
        Self { position, crc: Some(Crc32c::new()) }
    }

    fn sum(&mut self, bytes: &[u8]) {
        if let Some(crc) = &mut self.crc {
            crc.update(bytes);
        }
    }
}

/// A file, or its end, that is in memory.
#[derive(Debug)]
pub(crate) struct Slice<'a> {
    /// What was consumed and is not in the checksum yet, then the rest.
    bytes: &'a [u8],
    /// How much of it was consumed.
    start: usize,
    past: Past,
}

impl<'a> Slice<'a> {
    /// A file's bytes from `position` on.
    pub(crate) fn starting_at(bytes: &'a [u8], position: u64) -> Self {
        Self { bytes, start: 0, past: Past::new(position) }
    }
}

impl Supply for Slice<'_> {
    fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
    fn fill(&mut self, _: usize) -> Result<()> {
        Ok(())
    }
    fn has_ended(&self) -> bool {
        true
    }
    fn consume(&mut self, n: usize) {
        self.start += n;
        self.past.position += n as u64;
        if self.start >= TOGETHER {
            self.sum();
        }
    }
    fn sum(&mut self) {
        let (consumed, rest) = self.bytes.split_at(self.start);
        self.past.sum(consumed);
        self.bytes = rest;
        self.start = 0;
    }
    fn past(&self) -> &Past {
        &self.past
    }
    fn past_mut(&mut self) -> &mut Past {
        &mut self.past
    }
}

/// Read at once where nothing more is asked for.
const PIECE: usize = 1 << 16;

/// Read at first: whoever has a table open has a file open for each of its columns, and most of these
/// may be short.
const FIRST: usize = 1 << 10;

/// A reader with a buffer whose bytes are consumed one structure at a time.
#[derive(Debug)]
pub(crate) struct Source<R> {
    reader: R,
    /// Of it, `start..end` is at hand, and `summed..start` not in the checksum yet; the rest is
    /// room.
    buffer: Vec<u8>,
    summed: usize,
    start: usize,
    end: usize,
    ended: bool,
    past: Past,
}

impl<R: Read> Source<R> {
    pub(crate) fn new(reader: R) -> Self {
        let past = Past::new(0);
        Self { reader, buffer: Vec::new(), summed: 0, start: 0, end: 0, ended: false, past }
    }
}

impl<R: Read> Supply for Source<R> {
    fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Memory grows with bytes that have come, never with `least`.
    fn fill(&mut self, least: usize) -> Result<()> {
        if self.bytes().len() >= least {
            return Ok(());
        }
        self.sum();
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        self.summed = 0;
        while self.end < least && !self.ended {
            let at_least = (2 * self.buffer.len()).clamp(FIRST, PIECE);
            let piece = (least - self.end).clamp(at_least, PIECE.max(self.end));
            if self.buffer.len() < self.end + piece {
                self.buffer.resize(self.end + piece, 0);
            }
            let got = loop {
                match self.reader.read(&mut self.buffer[self.end..self.end + piece]) {
                    Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                    other => break other,
                }
            };
            // A reader that claims more than it was given room for has given that much.
            let got = got?.min(piece);
            self.end += got;
            self.ended = got == 0;
        }
        Ok(())
    }

    fn has_ended(&self) -> bool {
        self.ended
    }

    fn consume(&mut self, n: usize) {
        self.start += n;
        self.past.position += n as u64;
        if self.start - self.summed >= TOGETHER {
            self.sum();
        }
    }

    fn sum(&mut self) {
        self.past.sum(&self.buffer[self.summed..self.start]);
        self.summed = self.start;
    }

    fn past(&self) -> &Past {
        &self.past
    }

    fn past_mut(&mut self) -> &mut Past {
        &mut self.past
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_files_get_short_buffers_and_long_ones_few_reads() {
        let mut short = Source::new(&[1u8; 30][..]);
        short.fill(64).unwrap();
        assert_eq!((short.bytes().len(), short.has_ended()), (30, true));
        assert!(short.buffer.capacity() <= 4 * FIRST, "{}", short.buffer.capacity());

        struct Counted(usize);
        impl Read for Counted {
            fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
                self.0 += 1;
                Ok(buf.len())
            }
        }
        let mut long = Source::new(Counted(0));
        while long.position() < 16 << 20 {
            long.fill(64).unwrap();
            let all = long.bytes().len();
            long.consume(all);
        }
        assert!(long.reader.0 < (16 << 20) / PIECE + 16, "{}", long.reader.0);
    }
}
