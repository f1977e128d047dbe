//! What rows have in common, kept from one to the next: where blocks are a few columns wide and many rows tall, as
//! those of GPTQ and AWQ are, most rows have the classes of a row before.

use crate::wcodec::layout::class_rule::MAX_SOURCES;

/// Rows that are kept, and bytes of them, at most.
const ROWS: usize = 32;
const BYTES: usize = 1 << 17;

/// Of levels, and of zero points.
pub(super) type Starts = [usize; MAX_SOURCES + 1];

/// What rows of the same blocks have in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowSums {
    /// Where the values of the row's blocks begin.
    pub(super) starts: Vec<usize>,
    /// By coded column: level of the column less those of the blocks.
    pub(super) sums: Vec<i32>,
    pub(super) kept: KeptRows,
}

impl RowSums {
    /// Keeps nothing but memory: what comes next may have other sources.
    pub(crate) fn forget(&mut self) {
        self.starts.clear();
        self.sums.clear();
        self.kept.rows.clear();
    }
}

/// Classes of rows by what they follow from.
#[derive(Clone, Debug, Default)]
pub(super) struct KeptRows {
    rows: Vec<Row>,
    /// The one that is replaced next.
    next: usize,
}

#[derive(Clone, Debug)]
struct Row {
    /// Where the values of its blocks begin, source by source.
    starts: Starts,
    /// What its symbols' sums share.
    base: i32,
    classes: Vec<u8>,
}

impl KeptRows {
    /// The classes of so many symbols of a row that has these.
    pub(super) fn find(&self, starts: Starts, base: i32, count: usize) -> Option<&[u8]> {
        let is_it =
            |row: &&Row| row.base == base && row.starts == starts && row.classes.len() == count;
        self.rows.iter().find(is_it).map(|row| &row.classes[..])
    }

    /// Keeps a row, in place of the one that was kept longest where there are many.
    pub(super) fn keep(&mut self, starts: Starts, base: i32, classes: &[u8]) {
        let most = (BYTES / classes.len().max(1)).clamp(1, ROWS);
        if self.rows.len() < most {
            return self.rows.push(Row { starts, base, classes: classes.to_vec() });
        }
        self.next = (self.next + 1) % most;
        let row = &mut self.rows[self.next];
        (row.starts, row.base) = (starts, base);
        row.classes.clear();
        row.classes.extend_from_slice(classes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_until_they_are_replaced() {
        let (mut kept, at) = (KeptRows::default(), |n: usize, zero: usize| [n, 0, 0, 0, zero]);
        for n in 0..ROWS {
            kept.keep(at(n, 7), 3, &[n.to_le_bytes()[0]; 4]);
        }
        assert_eq!(kept.find(at(5, 7), 3, 4), Some(&[5; 4][..]));
        assert!(kept.find(at(5, 7), 4, 4).is_none());
        assert!(kept.find(at(5, 8), 3, 4).is_none());
        assert!(kept.find(at(5, 7), 3, 5).is_none());
        kept.keep(at(ROWS, 7), 3, &[9; 4]);
        assert_eq!(kept.find(at(ROWS, 7), 3, 4), Some(&[9; 4][..]));
        assert_eq!((0..ROWS).filter(|&n| kept.find(at(n, 7), 3, 4).is_some()).count(), ROWS - 1);
    }

    #[test]
    fn long_rows_are_few() {
        let mut kept = KeptRows::default();
        for n in 0..3 {
            kept.keep([n; 5], 0, &vec![1; BYTES + 1]);
        }
        assert_eq!(kept.rows.len(), 1);
        assert!(kept.find([2; 5], 0, BYTES + 1).is_some());
    }
}
