//! One group: its stored bytes to symbols.

mod opened;
mod whole;

use crate::ans::rans::LANES;
use crate::error::{Error, Result};
use crate::wcodec::class::windows::Windows;
use crate::wcodec::class::{RowSums, Terms};
use crate::wcodec::decode::tables::{Ready, Slots};
use crate::wcodec::layout::symbols::Symbols;
use crate::wcodec::pairs;
use crate::wcodec::tiled::Tiles;
use latens_kernels::dispatch::simd;
use latens_kernels::rans::{Classes, Group, Kernel, Levels};
use opened::Opened;

/// Coded symbols, at least, whose classes are found at once: few enough to be in the nearest cache
/// still when they are used, beside the tables.
const BAND: usize = 1 << 12;

/// Everything that the groups of a part of symbols have in common.
pub(crate) struct SymbolDecoder<'a> {
    pub(crate) symbols: &'a Symbols,
    pub(crate) bits: u32,
    /// By bitplanes rather than by tables.
    pub(crate) bitplane: bool,
    pub(crate) slots: &'a Slots,
    pub(crate) terms: Option<Terms<'a>>,
    /// The terms for kernels, where they have that form.
    pub(crate) windows: Option<&'a Windows>,
    /// Symbols of the reference, as many as the part has; or none.
    pub(crate) reference: Vec<u8>,
}

/// A group on its way through the kernels.
struct Stream<'a, 's> {
    group: usize,
    opened: &'a mut Opened<'s>,
    classes: &'a mut OfSymbols,
    /// Coded symbols.
    out: &'a mut [u8],
}

/// What groups that are decoded one after the other may use again.
#[derive(Debug, Default)]
struct Buffer {
    classes: OfSymbols,
    pairs: Vec<u8>,
}

/// What says which classes symbols have.
#[derive(Debug, Default)]
struct OfSymbols {
    /// One by one, and what rows have in common.
    each: Vec<u8>,
    sums: RowSums,
    /// Where windows begin.
    starts: Vec<u16>,
}

/// Most groups that are decoded side by side.
pub(crate) const TOGETHER: usize = 4;

/// Those of groups side by side.
#[derive(Debug, Default)]
pub(crate) struct Buffers([Buffer; TOGETHER]);

impl Buffers {
    /// Makes them ready for another tensor, whose rows have sums of their own.
    pub(crate) fn forget(&mut self) {
        self.0.iter_mut().for_each(|buffer| buffer.classes.sums = RowSums::default());
    }

    /// Bytes that they keep.
    pub(crate) fn bytes(&self) -> usize {
        let of = |b: &Buffer| {
            b.classes.each.capacity() + 2 * b.classes.starts.capacity() + b.pairs.capacity()
        };
        self.0.iter().map(of).sum()
    }
}

/// What a group is decoded to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A symbol a byte.
    Symbols,
    /// A pair of symbols a byte, as it is coded; for PAIRS alone.
    Pairs,
}

impl SymbolDecoder<'_> {
    /// Decodes group `group` from `stored` into `out`, which is as long as the group. Offsets in
    /// errors count from the start of `stored`.
    pub(crate) fn decode(
        &self,
        group: usize,
        stored: &[u8],
        into: Target,
        buffers: &mut Buffers,
        out: &mut [u8],
    ) -> Result<()> {
        if self.bitplane {
            return self.bitplanes(group, stored, out);
        }
        if self.symbols.has_transform() {
            let opened = self.open(stored, out.len())?;
            return self.coefficients(group, opened, out);
        }
        self.side_by_side(group, [stored], into, buffers, [out])
    }

    /// Decodes up to [`TOGETHER`] groups, `out` being cut into as many as are `stored`.
    pub(crate) fn decode_some(
        &self,
        group: usize,
        stored: &[&[u8]],
        into: Target,
        buffers: &mut Buffers,
        out: &mut [&mut [u8]],
    ) -> Result<()> {
        if !self.bitplane && !self.symbols.has_transform() {
            if let ([p, q, r, s], [a, b, c, d]) = (stored, &mut *out) {
                let stored = [*p, *q, *r, *s];
                return self.side_by_side(group, stored, into, buffers, [a, b, c, d]);
            }
            if let ([p, q, stored @ ..], [a, b, out @ ..]) = (stored, &mut *out) {
                self.side_by_side(group, [*p, *q], into, buffers, [a, b])?;
                return self.decode_some(group + 2, stored, into, buffers, out);
            }
        }
        for (i, (stored, out)) in stored.iter().zip(out).enumerate() {
            self.decode(group + i, stored, into, buffers, out)?;
        }
        Ok(())
    }

    fn side_by_side<const G: usize>(
        &self,
        group: usize,
        stored: [&[u8]; G],
        into: Target,
        buffers: &mut Buffers,
        mut out: [&mut [u8]; G],
    ) -> Result<()> {
        let mut opened = Vec::with_capacity(G);
        for (stored, out) in stored.iter().zip(&out) {
            opened.push(self.open(stored, out.len())?);
        }
        let each = opened.iter_mut().zip(&mut buffers.0).zip(&mut out);
        let streams = each.zip(group..).map(|(((opened, buffer), out), group)| {
            let Buffer { classes, pairs } = buffer;
            Stream { group, opened, classes, out: self.coded(into, pairs, out) }
        });
        let mut streams: Vec<_> = streams.collect();
        if let Ok(streams) = <&mut [Stream<'_, '_>; G]>::try_from(&mut streams[..]) {
            self.rans(streams)?;
        }
        for ((i, out), (opened, buffer)) in
            out.into_iter().enumerate().zip(opened.iter().zip(&mut buffers.0))
        {
            if !self.symbols.pairs {
                self.restore(group + i, &opened.tiles, out)?;
            } else if into == Target::Pairs {
                self.restore_pairs(opened.end(), out)?;
            } else {
                self.restore_pairs(opened.end(), &mut buffer.pairs)?;
                pairs::apart(&buffer.pairs, out);
            }
        }
        Ok(())
    }

    /// Where coded symbols go: `out`, or a buffer for pairs that are still to be taken apart.
    fn coded<'o>(&self, into: Target, pairs: &'o mut Vec<u8>, out: &'o mut [u8]) -> &'o mut [u8] {
        if !self.symbols.pairs || into == Target::Pairs {
            return out;
        }
        pairs.resize(out.len() / 2, 0);
        pairs
    }

    /// The classes of coded symbols from row `first` on.
    fn classes(&self, terms: &Terms<'_>, first: usize, sums: &mut RowSums, classes: &mut [u8]) {
        let step = if self.symbols.pairs { 2 } else { 1 };
        for (r, row) in classes.chunks_mut(self.symbols.coded_cols().max(1)).enumerate() {
            terms.classes(first + r, step, sums, row);
        }
    }

    /// The next symbols of a stream, `count` of them from row `row` on (fewer at the end), with their
    /// classes.
    fn band<'b>(&'b self, stream: &'b mut Stream<'_, '_>, row: usize, count: usize) -> Group<'b> {
        let Stream { group, opened, classes, out } = stream;
        let cols = self.symbols.coded_cols();
        let from = (row * cols).min(out.len());
        let to = from.saturating_add(count).min(out.len());
        let first = *group * self.symbols.group_rows + row;
        let step = if self.symbols.pairs { 2 } else { 1 };
        let OfSymbols { each, sums, starts } = &mut **classes;
        let classes = match (&self.terms, self.windows) {
            (None, _) => Classes::One(0),
            (Some(terms), Some(windows)) => {
                starts.resize((to - from).div_ceil(LANES), 0);
                windows.starts_of_rows(terms, first, step, starts);
                // As windows are made, that is what it is.
                match Levels::new(&windows.map, starts, &windows.cols) {
                    Some(levels) => Classes::Levels(levels),
                    None => Classes::One(0),
                }
            }
            (Some(terms), None) => {
                each.resize(to - from, 0);
                self.classes(terms, first, sums, each);
                Classes::PerSymbol(each)
            }
        };
        let words = &opened.words[opened.read..];
        Group { words, states: opened.states, classes, out: &mut out[from..to] }
    }

    /// Decodes all symbols of streams side by side: some rows at a time where their classes are
    /// written down.
    fn rans<const G: usize>(&self, streams: &mut [Stream<'_, '_>; G]) -> Result<()> {
        let longest = streams.iter().map(|s| s.out.len()).max().unwrap_or(0);
        let cols = self.symbols.coded_cols().max(1);
        let written_down = self.terms.is_some() && self.windows.is_none();
        let rows = if written_down { band_rows(cols) } else { longest.div_ceil(cols) };
        for row in (0..longest.div_ceil(cols)).step_by(rows.max(1)) {
            let count = rows.saturating_mul(cols);
            let mut groups = streams.each_mut().map(|stream| self.band(stream, row, count));
            let read = self.decode_groups(groups.each_mut())?;
            let states = groups.map(|group| group.states);
            for ((stream, states), read) in streams.iter_mut().zip(states).zip(read) {
                stream.opened.go_on(states, read)?;
            }
        }
        streams.iter().try_for_each(|stream| {
            stream.opened.check_states()?;
            stream.opened.check_no_more()
        })
    }

    /// The bytes of words that each of the groups read.
    fn decode_groups<const G: usize>(
        &self,
        groups: [&mut Group<'_>; G],
    ) -> Result<[Option<usize>; G]> {
        let tables = self.slots.ready(self.symbols.table_bits);
        let tables = tables.ok_or_else(|| Error::corrupt(0, "symbols without a table"))?;
        let kernel = Kernel::new(simd());
        Ok(match tables {
            Ready::Narrow(tables) => kernel.decode(tables, groups),
            Ready::Wide(tables) => kernel.decode_wide(tables, groups),
        })
    }

    /// A pair has room for symbols of 4 bits.
    fn check_nibbles(&self, pairs: &[u8], at: u64) -> Result<()> {
        let all = pairs.iter().fold(0, |all, pair| all | pair);
        match u32::from((all & 15) | all >> 4) >> self.bits {
            0 => Ok(()),
            _ => Err(Error::corrupt(at, format!("pairs of more than {} bits each", self.bits))),
        }
    }

    /// Adds means of columns to pairs, which are of residuals then. `end` is where their bytes end.
    fn restore_pairs(&self, end: u64, pairs: &mut [u8]) -> Result<()> {
        if self.bits < 4 {
            self.check_nibbles(pairs, end)?;
        }
        let prediction = self.symbols.prediction.as_ref();
        if let Some(means) = prediction.and_then(|prediction| prediction.means.as_deref()) {
            pairs::add(pairs, means, self.bits);
        }
        Ok(())
    }

    /// Adds predictions.
    fn restore(&self, group: usize, tiles: &Tiles, out: &mut [u8]) -> Result<()> {
        let Some(prediction) = &self.symbols.prediction else { return Ok(()) };
        let (rows, reference) = (self.rows(out.len()), self.reference(group));
        tiles.band(prediction, self.bits, rows, self.symbols.cols, reference)?.restore(out)
    }

    fn rows(&self, count: usize) -> usize {
        count.checked_div(self.symbols.cols).unwrap_or(0)
    }

    fn reference(&self, group: usize) -> &[u8] {
        self.reference.get(self.symbols.group_range(group)).unwrap_or_default()
    }
}

/// Rows whose classes are found at once: whole rows of lanes, so that states can go on from there.
fn band_rows(cols: usize) -> usize {
    // The least count of rows that are whole rows of lanes; both are powers of two.
    let least = LANES >> cols.trailing_zeros().min(LANES.trailing_zeros());
    (BAND / cols).next_multiple_of(least).max(least)
}
