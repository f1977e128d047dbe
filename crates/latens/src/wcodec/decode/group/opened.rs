//! A group's head, and what is left of its words.

use super::{SymbolDecoder, escapes};
use crate::ans::rans::{LANES, START};
use crate::error::{Error, Result};
use crate::wcodec::tiled::Tiles;

/// A group whose head has been read.
pub(super) struct Opened<'s> {
    pub(super) tiles: Tiles,
    /// Symbols that are said apart.
    pub(super) escapes: &'s [u8],
    pub(super) states: [u32; LANES],
    pub(super) words: &'s [u8],
    /// Where the words begin in the stored bytes.
    pub(super) at: usize,
    /// Bytes of words that have been read.
    pub(super) read: usize,
}

impl Opened<'_> {
    /// Takes in what a kernel has done. Words must not have run out.
    pub(super) fn go_on(&mut self, states: [u32; LANES], read: Option<usize>) -> Result<()> {
        self.states = states;
        self.read += read.ok_or_else(|| Error::corrupt(self.end(), "a group's words run out"))?;
        Ok(())
    }

    /// Where the stored bytes end.
    pub(super) fn end(&self) -> u64 {
        (self.at + self.words.len()) as u64
    }

    /// All lanes must be back at their start.
    pub(super) fn check_states(&self) -> Result<()> {
        let Some(lane) = self.states.iter().position(|&x| x != START) else { return Ok(()) };
        let x = self.states[lane];
        let what = format!("lane {lane} ends at {x:#x}, not {START:#x}");
        Err(Error::corrupt(self.end(), what))
    }

    /// No words may be left.
    pub(super) fn check_no_more(&self) -> Result<()> {
        match self.words.len() - self.read {
            0 => Ok(()),
            left => {
                let at = (self.at + self.read) as u64;
                Err(Error::corrupt(at, format!("{left} bytes too many in a group")))
            }
        }
    }
}

impl SymbolDecoder<'_> {
    /// Reads tiles and states of a group of `count` symbols.
    pub(super) fn open<'s>(&self, stored: &'s [u8], count: usize) -> Result<Opened<'s>> {
        let (tiles, at) = self.tiles(stored, count)?;
        let (escapes, at) = match self.symbols.escape {
            Some(_) => escapes::list(stored, at, self.bits)?,
            None => (&[][..], at),
        };
        let rest = &stored[at..];
        let Some((head, words)) = rest.split_at_checked(LANES * 4) else {
            return Err(Error::corrupt(0, "a group is shorter than its 32 states"));
        };
        let mut states = [0u32; LANES];
        for (lane, (x, bytes)) in states.iter_mut().zip(head.as_chunks::<4>().0).enumerate() {
            *x = u32::from_le_bytes(*bytes);
            if *x < START {
                let at = (at + 4 * lane) as u64;
                return Err(Error::corrupt(at, format!("lane {lane} begins at {x}")));
            }
        }
        if words.len() % 2 != 0 {
            return Err(Error::corrupt(stored.len() as u64, "a group of half a word"));
        }
        Ok(Opened { tiles, escapes, states, words, at: at + LANES * 4, read: 0 })
    }

    pub(super) fn tiles(&self, stored: &[u8], count: usize) -> Result<(Tiles, usize)> {
        let symbols = self.symbols;
        match &symbols.prediction {
            None => Ok((Tiles::default(), 0)),
            Some(prediction) => {
                let rows = count.checked_div(symbols.cols).unwrap_or(0);
                Tiles::read(prediction, rows, symbols.cols, stored)
            }
        }
    }
}
