//! One group: its stored bytes to symbols.

use crate::ans::rans::{self, Classes, DecodeTables, LANES, START};
use crate::error::{Error, Result};
use crate::wcodec::class::{RowSums, Terms};
use crate::wcodec::layout::symbols::{BY_TILE, Symbols};

/// How many times its stored bytes a group may hold.
pub(crate) const MOST_EXPANSION: usize = 1 << 16;
const NONE: u8 = 0;
const COLUMN: u8 = 6;

/// Everything that the groups of a part of symbols have in common.
pub(crate) struct SymbolDecoder<'a> {
    pub(crate) symbols: &'a Symbols,
    pub(crate) bits: u32,
    pub(crate) tables: DecodeTables,
    pub(crate) terms: Option<Terms<'a>>,
}

impl SymbolDecoder<'_> {
    /// Decodes group `group` from `stored` into `out`, which is as long as the group. Offsets in
    /// errors count from the start of `stored`.
    pub(crate) fn decode(&self, group: usize, stored: &[u8], out: &mut [u8]) -> Result<()> {
        let symbols = self.symbols;
        let (head, words) = stored
            .split_at_checked(LANES * 4)
            .ok_or_else(|| Error::corrupt(0, "a group is shorter than its 32 states"))?;
        let mut states = [0u32; LANES];
        for (lane, (x, bytes)) in states.iter_mut().zip(head.as_chunks::<4>().0).enumerate() {
            *x = u32::from_le_bytes(*bytes);
            if *x < START {
                return Err(Error::corrupt(4 * lane as u64, format!("lane {lane} begins at {x}")));
            }
        }
        let (words, odd) = words.as_chunks::<2>();
        if !odd.is_empty() {
            return Err(Error::corrupt(stored.len() as u64, "a group of half a word"));
        }
        let step = if symbols.pairs { 2 } else { 1 };
        let mut paired = Vec::new();
        let target: &mut [u8] = if symbols.pairs {
            paired.resize(out.len() / 2, 0);
            &mut paired
        } else {
            out
        };
        let mut classes = Vec::new();
        if let Some(terms) = &self.terms {
            classes.resize(target.len(), 0);
            let (mut scratch, first) = (RowSums::default(), group * symbols.group_rows);
            for (r, row) in classes.chunks_mut(symbols.coded_cols().max(1)).enumerate() {
                terms.classes(first + r, step, &mut scratch, row);
            }
        }
        let by = if self.terms.is_some() { Classes::Each(&classes) } else { Classes::One(0) };
        let read = rans::decode(words, &mut states, &self.tables, by, target);
        let Some(read) = read else {
            return Err(Error::corrupt(stored.len() as u64, "a group's words run out"));
        };
        if read != words.len() {
            return Err(Error::corrupt(
                (LANES * 4 + 2 * read) as u64,
                format!("{} words too many in a group", words.len() - read),
            ));
        }
        if let Some(lane) = states.iter().position(|&x| x != START) {
            return Err(Error::corrupt(
                stored.len() as u64,
                format!("lane {lane} ends at {:#x} instead of {START:#x}", states[lane]),
            ));
        }
        if symbols.pairs {
            for (two, pair) in out.as_chunks_mut::<2>().0.iter_mut().zip(&paired) {
                *two = [pair & 15, pair >> 4];
            }
        }
        self.undo_prediction(out)
    }

    /// Adds what was subtracted.
    fn undo_prediction(&self, out: &mut [u8]) -> Result<()> {
        let Some(prediction) = &self.symbols.prediction else { return Ok(()) };
        let mask = u8::MAX >> (8 - self.bits);
        match (prediction.predictor, &prediction.means) {
            (NONE, _) if !prediction.transform => Ok(()),
            (COLUMN, Some(means)) if !prediction.transform => {
                for row in out.chunks_mut(means.len().max(1)) {
                    row.iter_mut().zip(means).for_each(|(s, m)| *s = s.wrapping_add(*m) & mask);
                }
                Ok(())
            }
            (BY_TILE, _) => {
                Err(Error::corrupt(0, "predictors by tile are not known to this reader"))
            }
            (predictor, _) => {
                Err(Error::corrupt(0, format!("predictor {predictor} is not known to this reader")))
            }
        }
    }
}
