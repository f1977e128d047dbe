//! What explains symbols that are coded in pairs, of which both have the same class: neighbours in a row, or in
//! an order of columns in which neighbours are more alike; or two of a column.

use super::explained::{ByClass, Explained};
use super::{Counting, settle, settle_step};
use crate::error::Result;
use crate::wcodec::encode::candidates::{loss_of_levels, side_bits};
use crate::wcodec::encode::cost::Histogram;
use crate::wcodec::encode::matrix::Matrix;
use crate::wcodec::encode::merge::Worth;
use crate::wcodec::encode::sources::Sources;
use crate::wcodec::encode::symbols::STACKED_ROWS;
use crate::wcodec::encode::tally::{Tallies, occurring};
use crate::wcodec::layout::class_rule::ClassRule;
use crate::wcodec::order::Order;
use crate::wcodec::stack::Stack;
use latens_kernels::rearrange::WINDOW;

/// Share of what pairs may take more below which they are not held against single symbols again; and of what
/// their levels are off, by squares, above which nothing is counted.
const SURELY_PAIRS: f64 = 0.5;
const SURELY_NO_PAIRS: f64 = 2.5;
/// Share of all bits that an order must save, as decoders take some time for it, and symbols from which on it may.
const LEAST_OF_ORDER: f64 = 0.001;
const ORDERED: usize = 1 << if cfg!(test) { 14 } else { 17 };

/// Symbols from which on two of a column are paired where neighbours cannot be, and most columns then: of few rows a group
/// it takes more to put them in order than pairs save.
const STACKED: usize = if cfg!(test) { 1 << 14 } else { 1 << 22 };
const STACKED_COLS: usize = 1 << 12;

/// Whether symbols are so many, and rows so many and short, that two of a column may be paired.
fn may_stack(matrix: Matrix<'_>) -> bool {
    let whole = matrix.len().is_multiple_of(matrix.cols.max(1));
    let many = matrix.len() >= STACKED && matrix.rows() >= STACKED_ROWS;
    whole && many && matrix.cols <= STACKED_COLS
}

/// How symbols may be coded in pairs.
pub(crate) enum Pairs {
    /// Too much tells symbols apart, or it surely takes too much more.
    None,
    /// Two of a column in rows that add the same to sums, with the classes of single symbols.
    Stacked,
    /// Neighbours, with the classes of single symbols.
    Alike,
    /// Neighbours, with these classes; whether they surely take no more than they may.
    Apart { explained: Box<Explained>, surely: bool },
}

impl Explained {
    /// What explains the same symbols where the two of a pair have the same class, for `slack` more of
    /// all bits at most, as a share.
    pub(crate) fn of_pairs(
        &self,
        matrix: Matrix<'_>,
        sources: &Sources<'_>,
        slack: f64,
    ) -> Result<Pairs> {
        let Some(ByClass { rule, leaning, .. }) = &self.classes else { return Ok(Pairs::Alike) };
        let stacked = match may_stack(matrix) && Stack::new(rule, matrix.cols).is_some() {
            true => Pairs::Stacked,
            false => Pairs::None,
        };
        if *leaning || block_cols(rule).any(|cols| !cols.is_multiple_of(2)) {
            return Ok(stacked);
        }
        if rule.cols.is_empty() {
            return Ok(Pairs::Alike);
        }
        let (estimate, step) = self.estimate;
        let most = slack * estimate;
        // By a squared nat for each symbol, of which these lose a half, more or less.
        let a_square = loss_of_levels(matrix, sources) * matrix.rows() as f64;
        let levels = Levels::of(rule, matrix, a_square, LEAST_OF_ORDER * estimate);
        if levels.lost > SURELY_NO_PAIRS * most {
            return Ok(stacked);
        }
        let Levels { cols, side, order, .. } = levels;
        let (rule, tallies) = (ClassRule { cols, ..rule.clone() }, Tallies::default());
        let counting = Counting { matrix, sources, step, tallies: &tallies };
        let (bits, mut sums) = counting.price(&rule, side)?;
        if bits > estimate + most {
            return Ok(stacked);
        }
        let every = if rule.zero.is_some() { 1 } else { settle_step(matrix) };
        if every != step {
            sums = counting.again((sums, step), &rule, every)?;
        }
        let worth = Worth::of_pairs(matrix.len());
        let mut classes = settle((rule, side), sources.bands, &sums, worth, None, every > 1);
        let mut whole = sums.whole();
        if every > 1 {
            of_all_rows(matrix, every, &mut classes.of_maps, &mut whole)?;
        }
        (classes.estimated, classes.order) = (every > 1, order);
        let surely = slack > 0.0 && bits <= estimate + SURELY_PAIRS * most;
        let explained = Self { classes: Some(classes), whole, every: 1, own: Vec::new(), ..*self };
        Ok(Pairs::Apart { explained: Box::new(explained), surely })
    }
}

/// Columns of the blocks of a rule's sources.
fn block_cols(rule: &ClassRule) -> impl Iterator<Item = usize> {
    rule.levels.iter().chain(&rule.zero).map(|source| source.block_cols)
}

/// Makes histograms of one row in `every` those of all rows.
fn of_all_rows(
    matrix: Matrix<'_>,
    every: usize,
    of_maps: &mut [Vec<Histogram>],
    whole: &mut Histogram,
) -> Result<()> {
    // A class may have any symbol that occurs: of few bits these are few.
    let is_there = whole.iter().take(1 << matrix.bits).all(|&n| n > 0);
    let occurring = if is_there { u16::MAX } else { occurring(matrix)? };
    let times = u32::try_from(every).unwrap_or(u32::MAX);
    for histogram in of_maps.iter_mut().flatten().chain([whole]) {
        for (symbol, n) in histogram.iter_mut().enumerate().take(1 << matrix.bits) {
            *n = n.saturating_mul(times).max(u32::from(occurring >> symbol & 1));
        }
    }
    Ok(())
}

/// Levels of columns of which the two of a pair have the same.
struct Levels {
    cols: Vec<u8>,
    /// Bits that symbols take more by these.
    lost: f64,
    /// Bits of the rule's side information.
    side: f64,
    order: Option<Order>,
}

impl Levels {
    /// Those of neighbours, or in an order, where that may be and saves `least` bits; columns that are off by 1 lose
    /// `a_square`.
    fn of(rule: &ClassRule, matrix: Matrix<'_>, a_square: f64, least: f64) -> Self {
        let bits = |levels: &Levels| levels.lost + levels.side;
        let neighbours = Self::of_neighbours(rule, a_square);
        let fits = |block: usize| block.is_multiple_of(WINDOW) || block >= matrix.cols;
        let whole = matrix.len().is_multiple_of(matrix.cols.max(1));
        if matrix.len() >= ORDERED && whole && block_cols(rule).all(fits) {
            let ordered = Self::in_order(rule, a_square);
            if bits(&ordered) + least < bits(&neighbours) {
                return ordered;
            }
        }
        neighbours
    }

    /// Of neighbours in a row.
    fn of_neighbours(rule: &ClassRule, a_square: f64) -> Self {
        let mut cols = rule.cols.clone();
        for [a, b] in cols.as_chunks_mut::<2>().0 {
            *a = a.midpoint(*b);
            *b = *a;
        }
        let of_pairs = cols.as_chunks::<2>().0.iter().map(|[both, _]| *both).collect();
        let side = side_bits(&ClassRule { cols: of_pairs, ..rule.clone() });
        Self { lost: a_square * squares(&rule.cols, &cols), cols, side, order: None }
    }

    /// Of neighbours in an order by level: the level of each column is said.
    fn in_order(rule: &ClassRule, a_square: f64) -> Self {
        let order = Order::new(rule.cols.clone());
        let (cols, side) = (order.of_columns(), side_bits(rule));
        Self { lost: a_square * squares(&rule.cols, &cols), cols, side, order: Some(order) }
    }
}

/// Half of the squares of what pairs are apart: the sum of all by which columns are off.
fn squares(cols: &[u8], of_pairs: &[u8]) -> f64 {
    let off = |(a, b): (&u8, &u8)| f64::from(a.abs_diff(*b)).powi(2);
    cols.iter().zip(of_pairs).map(off).sum()
}
