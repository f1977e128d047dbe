//! From a rule of classes to the class of each symbol; both directions use it.

use crate::error::{Error, Result};
use crate::wcodec::layout::class_rule::{ClassRule, MAX_SOURCES};
use crate::wcodec::layout::source::{Form, Source};
use latens_kernels::dispatch::Present;
use latens_kernels::lookup;
use std::borrow::Cow;
use std::ops::Range;

pub(crate) mod windows;

/// The decoded bytes of a part that serves as a source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SourceBytes<'a> {
    pub(crate) bytes: &'a [u8],
    /// Bytes of a number: 1, 2 or 4.
    pub(crate) width: usize,
    /// Significant bits of an integer.
    pub(crate) bits: u32,
}

impl SourceBytes<'_> {
    /// What `of` makes of each number.
    fn map<T>(self, of: impl Fn(u32) -> T) -> Vec<T> {
        match self.width {
            1 => self.bytes.iter().map(|&n| of(n.into())).collect(),
            2 => {
                let words = self.bytes.as_chunks::<2>().0;
                words.iter().map(|&n| of(u16::from_le_bytes(n).into())).collect()
            }
            _ => self.bytes.as_chunks().0.iter().map(|&n| of(u32::from_le_bytes(n))).collect(),
        }
    }
}

/// Numbers by block of symbols.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    pub(crate) values: Vec<i16>,
    /// The block row at which they begin.
    pub(crate) first: usize,
    pub(crate) block_rows: usize,
    pub(crate) block_cols: usize,
    /// Blocks in a row of blocks.
    pub(crate) stride: usize,
    pub(crate) row_map: Option<Vec<u32>>,
}

impl Blocks {
    /// Levels of `numbers`, for symbols in rows of `cols`.
    pub(crate) fn levels(
        source: &Source,
        numbers: SourceBytes<'_>,
        row_map: Option<SourceBytes<'_>>,
        cols: usize,
    ) -> Result<Self> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "eight bits of an exponent and four more"
        )]
        Self::new(source, numbers, row_map, cols, |n| source.level(n, numbers.bits) as i16)
    }

    /// `numbers` themselves, at most 255.
    pub(crate) fn zeros(
        source: &Source,
        numbers: SourceBytes<'_>,
        row_map: Option<SourceBytes<'_>>,
        cols: usize,
    ) -> Result<Self> {
        Self::new(source, numbers, row_map, cols, |n| i16::from(u8::try_from(n).unwrap_or(255)))
    }

    fn new(
        source: &Source,
        numbers: SourceBytes<'_>,
        row_map: Option<SourceBytes<'_>>,
        cols: usize,
        value: impl Fn(u32) -> i16,
    ) -> Result<Self> {
        let fits = match source.form {
            Form::Unsigned | Form::Signed => matches!(numbers.width, 1 | 2 | 4),
            Form::F16 | Form::Bf16 => numbers.width == 2,
            Form::F32 => numbers.width == 4,
        };
        if !fits || row_map.is_some_and(|map| map.width != 4) {
            return Err(Error::corrupt(0, "a source of classes has numbers of another width"));
        }
        Ok(Self {
            values: numbers.map(value),
            first: 0,
            block_rows: source.block_rows,
            block_cols: source.block_cols,
            stride: cols.div_ceil(source.block_cols),
            row_map: row_map.map(|map| map.map(|n| n)),
        })
    }

    /// Where the values of a row begin.
    pub(crate) fn row(&self, row: usize) -> usize {
        let block_row = match &self.row_map {
            None => row / self.block_rows,
            Some(map) => map.get(row).and_then(|&r| usize::try_from(r).ok()).unwrap_or(usize::MAX),
        };
        block_row.saturating_sub(self.first).saturating_mul(self.stride)
    }

    /// Whether the values of a row are those behind the values of the row before.
    pub(crate) fn rows_follow(&self) -> bool {
        self.block_rows == 1 && self.row_map.is_none()
    }

    /// What `of` makes of the value of each column of a row.
    pub(crate) fn spread<T: Copy>(&self, row: usize, of: impl Fn(i32) -> T, out: &mut [T]) {
        let start = self.row(row);
        for (i, run) in out.chunks_mut(self.block_cols.max(1)).enumerate() {
            run.fill(of(self.at(start.saturating_add(i))));
        }
    }

    /// The sum of the values.
    pub(crate) fn sum(&self) -> i64 {
        self.values.iter().map(|&v| i64::from(v)).sum()
    }

    /// The mean value.
    pub(crate) fn typical(&self) -> i32 {
        i32::try_from(self.sum() / i64::try_from(self.values.len().max(1)).unwrap_or(1))
            .unwrap_or(0)
    }

    /// The value of column `col` in the row that begins at `row`, 0 where there is none.
    fn value(&self, row: usize, col: usize) -> i32 {
        self.at(row.saturating_add(col / self.block_cols))
    }

    /// The value at `place`, 0 where there is none.
    pub(crate) fn at(&self, place: usize) -> i32 {
        self.values.get(place).copied().map_or(0, i32::from)
    }
}

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
    fn base(&self, row: usize) -> i32 {
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
        self.runs(row, self.base(row), step, count, |run, sum| {
            f(run, map[usize::from(clamp(sum))]);
        });
    }

    /// The classes of row `row`, whose coded symbols are `out`.
    pub(crate) fn classes(&self, row: usize, step: usize, scratch: &mut RowSums, out: &mut [u8]) {
        let rule = self.rule;
        let first = rule.maps.first().unwrap_or(&[0; 256]);
        if self.by_runs() {
            return self.class_runs(row, step, out.len(), |run, class| out[run].fill(class));
        }
        self.sums(row, step, scratch, out);
        let (present, last) = (Present::in_use(), rule.maps.len().saturating_sub(1));
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

/// The first coded symbol that begins at symbol `col` or later.
fn coded(col: usize, step: usize) -> usize {
    if step == 1 { col } else { col.div_ceil(step) }
}

/// Where a sum stands in a map.
#[expect(clippy::cast_sign_loss, reason = "clamped")]
fn clamp(sum: i32) -> u8 {
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

/// What rows of the same blocks have in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowSums {
    /// Where the values of the row's blocks begin.
    starts: Vec<usize>,
    /// By coded column: level of the column less those of the blocks.
    sums: Vec<i32>,
}

impl RowSums {
    /// Keeps nothing but memory: what comes next may have other sources.
    pub(crate) fn forget(&mut self) {
        self.starts.clear();
        self.sums.clear();
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
