//! The tables of a file as they grow: a histogram gets the cheapest of those there are, or a new
//! one.

use crate::wcodec::encode::cost::{self, Histogram};
use crate::wcodec::encode::fit;
use crate::wcodec::layout::table::{MAX_TABLES, Table};

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

impl Bank {
    /// The number of the table that is cheapest for `histogram` with its own definition, if it is
    /// new; and the bits of both.
    pub(crate) fn choose(
        &mut self,
        histogram: &Histogram,
        bits: u32,
        table_bits: u32,
    ) -> (usize, f64) {
        let used = (self.tables.len() as f64 + 1.0).log2() / 7.0;
        let mut best = (None, f64::INFINITY);
        let first = self.tables.len().saturating_sub(LOOK_BACK);
        for (i, table) in self.tables.iter().enumerate().skip(first) {
            if table.bits == bits && table.table_bits == table_bits {
                let bits =
                    cost::under(histogram, &table.frequencies, table_bits) + 8.0 * used.ceil();
                if bits < best.1 {
                    best = (Some(i), bits);
                }
            }
        }
        // No table is better than the histogram's own frequencies.
        let floor = cost::entropy(histogram);
        let mut new = None;
        if best.1 > floor + 40.0 && self.tables.len() < MOST.min(MAX_TABLES) {
            let candidates = [
                Some(fit::explicit(histogram, bits, table_bits)),
                fit::curve(histogram, bits, table_bits),
            ];
            for table in candidates.into_iter().flatten() {
                let definition = 8.0 * table.write(Vec::new()).len() as f64;
                let bits =
                    cost::under(histogram, &table.frequencies, table_bits) + definition + 8.0;
                if bits < best.1 {
                    best = (None, bits);
                    new = Some(table);
                }
            }
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

    /// How many tables there are.
    pub(crate) fn len(&self) -> usize {
        self.tables.len()
    }

    /// All tables, by number.
    pub(crate) fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn push(&mut self, table: Table) {
        self.prices.push(cost::prices(&table.frequencies, table.table_bits));
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
