//! The tables of a file as they grow: a histogram gets the cheapest of those there are, or a new
//! one.

use crate::wcodec::encode::cost::{self, Counts, Histogram};
use crate::wcodec::encode::escapes::APART;
use crate::wcodec::encode::fit::{self, Own};
use crate::wcodec::layout::table::{Factors, MAX_TABLES, Shape, Table};
use latens_kernels::dispatch::{Present, Work};

/// Tables that are compared with a histogram at most: the latest.
const LOOK_BACK: usize = 512;
/// Tables are not added beyond this, so that products can name all of them.
const MOST: usize = 4096;

/// All tables so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bank {
    tables: Vec<Table>,
    /// Bits of each symbol, by table.
    prices: Vec<[f32; 256]>,
}

/// Looks for the table that is cheapest for a histogram, and its bits.
struct Cheapest<'a> {
    bank: &'a Bank,
    counts: Counts,
    bits: u32,
    table_bits: u32,
}

impl Work for Cheapest<'_> {
    type Output = Option<(usize, f64)>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let Bank { tables, prices } = self.bank;
        let first = tables.len().saturating_sub(LOOK_BACK);
        let mut best: Option<(usize, f64)> = None;
        for (i, (table, prices)) in tables.iter().zip(prices).enumerate().skip(first) {
            let same = table.bits == self.bits && table.table_bits == self.table_bits;
            if same && escape_of(table).is_none() {
                let bits = self.counts.at(prices);
                if bits < best.map_or(f64::INFINITY, |best| best.1) {
                    best = Some((i, bits));
                }
            }
        }
        best
    }
}

/// The symbol in whose place others are said apart, with which prices are those of parts with ESCAPES alone.
fn escape_of(table: &Table) -> Option<u8> {
    match table.shape {
        Shape::Product(Factors { escape, .. }) => escape,
        Shape::Explicit | Shape::Curve(_) => None,
    }
}

impl Bank {
    /// The number of the table that is cheapest for `histogram` with its own definition, if it is
    /// new; and the bits of both. A new one is its [`Own`].
    pub(crate) fn choose(
        &mut self,
        histogram: &Histogram,
        bits: u32,
        table_bits: u32,
        own: impl FnOnce() -> Option<Own>,
    ) -> (usize, f64) {
        let used = (self.tables.len() as f64 + 1.0).log2() / 7.0;
        let cheapest = Cheapest { bank: self, counts: Counts::new(histogram), bits, table_bits };
        let mut best = (None, f64::INFINITY);
        if let Some((i, bits)) = Present::in_use().run(cheapest) {
            best = (Some(i), bits + 8.0 * used.ceil());
        }
        // No table is better than the histogram's own frequencies.
        let floor = cost::entropy(histogram);
        let mut new = None;
        if best.1 > floor + 40.0
            && self.tables.len() < MOST.min(MAX_TABLES)
            && let Some(own) = own().filter(|own| own.bits < best.1)
        {
            best = (None, own.bits);
            new = Some(own.table);
        }
        match (best.0, new) {
            (_, Some(table)) => {
                self.push(table);
                (self.tables.len() - 1, best.1)
            }
            (Some(i), None) => (i, best.1),
            // Only where the bank is full of tables that do not fit.
            (None, None) => {
                self.push(fit::explicit(histogram, bits, table_bits));
                (self.tables.len() - 1, f64::INFINITY)
            }
        }
    }

    /// The number of a product of two tables, for pairs; `None` where it cannot be.
    pub(crate) fn product(&mut self, factors: Factors, table_bits: u32) -> Option<usize> {
        let shape = Shape::Product(factors);
        let same = |t: &Table| t.shape == shape && t.table_bits == table_bits;
        if let Some(number) = self.tables.iter().rposition(same) {
            return Some(number);
        }
        let room = factors.low.max(factors.high) < MOST && self.tables.len() < MAX_TABLES;
        let table = Table::of_product(table_bits, &self.tables, factors).filter(|_| room)?;
        self.push(table);
        Some(self.tables.len() - 1)
    }

    /// Bits of a histogram, its own table's symbols, under table `number`.
    pub(crate) fn bits_under(&self, number: usize, histogram: &Histogram) -> f64 {
        self.prices.get(number).map_or(f64::INFINITY, |prices| cost::at(histogram, prices))
    }

    /// Bits under table `number` of pairs of symbols that each have this histogram.
    pub(crate) fn bits_of_pairs(&self, number: usize, histogram: &Histogram) -> f64 {
        let Some(prices) = self.prices.get(number) else { return f64::INFINITY };
        let n: u64 = histogram.iter().map(|&n| u64::from(n)).sum();
        let mut bits = 0.0;
        for (pair, &price) in prices.iter().enumerate() {
            let both = f64::from(histogram[pair & 15]) * f64::from(histogram[pair >> 4]);
            bits += if both > 0.0 { both * f64::from(price) } else { 0.0 };
        }
        bits / (2 * n.max(1)) as f64
    }

    /// How many tables there are.
    pub(crate) fn len(&self) -> usize {
        self.tables.len()
    }

    /// All tables, by number.
    pub(crate) fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn push(&mut self, table: Table) {
        let mut prices = cost::prices(&table.frequencies, table.table_bits);
        if let Some(escape) = escape_of(&table) {
            let apart = prices[usize::from(escape)] + APART;
            prices[usize::from(escape)] = f32::INFINITY;
            prices.iter_mut().filter(|price| price.is_infinite()).for_each(|price| *price = apart);
        }
        self.prices.push(prices);
        self.tables.push(table);
    }

    /// Forgets all but the first `len` tables, which are given back.
    pub(crate) fn take_from(&mut self, len: usize) -> Vec<Table> {
        self.prices.truncate(len);
        self.tables.split_off(len.min(self.tables.len()))
    }

    /// Adds tables that [`Bank::take_from`] gave back, with the same number of tables before.
    pub(crate) fn give_back(&mut self, tables: Vec<Table>) {
        tables.into_iter().for_each(|table| self.push(table));
    }

    /// Bytes of the tables from number `first` on.
    pub(crate) fn bytes_from(&self, first: usize) -> usize {
        let tables = self.tables.iter().skip(first);
        tables.map(|table| table.write(Vec::new()).len()).sum()
    }

    /// All tables as they are stored.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.tables.iter().fold(Vec::new(), |out, table| table.write(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Symbols of 8 bits are not coded by a table that lacks some of them, whatever it would take with escapes.
    #[test]
    fn tables_with_an_escape_are_for_pairs_alone() {
        let mut bank = Bank::default();
        let nibbles: Histogram = std::array::from_fn(|s| if s < 16 { 1 << s } else { 0 });
        let own = || Own::new(&nibbles, 4, 10, false);
        let (single, _) = bank.choose(&nibbles, 4, 10, own);
        let mut factors = Factors { low: single, high: single, escape: None };
        let without = bank.product(factors, 12).unwrap();
        factors.escape = Some(0);
        let with = bank.product(factors, 12).unwrap();
        let all: Histogram = std::array::from_fn(|pair| 1 << (pair & 15) << (pair >> 4));
        assert!(bank.bits_under(with, &all) < bank.bits_under(without, &all));
        assert_eq!(bank.choose(&all, 8, 12, || None).0, without);
    }
}
