//! Symbols to be coded, a window of rows at a time.

use crate::error::Result;
use crate::spare;
use crate::wcodec::crew::Crew;
use crate::wcodec::data::Data;
use crate::wcodec::encode::cost::{self, Histogram};
use crate::wcodec::encode::sample::Sample;
use std::ops::Range;

/// Bits of symbols of which there are few: tables of counts are small, and each is a bit in a word.
pub(crate) const FEW_BITS: u32 = 4;
/// Symbols of a window, about.
const WINDOW: usize = 1 << 20;
/// Symbols of rows that count, where they are read one by one because these many lie between them.
const APART: usize = 1 << 16;
const BETWEEN: usize = 1 << 13;

/// Symbols to be coded, in whole rows but for the last one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix<'a> {
    pub(crate) symbols: Data<'a>,
    pub(crate) cols: usize,
    pub(crate) bits: u32,
    /// Who goes through its windows.
    pub(crate) crew: Crew<'a>,
}

/// Some rows of a matrix, one after the other or those of a sample.
pub(crate) struct Window<'w> {
    /// From the first one on to the first that is not in it.
    pub(crate) rows: Range<usize>,
    /// Those that count, or all of them.
    symbols: &'w [u8],
    cols: usize,
    /// Which rows of the matrix count.
    sample: Sample,
    /// Whether `symbols` are these alone.
    apart: bool,
}

impl<'w> Window<'w> {
    /// The rows that count, with their numbers.
    pub(crate) fn each(&self) -> impl Iterator<Item = (usize, &'w [u8])> + use<'w> {
        let (symbols, starts) = self.starts();
        let cols = self.cols;
        starts.map(move |(r, start)| {
            let row = symbols.get(start..).unwrap_or_default();
            (r, row.get(..cols).unwrap_or(row))
        })
    }

    /// The numbers of the rows that count, and where they begin in all symbols, which come with them.
    pub(crate) fn starts(&self) -> (&'w [u8], impl Iterator<Item = (usize, usize)> + use<'w>) {
        let (first, cols, apart) = (self.rows.start, self.cols, self.apart);
        let rows = self.sample.within(self.rows.clone()).enumerate();
        (self.symbols, rows.map(move |(i, r)| (r, if apart { i } else { r - first } * cols)))
    }
}

impl Matrix<'_> {
    /// How many symbols there are.
    pub(crate) fn len(&self) -> usize {
        self.symbols.len()
    }

    pub(crate) fn rows(&self) -> usize {
        self.len().div_ceil(self.cols.max(1))
    }

    /// The histogram of one row in so many.
    pub(crate) fn count(&self, every: usize) -> Result<Histogram> {
        let counted = self.windows(
            every,
            || [0; 256],
            |all, window| {
                let counts = match every {
                    1 if self.bits <= FEW_BITS => cost::count_nibbles([window.symbols].into_iter()),
                    1 => cost::count(window.symbols),
                    _ if self.bits <= FEW_BITS => {
                        cost::count_nibbles(window.each().map(|(_, row)| row))
                    }
                    _ => cost::count_runs(window.each().map(|(_, row)| row)),
                };
                cost::add(all, &counts);
                Ok(())
            },
        )?;
        let mut all = [0; 256];
        counted.iter().for_each(|counts| cost::add(&mut all, counts));
        Ok(all)
    }

    /// Its rows, or one in so many.
    pub(crate) fn sample(&self, every: usize) -> Sample {
        Sample::new(self.rows(), every)
    }

    /// Calls `f` with windows of the sample of one row in so many, begun in order, and what the thread that does so has
    /// of its own; comes back with all of that, in no order.
    pub(crate) fn windows<S: Send>(
        &self,
        every: usize,
        make: impl Fn() -> S + Sync,
        f: impl Fn(&mut S, Window<'_>) -> Result<()> + Sync,
    ) -> Result<Vec<S>> {
        let (cols, rows, sample) = (self.cols.max(1), self.rows(), self.sample(every));
        let apart = every > 1 && every * cols >= BETWEEN && self.symbols.held().is_none();
        let at_once = match apart {
            true => (APART / cols).max(1) * every,
            false => (WINDOW / cols).max(1).next_multiple_of(every),
        };
        let window = |own: &mut (S, Vec<u8>, Vec<u8>), i: usize| {
            let (own, buffer, packed) = own;
            let first = i * at_once;
            let end = rows.min(first + at_once);
            let span = |rows: Range<usize>| rows.start * cols..(rows.end * cols).min(self.len());
            let symbols = if apart {
                packed.clear();
                for row in sample.within(first..end) {
                    packed.extend_from_slice(self.symbols.get(span(row..row + 1), buffer)?);
                }
                &packed[..]
            } else {
                self.symbols.get(span(first..end), buffer)?
            };
            f(own, Window { rows: first..end, symbols, cols, sample, apart })
        };
        let make = || (make(), Vec::new(), Vec::new());
        let all = self.crew.each(rows.div_ceil(at_once), make, window)?;
        let give_back = |(own, buffer, _)| {
            spare::give_bytes(buffer);
            own
        };
        Ok(all.into_iter().map(give_back).collect())
    }
}
