//! What sources of classes hold: a number for each block of symbols.

use crate::error::{Error, Result};
use crate::wcodec::layout::source::{NumberForm, Source};

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
    fn map<T: Copy>(self, of: impl Fn(u32) -> T) -> Vec<T> {
        match self.width {
            1 if self.bytes.len() > 256 => {
                let of: Vec<T> = (0..256).map(of).collect();
                self.bytes.iter().map(|&n| of[usize::from(n)]).collect()
            }
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
        let level = |n| Self::narrow(source.level(n, numbers.bits));
        match source.of_float() {
            // The same, without a look at what it is of.
            Some((mask, shift)) => {
                let sign = if source.added { -1 } else { 1 };
                let level = |n: u32| Self::narrow(sign * ((n & mask) >> shift).cast_signed());
                Self::new(source, numbers, row_map, cols, level)
            }
            None => Self::new(source, numbers, row_map, cols, level),
        }
    }

    /// A level.
    #[expect(clippy::cast_possible_truncation, reason = "eight bits of an exponent and four more")]
    fn narrow(level: i32) -> i16 {
        level as i16
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
            NumberForm::Unsigned | NumberForm::Signed => matches!(numbers.width, 1 | 2 | 4),
            NumberForm::F16 | NumberForm::Bf16 => numbers.width == 2,
            NumberForm::F32 => numbers.width == 4,
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

    /// Those of several sources, all of which add to the same sums: blocks that are alike become one.
    pub(crate) fn joined(all: Vec<Self>) -> Vec<Self> {
        let mut joined: Vec<Self> = Vec::with_capacity(all.len());
        for blocks in all {
            match joined.iter_mut().find(|other| other.is_alike(&blocks)) {
                Some(other) => other.add(&blocks.values),
                None => joined.push(blocks),
            }
        }
        joined
    }

    /// Whether blocks of the same numbers have the same symbols.
    fn is_alike(&self, other: &Self) -> bool {
        let of = |blocks: &Self| {
            let Self { first, block_rows, block_cols, stride, .. } = *blocks;
            (first, block_rows, block_cols, stride)
        };
        of(self) == of(other) && self.row_map.is_none() && other.row_map.is_none()
    }

    /// Adds to the values, which are 0 where there are none.
    fn add(&mut self, values: &[i16]) {
        self.values.resize(self.values.len().max(values.len()), 0);
        self.values.iter_mut().zip(values).for_each(|(sum, &v)| *sum = sum.saturating_add(v));
    }

    /// Where the values of a row begin.
    pub(crate) fn row(&self, row: usize) -> usize {
        let block_row = match &self.row_map {
            None if self.block_rows == 1 => row,
            None => row / self.block_rows,
            Some(map) => map.get(row).and_then(|&r| usize::try_from(r).ok()).unwrap_or(usize::MAX),
        };
        block_row.saturating_sub(self.first).saturating_mul(self.stride)
    }

    /// The values from `place` on.
    pub(super) fn behind(&self, place: usize) -> &[i16] {
        self.values.get(place..).unwrap_or_default()
    }

    /// Whether the values of a row are those behind the values of the row before.
    pub(crate) fn rows_follow(&self) -> bool {
        self.block_rows == 1 && self.row_map.is_none()
    }

    /// What `of` makes of the value of each column of a row.
    pub(crate) fn spread<T: Copy>(&self, row: usize, of: impl Fn(i32) -> T, out: &mut [T]) {
        let start = self.row(row);
        if self.block_cols == 1 {
            let (known, unknown) =
                out.split_at_mut(self.values.len().saturating_sub(start).min(out.len()));
            for (out, &value) in known.iter_mut().zip(&self.values[start.min(self.values.len())..])
            {
                *out = of(value.into());
            }
            return unknown.fill(of(0));
        }
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
    pub(super) fn value(&self, row: usize, col: usize) -> i32 {
        self.at(row.saturating_add(col / self.block_cols))
    }

    /// The value at `place`, 0 where there is none.
    pub(crate) fn at(&self, place: usize) -> i32 {
        self.values.get(place).copied().map_or(0, i32::from)
    }
}
