//! Levels of rows and columns moved to where symbols and levels together take the fewest bits, by the tables that
//! classes would have. It takes a multiple of the time that finding levels does.

mod prices;

use super::explained::ByClass;
use super::{Counting, Described, settle};
use crate::error::Result;
use crate::wcodec::class::{RowSums, Terms};
use crate::wcodec::encode::bands::Bands;
use crate::wcodec::encode::candidates::side_bits;
use crate::wcodec::encode::sources::Near;
use crate::wcodec::encode::tally::Sums;
use crate::wcodec::layout::class_rule::ClassRule;
use crate::wcodec::layout::short_stream;
use prices::{AT_ONCE, BELOW, MOVES, OfColumn, OfSums, by_move};
use std::ops::Range;

/// Rounds that may gain nothing before there is no more.
const PATIENCE: usize = 1;

/// A rule with refined levels, the bits of all symbols by it, and their histograms.
pub(super) struct Refined {
    pub(super) described: Described,
    pub(super) bits: f64,
    pub(super) sums: Sums,
}

/// The best of a rule and of those with levels of both rows and columns, refined on all symbols.
pub(super) fn best(
    described: Described,
    rules: Vec<Described>,
    counting: &Counting<'_>,
    rounds: usize,
) -> Result<Refined> {
    // With levels of both, what they take may be more on a sample than it is in the end.
    let has_both = |rule: &ClassRule| !rule.rows.is_empty() && !rule.cols.is_empty();
    let others = |(rule, _): &Described| has_both(rule) && *rule != described.0;
    let others: Vec<Described> = match rounds {
        1 if has_both(&described.0) && described.0.zero.is_none() => Vec::new(),
        _ => rules.into_iter().filter(others).collect(),
    };
    let mut found = refined(described, counting, rounds)?;
    for described in others {
        let other = refined(described, counting, rounds)?;
        if other.bits < found.bits {
            found = other;
        }
    }
    Ok(found)
}

/// Refines the levels of a rule `rounds` times at most, on all symbols, which `counting` counts.
fn refined((rule, side): Described, counting: &Counting<'_>, rounds: usize) -> Result<Refined> {
    let all = Counting { step: 1, ..*counting };
    let (bits, sums) = all.price(&rule, side)?;
    let counting = &all;
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
    of_bands: Vec<OfSums>,
    bands: Bands,
}

impl Prices {
    fn new(of: &Refined, counting: &Counting<'_>) -> Self {
        let (bits, bands) = (counting.matrix.bits, counting.sources.bands);
        let classes = settle(of.described.clone(), bands, &of.sums, counting.worth(), None, false);
        let ByClass { rule, of_maps, .. } = &classes;
        let of_maps = rule.maps.iter().zip(of_maps);
        Self { of_bands: of_maps.map(|(map, of)| OfSums::new(map, of, bits)).collect(), bands }
    }

    /// Calls `f` with the runs of a row that share a band, and the prices there.
    fn runs(
        &self,
        terms: &Terms<'_>,
        row: usize,
        cols: usize,
        mut f: impl FnMut(Range<usize>, &OfSums),
    ) {
        terms.zeros(row, 1, cols, |run, zero| {
            if let Some(prices) = self.of_bands.get(self.bands.of(zero)).or(self.of_bands.first()) {
                f(run, prices);
            }
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
                let mut steps = [0; MOVES];
                self.runs(&terms, r, row.len(), |run, prices| {
                    prices.of_row(&sums[run.clone()], &row[run], &mut steps);
                });
                moved(rule.rows.get(r).copied().unwrap_or(0), steps, &of_levels)
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
        let make = || OfWindows {
            all: vec![[0; MOVES]; cols],
            few: vec![0; cols],
            sums: vec![0; cols],
            near: Near::default(),
        };
        let all = counting.matrix.windows(1, make, |own, window| {
            counting.sources.watch.ask()?;
            let terms = counting.sources.near(window.rows.clone(), &mut own.near)?.terms(rule);
            let (mut scratch, mut rows) = (RowSums::default(), 0);
            for (r, row) in window.each() {
                let sums = &mut own.sums[..row.len()];
                terms.sums(r, 1, &mut scratch, sums);
                self.runs(&terms, r, row.len(), |run, prices| {
                    prices.of_columns(&sums[run.clone()], &row[run.clone()], &mut own.few[run]);
                });
                rows += 1;
                if rows % AT_ONCE == 0 {
                    add_up(&mut own.few, &mut own.all);
                }
            }
            add_up(&mut own.few, &mut own.all);
            Ok(())
        })?;
        let of_levels = short_stream::prices(&rule.cols);
        let better = |(c, &level): (usize, &u8)| {
            let mut steps = [0; MOVES];
            for own in &all {
                steps.iter_mut().zip(own.all[c]).for_each(|(sum, more)| *sum += more);
            }
            moved(level, steps, &of_levels)
        };
        Ok(rule.cols.iter().enumerate().map(better).collect())
    }
}

/// What a thread has that looks at columns.
struct OfWindows {
    all: Vec<[u64; MOVES]>,
    /// Of a few rows.
    few: Vec<OfColumn>,
    sums: Vec<u8>,
    near: Near,
}

/// Adds what a few rows take.
fn add_up(few: &mut [OfColumn], all: &mut [[u64; MOVES]]) {
    for (few, all) in few.iter_mut().zip(all) {
        let few = by_move(std::mem::take(few));
        all.iter_mut().zip(few).for_each(|(all, few)| *all += u64::from(few));
    }
}

/// The best level for symbols that take so many steps of a bit by move.
fn moved(level: u8, steps: [u64; MOVES], of_levels: &[f32; 256]) -> u8 {
    let first = i32::from(level) - i32::try_from(BELOW).unwrap_or(0);
    let mut best = (f32::INFINITY, level);
    for (to, steps) in (first..).zip(steps) {
        let Ok(to) = u8::try_from(to) else { continue };
        let bits = prices::bits(steps) + of_levels[usize::from(to)];
        if bits < best.0 {
            best = (bits, to);
        }
    }
    best.1
}
