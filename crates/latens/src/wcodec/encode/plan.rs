//! Which classes the symbols of a part get: every combination of terms that may be best is measured on a sample
//! of rows, side information included.

mod counting;
mod explained;
mod leanings;
mod pairs;
mod refine;

use crate::error::Result;
use crate::wcodec::encode::bands::Bands;
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::candidates::{Described, ROWS, candidates, sample_step, side_bits};
use crate::wcodec::encode::cost::{self, Histogram};
use crate::wcodec::encode::matrix::Matrix;
use crate::wcodec::encode::merge::{Worth, merge_all};
use crate::wcodec::encode::sources::{Hints, Sources};
use crate::wcodec::encode::tally::{Sums, Tallies};
use crate::wcodec::layout::class_rule::ClassRule;
use crate::wcodec::layout::symbols::MAX_CLASSES;

use counting::Counting;
use explained::ByClass;
pub(crate) use explained::Explained;
pub(crate) use pairs::Pairs;

/// Symbols that are looked at to join sums to classes, at least.
const SETTLED: usize = 1 << 19;

/// Bits that bands of columns by the leanings of their means must save, as a share of all: symbols are then
/// not coded in pairs, which decode in half the time.
const LEAST_OF_LEANINGS: f64 = 0.01;
/// Bits that a table takes where all symbols have one, more or less.
const OF_CLASSES: f64 = 110.0;

/// The outcome: tables by class, the rule, and about how many bits all of it takes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub(crate) tables: Vec<usize>,
    /// By class, where there are tables.
    pub(crate) histograms: Vec<Histogram>,
    /// Whether these are estimates.
    pub(crate) estimated: bool,
    pub(crate) classes: Option<ClassRule>,
    /// The symbol in whose place others are said apart, and bits of these, if tables' prices do not have them.
    pub(crate) escapes: Option<(u8, f64)>,
    pub(crate) bits: f64,
}

impl Plan {
    /// The class that has a table.
    fn class_of(&mut self, table: usize) -> usize {
        self.tables.iter().position(|&t| t == table).unwrap_or_else(|| {
            self.tables.push(table);
            self.histograms.push([0; 256]);
            self.tables.len() - 1
        })
    }

    /// Bits of the symbols under their tables, which are of `pairs` of them or not, and of those that are said apart.
    pub(crate) fn bits_of_symbols(&self, pairs: bool, bank: &Bank) -> f64 {
        let bits = |(&table, histogram): (&usize, &Histogram)| match pairs {
            true => bank.bits_of_pairs(table, histogram),
            false => bank.bits_under(table, histogram),
        };
        let apart = self.escapes.as_ref().map_or(0.0, |(_, bits)| *bits);
        apart + self.tables.iter().zip(&self.histograms).map(bits).sum::<f64>()
    }
}

/// Chooses classes and tables of `2^table_bits` slots. With `most` there are at most so many
/// classes, each a step of the sum, whatever their tables: kinds of the bitplane coder.
pub(crate) fn plan(
    matrix: Matrix<'_>,
    hints: &Hints<'_>,
    table_bits: u32,
    most: Option<usize>,
    bank: &mut Bank,
) -> Result<Plan> {
    let sources = Sources::new(hints.clone(), matrix.cols)?;
    let whole = matrix.count(sample_step(matrix))?;
    let mut explained = explain(matrix, &sources, whole, most)?;
    if most.is_none() {
        explained.complete(matrix, &sources)?;
        return Ok(explained.tables(table_bits, bank));
    }
    // Kinds are too few for zero points.
    let rule = explained.classes.map(|classes| classes.rule).filter(|rule| rule.maps.len() == 1);
    Ok(Plan { classes: rule, ..Plan::default() })
}

/// About how many bits symbols take, by what some rows say; `whole` are the symbols of these.
pub(crate) fn glance(
    matrix: Matrix<'_>,
    sources: &Sources<'_>,
    whole: &Histogram,
    tallies: &Tallies,
) -> Result<f64> {
    let step = sample_step(matrix);
    let mut rules = candidates(matrix, sources, whole, step)?;
    let all = |(rule, _): &Described| !rule.rows.is_empty() && !rule.cols.is_empty();
    if rules.iter().any(all) {
        rules.retain(all);
    }
    let counting = Counting { matrix, sources, step, tallies };
    Ok(best_of(rules, &counting, whole, &[])?.0)
}

/// Chooses classes; `most` as in [`plan`], `whole` are the symbols of every [`sample_step`]th row.
pub(crate) fn explain(
    matrix: Matrix<'_>,
    sources: &Sources<'_>,
    whole: Histogram,
    most: Option<usize>,
) -> Result<Explained> {
    choose_rule(matrix, sources, whole, most, &[], false)?.settled(matrix, sources)
}

/// A rule is chosen, and its classes are not: symbols that are surely coded in pairs need none.
pub(crate) struct Begun {
    /// Without maps and histograms.
    pub(crate) explained: Explained,
    /// Those by sum, of one row in so many.
    sums: Option<(Sums, usize)>,
    tallies: Tallies,
    most: Option<usize>,
}

impl Begun {
    /// With classes.
    pub(crate) fn settled(self, matrix: Matrix<'_>, sources: &Sources<'_>) -> Result<Explained> {
        let Self { mut explained, sums, tallies, most } = self;
        let (Some(classes), Some((mut sums, step))) = (&mut explained.classes, sums) else {
            return Ok(explained);
        };
        let every = explained.every;
        let counting = Counting { matrix, sources, step, tallies: &tallies };
        if every < step {
            sums = counting.again((sums, step), &classes.rule, every)?;
        }
        let described = (std::mem::take(&mut classes.rule), classes.side);
        let settled = settle(described, sources.bands, &sums, counting.worth(), most, every > 1);
        *classes = ByClass { leaning: classes.leaning, ..settled };
        Ok(explained)
    }
}

/// Chooses the rule, as [`explain`]; `leanings` are those of the means of columns that were taken from
/// the symbols, if they may tell columns apart. Where there `may_be_pairs` it is not settled on yet.
pub(crate) fn choose_rule(
    matrix: Matrix<'_>,
    sources: &Sources<'_>,
    whole: Histogram,
    most: Option<usize>,
    leanings: &[u8],
    may_be_pairs: bool,
) -> Result<Begun> {
    let (bits, tallies) = (matrix.bits, Tallies::default());
    let rules = candidates(matrix, sources, &whole, 1)?;
    let rounds = if most.is_none() { sources.hints.effort.rounds } else { 0 };
    // Classes of zero points may not occur in a sample.
    let settled = |rule: &ClassRule| match rule.zero.is_some() || most.is_some() {
        true => 1,
        false if rounds > 0 => 1,
        false => settle_step(matrix).min(sample_step(matrix)),
    };
    // One rule is weighed by the rows that it is settled on then: they are counted once. Pairs with levels of
    // columns are counted apart, and then there is nothing to settle.
    let step = match &rules[..] {
        [(only, _)] if leanings.is_empty() && (!may_be_pairs || only.cols.is_empty()) => {
            settled(only)
        }
        _ => sample_step(matrix),
    };
    let counting = Counting { matrix, sources, step, tallies: &tallies };
    let kept = if rounds > 0 { rules.clone() } else { Vec::new() };
    let (mut estimate, mut best) = best_of(rules, &counting, &whole, leanings)?;
    let mut step = step;
    if rounds > 0
        && let Some(Best { described, leaning: false, .. }) = best
    {
        let found = refine::best(described, kept, &counting, rounds)?;
        (estimate, step) = (found.bits, 1);
        let refine::Refined { described, sums, .. } = found;
        best = Some(Best { described, sums, leaning: false });
    }
    let explained = Explained {
        whole,
        classes: None,
        bits,
        estimate: (estimate, step),
        every: sample_step(matrix),
        closely: sources.hints.effort.closely,
        own: Vec::new(),
    };
    let Some(Best { described: (rule, side), sums, leaning }) = best else {
        return Ok(Begun { explained, sums: None, tallies, most });
    };
    let every = settled(&rule);
    let (bands, of_maps) = (sources.bands, Vec::new());
    let classes = ByClass { rule, side, bands, of_maps, estimated: false, leaning, order: None };
    let explained = Explained { classes: Some(classes), every, ..explained };
    Ok(Begun { explained, sums: Some((sums, step)), tallies, most })
}

/// What is best for a sample.
struct Best {
    described: Described,
    sums: Sums,
    /// Whether its classes are also those of the leanings of columns.
    leaning: bool,
}

/// The rule that is best for a sample, if any is, with its histograms there, and bits of all symbols.
fn best_of(
    rules: Vec<Described>,
    counting: &Counting<'_>,
    whole: &Histogram,
    leanings: &[u8],
) -> Result<(f64, Option<Best>)> {
    let (matrix, sampled) = (counting.matrix, sample_step(counting.matrix));
    let mut best = (price_of(whole, matrix, sampled > 1) + OF_CLASSES, None);
    for (rule, side) in rules {
        // Where levels of both rows and columns are better than those of either, neither is worse.
        let surely_worse = |Best { described: (best, _), .. }: &Best| {
            let same = best.levels == rule.levels && best.zero == rule.zero;
            let (both, neither) = (
                !best.rows.is_empty() && !best.cols.is_empty(),
                rule.rows.is_empty() && rule.cols.is_empty(),
            );
            same && both && neither
        };
        if best.1.as_ref().is_some_and(surely_worse) {
            continue;
        }
        let (bits, sums) = counting.price(&rule, side)?;
        if counting.step != sampled {
            // Both are to be of the same rows.
            best.0 = price_of(&sums.whole(), matrix, counting.step > 1) + OF_CLASSES;
        }
        if bits < best.0 {
            best = (bits, Some(Best { described: (rule, side), sums, leaning: false }));
        }
    }
    let now = best.1.as_ref().map(|best| &best.described.0);
    if let Some(rule) = now.and_then(|rule| leanings::banded(rule, leanings)) {
        let side = side_bits(&rule);
        let (bits, sums) = counting.price(&rule, side)?;
        if bits < best.0 * (1.0 - LEAST_OF_LEANINGS) {
            best = (bits, Some(Best { described: (rule, side), sums, leaning: true }));
        }
    }
    Ok(best)
}

/// Bits of all symbols by the histogram of them, or of a sample.
fn price_of(histogram: &Histogram, matrix: Matrix<'_>, sample: bool) -> f64 {
    if !sample {
        return cost::entropy(histogram);
    }
    let seen: u64 = histogram.iter().map(|&n| u64::from(n)).sum();
    cost::learned(histogram) * matrix.len() as f64 / seen.max(1) as f64
}

/// Gives maps to a rule, and the histograms of their classes.
fn settle(
    (mut rule, side): Described,
    bands: Bands,
    sums: &Sums,
    worth: Worth,
    most: Option<usize>,
    sample: bool,
) -> ByClass {
    let (mut maps, mut of_maps) = (Vec::new(), Vec::new());
    let sample = sample.then_some(sums.scale);
    for (map, histograms, _) in merge_all(&sums.maps, worth, most.unwrap_or(MAX_CLASSES), sample) {
        maps.push(map);
        of_maps.push(histograms);
    }
    rule.maps = maps;
    ByClass { rule, side, bands, of_maps, estimated: false, leaning: false, order: None }
}

/// As [`sample_step`], to see which sums share a class.
fn settle_step(matrix: Matrix<'_>) -> usize {
    (matrix.len() / SETTLED).min(matrix.rows() / ROWS).max(1)
}
