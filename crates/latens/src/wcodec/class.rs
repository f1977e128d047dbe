//! From a rule of classes to the class of each symbol; both directions use it.

use crate::error::{Error, Result};
use crate::wcodec::layout::class_rule::ClassRule;
use crate::wcodec::layout::source::{Form, Source};

/// The decoded bytes of a part that serves as a source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SourceBytes<'a> {
    pub(crate) bytes: &'a [u8],
    /// Bytes of a number: 1, 2 or 4.
    pub(crate) width: usize,
    /// Significant bits of an integer.
    pub(crate) bits: u32,
}

impl<'a> SourceBytes<'a> {
    fn numbers(self) -> impl Iterator<Item = u32> + use<'a> {
        self.bytes.chunks_exact(self.width.max(1)).map(|bytes| {
            let mut word = [0; 4];
            word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
            u32::from_le_bytes(word)
        })
    }
}

/// Numbers by block of symbols.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    pub(crate) values: Vec<i32>,
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
        Self::new(source, numbers, row_map, cols, |n| source.level(n, numbers.bits))
    }

    /// `numbers` themselves, at most 255.
    pub(crate) fn zeros(
        source: &Source,
        numbers: SourceBytes<'_>,
        row_map: Option<SourceBytes<'_>>,
        cols: usize,
    ) -> Result<Self> {
        Self::new(source, numbers, row_map, cols, |n| i32::from(u8::try_from(n).unwrap_or(255)))
    }

    fn new(
        source: &Source,
        numbers: SourceBytes<'_>,
        row_map: Option<SourceBytes<'_>>,
        cols: usize,
        value: impl Fn(u32) -> i32,
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
            values: numbers.numbers().map(value).collect(),
            block_rows: source.block_rows,
            block_cols: source.block_cols,
            stride: cols.div_ceil(source.block_cols),
            row_map: row_map.map(|map| map.numbers().collect()),
        })
    }

    /// Where the values of a row begin.
    fn row(&self, row: usize) -> usize {
        let block_row = match &self.row_map {
            None => row / self.block_rows,
            Some(map) => map.get(row).and_then(|&r| usize::try_from(r).ok()).unwrap_or(usize::MAX),
        };
        block_row.saturating_mul(self.stride)
    }

    /// Where the values of a row begin; for [`Blocks::value`].
    pub(crate) fn row_start(&self, row: usize) -> usize {
        self.row(row)
    }

    /// Columns that share a value.
    pub(crate) fn block_cols(&self) -> usize {
        self.block_cols
    }

    /// The mean value.
    pub(crate) fn typical(&self) -> i32 {
        let sum: i64 = self.values.iter().map(|&v| i64::from(v)).sum();
        i32::try_from(sum / i64::try_from(self.values.len().max(1)).unwrap_or(1)).unwrap_or(0)
    }

    /// The value of column `col` in the row that begins at `row`, 0 where there is none.
    pub(crate) fn value(&self, row: usize, col: usize) -> i32 {
        self.values.get(row.saturating_add(col / self.block_cols)).copied().unwrap_or(0)
    }
}

/// A rule with its sources at hand.
#[derive(Clone, Debug)]
pub(crate) struct Terms<'a> {
    pub(crate) rule: &'a ClassRule,
    pub(crate) levels: Vec<Blocks>,
    pub(crate) zero: Option<Blocks>,
}

impl Terms<'_> {
    /// Appends the sums S (by [`Terms::sums`]'s clamp) and zero points of row `row`, from 0 to
    /// `cols`; `step` symbols (2 for pairs) share one.
    pub(crate) fn row(&self, row: usize, cols: usize, step: usize, scratch: &mut RowSums) {
        let rule = self.rule;
        let base = rule.bias + rule.rows.get(row).copied().map_or(0, i32::from);
        let starts: Vec<usize> = self.levels.iter().map(|blocks| blocks.row(row)).collect();
        let key = (starts, self.zero.as_ref().map(|zero| zero.row(row)));
        if scratch.key.as_ref() != Some(&key) || scratch.sums.len() != cols {
            scratch.sums.clear();
            scratch.sums.resize(cols, 0);
            for (sum, &col) in scratch.sums.iter_mut().zip(&rule.cols) {
                *sum = i32::from(col);
            }
            for (blocks, &start) in self.levels.iter().zip(&key.0) {
                // The pairs of a block of an odd width do not end where it does.
                let whole = blocks.block_cols.is_multiple_of(step);
                let width = if whole { blocks.block_cols / step } else { 1 };
                for (i, run) in scratch.sums.chunks_mut(width).enumerate() {
                    let level = blocks.value(start, i * width * step);
                    run.iter_mut().for_each(|sum| *sum -= level);
                }
            }
            scratch.zeros.clear();
            if let (Some(zero), Some(start)) = (&self.zero, key.1) {
                let last = rule.maps.len().saturating_sub(1);
                scratch.zeros.extend(
                    (0..cols).map(|c| {
                        usize::try_from(zero.value(start, c * step)).unwrap_or(0).min(last)
                    }),
                );
            }
            scratch.key = Some(key);
        }
        scratch.base = base;
    }

    /// The classes of row `row`, whose coded symbols are `out`.
    pub(crate) fn classes(&self, row: usize, step: usize, scratch: &mut RowSums, out: &mut [u8]) {
        let rule = self.rule;
        let first = rule.maps.first().unwrap_or(&[0; 256]);
        if rule.cols.is_empty() && self.levels.is_empty() && self.zero.is_none() {
            let sum = rule.bias + rule.rows.get(row).copied().map_or(0, i32::from);
            return out.fill(first[clamp(sum)]);
        }
        self.row(row, out.len(), step, scratch);
        let base = scratch.base;
        if scratch.zeros.is_empty() {
            for (class, &sum) in out.iter_mut().zip(&scratch.sums) {
                *class = first[clamp(sum + base)];
            }
        } else {
            for ((class, &sum), &zero) in out.iter_mut().zip(&scratch.sums).zip(&scratch.zeros) {
                *class = rule.maps.get(zero).unwrap_or(first)[clamp(sum + base)];
            }
        }
    }
}

/// Where a sum stands in a map.
#[expect(clippy::cast_sign_loss, reason = "clamped to 0 to 255")]
pub(crate) fn clamp(sum: i32) -> usize {
    sum.clamp(0, 255) as usize
}

/// What rows of the same blocks have in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowSums {
    key: Option<(Vec<usize>, Option<usize>)>,
    /// By coded column: level of the column less those of the blocks.
    pub(crate) sums: Vec<i32>,
    /// By coded column, where there are zero points.
    pub(crate) zeros: Vec<usize>,
    /// Bias and level of the row.
    pub(crate) base: i32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(block_cols: usize, cols: usize) -> Blocks {
        let stride = cols.div_ceil(block_cols);
        let values = (0..2 * stride).map(|i| i32::try_from(i * 7 % 90).unwrap_or(0)).collect();
        Blocks { values, block_rows: 1, block_cols, stride, row_map: None }
    }

    /// Classes of pairs are those of their first symbols, however wide the blocks are.
    #[test]
    fn pairs_have_the_class_of_their_first_symbol() {
        let cols = 36;
        for block_cols in 1..=cols {
            let map: [u8; 256] = std::array::from_fn(|i| u8::try_from(i / 2).unwrap_or(0));
            let rule = ClassRule { bias: 200, maps: vec![map], ..ClassRule::default() };
            let levels = vec![blocks(block_cols, cols), blocks(5, cols)];
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
