//! Weights of LINEAR: least squares for each column over rows of like size.

use crate::error::Result;
use crate::wcodec::encode::sample::Sample;
use crate::wcodec::predictor::linear::{MAX_COLS, MAX_REACH, WEIGHT_BITS, WEIGHT_OFFSET, Weights};
use latens_kernels::dispatch::{Present, Work};

/// Rows that are looked at, about.
const ROWS: usize = 1 << 15;
/// Rows after which is asked whether to go on.
const ASKED: usize = 64;
/// The part of a column's own variance that is added to it, so that no weights grow for nothing.
const RIDGE: f64 = 1e-3;

/// The weights that predict columns best from `means` on; `None` where there is nothing to lean on.
/// An error of `ask`, whether to go on, ends it.
pub(crate) fn fit(
    symbols: &[u8],
    cols: usize,
    bits: u32,
    means: &[u8],
    centre: u8,
    ask: &dyn Fn() -> Result<()>,
) -> Result<Option<Weights>> {
    let rows = symbols.len().checked_div(cols).unwrap_or(0);
    if !(2..=MAX_COLS).contains(&cols)
        || rows == 0
        || rows * cols != symbols.len()
        || means.len() != cols
    {
        return Ok(None);
    }
    let reach = MAX_REACH.min(cols - 1);
    let shift = 8 - bits;
    let value = |s: u8| f32::from((s.wrapping_sub(centre) << shift).cast_signed() >> shift);
    let means: Vec<f32> = means.iter().map(|&m| value(m)).collect();
    let mut sums = vec![0f32; reach * cols];
    let mut errors = vec![0f32; cols];
    let present = Present::in_use();
    let chosen = Sample::new(rows, rows.div_ceil(ROWS)).within(0..rows);
    for (i, row) in chosen.filter_map(|row| symbols.chunks(cols).nth(row)).enumerate() {
        if i % ASKED == 0 {
            ask()?;
        }
        let mut power = 0f32;
        for ((error, &s), mean) in errors.iter_mut().zip(row).zip(&means) {
            *error = value(s) - mean;
            power += *error * *error;
        }
        if power > 0.0 {
            // Large rows are no more worth than small ones.
            let scale = (cols as f32 / power).sqrt();
            errors.iter_mut().for_each(|e| *e *= scale);
            present.run(AddProducts { errors: &errors, sums: &mut sums });
        }
    }
    let at = |i: usize, j: usize| f64::from(sums[i * cols + j]);
    let factor =
        cholesky(reach, |i, j| if i == j { at(i, i) * (1.0 + RIDGE) + 1.0 } else { at(i, j) });
    let mut weights = Vec::new();
    let mut x = Vec::with_capacity(reach);
    for c in 0..cols {
        let taps = c.min(reach);
        x.clear();
        x.extend((0..taps).map(|i| at(i, c)));
        solve(&factor, &mut x);
        weights.extend(x.iter().map(|&w| byte(w)));
    }
    Ok(Weights::new(reach, cols, &weights))
}

/// A weight as it is stored.
fn byte(weight: f64) -> u8 {
    let most = f64::from(WEIGHT_OFFSET - 1);
    #[expect(clippy::cast_possible_truncation, reason = "clamped")]
    let steps = (weight * f64::from(1 << WEIGHT_BITS)).round().clamp(-most, most) as i8;
    steps.cast_unsigned().wrapping_add(WEIGHT_OFFSET)
}

/// Adds the products of each of the first columns with itself and all behind it.
struct AddProducts<'a> {
    errors: &'a [f32],
    /// As many for each of the first columns as there are columns.
    sums: &'a mut [f32],
}

impl Work for AddProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let sums = self.sums.chunks_exact_mut(self.errors.len());
        for ((i, &e), sums) in self.errors.iter().enumerate().zip(sums) {
            for (sum, &other) in sums[i..].iter_mut().zip(&self.errors[i..]) {
                *sum += e * other;
            }
        }
    }
}

/// The rows of the lower triangle whose product with its transpose is the matrix of `at(i, j)`,
/// i ≤ j.
fn cholesky(size: usize, at: impl Fn(usize, usize) -> f64) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(size);
    for j in 0..size {
        let mut row = Vec::with_capacity(j + 1);
        for (i, above) in rows.iter().enumerate() {
            let dot: f64 = above.iter().zip(&row).map(|(a, b): (&f64, &f64)| a * b).sum();
            row.push((at(i, j) - dot) / above[i]);
        }
        let own: f64 = row.iter().map(|x| x * x).sum();
        row.push((at(j, j) - own).max(f64::MIN_POSITIVE.sqrt()).sqrt());
        rows.push(row);
    }
    rows
}

/// Solves the equations of the first `x.len()` rows and columns, in place.
fn solve(factor: &[Vec<f64>], x: &mut [f64]) {
    let factor = &factor[..x.len()];
    for (i, row) in factor.iter().enumerate() {
        let (before, rest) = x.split_at_mut(i);
        let dot: f64 = row.iter().zip(&*before).map(|(a, b)| a * b).sum();
        rest[0] = (rest[0] - dot) / row[i];
    }
    for (i, row) in factor.iter().enumerate().rev() {
        let (before, rest) = x.split_at_mut(i);
        rest[0] /= row[i];
        before.iter_mut().zip(row).for_each(|(to, a)| *to -= a * rest[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn a_column_that_follows_from_others_is_found() {
        // Column 3 is half of column 0 and a quarter of column 1 less.
        let mut seed = 1u32;
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 26).to_le_bytes()[0].cast_signed() - 32
        };
        let symbols: Vec<u8> = (0..2000)
            .flat_map(|_| {
                let (a, b, c) = (next() * 2, next() * 2, next());
                [a, b, c, a / 2 - b / 4].map(i8::cast_unsigned)
            })
            .collect();
        let weights = fit(&symbols, 4, 8, &[0; 4], 0, &|| Ok(())).unwrap().unwrap();
        assert_eq!(weights.reach(), 3);
        let last: Vec<i16> = weights.bytes()[3..].iter().map(|&w| i16::from(w) - 128).collect();
        let near = [64, -32, 0].iter().zip(&last).all(|(want, got)| (want - got).abs() <= 4);
        assert!(near, "{last:?}");
        assert!(fit(&symbols, 1, 8, &[0], 0, &|| Ok(())).unwrap().is_none());
        let stop = || Err(Error::invalid("no"));
        assert!(fit(&symbols, 4, 8, &[0; 4], 0, &stop).is_err());
    }
}
