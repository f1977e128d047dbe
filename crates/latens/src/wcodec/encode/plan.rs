//! Which classes the symbols of a part get: every combination of terms is measured on a sample of
//! rows, side information included.

use crate::error::Result;
use crate::wcodec::encode::bands::Bands;
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::candidates::{Described, ROWS, candidates, sample_step, side_bits};
use crate::wcodec::encode::cost::{self, Histogram};
use crate::wcodec::encode::fit::Own;
use crate::wcodec::encode::matrix::Matrix;
use crate::wcodec::encode::merge::merge;
use crate::wcodec::encode::sources::{Hints, Sources};
use crate::wcodec::encode::tally::{Sums, Tallies, by_sum, scaled};
use crate::wcodec::layout::class_rule::ClassRule;
use crate::wcodec::layout::symbols::MAX_CLASSES;
use std::iter::repeat;

/// Symbols that are looked at to join sums to classes, at least.
const SETTLED: usize = 1 << 19;

/// Bits that bands of columns by the leanings of their means must save, as a share of all: symbols are then
/// not coded in pairs, which decode in half the time.
const LEAST_OF_LEANINGS: f64 = 0.01;
/// How far these bands are apart: three fill the 256 sums.
const APART: u8 = 80;

/// The outcome: tables by class, the rule, and about how many bits all of it takes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub(crate) tables: Vec<usize>,
    /// By class, where there are tables.
    pub(crate) histograms: Vec<Histogram>,
    /// Whether these are estimates.
    pub(crate) estimated: bool,
    pub(crate) classes: Option<ClassRule>,
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

    /// Bits of the symbols under their tables, which are of `pairs` of them or not.
    pub(crate) fn bits_of_symbols(&self, pairs: bool, bank: &Bank) -> f64 {
        let bits = |(&table, histogram): (&usize, &Histogram)| match pairs {
            true => bank.bits_of_pairs(table, histogram),
            false => bank.bits_under(table, histogram),
        };
        self.tables.iter().zip(&self.histograms).map(bits).sum()
    }
}

/// Symbols by class.
#[derive(Clone, Debug)]
struct ByClass {
    /// Its maps, one for each band of zero points, give classes of their own.
    rule: ClassRule,
    /// Bits of its side information.
    side: f64,
    bands: Bands,
    /// For each map the histograms of these, or what a sample says of them.
    of_maps: Vec<Vec<Histogram>>,
    /// Whether these are what a sample says.
    estimated: bool,
    /// Whether neighbours have classes by the leanings of their means.
    leaning: bool,
}

/// What explains the symbols best, before there are tables.
#[derive(Clone, Debug)]
pub(crate) struct Explained {
    /// All symbols.
    pub(crate) whole: Histogram,
    classes: Option<ByClass>,
    /// Bits of a symbol.
    bits: u32,
    /// What a sample says that all symbols take.
    estimate: f64,
    /// Tables of each histogram's own, where they were made before.
    own: Vec<Option<Own>>,
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
    let explained = explain(matrix, &Sources::new(hints.clone(), matrix.cols)?, most, &[])?;
    if most.is_none() {
        return Ok(explained.tables(table_bits, bank));
    }
    // Kinds are too few for zero points.
    let rule = explained.classes.map(|classes| classes.rule).filter(|rule| rule.maps.len() == 1);
    Ok(Plan { classes: rule, ..Plan::default() })
}

/// About how many bits symbols take, by what some rows say.
pub(crate) fn glance(matrix: Matrix<'_>, sources: &Sources<'_>) -> Result<f64> {
    let step = sample_step(matrix);
    let whole = matrix.count(step)?;
    let mut rules = candidates(matrix, sources, &whole, step)?;
    let all = |(rule, _): &Described| !rule.rows.is_empty() && !rule.cols.is_empty();
    if rules.iter().any(all) {
        rules.retain(all);
    }
    Ok(best_of(rules, matrix, sources, &whole, &[], &Tallies::default())?.0)
}

/// Chooses classes; `most` as in [`plan`], `leanings` those of the means of columns that were taken from
/// the symbols, if they may tell columns apart.
pub(crate) fn explain(
    matrix: Matrix<'_>,
    sources: &Sources<'_>,
    most: Option<usize>,
    leanings: &[u8],
) -> Result<Explained> {
    let bits = matrix.bits;
    let (step, tallies) = (sample_step(matrix), Tallies::default());
    let mut whole = matrix.count(step)?;
    let best = best_rule(matrix, sources, &whole, 1, leanings, &tallies)?;
    let Some(Best { described, mut sums, leaning }) = best.1 else {
        if step > 1 {
            whole = matrix.count(1)?;
        }
        return Ok(Explained { whole, classes: None, bits, estimate: best.0, own: Vec::new() });
    };
    // Classes of zero points may not occur in a sample.
    let rule = &described.0;
    let all = rule.zero.is_some() || most.is_some();
    let every = if all { 1 } else { settle_step(matrix).min(step) };
    if every < step {
        sums = by_sum(matrix, sources, rule, every, &tallies)?;
    }
    let mut classes = settle(described, sources.bands, &sums, matrix.bits, most, every > 1);
    classes.leaning = leaning;
    if every > 1 {
        for histograms in &mut classes.of_maps {
            let sample = std::mem::take(histograms);
            (*histograms, classes.estimated) =
                scaled(matrix, sources, &classes.rule, sample, every)?;
        }
    }
    if step > 1 {
        whole = [0; 256];
        classes.of_maps.iter().flatten().for_each(|histogram| cost::add(&mut whole, histogram));
    }
    Ok(Explained { whole, classes: Some(classes), bits, estimate: best.0, own: Vec::new() })
}

/// What is best for a sample.
struct Best {
    described: Described,
    sums: Sums,
    /// Whether its classes are also those of the leanings of columns.
    leaning: bool,
}

/// The rule that is best for a sample, if any is, with its histograms there, and bits of all symbols. Levels
/// are those of every so manieth row.
fn best_rule(
    matrix: Matrix<'_>,
    sources: &Sources<'_>,
    whole: &Histogram,
    every: usize,
    leanings: &[u8],
    tallies: &Tallies,
) -> Result<(f64, Option<Best>)> {
    best_of(candidates(matrix, sources, whole, every)?, matrix, sources, whole, leanings, tallies)
}

/// As [`best_rule`], of some rules.
fn best_of(
    rules: Vec<Described>,
    matrix: Matrix<'_>,
    sources: &Sources<'_>,
    whole: &Histogram,
    leanings: &[u8],
    tallies: &Tallies,
) -> Result<(f64, Option<Best>)> {
    let step = sample_step(matrix);
    let price = |rule: &ClassRule, side: f64| price_by(rule, side, matrix, sources, tallies);
    let mut best = (price_of(whole, matrix, step > 1) + 110.0, None);
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
        let (bits, sums) = price(&rule, side)?;
        if bits < best.0 {
            best = (bits, Some(Best { described: (rule, side), sums, leaning: false }));
        }
    }
    let now = best.1.as_ref().map(|best| &best.described.0);
    if let Some(rule) = now.and_then(|rule| leaning(rule, leanings)) {
        let side = side_bits(&rule);
        let (bits, sums) = price(&rule, side)?;
        if bits < best.0 * (1.0 - LEAST_OF_LEANINGS) {
            best = (bits, Some(Best { described: (rule, side), sums, leaning: true }));
        }
    }
    Ok(best)
}

/// Bits of all symbols by a rule for a sample, `side` those of its side information, and the histograms.
fn price_by(
    rule: &ClassRule,
    side: f64,
    matrix: Matrix<'_>,
    sources: &Sources<'_>,
    tallies: &Tallies,
) -> Result<(f64, Sums)> {
    let step = sample_step(matrix);
    let sums = by_sum(matrix, sources, rule, step, tallies)?;
    let mut bits = 0.0;
    let most = MAX_CLASSES / sums.maps.len().max(1);
    for map in &sums.maps {
        bits += merge(map, matrix.bits, most.max(4), (step > 1).then_some(1.0)).2;
    }
    let classes_bits = 110.0 * sums.maps.len() as f64;
    let written = sources.bands.written_bits(sums.maps.len());
    Ok(((bits - classes_bits) * sums.scale + classes_bits + side + written, sums))
}

/// A rule whose columns have bands of sums by the leanings of their means; `None` where there are none, or
/// columns differ by too much.
fn leaning(rule: &ClassRule, leanings: &[u8]) -> Option<ClassRule> {
    let least = rule.cols.iter().min().copied().unwrap_or(0);
    let levels = rule.cols.iter().map(|col| col - least).chain(repeat(0));
    let cols =
        leanings.iter().zip(levels).map(|(&leaning, level)| level.checked_add(leaning * APART));
    let cols = cols.collect::<Option<Vec<u8>>>().filter(|cols| !cols.is_empty())?;
    let bias = rule.bias + i32::from(least) - i32::from(APART);
    Some(ClassRule { cols, bias, ..rule.clone() })
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
    bits: u32,
    most: Option<usize>,
    sample: bool,
) -> ByClass {
    let used = sums.maps.iter().filter(|map| !map.is_empty()).count();
    let most = most.unwrap_or((MAX_CLASSES / used.max(1)).max(1));
    let mut of_maps = Vec::new();
    rule.maps.clear();
    for map_sums in &sums.maps {
        let (map, histograms, _) = merge(map_sums, bits, most, sample.then_some(sums.scale));
        rule.maps.push(map);
        of_maps.push(histograms);
    }
    ByClass { rule, side, bands, of_maps, estimated: false, leaning: false }
}

impl Explained {
    /// What explains the same symbols where two neighbours in a row have the same class; `None`
    /// where blocks tell them apart, or where that surely takes more than `slack` more, as a share.
    pub(crate) fn of_pairs(
        &self,
        matrix: Matrix<'_>,
        sources: &Sources<'_>,
        slack: f64,
    ) -> Result<Option<Self>> {
        let Some(ByClass { rule, leaning, .. }) = &self.classes else {
            return Ok(Some(self.clone()));
        };
        if *leaning {
            return Ok(None);
        }
        let mut blocks = rule.levels.iter().chain(&rule.zero);
        if blocks.any(|source| !source.block_cols.is_multiple_of(2)) {
            return Ok(None);
        }
        if rule.cols.is_empty() {
            return Ok(Some(self.clone()));
        }
        let mut rule = rule.clone();
        for pair in rule.cols.as_chunks_mut::<2>().0 {
            *pair = [pair[0].midpoint(pair[1]); 2];
        }
        let every = if rule.zero.is_some() { 1 } else { settle_step(matrix) };
        let (side, tallies) = (side_bits(&rule), Tallies::default());
        let step = sample_step(matrix);
        let (bits, mut sums) = price_by(&rule, side, matrix, sources, &tallies)?;
        if bits > self.estimate * (1.0 + slack) {
            return Ok(None);
        }
        if every != step {
            sums = by_sum(matrix, sources, &rule, every, &tallies)?;
        }
        let mut classes = settle((rule, side), sources.bands, &sums, self.bits, None, every > 1);
        if every > 1 {
            // A class may have any symbol that occurs: of four bits these are few.
            let times = u32::try_from(every).unwrap_or(u32::MAX);
            for histogram in classes.of_maps.iter_mut().flatten() {
                for (n, &all) in histogram.iter_mut().zip(&self.whole) {
                    *n = n.saturating_mul(times).max(all.min(1));
                }
            }
        }
        let classes = Some(classes);
        Ok(Some(Self { classes, own: Vec::new(), ..*self }))
    }

    /// Makes the tables that classes may get, for [`Explained::tables`] of as many slots: tensors get theirs
    /// one after the other, and most of the time of that is this.
    pub(crate) fn prepare(&mut self, table_bits: u32) {
        let histograms: Vec<&Histogram> = match &self.classes {
            None => vec![&self.whole],
            Some(classes) => classes.of_maps.iter().flatten().collect(),
        };
        let own = histograms.into_iter().map(|h| Own::new(h, self.bits, table_bits));
        self.own = own.collect();
    }

    /// The table that is made of a histogram alone, the one with that number.
    fn own(&self, number: usize, histogram: &Histogram, table_bits: u32) -> Option<Own> {
        let made = self.own.get(number).and_then(Option::as_ref);
        let made = made.filter(|own| own.table.table_bits == table_bits);
        made.map_or_else(|| Own::new(histogram, self.bits, table_bits), |own| Some(own.clone()))
    }

    /// Gives tables of `2^table_bits` slots to the classes.
    pub(crate) fn tables(&self, table_bits: u32, bank: &mut Bank) -> Plan {
        let Some(ByClass { rule, side, bands, of_maps, estimated, .. }) = &self.classes else {
            let (table, bits) = bank.choose(&self.whole, self.bits, table_bits, || {
                self.own(0, &self.whole, table_bits)
            });
            let histograms = vec![self.whole];
            return Plan { tables: vec![table], histograms, bits, ..Plan::default() };
        };
        let mut plan = Plan { bits: *side, estimated: *estimated, ..Plan::default() };
        let (mut rule, mut number) = (rule.clone(), 0);
        for (map, histograms) in rule.maps.iter_mut().zip(of_maps) {
            let mut classes = Vec::new();
            for histogram in histograms {
                let own = || self.own(number, histogram, table_bits);
                let (table, more) = bank.choose(histogram, self.bits, table_bits, own);
                number += 1;
                plan.bits += more;
                let class = plan.class_of(table);
                cost::add(&mut plan.histograms[class], histogram);
                classes.push(u8::try_from(class).unwrap_or(u8::MAX));
            }
            for class in map {
                *class = classes.get(usize::from(*class)).copied().unwrap_or(0);
            }
        }
        if plan.tables.is_empty() {
            let own = || Own::new(&[0; 256], self.bits, table_bits);
            plan.class_of(bank.choose(&[0; 256], self.bits, table_bits, own).0);
        }
        rule.maps = bands.spread(rule.maps);
        Plan { classes: Some(rule), ..plan }
    }
}

/// As [`sample_step`], to see which sums share a class.
fn settle_step(matrix: Matrix<'_>) -> usize {
    (matrix.len() / SETTLED).min(matrix.rows() / ROWS).max(1)
}
