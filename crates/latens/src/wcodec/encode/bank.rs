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
    pub(crate) tables: Vec<Table>,
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
                self.tables.push(table);
                (self.tables.len() - 1, best.1)
            }
            (Some(i), None) => (i, best.1),
            // Only where the bank is full of tables that do not fit.
            (None, None) => {
                self.tables.push(fit::explicit(histogram, bits, table_bits));
                (self.tables.len() - 1, f64::INFINITY)
            }
        }
    }

    /// All tables as they are stored.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.tables.iter().fold(Vec::new(), |out, table| table.write(out))
    }
}
