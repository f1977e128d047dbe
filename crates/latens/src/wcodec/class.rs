//! From a rule of classes to the class of each symbol; both directions use it.

use crate::wcodec::layout::class_rule::{ClassRule, MAX_SOURCES};
use latens_kernels::dispatch::Present;
use latens_kernels::lookup;
use std::borrow::Cow;
use std::ops::Range;

mod blocks;
mod rows;
pub(crate) mod windows;

pub(crate) use blocks::{Blocks, SourceBytes};
pub(crate) use rows::RowSums;

/// A rule with its sources at hand.
#[derive(Clone, Debug)]
pub(crate) struct Terms<'a> {
    pub(crate) rule: &'a ClassRule,
    pub(crate) levels: Cow<'a, [Blocks]>,
    pub(crate) zero: Option<Cow<'a, Blocks>>,
}

/// Blocks narrower than this are summed column by column, and kept for the next row.
const NARROW: usize = 8;

impl Terms<'_> {
    /// The part of the sums that all symbols of row `row` share.
    pub(crate) fn base(&self, row: usize) -> i32 {
        self.rule.bias + self.rule.rows.get(row).copied().map_or(0, i32::from)
    }

    fn has_narrow(&self) -> bool {
        self.levels.iter().any(|blocks| blocks.block_cols < NARROW)
    }

    /// The sums S of the coded symbols of row `row`; `step` symbols (2 for pairs) share one.
    pub(crate) fn sums(&self, row: usize, step: usize, scratch: &mut RowSums, out: &mut [u8]) {
        let rule = self.rule;
        let base = self.base(row);
        if self.has_narrow() {
            return self.narrow(row, base, step, scratch, out);
        }
        self.runs(row, base, step, out.len(), |run, offset| match rule.cols.get(run.clone()) {
            Some(cols) => shifted(cols, offset, &mut out[run]),
            None => out[run].fill(clamp(offset)),
        });
    }

    /// Runs of coded symbols of row `row` with the same blocks, and `base` less the blocks' levels.
    fn runs(
        &self,
        row: usize,
        base: i32,
        step: usize,
        count: usize,
        mut f: impl FnMut(Range<usize>, i32),
    ) {
        // For each source: where its next block is, and the symbol at which the one before ends.
        let mut places = [(0usize, 0usize); MAX_SOURCES];
        for (place, blocks) in places.iter_mut().zip(&*self.levels) {
            place.0 = blocks.row(row);
        }
        let mut col = 0;
        while col < count {
            let (mut offset, mut end) = (base, count);
            for ((at, until), blocks) in places.iter_mut().zip(&*self.levels) {
                if coded(*until, step) <= col {
                    *until = until.saturating_add(blocks.block_cols);
                    *at = at.saturating_add(1);
                }
                offset -= blocks.at(*at - 1);
                end = end.min(coded(*until, step));
            }
            f(col..end, offset);
            col = end;
        }
    }

    /// [`Terms::sums`] where sources have blocks of few columns.
    fn narrow(&self, row: usize, base: i32, step: usize, scratch: &mut RowSums, out: &mut [u8]) {
        let rule = self.rule;
        let starts: Vec<usize> = self.levels.iter().map(|blocks| blocks.row(row)).collect();
        if scratch.starts != starts || scratch.sums.len() != out.len() {
            scratch.sums.clear();
            scratch.sums.resize(out.len(), 0);
            for (sum, &col) in scratch.sums.iter_mut().zip(&rule.cols) {
                *sum = i32::from(col);
            }
            for (blocks, &start) in self.levels.iter().zip(&starts) {
                for (i, sum) in scratch.sums.iter_mut().enumerate() {
                    *sum -= blocks.value(start, i * step);
                }
            }
            scratch.starts = starts;
        }
        for (out, &sum) in out.iter_mut().zip(&scratch.sums) {
            *out = clamp(sum + base);
        }
    }

    /// Runs of coded symbols of row `row` that have the same zero point, with it (0 without any).
    pub(crate) fn zeros(
        &self,
        row: usize,
        step: usize,
        cols: usize,
        mut f: impl FnMut(Range<usize>, usize),
    ) {
        let Some(zero) = &self.zero else { return f(0..cols, 0) };
        let (mut at, mut until, mut col) = (zero.row(row), 0usize, 0);
        while col < cols {
            until = until.saturating_add(zero.block_cols);
            let end = coded(until, step).min(cols);
            if col < end {
                let value = zero.at(at);
                f(col..end, usize::try_from(value).unwrap_or(0));
            }
            (at, col) = (at.saturating_add(1), end);
        }
    }

    /// Whether all rows have the same classes.
    pub(crate) fn by_column_alone(&self) -> bool {
        self.rule.rows.is_empty() && self.levels.is_empty() && self.zero.is_none()
    }

    /// Whether what is in the same blocks of a row has the same class.
    pub(crate) fn by_runs(&self) -> bool {
        self.rule.cols.is_empty() && self.zero.is_none() && !self.has_narrow()
    }

    /// Runs of `count` coded symbols of row `row` with their classes, where they come [by runs](Self::by_runs).
    pub(crate) fn class_runs(
        &self,
        row: usize,
        step: usize,
        count: usize,
        mut f: impl FnMut(Range<usize>, u8),
    ) {
        let map = self.rule.maps.first().unwrap_or(&[0; 256]);
        self.sum_runs(row, step, count, |run, sum| f(run, map[usize::from(sum)]));
    }

    /// The same with their sums.
    pub(crate) fn sum_runs(
        &self,
        row: usize,
        step: usize,
        count: usize,
        mut f: impl FnMut(Range<usize>, u8),
    ) {
        self.runs(row, self.base(row), step, count, |run, sum| f(run, clamp(sum)));
    }

    /// The classes of row `row`, whose coded symbols are `out`.
    pub(crate) fn classes(&self, row: usize, step: usize, scratch: &mut RowSums, out: &mut [u8]) {
        if self.by_runs() {
            return self.class_runs(row, step, out.len(), |run, class| out[run].fill(class));
        }
        let narrow = |blocks: &Blocks| blocks.block_cols < NARROW;
        if !self.has_narrow() && !self.zero.as_deref().is_some_and(narrow) {
            return self.one_by_one(row, step, scratch, out);
        }
        let (mut starts, base) = ([0; MAX_SOURCES + 1], self.base(row));
        for (start, blocks) in starts.iter_mut().zip(self.levels.iter().chain(self.zero.as_deref()))
        {
            *start = blocks.row(row);
        }
        if let Some(classes) = scratch.kept.find(starts, base, out.len()) {
            return out.copy_from_slice(classes);
        }
        self.one_by_one(row, step, scratch, out);
        scratch.kept.keep(starts, base, out);
    }

    /// The classes of a row, each by its sum.
    fn one_by_one(&self, row: usize, step: usize, scratch: &mut RowSums, out: &mut [u8]) {
        let rule = self.rule;
        let first = rule.maps.first().unwrap_or(&[0; 256]);
        self.sums(row, step, scratch, out);
        let (present, last) = (Present::in_use(), rule.maps.len().saturating_sub(1));
        if let Some(zero) = self.zero.as_deref().filter(|zero| zero.block_cols == 1) {
            return by_own_zero(&rule.maps, zero.behind(zero.row(row)), step, out);
        }
        self.zeros(row, step, out.len(), |run, zero| {
            let (map, out) = (rule.maps.get(zero.min(last)).unwrap_or(first), &mut out[run]);
            if out.len() < NARROW {
                out.iter_mut().for_each(|out| *out = map[usize::from(*out)]);
            } else {
                lookup::replace(present, map, out);
            }
        });
    }
}

/// Puts the classes of sums whose zero points are the first of each `step` of `zeros`, 0 beyond them.
fn by_own_zero(maps: &[[u8; 256]], zeros: &[i16], step: usize, sums: &mut [u8]) {
    let step = step.max(1);
    let last = i16::try_from(maps.len().saturating_sub(1)).unwrap_or(i16::MAX);
    let maps = maps.as_flattened();
    let class = |sum: &mut u8, zero: i16| {
        let map = zero.clamp(0, last).cast_unsigned() << 8;
        *sum = maps.get(usize::from(map | u16::from(*sum))).copied().unwrap_or(0);
    };
    let count = sums.len().min(zeros.len() / step);
    let (whole, behind) = sums.split_at_mut(count);
    match step {
        1 => whole.iter_mut().zip(zeros).for_each(|(sum, &zero)| class(sum, zero)),
        _ => {
            let steps = zeros.chunks_exact(step);
            whole.iter_mut().zip(steps).for_each(|(sum, zeros)| class(sum, zeros[0]));
        }
    }
    let mut zero = zeros.get(count * step).copied().unwrap_or(0);
    behind.iter_mut().for_each(|sum| class(sum, std::mem::take(&mut zero)));
}

/// The first coded symbol that begins at symbol `col` or later.
fn coded(col: usize, step: usize) -> usize {
    if step == 1 { col } else { col.div_ceil(step) }
}

/// Where a sum stands in a map.
#[expect(clippy::cast_sign_loss, reason = "clamped")]
pub(crate) fn clamp(sum: i32) -> u8 {
    sum.clamp(0, 255) as u8
}

/// `clamp` of each of `cols` and `offset`.
fn shifted(cols: &[u8], offset: i32, out: &mut [u8]) {
    let by = clamp(offset.saturating_abs());
    if offset >= 0 {
        out.iter_mut().zip(cols).for_each(|(out, col)| *out = col.saturating_add(by));
    } else {
        out.iter_mut().zip(cols).for_each(|(out, col)| *out = col.saturating_sub(by));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(block_cols: usize, cols: usize) -> Blocks {
        let stride = cols.div_ceil(block_cols);
        let values = (0..2 * stride).map(|i| i16::try_from(i * 7 % 90).unwrap_or(0)).collect();
        Blocks { values, first: 0, block_rows: 1, block_cols, stride, row_map: None }
    }

    /// The class of a coded symbol, as the format has it.
    fn class(terms: &Terms<'_>, row: usize, col: usize, step: usize) -> u8 {
        let value = |blocks: &Blocks| blocks.value(blocks.row(row), col * step);
        let level = terms.rule.cols.get(col).copied().map_or(0, i32::from);
        let sum = terms.base(row) + level - terms.levels.iter().map(value).sum::<i32>();
        let zero = terms.zero.as_deref().map_or(0, value);
        let map = usize::try_from(zero).unwrap().min(terms.rule.maps.len() - 1);
        terms.rule.maps[map][usize::from(clamp(sum))]
    }

    /// What is kept of rows before changes nothing.
    #[test]
    fn rows_have_their_classes_whatever_came_before() {
        let (cols, rows) = (36, 40);
        let map = |m: usize| std::array::from_fn(|i| u8::try_from((i + 3 * m) / 5 % 9).unwrap());
        let rule = ClassRule {
            rows: (0u8..40).map(|r| r % 3).collect(),
            bias: 120,
            maps: (0..4).map(map).collect(),
            ..ClassRule::default()
        };
        let mapped = Some((0u32..40).map(|r| r * 11 % 5).collect());
        let forms = [(1, 8, None), (1, 1, None), (3, 1, None), (1, 1, mapped)];
        for (block_cols, block_rows, row_map) in forms {
            let tall = |by: i16| {
                let mut tall = blocks(block_cols, cols);
                // A few that maps lack, and none for the last row.
                let values = 0..i16::try_from((rows - 1) * cols - 3).unwrap();
                tall.values = values.map(|i| i * by % 6).collect();
                (tall.block_rows, tall.row_map) = (block_rows, row_map.clone());
                tall
            };
            let (levels, zero) = (vec![tall(7)].into(), Some(Cow::Owned(tall(5))));
            let terms = Terms { rule: &rule, levels, zero };
            let mut scratch = RowSums::default();
            for step in [1, 2] {
                for row in (0..rows).chain([3, 39, 0]) {
                    let mut found = vec![0; cols / step];
                    terms.classes(row, step, &mut scratch, &mut found);
                    let wanted: Vec<u8> =
                        (0..cols / step).map(|col| class(&terms, row, col, step)).collect();
                    assert_eq!(found, wanted, "row {row}, {block_cols} × {block_rows}");
                }
            }
        }
    }

    /// Classes of pairs are those of their first symbols, however wide the blocks are.
    #[test]
    fn pairs_have_the_class_of_their_first_symbol() {
        let cols = 36;
        for block_cols in 1..=cols {
            let map: [u8; 256] = std::array::from_fn(|i| u8::try_from(i / 2).unwrap_or(0));
            let rule = ClassRule { bias: 200, maps: vec![map], ..ClassRule::default() };
            let levels = vec![blocks(block_cols, cols), blocks(5, cols)].into();
            let terms = Terms { rule: &rule, levels, zero: None };
            let (mut scratch, mut symbols, mut pairs) = (RowSums::default(), [0; 36], [0; 18]);
            for row in 0..2 {
                terms.classes(row, 1, &mut scratch, &mut symbols);
                terms.classes(row, 2, &mut scratch, &mut pairs);
                let first: Vec<u8> = symbols.iter().copied().step_by(2).collect();
                assert_eq!(pairs[..], first, "blocks of {block_cols}");
            }
        }
    }
}
