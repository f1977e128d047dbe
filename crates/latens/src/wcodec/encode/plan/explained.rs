//! What explains symbols: by themselves, and with tables.

use super::Plan;
use crate::error::Result;
use crate::wcodec::encode::bands::Bands;
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::cost::{self, Histogram};
use crate::wcodec::encode::escapes;
use crate::wcodec::encode::fit::Own;
use crate::wcodec::encode::matrix::{FEW_BITS, Matrix};
use crate::wcodec::encode::merge::{Worth, merge};
use crate::wcodec::encode::sources::Sources;
use crate::wcodec::encode::tally::scaled;
use crate::wcodec::layout::class_rule::ClassRule;
use crate::wcodec::layout::symbols::MAX_CLASSES;
use crate::wcodec::order::Order;

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
    /// The order of columns in which they are paired, where that is not their own.
    pub(super) order: Option<Order>,
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

    /// The order of columns in which they are paired, where that is not their own.
    pub(crate) fn order(&self) -> Option<&Order> {
        self.classes.as_ref()?.order.as_ref()
    }

    /// The same without classes.
    pub(crate) fn alone(&self) -> Self {
        Self { classes: None, own: Vec::new(), ..*self }
    }

    /// Whether symbols have more bits than [few](FEW_BITS).
    pub(crate) fn has_many_bits(&self) -> bool {
        self.bits > FEW_BITS
    }

    /// Whether there are fewer pairs of symbols than of such of four bits, so that tables of fewer slots have them all.
    pub(crate) fn has_few_pairs(&self) -> bool {
        self.bits < FEW_BITS
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

    /// The table of symbols of `bits` that is made of a histogram alone, the one with that number.
    fn own(
        &self,
        number: usize,
        histogram: &Histogram,
        (bits, table_bits): (u32, u32),
    ) -> Option<Own> {
        let made = self.own.get(number).and_then(Option::as_ref);
        let made = made.filter(|own| (own.table.bits, own.table.table_bits) == (bits, table_bits));
        made.map_or_else(
            || Own::new(histogram, bits, table_bits, self.closely),
            |own| Some(own.clone()),
        )
    }

    /// One table of `2^table_bits` slots for symbols that have no classes, of which rare ones are said apart. Of few bits none is
    /// so rare.
    pub(crate) fn with_escapes(&self, table_bits: u32, bank: &mut Bank) -> Option<Plan> {
        if self.classes.is_some() || self.bits <= FEW_BITS {
            return None;
        }
        escapes::plan(&self.whole, (self.bits, table_bits), self.closely, bank)
    }

    /// Gives tables of `2^table_bits` slots to the classes.
    pub(crate) fn tables(&self, table_bits: u32, bank: &mut Bank) -> Plan {
        self.tables_of((self.bits, table_bits), bank)
    }

    /// The same, of which there are products for pairs: whatever bits symbols have, they are of four.
    pub(crate) fn factors(&self, table_bits: u32, bank: &mut Bank) -> Plan {
        self.tables_of((FEW_BITS, table_bits), bank)
    }

    fn tables_of(&self, sizes: (u32, u32), bank: &mut Bank) -> Plan {
        let (bits, table_bits) = sizes;
        let Some(ByClass { rule, side, bands, of_maps, estimated, .. }) = &self.classes else {
            let own = || self.own(0, &self.whole, sizes);
            let (table, bits) = bank.choose(&self.whole, bits, table_bits, own);
            let histograms = vec![self.whole];
            return Plan { tables: vec![table], histograms, bits, ..Plan::default() };
        };
        let mut plan = Plan { bits: *side, estimated: *estimated, ..Plan::default() };
        let (mut rule, mut number) = (rule.clone(), 0);
        for (map, histograms) in rule.maps.iter_mut().zip(of_maps) {
            let mut classes = Vec::new();
            for histogram in histograms {
                let own = || self.own(number, histogram, sizes);
                let (table, more) = bank.choose(histogram, bits, table_bits, own);
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
            let own = || Own::new(&[0; 256], bits, table_bits, false);
            plan.class_of(bank.choose(&[0; 256], bits, table_bits, own).0);
        }
        rule.maps = bands.spread(rule.maps);
        Plan { classes: Some(rule), ..plan }
    }
}
