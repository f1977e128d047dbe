//! What is decoded: a stream, and how far it has come.

use super::classes::Classes;
use super::state::{LANES, ROW_BYTES};

/// How symbols lie in memory: in rows of [`LANES`], with so many bytes between these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spacing(pub u8);

impl Spacing {
    /// One symbol behind the other.
    pub const NONE: Self = Self(0);

    /// Where symbol `i` is.
    #[inline(always)]
    pub fn place(self, i: usize) -> usize {
        i + i / LANES * usize::from(self.0)
    }

    /// Bytes from a row to the next one.
    #[inline(always)]
    pub(crate) fn step(self) -> usize {
        LANES + usize::from(self.0)
    }

    /// The bytes that so many symbols take, with those between their rows.
    pub fn bytes(self, symbols: usize) -> usize {
        symbols + symbols.saturating_sub(1) / LANES * usize::from(self.0)
    }

    /// The symbols of which [`Spacing::bytes`] says so many bytes.
    #[inline(always)]
    pub fn symbols(self, bytes: usize) -> usize {
        bytes - bytes / self.step() * usize::from(self.0)
    }
}

/// A stream of words and what is decoded from it.
#[derive(Debug)]
pub struct Group<'a> {
    /// Words of two bytes, little-endian.
    pub words: &'a [u8],
    /// Before decoding the states to begin with, after it those at the end.
    pub states: [u32; LANES],
    /// The tables of the symbols.
    pub classes: Classes<'a>,
    /// Takes as many symbols as it is long, or what is between their rows leaves of that.
    pub out: &'a mut [u8],
    /// How far its rows are from each other.
    pub spacing: Spacing,
}

impl Group<'_> {
    /// How many symbols are decoded.
    pub(crate) fn symbols(&self) -> usize {
        self.spacing.symbols(self.out.len())
    }
}

/// A [`Group`] on its way: what is left of its bytes and symbols.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    pub(crate) words: &'a [u8],
    pub(crate) states: &'a mut [u32; LANES],
    pub(crate) classes: Classes<'a>,
    pub(crate) out: &'a mut [u8],
    pub(crate) spacing: Spacing,
    /// How many symbols there are.
    pub(crate) symbols: usize,
    /// Bytes of words read.
    pub(crate) read: usize,
    /// Symbols written.
    pub(crate) written: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(group: &'a mut Group<'_>) -> Self {
        let symbols = group.symbols();
        let Group { words, states, classes, out, spacing } = group;
        let (classes, spacing) = (*classes, *spacing);
        Self { words, states, classes, out, spacing, symbols, read: 0, written: 0 }
    }

    /// Rows of 32 symbols that can be decoded with neither symbols nor words running out,
    /// however many words they take.
    pub(crate) fn safe_rows(&self) -> usize {
        (self.left() / LANES).min(self.words.len().saturating_sub(self.read) / ROW_BYTES)
    }

    /// Symbols that are still to be written.
    #[inline(always)]
    pub(crate) fn left(&self) -> usize {
        self.symbols - self.written
    }

    /// Where they go.
    #[inline(always)]
    pub(crate) fn rest(&mut self) -> &mut [u8] {
        &mut self.out[self.spacing.place(self.written)..]
    }
}
