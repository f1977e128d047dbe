//! What is decoded: a stream, and how far it has come.

use super::classes::Classes;
use super::state::{LANES, ROW_BYTES};

/// A stream of words and what is decoded from it.
#[derive(Debug)]
pub struct Group<'a> {
    /// Words of two bytes, little-endian.
    pub words: &'a [u8],
    /// Before decoding the states to begin with, after it those at the end.
    pub states: [u32; LANES],
    /// The tables of the symbols.
    pub classes: Classes<'a>,
    /// Takes as many symbols as it is long.
    pub out: &'a mut [u8],
}

/// A [`Group`] on its way: what is left of its bytes and symbols.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    pub(crate) words: &'a [u8],
    pub(crate) states: &'a mut [u32; LANES],
    pub(crate) classes: Classes<'a>,
    pub(crate) out: &'a mut [u8],
    /// Bytes of words read.
    pub(crate) read: usize,
    /// Symbols written.
    pub(crate) written: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(group: &'a mut Group<'_>) -> Self {
        let Group { words, states, classes, out } = group;
        Self { words, states, classes: *classes, out, read: 0, written: 0 }
    }

    /// Rows of 32 symbols that can be decoded with neither symbols nor words running out,
    /// however many words they take.
    pub(crate) fn safe_rows(&self) -> usize {
        let symbols = (self.out.len() - self.written) / LANES;
        symbols.min(self.words.len().saturating_sub(self.read) / ROW_BYTES)
    }
}
