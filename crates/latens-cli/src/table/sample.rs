//! Stretches of a table's rows, evenly spread, in place of all of them.

use crate::message::Result;
use crate::table::model::Schema;
use crate::table::piece::Piece;
use crate::table::source::{Column, Table};

/// A table of some rows of another.
pub struct Sample<'a> {
    table: &'a dyn Table,
    stretches: u64,
    /// Rows of one stretch.
    len: u64,
}

impl<'a> Sample<'a> {
    /// So many stretches of `len` rows each, the first at the start, the last at the end; `None` where
    /// they would hardly be fewer than all rows.
    pub fn of(table: &'a dyn Table, stretches: u64, len: u64) -> Option<Self> {
        let taken = stretches.saturating_mul(len);
        (table.rows() / 4 > taken && taken > 0).then_some(Sample { table, stretches, len })
    }

    /// The row at which a stretch begins.
    fn start(&self, stretch: u64) -> u64 {
        let last = u128::from(self.table.rows() - self.len);
        let gaps = u128::from(self.stretches - 1).max(1);
        u64::try_from(last * u128::from(stretch) / gaps).unwrap_or(u64::MAX)
    }
}

impl Table for Sample<'_> {
    fn schema(&self) -> &Schema {
        self.table.schema()
    }
    fn rows(&self) -> u64 {
        self.stretches * self.len
    }
    fn column(&self, index: usize) -> Result<Box<dyn Column + '_>> {
        let column = self.table.column(index)?;
        Ok(Box::new(SampledColumn { sample: self, column, row: 0, stretch: 0, left: self.len }))
    }
}

struct SampledColumn<'a> {
    sample: &'a Sample<'a>,
    column: Box<dyn Column + 'a>,
    /// The next row of the column.
    row: u64,
    stretch: u64,
    /// Rows left of the stretch.
    left: u64,
}

impl Column for SampledColumn<'_> {
    fn next(&mut self, rows: usize) -> Result<Piece> {
        if self.left == 0 && self.stretch + 1 < self.sample.stretches {
            self.stretch += 1;
            self.left = self.sample.len;
            let start = self.sample.start(self.stretch);
            self.column.skip(start - self.row)?;
            self.row = start;
        }
        let rows = usize::try_from(self.left).map_or(rows, |left| rows.min(left));
        let piece = self.column.next(rows)?;
        self.row += piece.rows as u64;
        self.left -= piece.rows as u64;
        Ok(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Failure;
    use crate::table::model::Field;
    use crate::table::piece::{Values, any_numbers};
    use latens::{AnyNumbers, NumberType};

    /// Rows that are their own numbers, at most 100 at a time.
    struct Counting(Schema, u64);

    impl Table for Counting {
        fn schema(&self) -> &Schema {
            &self.0
        }
        fn rows(&self) -> u64 {
            self.1
        }
        fn column(&self, _: usize) -> Result<Box<dyn Column + '_>> {
            Ok(Box::new(Count(0, self.1)))
        }
    }

    struct Count(u64, u64);

    impl Column for Count {
        fn next(&mut self, rows: usize) -> Result<Piece> {
            let numbers: Vec<u64> = (self.0..self.1).take(rows.min(100)).collect();
            self.0 += numbers.len() as u64;
            let rows = numbers.len();
            Ok(Piece { rows, valid: None, values: Values::Numbers(any_numbers(numbers)) })
        }
    }

    fn all(table: &dyn Table) -> Result<Vec<u64>> {
        let (mut column, mut found) = (table.column(0)?, Vec::new());
        loop {
            match column.next(64)?.values {
                Values::Numbers(AnyNumbers::U64(numbers)) if numbers.is_empty() => {
                    return Ok(found);
                }
                Values::Numbers(AnyNumbers::U64(numbers)) => found.extend(numbers),
                _ => return Err(Failure::new("other numbers")),
            }
        }
    }

    #[test]
    fn stretches_are_spread_from_the_start_to_the_end() {
        let fields = vec![Field::numbers("n", NumberType::U64)];
        let table = Counting(Schema { fields, ..Schema::default() }, 10_007);
        let sample = Sample::of(&table, 4, 150).unwrap();
        let rows: Vec<u64> =
            [0, 3285, 6571, 9857].into_iter().flat_map(|start| start..start + 150).collect();
        assert_eq!(all(&sample).unwrap(), rows);
        assert_eq!(sample.rows(), rows.len() as u64);
        assert_eq!(all(&Sample::of(&table, 1, 7).unwrap()).unwrap(), (0..7).collect::<Vec<u64>>());
        // Hardly fewer than all, or none.
        for (stretches, len) in [(4, 700), (u64::MAX, 2), (0, 5)] {
            assert!(Sample::of(&table, stretches, len).is_none());
        }
    }
}
