//! LINEAR: a symbol by the first columns of its own row, with weights for each column.
//!
//! Columns of an embedding are no neighbours, so that tiles say nothing about them; but they are
//! correlated, each with many others a little. Weights follow from all rows (`encode/linear.rs`).

use super::band::{Band, low};
use latens_kernels::dispatch::Present;
use latens_kernels::taps::{Column, LANES, sums};
use std::ops::Range;

/// Most columns that a prediction leans on: what bounds the work for each symbol.
pub const MAX_REACH: usize = 384;
/// Most columns that have weights: what bounds their memory.
pub const MAX_COLS: usize = 8192;
/// Weights are in units of 2^−this.
pub const WEIGHT_BITS: u32 = 7;
/// What is added to a weight where it is stored as a byte.
pub const WEIGHT_OFFSET: u8 = 128;

/// The weights of columns: those of column c, `min(c, reach)` of them, are for the first columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    reach: usize,
    cols: usize,
    /// Column by column; the last one of an odd number has a zero beside it.
    pairs: Vec<[i16; 2]>,
}

impl Weights {
    /// Weights of so many columns; `None` where there can be none.
    pub fn count(reach: usize, cols: usize) -> Option<usize> {
        if !(1..=MAX_REACH).contains(&reach) || reach >= cols || cols > MAX_COLS {
            return None;
        }
        (reach * (reach - 1) / 2).checked_add(reach.checked_mul(cols - reach)?)
    }

    /// From stored bytes: the weights of column 0 (none), of column 1 and so on, each plus
    /// [`WEIGHT_OFFSET`]. `None` where they are not as many as there must be.
    pub fn new(reach: usize, cols: usize, bytes: &[u8]) -> Option<Self> {
        if Self::count(reach, cols)? != bytes.len() {
            return None;
        }
        let weight = |&byte: &u8| i16::from(byte) - i16::from(WEIGHT_OFFSET);
        let (mut pairs, mut rest) = (Vec::with_capacity(bytes.len() / 2 + cols), bytes);
        for taps in taps(reach, cols) {
            let own;
            (own, rest) = rest.split_at(taps);
            pairs.extend(own.chunks(2).map(|two| [weight(&two[0]), two.get(1).map_or(0, weight)]));
        }
        Some(Self { reach, cols, pairs })
    }

    /// Columns that a column leans on, at most.
    pub fn reach(&self) -> usize {
        self.reach
    }

    /// Columns that have weights.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// As they are stored.
    pub fn bytes(&self) -> Vec<u8> {
        let (mut bytes, mut rest) = (Vec::new(), self.pairs.as_slice());
        for taps in taps(self.reach, self.cols) {
            let own;
            (own, rest) = rest.split_at(taps.div_ceil(2));
            let own = own.as_flattened().iter().take(taps);
            bytes.extend(own.map(|w| w.to_le_bytes()[0].wrapping_add(WEIGHT_OFFSET)));
        }
        bytes
    }
}

/// Weights of each column.
fn taps(reach: usize, cols: usize) -> impl Iterator<Item = usize> {
    (0..cols).map(move |c| c.min(reach))
}

/// Puts the predicted value of each of `symbols` into `to`.
pub(super) fn predict(band: &Band<'_>, linear: &Weights, symbols: &[u8], to: &mut [i16]) {
    walk(band, linear, |at, p| {
        to[at] = p;
        symbols[at]
    });
}

/// Puts the symbols in place of their residuals.
pub(super) fn restore(band: &Band<'_>, linear: &Weights, data: &mut [u8]) {
    let mask = band.mask();
    walk(band, linear, |at, p| {
        let x = &mut data[at];
        *x = x.wrapping_add(low(p)).wrapping_add(band.centre) & mask;
        *x
    });
}

/// Predicts all symbols of a band, column by column of some rows at a time. `visit` is told the
/// place and the predicted value of each, and gives the symbol.
fn walk(band: &Band<'_>, linear: &Weights, mut visit: impl FnMut(usize, i16) -> u8) {
    let means: Vec<i16> = band.means.iter().map(|&m| band.value(m)).collect();
    // What each of the first columns differs from its mean by, two neighbours a lane.
    let mut errors = vec![Column([[0; 2]; LANES]); linear.reach.min(band.cols).div_ceil(2)];
    for row in (0..band.rows).step_by(LANES) {
        let rows = row..band.rows.min(row + LANES);
        some_rows(band, &linear.pairs, &means, &mut errors, rows, &mut visit);
    }
}

#[inline]
fn some_rows(
    band: &Band<'_>,
    weights: &[[i16; 2]],
    means: &[i16],
    errors: &mut [Column],
    rows: Range<usize>,
    visit: &mut impl FnMut(usize, i16) -> u8,
) {
    let (half, present) = (1i32 << (band.bits - 1), Present::in_use());
    let mut weights = weights;
    for (c, &mean) in means.iter().enumerate() {
        let taps;
        (taps, weights) = weights.split_at(c.div_ceil(2).min(errors.len()));
        // Apart from what goes to and from the symbols' places, row by row, in vectors.
        let predicted = sums(present, taps, errors).map(|sum| {
            let sum = (sum + (1 << (WEIGHT_BITS - 1))) >> WEIGHT_BITS;
            (i32::from(mean) + sum).clamp(-half, half - 1)
        });
        let mut found = [0u8; LANES];
        let places = rows.clone().map(|row| row * band.cols + c);
        for ((at, predicted), found) in places.zip(predicted).zip(&mut found) {
            #[expect(clippy::cast_possible_truncation, reason = "clamped to a symbol's values")]
            let predicted = predicted as i16;
            *found = visit(at, predicted);
        }
        let differ = found.map(|symbol| band.value(symbol) - mean);
        if let Some(pairs) = errors.get_mut(c / 2) {
            pairs.0.iter_mut().zip(differ).for_each(|(pair, d)| pair[c % 2] = d);
        }
    }
}
