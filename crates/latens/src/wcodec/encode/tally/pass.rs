//! One pass over rows that counts symbols by sum: each row in the way that takes the least time.

use super::counts::Tally;
use super::dealt::Dealt;
use super::strips::{Sorted, Strips};
use super::{FEW_BITS, Own};
use crate::error::Result;
use crate::wcodec::class::{RowSums, Terms};
use crate::wcodec::encode::matrix::{Matrix, Window};
use crate::wcodec::encode::merge::BySum;
use crate::wcodec::encode::sample::Sample;
use crate::wcodec::encode::sources::{Near, Sources};
use crate::wcodec::layout::class_rule::ClassRule;

/// Blocks of fewer columns than this are counted symbol by symbol.
const FEW: usize = 16;

/// What is counted, and how.
pub(super) struct Pass<'p> {
    sources: &'p Sources<'p>,
    rule: &'p ClassRule,
    cols: usize,
    bits: u32,
    /// What was counted before.
    left_out: Option<Sample>,
    strips: Option<Strips>,
    /// Whether zero points change every few columns.
    narrow: bool,
    /// Whether bands of these are counted as symbols.
    deals: bool,
}

/// What a thread has that counts.
pub(super) struct Counting {
    own: Own,
    /// Rows, where strips of columns are counted.
    sorted: Sorted,
    /// How many bands there are at least.
    used: usize,
    /// Symbols counted.
    pub(super) seen: usize,
    near: Near,
    row: RowOf,
}

/// What is known of the symbols of a row, in memory that is used again.
struct RowOf {
    sums: Vec<u8>,
    bands: Vec<u8>,
    /// Where the zero points that they are of begin, and how many those are.
    bands_of: Option<(usize, usize, usize)>,
}

impl Counting {
    pub(super) fn new(own: Own, cols: usize) -> Self {
        let row = RowOf { sums: vec![0; cols], bands: vec![0; cols], bands_of: None };
        Self { own, sorted: Sorted::default(), used: 1, seen: 0, near: Near::default(), row }
    }
}

impl<'p> Pass<'p> {
    pub(super) fn new(
        matrix: Matrix<'_>,
        sources: &'p Sources<'p>,
        rule: &'p ClassRule,
        left_out: Option<Sample>,
    ) -> Self {
        let Matrix { cols, bits, .. } = matrix;
        let narrow = rule.zero.as_ref().is_some_and(|zero| zero.block_cols < FEW);
        let deals = narrow && Dealt::fits(bits, sources.bands.last());
        let strips = Strips::of(matrix, rule);
        Self { sources, rule, cols, bits, left_out, strips, narrow, deals }
    }

    /// Counts the rows of a window.
    pub(super) fn window(&self, counting: &mut Counting, window: &Window<'_>) -> Result<()> {
        let left_out = |r: usize| self.left_out.is_some_and(|sample| sample.has(r));
        let Counting { own, sorted, used, seen, near, row: known } = counting;
        let terms = self.sources.near(window.rows.clone(), near)?.terms(self.rule);
        if let Some(strips) = &self.strips {
            let (symbols, rows) = window.starts();
            sorted.take_in(&terms, rows.filter(|(r, _)| !left_out(*r)));
            *seen += sorted.len() * self.cols;
            strips.count(&terms, symbols, sorted, own.first(self.bits));
            return Ok(());
        }
        let by_runs = self.bits <= FEW_BITS && terms.by_runs();
        let mut scratch = RowSums::default();
        for (r, row) in window.each().filter(|(r, _)| !left_out(*r)) {
            *seen += row.len();
            if by_runs {
                let tally = own.first(self.bits);
                terms.sum_runs(r, 1, row.len(), |run, sum| tally.add_run(sum, &row[run]));
                continue;
            }
            terms.sums(r, 1, &mut scratch, &mut known.sums[..row.len()]);
            let bands = match self.narrow {
                true => self.narrow_bands(own, known, &terms, (r, row)),
                false => self.bands(own, known, &terms, (r, row)),
            };
            *used = bands.max(*used);
        }
        Ok(())
    }

    /// Counts a row whose zero points change every few columns; how many bands these have at least.
    fn narrow_bands(
        &self,
        own: &mut Own,
        known: &mut RowOf,
        terms: &Terms<'_>,
        (r, row): (usize, &[u8]),
    ) -> usize {
        let Some(zero) = terms.zero.as_deref() else {
            return self.bands(own, known, terms, (r, row));
        };
        let RowOf { sums, bands, bands_of } = known;
        let row_of = (zero.first, zero.row(r), row.len());
        if bands_of.replace(row_of) != Some(row_of) {
            zero.spread(r, |z| self.sources.bands.of_value(z), &mut bands[..row.len()]);
        }
        let sums = &mut sums[..row.len()];
        if self.deals {
            own.dealt.get_or_insert_with(Dealt::default).add(&bands[..row.len()], sums, row);
            return 0;
        }
        Tally::deal(&mut own.tallies, self.bits, bands, sums, row)
    }

    /// Counts a row run by run of the same zero point.
    fn bands(
        &self,
        own: &mut Own,
        known: &RowOf,
        terms: &Terms<'_>,
        (r, row): (usize, &[u8]),
    ) -> usize {
        let mut used = 0;
        terms.zeros(r, 1, row.len(), |run, z| {
            let band = self.sources.bands.of(z);
            used = used.max(band + 1);
            while own.tallies.len() < used {
                own.tallies.push(Tally::new(self.bits));
            }
            own.tallies[band].add(&known.sums[run.clone()], &row[run]);
        });
        used
    }

    /// The histograms that all threads together have, and the memory of their counts.
    pub(super) fn maps(&self, counted: Vec<Counting>) -> (Vec<BySum>, Vec<Own>) {
        let used = counted.iter().map(|counting| counting.used).max().unwrap_or(1);
        let mut each: Vec<Own> = counted.into_iter().map(|counting| counting.own).collect();
        if self.deals {
            let dealt = Dealt::take(each.iter_mut().filter_map(|own| own.dealt.as_mut()));
            return (dealt, each);
        }
        let of_band = |band| {
            let all = each.iter_mut().filter_map(|own| own.tallies.get_mut(band));
            Tally::take(all.collect())
        };
        let maps = (0..used).map(of_band).collect();
        (maps, each)
    }
}
