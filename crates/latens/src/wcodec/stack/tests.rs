#![allow(clippy::cast_possible_truncation, reason = "tests")]

use super::*;
use crate::wcodec::class::{Blocks, Terms};
use crate::wcodec::encode::stacked::Stacked;
use crate::wcodec::layout::source::{NumberForm, PartOf, Source};
use latens_kernels::dispatch::{Present, Simd};
use latens_kernels::rans::Levels;
use std::borrow::Cow;

fn noise(seed: u64) -> impl FnMut(u64) -> usize {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from((state >> 11) % below).unwrap_or(0)
    }
}

/// A part with levels of rows, columns and blocks of these columns.
struct Made {
    rule: ClassRule,
    levels: Vec<Blocks>,
    rows: usize,
    cols: usize,
}

fn made(rows: usize, cols: usize, blocks: &[usize], spread: u64, seed: u64) -> Made {
    let mut next = noise(seed);
    let source = |block_cols: usize| Source {
        of: PartOf::Own(0),
        form: NumberForm::Unsigned,
        block_rows: 1,
        block_cols,
        fraction: 2,
        added: false,
        row_map: None,
    };
    let rule = ClassRule {
        rows: (0..rows).map(|_| next(4) as u8).collect(),
        cols: (0..cols).map(|_| next(40) as u8).collect(),
        bias: 70,
        levels: blocks.iter().map(|&block| source(block)).collect(),
        zero: None,
        maps: vec![std::array::from_fn(|sum| (sum / 5) as u8)],
    };
    let mut levels = Vec::new();
    for (i, &block_cols) in blocks.iter().enumerate() {
        let stride = cols.div_ceil(block_cols);
        // The last block has no level.
        let values = (1..rows * stride).map(|_| next(spread) as i16 - i as i16).collect();
        let (block_rows, row_map) = match i {
            // The rows of the second source are those of a map, some of them nowhere.
            1 => (3, Some((0..rows).map(|_| next(rows as u64 + 2) as u32).collect())),
            _ => (1, None),
        };
        levels.push(Blocks { values, first: 0, block_rows, block_cols, stride, row_map });
    }
    Made { rule, levels, rows, cols }
}

impl Made {
    fn terms(&self) -> Terms<'_> {
        Terms { rule: &self.rule, levels: Cow::Borrowed(&self.levels), zero: None }
    }

    fn level(&self, source: usize, r: usize, c: usize) -> i32 {
        let blocks = &self.levels[source];
        blocks.at(blocks.row(r) + c / blocks.block_cols)
    }

    /// What a row adds to the sums of a column.
    fn addend(&self, r: usize, c: usize) -> i32 {
        let levels: i32 = (0..self.levels.len()).map(|source| self.level(source, r, c)).sum();
        i32::from(self.rule.rows[r]) - levels + self.rule.bias
    }

    /// Chapter 7 of the specification: rows and column of each coded pair, and its class.
    fn coded(&self, rows: Range<usize>) -> Vec<([usize; 2], usize, u8)> {
        let blocks = |c: usize| self.levels.iter().map(move |blocks| c / blocks.block_cols);
        let mut all = Vec::new();
        let columns: Vec<usize> = (0..self.cols).collect();
        for span in columns.chunk_by(|&a, &b| blocks(a).eq(blocks(b))) {
            let mut order: Vec<usize> = rows.clone().collect();
            order.sort_by_key(|&r| self.addend(r, span[0]));
            let mut columns = span.to_vec();
            columns.sort_by_key(|&c| self.rule.cols[c]);
            for c in columns {
                for pair in order.chunks(2) {
                    let two = [pair[0], *pair.last().unwrap_or(&pair[0])];
                    let sum = (self.addend(two[0], c) + self.addend(two[1], c)).div_euclid(2);
                    let sum = sum + i32::from(self.rule.cols[c]);
                    all.push((two, c, self.rule.maps[0][sum.clamp(0, 255) as usize]));
                }
            }
        }
        all
    }
}

fn cases() -> Vec<Made> {
    vec![
        made(64, 128, &[32], 9, 1),
        made(65, 96, &[], 9, 2),
        made(130, 64, &[64, 6], 200, 3),
        made(7, 40, &[16], 30, 4),
        made(1, 34, &[2], 3, 5),
        made(200, 70, &[24, 10], 2000, 6),
        made(128, 32, &[48], 1, 7),
    ]
}

#[test]
fn pairs_are_coded_as_the_specification_has_it() {
    let mut next = noise(9);
    for made in cases() {
        let stack = Stack::new(&made.rule, made.cols).unwrap();
        let (terms, cols) = (made.terms(), made.cols);
        for rows in [0..made.rows, made.rows / 3..made.rows] {
            let symbols: Vec<u8> = (0..rows.len() * cols).map(|_| next(16) as u8).collect();
            let symbol = |r: usize, c: usize| symbols[(r - rows.start) * cols + c];
            let neighbours: Vec<u8> =
                symbols.as_chunks().0.iter().map(|[a, b]| a | b << 4).collect();
            let mut stacked = Stacked::default();
            stacked.join(&stack, &terms, rows.clone(), cols, &neighbours);
            let wanted = made.coded(rows.clone());
            let pairs = wanted.iter().map(|([p, q], c, _)| symbol(*p, *c) | symbol(*q, *c) << 4);
            assert_eq!(stacked.coded, pairs.collect::<Vec<_>>());
            let classes: Vec<u8> = wanted.iter().map(|(.., class)| *class).collect();
            assert_eq!(stacked.classes, classes);
            // And back.
            let (mut sorted, mut out) = (Rows::default(), vec![0; neighbours.len()]);
            let mut coded = &stacked.coded[..];
            for span in stack.spans() {
                let (mut order, lines) = (Vec::new(), span.len(pairs_of(rows.clone())));
                sorted.sort(&terms, rows.clone(), &span, &mut order);
                let (pairing, place) = span.pairing(&order, rows.len(), cols).unwrap();
                pairing.apart(Present::in_use(), &coded[..lines], place, &mut out);
                coded = &coded[lines..];
            }
            assert_eq!(out, neighbours);
        }
    }
}

#[test]
fn windows_hold_the_same_classes() {
    let mut in_windows = 0;
    for mut made in cases() {
        for bias in [-90, 70, 330] {
            made.rule.bias = bias;
            let stack = Stack::new(&made.rule, made.cols).unwrap();
            let (mut sorted, map) = (Rows::default(), made.rule.maps[0]);
            for span in stack.spans() {
                sorted.sort(&made.terms(), 0..made.rows, &span, &mut Vec::new());
                let (mut classes, mut places, mut starts) = (Vec::new(), Vec::new(), Vec::new());
                sorted.classes(&map, &span, &mut classes);
                if !sorted.windows(&span, &mut places, &mut starts) {
                    continue;
                }
                in_windows += 1;
                let map = window_map(&map);
                let levels = Levels::new(&map, &starts, &places).unwrap();
                for simd in Simd::available() {
                    let mut found = vec![0; classes.len()];
                    levels.write(Present::new(simd), &mut found);
                    assert_eq!(found, classes);
                }
            }
        }
    }
    assert!(in_windows > 10, "{in_windows}");
}

#[test]
fn what_cannot_be_paired_is_refused() {
    let made = made(8, 32, &[8], 4, 8);
    assert!(Stack::new(&made.rule, 32).is_some());
    assert!(Stack::new(&made.rule, 31).is_none());
    let odd = |block_cols| {
        let mut rule = made.rule.clone();
        rule.levels[0].block_cols = block_cols;
        Stack::new(&rule, 32)
    };
    assert!(odd(7).is_none());
    // One block of all columns.
    assert!(odd(33).is_some());
    let zero = ClassRule { zero: Some(made.rule.levels[0].clone()), ..made.rule.clone() };
    assert!(Stack::new(&zero, 32).is_none());
}
