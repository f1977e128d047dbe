//! Bytes from a reader, with as many ahead as a structure needs.

use crate::bits::checksum::Crc32c;
use crate::error::{Error, Result};
use std::io::Read;

/// Read at once where nothing more is asked for.
const PIECE: usize = 1 << 16;

/// A reader with a buffer whose bytes are consumed one structure at a time.
#[derive(Debug)]
pub(crate) struct Source<R> {
    reader: R,
    /// Of it, `start..end` is at hand; the rest is room.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Offset in the file of the next byte.
    position: u64,
    ended: bool,
    /// Of the bytes consumed since [`Source::take_crc`]; `None` where nobody asks.
    crc: Option<Crc32c>,
}

impl<R: Read> Source<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self::starting_at(reader, 0)
    }

    /// For a reader that gives a file from `position` on.
    pub(crate) fn starting_at(reader: R, position: u64) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            position,
            ended: false,
            crc: Some(Crc32c::new()),
        }
    }

    /// Offset in the file of the next byte.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// The bytes that are at hand.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Stops computing checksums.
    pub(crate) fn forget_crc(&mut self) {
        self.crc = None;
    }

    /// The CRC-32C of what was consumed since the last call.
    pub(crate) fn take_crc(&mut self) -> u32 {
        self.crc.as_mut().map_or(0, |crc| std::mem::take(crc).value())
    }

    /// Reads until `least` bytes are at hand or the reader ends. Memory grows with bytes that
    /// have come, never with `least`.
    pub(crate) fn fill(&mut self, least: usize) -> Result<()> {
        if self.bytes().len() >= least {
            return Ok(());
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while self.end < least && !self.ended {
            let piece = (least - self.end).clamp(PIECE, PIECE.max(self.end));
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

    /// Moves past bytes that are at hand.
    pub(crate) fn consume(&mut self, n: usize) {
        if let Some(crc) = &mut self.crc {
            crc.update(&self.buffer[self.start..self.start + n]);
        }
        self.start += n;
        self.position += n as u64;
    }

    /// Parses a structure of unknown length: tries with what is at hand and, while that is too
    /// short, with twice as much. `parse` returns its value and the bytes it used.
    pub(crate) fn parse<V>(
        &mut self,
        mut parse: impl FnMut(&[u8]) -> Result<(V, usize)>,
    ) -> Result<V> {
        let mut least = 64;
        loop {
            self.fill(least)?;
            match parse(self.bytes()) {
                Ok((value, used)) => {
                    self.consume(used);
                    return Ok(value);
                }
                Err(e) if e.kind() == crate::ErrorKind::Truncated && !self.ended => {
                    least = 2 * self.bytes().len().max(least);
                }
                Err(e) => return Err(Error::offset_by(e, self.position)),
            }
        }
    }
}
