//! Pairs of two rows: chapters 7 and 8, STACKED.

use super::escapes::{self, ESCAPE_OF_PAIRS, ESCAPES};
use super::{
    COMPACT, by_column, front, named, number, packed, parts, rans, short_stream, stored, tables,
};
use crate::wcodec_common::Random;
use crate::wcodec_common::mend::{Stored, varint};

/// Numbers of blocks, a byte each, whose levels are taken away or added.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    pub rows: usize,
    pub cols: usize,
    pub added: bool,
}

/// What a tensor of packed nibbles is like, and how it is coded.
#[derive(Clone, Copy, Debug)]
pub struct Stacked {
    pub rows: usize,
    pub cols: usize,
    pub group_rows: usize,
    pub blocks: &'static [Blocks],
    pub row_levels: bool,
    pub col_levels: bool,
    pub with_means: bool,
    pub bias: i64,
    pub compact: bool,
    pub escapes: bool,
}

const CLASSES: usize = 3;
/// Steps of levels of blocks in an octave, as a power of two.
const FRACTION: u32 = 3;

/// Chapter 8: the level of an unsigned number.
fn level(n: u8) -> i64 {
    let Some(h) = n.checked_ilog2() else { return 0 };
    i64::from((h << FRACTION) + (u32::from(n) << FRACTION >> h) % (1 << FRACTION))
}

/// Classes that differ with small differences of sums, so that none but the right order comes back.
fn class(sum: i64) -> usize {
    usize::try_from(sum.clamp(0, 255)).unwrap() / 7 % CLASSES
}

impl Stacked {
    fn row_level(&self, row: usize) -> i64 {
        if self.row_levels { (row * 37 % 61) as i64 } else { 0 }
    }

    fn col_level(&self, col: usize) -> i64 {
        if self.col_levels { (col * 7 % 5 * 40) as i64 } else { 0 }
    }

    fn mean(&self, col: usize) -> u8 {
        if self.with_means { (7 + col * col % 5) as u8 } else { 0 }
    }

    /// The numbers of each source.
    fn numbers(&self) -> Vec<Vec<u8>> {
        let mut random = Random(self.rows as u64);
        let count = |b: &Blocks| self.rows.div_ceil(b.rows) * self.cols.div_ceil(b.cols);
        let numbers = |b| (0..count(b)).map(|_| random.next() as u8).collect();
        self.blocks.iter().map(numbers).collect()
    }

    /// What a row adds to the sums of the span that a column is in.
    fn addend(&self, numbers: &[Vec<u8>], row: usize, col: usize) -> i64 {
        let levels = self.blocks.iter().zip(numbers).map(|(b, numbers)| {
            let level = level(numbers[row / b.rows * self.cols.div_ceil(b.cols) + col / b.cols]);
            if b.added { -level } else { level }
        });
        self.row_level(row) - levels.sum::<i64>() + self.bias
    }

    /// Columns that are in the same blocks, in their order.
    fn spans(&self) -> Vec<Vec<usize>> {
        let cols: Vec<usize> = (0..self.cols).collect();
        let alike = |a: &usize, b: &usize| self.blocks.iter().all(|of| a / of.cols == b / of.cols);
        let mut spans: Vec<Vec<usize>> = cols.chunk_by(alike).map(<[_]>::to_vec).collect();
        spans.iter_mut().for_each(|span| span.sort_by_key(|&col| self.col_level(col)));
        spans
    }

    /// The pairs of the rows from `first` to `end`, with their classes.
    fn coded(&self, nibbles: &[u8], first: usize, end: usize) -> Vec<(u8, usize)> {
        let (numbers, mut coded) = (self.numbers(), Vec::new());
        for span in self.spans() {
            let addend = |row: usize| self.addend(&numbers, row, span[0]);
            let mut rows: Vec<usize> = (first..end).collect();
            rows.sort_by_key(|&row| addend(row));
            for &col in &span {
                for pair in rows.chunks(2) {
                    let [p, q] = [pair[0], *pair.last().unwrap()];
                    let sum = (addend(p) + addend(q)).div_euclid(2) + self.col_level(col);
                    let of = |row: usize| {
                        nibbles[row * self.cols + col].wrapping_sub(self.mean(col)) & 15
                    };
                    coded.push((of(p) | of(q) << 4, class(sum)));
                }
            }
        }
        coded
    }

    fn descriptor(&self, tables: &[Vec<u32>]) -> Vec<u8> {
        let bit = |set: bool, bit: u8| if set { bit } else { 0 };
        let mut out = packed(4, self.rows, self.cols);
        // PAIRS, CLASSES, STACKED, and PREDICT.
        let compact = if self.compact { COMPACT } else { 0 };
        let escapes = if self.escapes { ESCAPES } else { 0 };
        let predicted = usize::from(bit(self.with_means, 4));
        out.extend(number(2 | 16 | 64 | predicted | compact | escapes));
        out.extend(number(self.group_rows));
        out.extend(self.escapes.then_some(ESCAPE_OF_PAIRS));
        if self.with_means {
            out.extend(by_column((0..self.cols).map(|col| self.mean(col))));
        }
        out.extend(named(tables));
        let sources = self.blocks.len() as u8;
        out.push(bit(self.row_levels, 1) | bit(self.col_levels, 2) | sources << 4);
        let zigzag = if self.bias < 0 { -2 * self.bias - 1 } else { 2 * self.bias };
        out.extend(varint(zigzag.cast_unsigned()));
        if self.row_levels {
            out.extend(short_stream((0..self.rows).map(|row| self.row_level(row))));
        }
        if self.col_levels {
            out.extend(short_stream((0..self.cols).map(|col| self.col_level(col))));
        }
        for (i, blocks) in self.blocks.iter().enumerate() {
            // Entry 1 and those behind it: bytes, unsigned; the first part; unsigned numbers.
            out.extend([i as u8 + 3, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
            out.extend([number(blocks.rows), number(blocks.cols)].concat());
            out.extend([FRACTION as u8 | bit(blocks.added, 8), 0]);
        }
        out.push(1);
        let classes: Vec<u8> = (0..256).map(|sum| class(sum) as u8).collect();
        let runs = classes.chunk_by(|a, b| a == b);
        out.extend(runs.flat_map(|run| [number(run.len() - 1), vec![run[0]]].concat()));
        out
    }

    /// The file, and the bytes of its first tensor; those of its sources are behind it. `spoil` may change what is
    /// coded of a group.
    pub fn file(&self, spoil: impl Fn(&mut Vec<(u8, usize)>)) -> (Vec<u8>, Vec<u8>) {
        self.file_of(spoil, escapes::head)
    }

    /// The same, and groups' heads are made by `head` of their lists of escapes.
    pub fn file_of(
        &self,
        spoil: impl Fn(&mut Vec<(u8, usize)>),
        head: impl Fn(&[u8]) -> Vec<u8>,
    ) -> (Vec<u8>, Vec<u8>) {
        let mut random = Random(self.cols as u64);
        let tables = if self.escapes { escapes::tables(8, CLASSES) } else { tables(CLASSES) };
        let mut nibble = || (random.normal(2.0).round().clamp(-8.0, 7.0) + 8.0) as u8;
        let nibbles: Vec<u8> = (0..self.rows * self.cols).map(|_| nibble()).collect();
        let groups = (0..self.rows).step_by(self.group_rows).map(|first| {
            let mut coded = self.coded(&nibbles, first, self.rows.min(first + self.group_rows));
            spoil(&mut coded);
            match self.escapes {
                true => escapes::group(coded, &tables, ESCAPE_OF_PAIRS, self.compact, &head),
                false => rans(&coded, &tables, self.compact),
            }
        });
        let entry = stored(&groups.collect::<Vec<_>>(), self.descriptor(&tables));
        let mut parts = parts(&tables);
        parts.entries.push((front(b'p', self.rows, self.cols / 2), entry));
        for ((blocks, mut numbers), name) in self.blocks.iter().zip(self.numbers()).zip(b'q'..) {
            let (rows, cols) = (self.rows.div_ceil(blocks.rows), self.cols.div_ceil(blocks.cols));
            // Bytes, unsigned: one part of symbols of 8 bits, RAW in one group.
            let count = number(numbers.len());
            let front_of_part = vec![1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 8];
            let shape = [number(rows), number(cols)].concat();
            let descriptor = [front_of_part, shape, vec![0], count.clone(), count].concat();
            numbers.resize(numbers.len().next_multiple_of(4), 0);
            parts.entries.push((front(name, rows, cols), Stored::Inline(numbers, descriptor)));
        }
        (parts.bytes(), nibbles.chunks(2).map(|pair| pair[0] | pair[1] << 4).collect())
    }
}
