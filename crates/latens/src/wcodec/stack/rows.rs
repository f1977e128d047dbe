//! The rows of a group in the order in which a span's columns have them, and the classes of their pairs.

use super::Span;
use crate::ans::rans::LANES;
use crate::wcodec::class::{Terms, clamp};
use crate::wcodec::layout::class_rule::Map;
use latens_kernels::rans::WINDOW;
use std::ops::Range;

/// Rows are sorted by counting where what they add differs by less than so many times their number.
const COUNTED: usize = 8;

/// What rows add to the sums of a span. Memory for it is used again.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// By row, and in order.
    addends: Vec<i32>,
    sorted: Vec<i32>,
    /// By pair, in their order: none is less than the one before.
    of_pairs: Vec<i32>,
    /// Where the next row of each addend belongs.
    next: Vec<u32>,
}

/// The windows of a map, one for each sum from −64 to 256, in which places are what is added to it.
pub(crate) fn window_map(map: &Map) -> [u8; 256 + 2 * WINDOW] {
    std::array::from_fn(|i| map[i.saturating_sub(WINDOW).min(255)])
}

impl Rows {
    /// Sorts `rows` of a group for a span, and appends their numbers in the group to `order`, the last one of an odd
    /// number twice.
    pub(crate) fn sort(
        &mut self,
        terms: &Terms<'_>,
        rows: Range<usize>,
        span: &Span<'_>,
        order: &mut Vec<u32>,
    ) {
        let addends = &mut self.addends;
        addends.clear();
        addends.resize(rows.len(), terms.rule.bias);
        let levels = terms.rule.rows.get(rows.clone()).unwrap_or_default();
        addends.iter_mut().zip(levels).for_each(|(a, &level)| *a += i32::from(level));
        for blocks in &*terms.levels {
            let block = span.first / blocks.block_cols.max(1);
            if blocks.rows_follow() {
                let from = blocks.row(rows.start).saturating_add(block).min(blocks.values.len());
                let levels = blocks.values[from..].iter().step_by(blocks.stride.max(1));
                addends.iter_mut().zip(levels).for_each(|(a, &level)| *a -= i32::from(level));
            } else {
                for (row, addend) in rows.clone().zip(&mut *addends) {
                    *addend -= blocks.at(blocks.row(row).saturating_add(block));
                }
            }
        }
        let start = order.len();
        order.resize(start + addends.len().next_multiple_of(2), 0);
        let order = &mut order[start..];
        self.place(order);
        if let (true, [.., last, twice]) = (self.addends.len() % 2 == 1, order) {
            *twice = *last;
        }
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        let Self { addends, sorted, of_pairs, next } = self;
        4 * (addends.capacity() + sorted.capacity() + of_pairs.capacity() + next.capacity())
    }

    /// Places the numbers of rows by their addends, those of the same in their own order, and says what pairs add.
    fn place(&mut self, order: &mut [u32]) {
        let Self { addends, sorted, of_pairs, next } = self;
        of_pairs.clear();
        sorted.clear();
        let Some(&last) = addends.last() else { return };
        let (least, most) = addends.iter().fold((last, last), |(l, m), &a| (l.min(a), m.max(a)));
        let sums = usize::try_from(most - least).unwrap_or(usize::MAX).saturating_add(1);
        if sums > COUNTED * addends.len() {
            (0u32..).zip(&mut *order).for_each(|(row, place)| *place = row);
            let rows = &mut order[..addends.len()];
            rows.sort_by_key(|&row| addends.get(row as usize).copied());
            sorted.extend(rows.iter().map(|&row| addends[row as usize]));
        } else {
            let number = |addend: i32| (addend - least).cast_unsigned() as usize;
            next.clear();
            next.resize(sums, 0);
            addends.iter().for_each(|&addend| next[number(addend)] += 1);
            let mut before = 0;
            for (number, next) in (least..).zip(&mut *next) {
                let count = std::mem::replace(next, before);
                before += count;
                sorted.resize(before as usize, number);
            }
            for (row, &addend) in (0u32..).zip(&*addends) {
                let next = &mut next[number(addend)];
                order[*next as usize] = row;
                *next += 1;
            }
        }
        let (pairs, odd) = sorted.as_chunks::<2>();
        of_pairs.extend(pairs.iter().map(|[a, b]| (a + b) >> 1).chain(odd.iter().copied()));
    }

    /// What each pair adds, in their order.
    pub(crate) fn sums(&self) -> &[i32] {
        &self.of_pairs
    }

    /// Appends the classes of all pairs of a span, column after column.
    pub(crate) fn classes(&self, map: &Map, span: &Span<'_>, out: &mut Vec<u8>) {
        let pairs = self.of_pairs.len();
        out.reserve(span.len(pairs));
        let mut before = None;
        for &level in span.levels {
            let start = out.len();
            if before == Some(level) {
                out.extend_from_within(start - pairs..);
                continue;
            }
            for run in self.of_pairs.chunk_by(|a, b| a == b) {
                let class = map[usize::from(clamp(run[0] + i32::from(level)))];
                out.resize(out.len() + run.len(), class);
            }
            before = Some(level);
        }
    }

    /// The same classes by the windows of [`window_map`]: what is added to the least sum of each column, and where the
    /// windows of all columns begin. `false` where classes do not have that form.
    pub(crate) fn windows(
        &self,
        span: &Span<'_>,
        places: &mut Vec<u8>,
        starts: &mut Vec<u16>,
    ) -> bool {
        let (Some(&least), Some(&most)) = (self.of_pairs.first(), self.of_pairs.last()) else {
            return false;
        };
        let a_column = self.of_pairs.len() / LANES;
        if most - least >= WINDOW_SUMS || !self.of_pairs.len().is_multiple_of(LANES) {
            return false;
        }
        places.clear();
        places.extend(self.of_pairs.iter().map(|sum| clamp(sum - least)));
        starts.clear();
        for &level in span.levels {
            let start = (least + i32::from(level) + WINDOW_SUMS).clamp(0, 256 + WINDOW_SUMS);
            let start = u16::try_from(start).unwrap_or(0);
            starts.resize(starts.len() + a_column, start);
        }
        true
    }
}

/// Sums of a window.
const WINDOW_SUMS: i32 = 64;
const _: () = assert!(WINDOW == 64);
