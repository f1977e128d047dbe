//! What explains symbols: by themselves, in pairs, and with tables.

use super::{Counting, Plan, settle, settle_step};
use crate::error::Result;
use crate::wcodec::encode::bands::Bands;
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::candidates::{loss_of_levels, side_bits};
use crate::wcodec::encode::cost::{self, Histogram};
use crate::wcodec::encode::fit::Own;
use crate::wcodec::encode::matrix::{FEW_BITS, Matrix};
use crate::wcodec::encode::merge::{Worth, merge};
use crate::wcodec::encode::sources::Sources;
use crate::wcodec::encode::tally::{Tallies, occurring, scaled};
use crate::wcodec::layout::class_rule::ClassRule;
use crate::wcodec::layout::symbols::MAX_CLASSES;

/// Share of what pairs may take more below which they are not held against single symbols again; and of what
/// their levels are off, by squares, above which nothing is counted.
const SURELY_PAIRS: f64 = 0.5;
const SURELY_NO_PAIRS: f64 = 2.5;

/// Symbols by class.
#[derive(Clone, Debug)]
pub(super) struct ByClass {
    /// Its maps, one for each band of zero points, give classes of their own.
    pub(super) rule: ClassRule,
    /// Bits of its side information.
    pub(super) side: f64,
    pub(super) bands: Bands,
    /// For each map the histograms of these, or what a sample says of them.
    pub(super) of_maps: Vec<Vec<Histogram>>,
    /// Whether these are what a sample says.
    pub(super) estimated: bool,
    /// Whether neighbours have classes by the leanings of their means.
    pub(super) leaning: bool,
}

/// What explains the symbols best, before there are tables.
#[derive(Clone, Debug)]
pub(crate) struct Explained {
    /// All symbols.
    pub(crate) whole: Histogram,
    pub(super) classes: Option<ByClass>,
    /// Bits of a symbol.
    pub(super) bits: u32,
    /// What one row in so many says that all symbols take.
    pub(super) estimate: (f64, usize),
    /// The histograms are of one row in so many: all of them are to be [completed](Explained::complete).
    pub(super) every: usize,
    /// Whether tables are fitted closely, which takes long.
    pub(super) closely: bool,
    /// Tables of each histogram's own, where they were made before.
    pub(super) own: Vec<Option<Own>>,
}

/// How symbols may be coded in pairs, of which both have the same class.
pub(crate) enum Pairs {
    /// Blocks tell neighbours apart, or it surely takes too much more.
    None,
    /// With the classes of single symbols.
    Alike,
    /// With these classes; whether they surely take no more than they may.
    Apart { explained: Box<Explained>, surely: bool },
}

impl Explained {
    /// Counts all symbols, as far as that was not done.
    pub(crate) fn complete(&mut self, matrix: Matrix<'_>, sources: &Sources<'_>) -> Result<()> {
        let every = std::mem::replace(&mut self.every, 1);
        let Some(classes) = &mut self.classes else {
            if every > 1 {
                self.whole = matrix.count(1)?;
            }
            return Ok(());
        };
        if every > 1 {
            for histograms in &mut classes.of_maps {
                let sample = std::mem::take(histograms);
                (*histograms, classes.estimated) =
                    scaled(matrix, sources, &classes.rule, sample, every)?;
            }
        }
        self.whole = [0; 256];
        classes
            .of_maps
            .iter()
            .flatten()
            .for_each(|histogram| cost::add(&mut self.whole, histogram));
        Ok(())
    }

    /// What explains the same symbols where two neighbours in a row have the same class, for `slack` more of
    /// all bits at most, as a share.
    pub(crate) fn of_pairs(
        &self,
        matrix: Matrix<'_>,
        sources: &Sources<'_>,
        slack: f64,
    ) -> Result<Pairs> {
        let Some(ByClass { rule, leaning, .. }) = &self.classes else { return Ok(Pairs::Alike) };
        if *leaning {
            return Ok(Pairs::None);
        }
        let mut blocks = rule.levels.iter().chain(&rule.zero);
        if blocks.any(|source| !source.block_cols.is_multiple_of(2)) {
            return Ok(Pairs::None);
        }
        if rule.cols.is_empty() {
            return Ok(Pairs::Alike);
        }
        let (mut rule, mut squares) = (rule.clone(), 0.0);
        for [a, b] in rule.cols.as_chunks_mut::<2>().0 {
            squares += 0.5 * f64::from(a.abs_diff(*b)).powi(2);
            *a = a.midpoint(*b);
            *b = *a;
        }
        let every = if rule.zero.is_some() { 1 } else { settle_step(matrix) };
        let (side, tallies) = (side_bits(&rule), Tallies::default());
        let (estimate, step) = self.estimate;
        // By a squared nat for each symbol, of which these lose a half, more or less.
        let lost = loss_of_levels(matrix, sources) * squares * matrix.rows() as f64;
        if lost > SURELY_NO_PAIRS * slack * estimate {
            return Ok(Pairs::None);
        }
        let counting = Counting { matrix, sources, step, tallies: &tallies };
        let (bits, mut sums) = counting.price(&rule, side)?;
        if bits > estimate * (1.0 + slack) {
            return Ok(Pairs::None);
        }
        if every != step {
            sums = counting.again((sums, step), &rule, every)?;
        }
        let worth = Worth::of_pairs(matrix.len());
        let mut classes = settle((rule, side), sources.bands, &sums, worth, None, every > 1);
        let mut whole = sums.whole();
        if every > 1 {
            // A class may have any symbol that occurs: of four bits these are few.
            let is_there = whole.iter().take(1 << matrix.bits).all(|&n| n > 0);
            let occurring = if is_there { u16::MAX } else { occurring(matrix)? };
            let times = u32::try_from(every).unwrap_or(u32::MAX);
            let all = classes.of_maps.iter_mut().flatten().chain([&mut whole]);
            for histogram in all {
                for (symbol, n) in histogram.iter_mut().enumerate().take(1 << FEW_BITS) {
                    *n = n.saturating_mul(times).max(u32::from(occurring >> symbol & 1));
                }
            }
        }
        classes.estimated = every > 1;
        let surely = slack > 0.0 && bits <= estimate * (1.0 + SURELY_PAIRS * slack);
        let explained = Self { classes: Some(classes), whole, every: 1, own: Vec::new(), ..*self };
        Ok(Pairs::Apart { explained: Box::new(explained), surely })
    }

    /// The same with fewer classes; all symbols are counted.
    pub(crate) fn joined(&self, worth: Worth) -> Self {
        let mut classes = self.classes.clone();
        if let Some(ByClass { rule, of_maps, .. }) = &mut classes {
            for (map, histograms) in rule.maps.iter_mut().zip(of_maps) {
                let by_class = std::mem::take(histograms).into_iter().enumerate().collect();
                let (joined, fewer, _) = merge(&by_class, worth, MAX_CLASSES, None);
                map.iter_mut().for_each(|class| *class = joined[usize::from(*class)]);
                *histograms = fewer;
            }
        }
        Self { classes, own: Vec::new(), ..*self }
    }

    /// Makes the tables that classes may get, for [`Explained::tables`] of as many slots: tensors get theirs
    /// one after the other, and most of the time of that is this.
    pub(crate) fn prepare(&mut self, table_bits: u32) {
        let histograms: Vec<&Histogram> = match &self.classes {
            None => vec![&self.whole],
            Some(classes) => classes.of_maps.iter().flatten().collect(),
        };
        let own = histograms.into_iter().map(|h| Own::new(h, self.bits, table_bits, self.closely));
        self.own = own.collect();
    }

    /// The table that is made of a histogram alone, the one with that number.
    fn own(&self, number: usize, histogram: &Histogram, table_bits: u32) -> Option<Own> {
        let made = self.own.get(number).and_then(Option::as_ref);
        let made = made.filter(|own| own.table.table_bits == table_bits);
        made.map_or_else(
            || Own::new(histogram, self.bits, table_bits, self.closely),
            |own| Some(own.clone()),
        )
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
            let own = || Own::new(&[0; 256], self.bits, table_bits, false);
            plan.class_of(bank.choose(&[0; 256], self.bits, table_bits, own).0);
        }
        rule.maps = bands.spread(rule.maps);
        Plan { classes: Some(rule), ..plan }
    }
}
