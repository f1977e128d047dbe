//! Groups side by side through the kernels, with the classes of their symbols.

use super::SymbolDecoder;
use super::buffers::{OfStack, OfSymbols};
use super::opened::Opened;
use crate::ans::rans::LANES;
use crate::error::{Error, Result};
use crate::wcodec::class::{RowSums, Terms};
use crate::wcodec::decode::tables::Ready;
use latens_kernels::dispatch::simd;
use latens_kernels::rans::{Classes, Group, Kernel, Levels, Spacing};
use std::ops::Range;

/// Coded symbols, at least, whose classes are found at once: few enough to be in the nearest cache
/// still when they are used, beside the tables.
const BAND: usize = 1 << 12;

/// A group on its way through the kernels.
pub(super) struct Stream<'a, 's> {
    pub(super) group: usize,
    pub(super) opened: &'a mut Opened<'s>,
    pub(super) classes: &'a mut OfSymbols,
    pub(super) stacked: &'a mut OfStack,
    /// Symbols, pairs a byte.
    pub(super) out: &'a mut [u8],
    pub(super) spacing: Spacing,
}

impl Stream<'_, '_> {
    /// How many symbols, or pairs, there are.
    fn count(&self) -> usize {
        self.spacing.symbols(self.out.len())
    }

    /// What of a band there is.
    fn clip(&self, band: Range<usize>) -> Range<usize> {
        band.start.min(self.count())..band.end.min(self.count())
    }

    /// Where a band goes, or its first `count` symbols.
    fn place(&self, band: Range<usize>, count: usize) -> Range<usize> {
        let start = self.spacing.place(band.start).min(self.out.len());
        start..start + self.spacing.bytes(count.min(band.len()))
    }
}

impl SymbolDecoder<'_> {
    /// The classes of coded symbols from row `first` on.
    pub(super) fn classes(
        &self,
        terms: &Terms<'_>,
        first: usize,
        sums: &mut RowSums,
        classes: &mut [u8],
    ) {
        let step = if self.symbols.pairs { 2 } else { 1 };
        let cols = self.symbols.coded_cols().max(1);
        if terms.by_column_alone() && classes.len() > cols {
            terms.classes(first, step, sums, &mut classes[..cols]);
            return repeat(classes, cols);
        }
        for (r, row) in classes.chunks_mut(cols).enumerate() {
            terms.classes(first + r, step, sums, row);
        }
    }

    /// The next symbols of a stream, those of `band` which come of its words, with their classes.
    fn band<'b>(&'b self, stream: &'b mut Stream<'_, '_>, band: Range<usize>) -> Group<'b> {
        let band = stream.clip(band);
        let place = stream.place(band.clone(), stream.opened.of_words(band.len()));
        let Range { start: from, end: to } = band;
        let Stream { group, opened, classes, out, spacing, .. } = stream;
        let row = from / self.symbols.coded_cols().max(1);
        let first = *group * self.symbols.group_rows + row;
        let step = if self.symbols.pairs { 2 } else { 1 };
        let OfSymbols { each, sums, starts } = &mut **classes;
        let levels = match (&self.terms, self.windows) {
            (Some(terms), Some(windows)) => {
                starts.resize((to - from).div_ceil(LANES), 0);
                windows.starts_of_rows(terms, first, step, starts);
                Levels::new(&windows.map, starts, &windows.cols)
            }
            _ => None,
        };
        let classes = match (&self.terms, levels) {
            (None, _) => Classes::One(0),
            (Some(_), Some(levels)) => Classes::Levels(levels),
            (Some(terms), None) => {
                each.resize(to - from, 0);
                self.classes(terms, first, sums, each);
                Classes::PerSymbol(each)
            }
        };
        let (words, count) = (&opened.words[opened.read..], opened.of_words(to - from));
        let (states, classes, spacing) = (opened.states, classes.first(count), *spacing);
        Group { words, states, classes, out: &mut out[place], spacing }
    }

    /// Decodes all symbols of streams side by side.
    pub(super) fn rans<const G: usize>(&self, streams: &mut [Stream<'_, '_>; G]) -> Result<()> {
        match &self.symbols.stack {
            Some(stack) => self.stacked(stack, streams)?,
            None => self.rows_of_lanes(streams)?,
        }
        let whole = |stream: &&Stream<'_, '_>| self.is_whole(stream);
        streams.iter().filter(whole).try_for_each(|stream| {
            stream.opened.check_states()?;
            stream.opened.check_no_more()
        })
    }

    /// Whether a stream is decoded to the end of its group.
    fn is_whole(&self, stream: &Stream<'_, '_>) -> bool {
        let symbols = self.symbols.group_range(stream.group).len();
        stream.count() == if self.symbols.pairs { symbols / 2 } else { symbols }
    }

    /// The same, row by row: some at a time where their classes are written down.
    fn rows_of_lanes<const G: usize>(&self, streams: &mut [Stream<'_, '_>; G]) -> Result<()> {
        let longest = streams.iter().map(Stream::count).max().unwrap_or(0);
        let cols = self.symbols.coded_cols().max(1);
        let written_down = self.terms.is_some() && self.windows.is_none();
        let rows = if written_down { band_rows(cols) } else { longest.div_ceil(cols) };
        for row in (0..longest.div_ceil(cols)).step_by(rows.max(1)) {
            let band = row * cols..row.saturating_add(rows).saturating_mul(cols);
            let mut groups = streams.each_mut().map(|stream| self.band(stream, band.clone()));
            let read = self.decode_groups(groups.each_mut())?;
            let states = groups.map(|group| group.states);
            for ((stream, states), read) in streams.iter_mut().zip(states).zip(read) {
                let band = stream.clip(band.clone());
                let place = stream.place(band, usize::MAX);
                let (out, spacing) = (&mut stream.out[place], stream.spacing);
                stream.opened.go_on(states, read, out, spacing)?;
            }
        }
        Ok(())
    }

    /// The bytes of words that each of the groups read.
    pub(super) fn decode_groups<const G: usize>(
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
}

/// Repeats the first `count` of `all` up to the end.
fn repeat(all: &mut [u8], mut count: usize) {
    while count < all.len() {
        let more = count.min(all.len() - count);
        all.copy_within(..more, count);
        count += more;
    }
}

/// Rows whose classes are found at once: whole rows of lanes, so that states can go on from there.
fn band_rows(cols: usize) -> usize {
    // The least count of rows that are whole rows of lanes; both are powers of two.
    let least = LANES >> cols.trailing_zeros().min(LANES.trailing_zeros());
    (BAND / cols).next_multiple_of(least).max(least)
}
