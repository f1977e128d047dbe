//! LINEAR: a symbol by the first columns of its own row, with weights for each column.
//!
//! Columns of an embedding are no neighbours, so that tiles say nothing about them; but they are
//! correlated, each with many others a little. Weights follow from all rows (`encode/linear.rs`).

use super::{Band, low};
use latens_kernels::dispatch::Present;
use latens_kernels::taps::{LANES, sums};
use std::ops::Range;

/// Most columns that a prediction leans on: what bounds the work for each symbol.
pub const MAX_REACH: usize = 384;
/// Weights are in units of 2^−this.
pub const WEIGHT_BITS: u32 = 7;
/// What is added to a weight where it is stored as a byte.
pub const WEIGHT_OFFSET: u8 = 128;

/// The weights of columns: those of column c, `min(c, reach)` of them, are for the first columns.
#[derive(Clone, Copy, Debug)]
pub struct Linear<'a> {
    /// Columns that a column leans on, at most: 1 to [`MAX_REACH`].
    pub reach: usize,
    /// The weights of column 0 (none), of column 1 and so on, plus [`WEIGHT_OFFSET`].
    pub weights: &'a [u8],
}

impl Linear<'_> {
    /// Weights of so many columns; `None` where that is beyond all bounds.
    pub fn count(reach: usize, cols: usize) -> Option<usize> {
        let ramp = reach.min(cols);
        (ramp * ramp.saturating_sub(1) / 2).checked_add(reach.checked_mul(cols - ramp)?)
    }

    /// The weights of each column in pairs, the last one with a zero where their number is odd.
    fn pairs(&self, cols: usize) -> Vec<[i16; 2]> {
        let mut rest = self.weights.iter().map(|&w| i16::from(w) - i16::from(WEIGHT_OFFSET));
        let mut next = move || rest.next().unwrap_or(0);
        let mut pairs = Vec::new();
        for c in 0..cols {
            let taps = c.min(self.reach);
            pairs.extend((0..taps / 2).map(|_| [next(), next()]));
            if taps % 2 == 1 {
                pairs.push([next(), 0]);
            }
        }
        pairs
    }

    /// Whether there are as many as a band of so many columns needs.
    pub(super) fn fits(&self, cols: usize) -> bool {
        (1..=MAX_REACH).contains(&self.reach)
            && Self::count(self.reach, cols) == Some(self.weights.len())
    }
}

/// Puts the predicted value of each of `symbols` into `to`.
pub(super) fn predict(band: &Band<'_>, linear: Linear<'_>, symbols: &[u8], to: &mut [i16]) {
    walk(band, linear, |at, p| {
        to[at] = p;
        symbols[at]
    });
}

/// Puts the symbols in place of their residuals.
pub(super) fn restore(band: &Band<'_>, linear: Linear<'_>, data: &mut [u8]) {
    let mask = band.mask();
    walk(band, linear, |at, p| {
        let x = &mut data[at];
        *x = x.wrapping_add(low(p)).wrapping_add(band.centre) & mask;
        *x
    });
}

/// Predicts all symbols of a band, column by column of some rows at a time. `visit` is told the
/// place and the predicted value of each, and gives the symbol.
fn walk(band: &Band<'_>, linear: Linear<'_>, mut visit: impl FnMut(usize, i16) -> u8) {
    let weights = linear.pairs(band.cols);
    let means: Vec<i16> = band.means.iter().map(|&m| band.value(m)).collect();
    // What each of the first columns differs from its mean by, two neighbours a lane.
    let mut errors = vec![[[0i16; 2]; LANES]; linear.reach.min(band.cols).div_ceil(2)];
    for row in (0..band.rows).step_by(LANES) {
        let rows = row..band.rows.min(row + LANES);
        some_rows(band, &weights, &means, &mut errors, rows, &mut visit);
    }
}

#[inline]
fn some_rows(
    band: &Band<'_>,
    weights: &[[i16; 2]],
    means: &[i16],
    errors: &mut [[[i16; 2]; LANES]],
    rows: Range<usize>,
    visit: &mut impl FnMut(usize, i16) -> u8,
) {
    let (half, present) = (1i32 << (band.bits - 1), Present::in_use());
    let mut weights = weights;
    for (c, &mean) in means.iter().enumerate() {
        let taps;
        (taps, weights) = weights.split_at(c.div_ceil(2).min(errors.len()));
        let mut differ = [0; LANES];
        let places = rows.clone().map(|row| row * band.cols + c);
        for ((at, sum), differ) in places.zip(sums(present, taps, errors)).zip(&mut differ) {
            let sum = (sum + (1 << (WEIGHT_BITS - 1))) >> WEIGHT_BITS;
            let predicted = (i32::from(mean) + sum).clamp(-half, half - 1);
            #[expect(clippy::cast_possible_truncation, reason = "clamped to a symbol's values")]
            let symbol = visit(at, predicted as i16);
            *differ = band.value(symbol) - mean;
        }
        if let Some(pairs) = errors.get_mut(c / 2) {
            pairs.iter_mut().zip(differ).for_each(|(pair, d)| pair[c % 2] = d);
        }
    }
}
