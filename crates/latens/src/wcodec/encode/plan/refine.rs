//! Levels of rows and columns moved to where symbols and levels together take the fewest bits, by the tables that
//! classes would have. It takes a multiple of the time that finding levels does.

use super::explained::ByClass;
use super::{Counting, Described, settle};
use crate::error::Result;
use crate::wcodec::class::{RowSums, Terms};
use crate::wcodec::encode::bands::Bands;
use crate::wcodec::encode::candidates::side_bits;
use crate::wcodec::encode::cost;
use crate::wcodec::encode::fit::Own;
use crate::wcodec::encode::sources::Near;
use crate::wcodec::encode::tally::Sums;
use crate::wcodec::layout::class_rule::{ClassRule, Map};
use crate::wcodec::layout::short_stream;
use latens_kernels::dispatch::{Present, Work};

/// By how much levels may change at a time: places from four below on.
const MOVES: usize = 8;
const BELOW: usize = 4;
/// Sums, and those that moves lead to.
const SUMS: usize = 256 + MOVES;
/// Rounds that may gain nothing before there is no more.
const PATIENCE: usize = 1;
/// Steps of a bit, in sums of windows.
const FIXED: f32 = 256.0;
/// Slots of the tables that prices are of, as a power of two, and bits of a symbol that has none.
const TABLE_BITS: u32 = 12;
const OF_NONE: f32 = 16.0;

/// A rule with refined levels, the bits of all symbols by it, and their histograms.
pub(super) struct Refined {
    pub(super) described: Described,
    pub(super) bits: f64,
    pub(super) sums: Sums,
}

/// Refines the levels of a rule `rounds` times at most, on all symbols, which `counting` counts.
pub(super) fn refined(
    (rule, side): Described,
    counting: &Counting<'_>,
    rounds: usize,
) -> Result<Refined> {
    let (bits, sums) = counting.price(&rule, side)?;
    let mut now = Refined { described: (rule, side), bits, sums };
    let (mut best, mut worse) = (None::<Refined>, 0);
    for _ in 0..rounds {
        let mut rule = now.described.0.clone();
        if rule.rows.is_empty() && rule.cols.is_empty() {
            break;
        }
        let prices = Prices::new(&now, counting);
        if !rule.rows.is_empty() {
            rule.rows = prices.rows(&rule, counting)?;
        }
        if !rule.cols.is_empty() {
            rule.cols = prices.cols(&rule, counting)?;
        }
        let side = side_bits(&rule);
        let (bits, sums) = counting.price(&rule, side)?;
        let before = std::mem::replace(&mut now, Refined { described: (rule, side), bits, sums });
        if best.as_ref().is_none_or(|best| before.bits < best.bits) {
            best = Some(before);
        }
        // Other classes may make it worse for once.
        let better = best.as_ref().is_none_or(|best| now.bits < best.bits);
        worse = if better { 0 } else { worse + 1 };
        if worse > PATIENCE {
            break;
        }
    }
    Ok(best.filter(|best| best.bits <= now.bits).unwrap_or(now))
}

/// Bits of each symbol by sum, by band of zero points.
struct Prices {
    /// From four sums below 0 on, symbol by symbol.
    of_bands: Vec<Vec<[f32; SUMS]>>,
    bands: Bands,
}

impl Prices {
    fn new(of: &Refined, counting: &Counting<'_>) -> Self {
        let (bits, bands) = (counting.matrix.bits, counting.sources.bands);
        let classes = settle(of.described.clone(), bands, &of.sums, counting.worth(), None, false);
        let ByClass { rule, of_maps, .. } = &classes;
        let of_map = |(map, histograms): (&Map, &Vec<cost::Histogram>)| {
            let tables = histograms.iter().map(|histogram| {
                let own = Own::new(histogram, bits, TABLE_BITS, false);
                let none = [f32::INFINITY; 256];
                own.map_or(none, |own| cost::prices(&own.table.frequencies, TABLE_BITS))
            });
            let tables: Vec<[f32; 256]> = tables.collect();
            let price = |symbol: usize, place: usize| {
                let class = map[place.saturating_sub(BELOW).min(255)];
                let price = tables.get(usize::from(class)).map_or(OF_NONE, |table| table[symbol]);
                price.min(OF_NONE)
            };
            let of_symbol = |symbol| std::array::from_fn(|place| price(symbol, place));
            (0..1usize << bits).map(of_symbol).collect()
        };
        Self { of_bands: rule.maps.iter().zip(of_maps).map(of_map).collect(), bands }
    }

    /// Calls `f` with the runs of a row that share a band, and the prices there.
    fn runs(
        &self,
        terms: &Terms<'_>,
        row: usize,
        cols: usize,
        mut f: impl FnMut(std::ops::Range<usize>, &[[f32; SUMS]]),
    ) {
        terms.zeros(row, 1, cols, |run, zero| {
            let prices = self.of_bands.get(self.bands.of(zero)).or(self.of_bands.first());
            f(run, prices.map_or(&[][..], Vec::as_slice));
        });
    }

    /// Better levels of rows.
    fn rows(&self, rule: &ClassRule, counting: &Counting<'_>) -> Result<Vec<u8>> {
        let of_levels = short_stream::prices(&rule.rows);
        let make = || (Vec::new(), vec![0u8; counting.matrix.cols], Near::default());
        let all = counting.matrix.windows(1, make, |(found, sums, near), window| {
            counting.sources.watch.ask()?;
            let terms = counting.sources.near(window.rows.clone(), near)?.terms(rule);
            let mut scratch = RowSums::default();
            let levels = window.each().map(|(r, row)| {
                let sums = &mut sums[..row.len()];
                terms.sums(r, 1, &mut scratch, sums);
                let mut bits = [0f32; MOVES];
                self.runs(&terms, r, row.len(), |run, prices| {
                    let (sums, symbols) = (&sums[run.clone()], &row[run]);
                    bits = Present::in_use().run(Sum { prices, sums, symbols, bits });
                });
                moved(rule.rows.get(r).copied().unwrap_or(0), &bits, &of_levels)
            });
            found.push((window.rows.start, levels.collect::<Vec<u8>>()));
            Ok(())
        })?;
        let mut found: Vec<(usize, Vec<u8>)> = all.into_iter().flat_map(|own| own.0).collect();
        found.sort_by_key(|(first, _)| *first);
        Ok(found.into_iter().flat_map(|(_, levels)| levels).collect())
    }

    /// Better levels of columns.
    fn cols(&self, rule: &ClassRule, counting: &Counting<'_>) -> Result<Vec<u8>> {
        let cols = counting.matrix.cols;
        let make = || OfColumns {
            all: vec![[0; MOVES]; cols],
            window: vec![[0.0; MOVES]; cols],
            sums: vec![0; cols],
            near: Near::default(),
        };
        let all = counting.matrix.windows(1, make, |own, window| {
            let OfColumns { all, window: bits, sums, near } = own;
            bits.fill([0.0; MOVES]);
            counting.sources.watch.ask()?;
            let terms = counting.sources.near(window.rows.clone(), near)?.terms(rule);
            let mut scratch = RowSums::default();
            for (r, row) in window.each() {
                let sums = &mut sums[..row.len()];
                terms.sums(r, 1, &mut scratch, sums);
                self.runs(&terms, r, row.len(), |run, prices| {
                    let (sums, symbols) = (&sums[run.clone()], &row[run.clone()]);
                    Present::in_use().run(Add { prices, sums, symbols, bits: &mut bits[run] });
                });
            }
            for (all, bits) in all.iter_mut().zip(bits) {
                all.iter_mut().zip(bits).for_each(|(all, bits)| *all += fixed(*bits));
            }
            Ok(())
        })?;
        let of_levels = short_stream::prices(&rule.cols);
        let better = |(c, &level): (usize, &u8)| {
            let mut sums = [0i64; MOVES];
            for own in &all {
                sums.iter_mut().zip(own.all[c]).for_each(|(sum, more)| *sum += more);
            }
            #[expect(clippy::cast_precision_loss, reason = "of what is much more than a step")]
            let bits = sums.map(|sum| sum as f32 / FIXED);
            moved(level, &bits, &of_levels)
        };
        Ok(rule.cols.iter().enumerate().map(better).collect())
    }
}

/// What a thread has that looks at columns.
struct OfColumns {
    /// Whole numbers come to the same in whatever order windows are.
    all: Vec<[i64; MOVES]>,
    window: Vec<[f32; MOVES]>,
    sums: Vec<u8>,
    near: Near,
}

/// Bits in steps of which so many are one.
fn fixed(bits: f32) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "16 bits at most for each symbol")]
    let fixed = (bits * FIXED).round() as i64;
    fixed
}

/// The best level for symbols that take so many bits by move.
fn moved(level: u8, bits: &[f32; MOVES], of_levels: &[f32; 256]) -> u8 {
    let first = i32::from(level) - i32::try_from(BELOW).unwrap_or(0);
    let mut best = (f32::INFINITY, level);
    for (to, bits) in (first..).zip(bits) {
        let Ok(to) = u8::try_from(to) else { continue };
        let bits = bits + of_levels[usize::from(to)];
        if bits < best.0 {
            best = (bits, to);
        }
    }
    best.1
}

/// The prices of a symbol from a sum less four on.
#[inline(always)]
fn of_moves(prices: &[[f32; SUMS]], sum: u8, symbol: u8) -> [f32; MOVES] {
    let prices = prices.get(usize::from(symbol)).map(|prices| &prices[usize::from(sum)..]);
    prices.and_then(|prices| prices.first_chunk()).copied().unwrap_or([OF_NONE; MOVES])
}

/// The bits of symbols by move of all of them.
struct Sum<'a> {
    prices: &'a [[f32; SUMS]],
    sums: &'a [u8],
    symbols: &'a [u8],
    bits: [f32; MOVES],
}

impl Work for Sum<'_> {
    type Output = [f32; MOVES];

    #[inline(always)]
    fn run(mut self) -> [f32; MOVES] {
        for (&sum, &symbol) in self.sums.iter().zip(self.symbols) {
            let more = of_moves(self.prices, sum, symbol);
            self.bits.iter_mut().zip(more).for_each(|(bits, more)| *bits += more);
        }
        self.bits
    }
}

/// The bits of each symbol by its move.
struct Add<'a> {
    prices: &'a [[f32; SUMS]],
    sums: &'a [u8],
    symbols: &'a [u8],
    bits: &'a mut [[f32; MOVES]],
}

impl Work for Add<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for ((&sum, &symbol), bits) in self.sums.iter().zip(self.symbols).zip(self.bits) {
            let more = of_moves(self.prices, sum, symbol);
            bits.iter_mut().zip(more).for_each(|(bits, more)| *bits += more);
        }
    }
}
