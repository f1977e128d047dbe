//! Pairs of two rows, one above the other (STACKED): in what order columns and rows are coded. Rows of a group are sorted
//! by what they and their blocks add to sums, so that the two of a pair have the same class, or nearly; and columns by
//! their levels, so that what is coded next has the tables of what was coded before.

mod rows;

use crate::wcodec::layout::class_rule::ClassRule;
use latens_kernels::stack::{Pairing, Place};
use std::ops::Range;

pub(crate) use rows::{Rows, window_map};

/// Most rows of a group, which take memory each however short they are.
pub(crate) const MAX_ROWS: usize = 1 << 20;
/// Most columns: no bytes need to stand behind their number, as levels may be lacking.
const MAX_COLS: usize = 1 << 16;

/// The columns of a part that is coded so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stack {
    /// Where spans end: columns that are in the same blocks.
    ends: Vec<usize>,
    /// For each column the place of its pairs among those of its span.
    lines: Vec<u32>,
    /// The level of the column at each place.
    levels: Vec<u8>,
}

/// Columns that are in the same blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span<'a> {
    /// The first one.
    pub(crate) first: usize,
    pub(crate) lines: &'a [u32],
    pub(crate) levels: &'a [u8],
}

impl Stack {
    /// That of `cols` columns whose classes are by `rule`; `None` where they cannot be coded so.
    pub(crate) fn new(rule: &ClassRule, cols: usize) -> Option<Self> {
        let blocks = || rule.levels.iter().map(|source| source.block_cols);
        let fits = rule.zero.is_none()
            && cols.is_multiple_of(2)
            && blocks().all(|block| block.is_multiple_of(2) || block >= cols)
            && cols <= MAX_COLS;
        if !fits {
            return None;
        }
        let mut stack = Self { ends: Vec::new(), lines: vec![0; cols], levels: vec![0; cols] };
        let (mut first, mut order) = (0, Vec::new());
        while first < cols {
            let end = |block: usize| (first - first % block).saturating_add(block);
            let end = blocks().map(end).min().unwrap_or(cols).min(cols);
            let level = |col: u32| rule.cols.get(first + col as usize).copied().unwrap_or(0);
            order.clear();
            order.extend((0u32..).take(end - first));
            order.sort_by_key(|&col| level(col));
            for (place, &col) in (0u32..).zip(&order) {
                stack.lines[first + col as usize] = place;
                stack.levels[first + place as usize] = level(col);
            }
            stack.ends.push(end);
            first = end;
        }
        Some(stack)
    }

    pub(crate) fn spans(&self) -> impl Iterator<Item = Span<'_>> + Clone {
        let firsts = [0].into_iter().chain(self.ends.iter().copied());
        firsts.zip(&self.ends).map(|(first, &end)| Span {
            first,
            lines: &self.lines[first..end],
            levels: &self.levels[first..end],
        })
    }
}

impl Span<'_> {
    /// Coded pairs of so many pairs of rows.
    pub(crate) fn len(&self, pairs: usize) -> usize {
        self.lines.len() * pairs
    }

    /// Its pairs, for kernels, and where they are in rows of `cols` symbols.
    pub(crate) fn pairing<'p>(
        &'p self,
        order: &'p [u32],
        rows: usize,
        cols: usize,
    ) -> Option<(Pairing<'p>, Place)> {
        let place = Place { stride: cols / 2, first: self.first / 2 };
        Some((Pairing::new(self.lines, order, rows)?, place))
    }
}

/// How many pairs so many rows make.
pub(crate) fn pairs_of(rows: Range<usize>) -> usize {
    rows.len().div_ceil(2)
}

#[cfg(test)]
mod tests;
