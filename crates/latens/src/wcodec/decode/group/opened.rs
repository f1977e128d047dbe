//! A group's head, and what is left of its words.

use super::{SymbolDecoder, escapes};
use crate::ans::compact;
use crate::ans::rans::{LANES, START};
use crate::error::{Error, Result};
use crate::wcodec::tiled::Tiles;
use latens_kernels::dispatch::Present;
use latens_kernels::rans::Spacing;

/// A group whose head has been read.
pub(super) struct Opened<'s> {
    pub(super) tiles: Tiles,
    /// The symbol in whose place others are said apart, and those of these that are still to come.
    escape: Option<u8>,
    escapes: &'s [u8],
    pub(super) states: [u32; LANES],
    pub(super) words: &'s [u8],
    /// Where the words begin in the stored bytes.
    pub(super) at: usize,
    /// Bytes of words that have been read.
    pub(super) read: usize,
    /// Coded symbols that are still to come of the words.
    left: usize,
    /// The number of the next one that the last states hold, and bits of these.
    next: usize,
    bits: u32,
}

impl Opened<'_> {
    /// How many of the next `count` symbols come of the words.
    pub(super) fn of_words(&self, count: usize) -> usize {
        count.min(self.left)
    }

    /// Takes in what a kernel has done for `out`, and fills it where it goes on beyond [what comes of the
    /// words](Opened::of_words). Words must not have run out.
    pub(super) fn go_on(
        &mut self,
        states: [u32; LANES],
        read: Option<usize>,
        out: &mut [u8],
        spacing: Spacing,
    ) -> Result<()> {
        self.states = states;
        self.read += read.ok_or_else(|| Error::corrupt(self.end(), "a group's words run out"))?;
        let count = spacing.symbols(out.len());
        let of_words = self.of_words(count);
        self.left -= of_words;
        if spacing == Spacing::NONE {
            let rest = &mut out[of_words..];
            compact::take_from_states(&mut self.states, self.next, self.bits, rest);
        } else {
            let mut rest = vec![0; count - of_words];
            compact::take_from_states(&mut self.states, self.next, self.bits, &mut rest);
            (of_words..).zip(rest).for_each(|(i, symbol)| out[spacing.place(i)] = symbol);
        }
        self.next += count - of_words;
        if let Some(escape) = self.escape {
            let left = latens_kernels::escapes::put(Present::in_use(), escape, self.escapes, out);
            self.escapes =
                left.ok_or_else(|| Error::corrupt(self.end(), "a group's escapes run out"))?;
        }
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

    /// No words and no escapes may be left.
    pub(super) fn check_no_more(&self) -> Result<()> {
        if !self.escapes.is_empty() {
            return Err(Error::corrupt(self.end(), "escapes are left over in a group"));
        }
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
    /// Reads tiles and states of a group, of which `count` symbols are asked for.
    pub(super) fn open<'s>(
        &self,
        group: usize,
        stored: &'s [u8],
        count: usize,
    ) -> Result<Opened<'s>> {
        let (tiles, at) = self.tiles(stored, count)?;
        let (escapes, at) = match self.symbols.escape {
            Some(_) => escapes::list(stored, at, self.symbols.coded_bits(self.bits))?,
            None => (&[][..], at),
        };
        let read = if self.symbols.compact { compact::read } else { plain_states };
        let (states, end) = read(&stored[at..]).map_err(|e| e.offset_by(at as u64))?;
        let at = at + end;
        let words = &stored[at..];
        if !words.len().is_multiple_of(2) {
            return Err(Error::corrupt(stored.len() as u64, "a group of half a word"));
        }
        let (all, bits) = (self.symbols.coded(group), self.symbols.coded_bits(self.bits));
        let left = all - if self.symbols.compact { compact::in_states(all, bits) } else { 0 };
        let escape = self.symbols.escape;
        Ok(Opened { tiles, escape, escapes, states, words, at, read: 0, left, next: left, bits })
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

/// Reads states of 32 bits each, and how far they go.
fn plain_states(bytes: &[u8]) -> Result<([u32; LANES], usize)> {
    let Some((head, _)) = bytes.split_at_checked(LANES * 4) else {
        return Err(Error::corrupt(0, "a group is shorter than its 32 states"));
    };
    let mut states = [0u32; LANES];
    for (lane, (x, bytes)) in states.iter_mut().zip(head.as_chunks::<4>().0).enumerate() {
        *x = u32::from_le_bytes(*bytes);
        if *x < START {
            let what = format!("lane {lane} begins at {x}");
            return Err(Error::corrupt(4 * lane as u64, what));
        }
    }
    Ok((states, LANES * 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_that_are_too_small_are_told_where_they_are() {
        let mut bytes = [START; LANES].map(u32::to_le_bytes).concat();
        assert_eq!(plain_states(&bytes).unwrap(), ([START; LANES], 128));
        assert_eq!(plain_states(&bytes[..127]).unwrap_err().at(), Some(0));
        bytes[14] = 0;
        assert_eq!(plain_states(&bytes).unwrap_err().at(), Some(12));
    }
}
