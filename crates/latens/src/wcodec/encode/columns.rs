//! Means of columns.

use crate::error::Result;
use crate::wcodec::data::{Data, Stretches};
use crate::wcodec::encode::candidates::round_by_cost;
use crate::wcodec::encode::cost::Histogram;
use crate::wcodec::encode::matrix::Matrix;
use crate::wcodec::layout::short_stream;
use latens_kernels::dispatch::{Present, Work};
use std::f64::consts::LOG2_E;
use std::ops::Range;

/// Rows of a glance at means of columns, at least, and one row in how many is looked at.
const LEAST_OF_GLANCE: usize = 512;
const EVERY_OF_GLANCE: usize = 8;
/// Rows whose means are as good as those of all: the error adds 1 / (2 · 2048) nats to a symbol.
const ENOUGH: usize = 1 << 11;
/// Bits by which chance may make them gain less on these rows than on all.
const MARGIN: f64 = 2000.0;
/// Bits of symbols for whose columns there may be bands.
const FEW_BITS: u32 = 4;
/// Bytes that means must save for the tables of symbols around another middle than other tensors have.
const LEAST_OF_TURNED: usize = 64;

/// Takes from symbols those of `means`, which repeat (a row of them, or a whole plane), around the
/// circle.
pub(crate) fn subtract(symbols: &mut [u8], means: &[u8], bits: u32) {
    let mask = u8::MAX >> (8 - bits);
    Present::in_use().call(
        #[inline(always)]
        || {
            for row in symbols.chunks_mut(means.len().max(1)) {
                row.iter_mut().zip(means).for_each(|(s, m)| *s = s.wrapping_sub(*m) & mask);
            }
        },
    );
}

/// The mean of each column, a symbol, and whether it lies below (0), near (1) or above (2) that.
pub(crate) struct Means {
    pub(crate) symbols: Vec<u8>,
    pub(crate) leanings: Vec<u8>,
}

/// What the means of columns leave of symbols.
pub(crate) struct Centred<'a> {
    pub(crate) symbols: Data<'a>,
    pub(crate) means: &'a [u8],
    pub(crate) bits: u32,
}

impl Stretches for Centred<'_> {
    fn len(&self) -> usize {
        self.symbols.len()
    }

    fn read(&self, range: Range<usize>, out: &mut Vec<u8>) -> Result<()> {
        self.symbols.read(range.clone(), out)?;
        // From the middle of a row on.
        let col = range.start.checked_rem(self.means.len()).unwrap_or(0);
        let begun = if col == 0 { 0 } else { (self.means.len() - col).min(out.len()) };
        let (row, rows) = out.split_at_mut(begun);
        subtract(row, &self.means[col..][..begun], self.bits);
        subtract(rows, self.means, self.bits);
        Ok(())
    }
}

/// The mean of each column, where they differ by more than chance and than what they cost.
pub(crate) fn column_means(matrix: Matrix<'_>, histogram: &Histogram) -> Result<Option<Means>> {
    let rows = matrix.len().checked_div(matrix.cols).unwrap_or(0);
    let whole = rows * matrix.cols == matrix.len();
    if rows < 32 || matrix.cols < 2 || !whole || matrix.bits < 3 {
        return Ok(None);
    }
    let size = 1i32 << matrix.bits;
    let mode = mode(histogram);
    let distance: [i32; 256] = std::array::from_fn(|s| {
        let s = i32::try_from(s).unwrap_or(0);
        (s - i32::from(mode) + size / 2).rem_euclid(size) - size / 2
    });
    // Of a sample, maybe.
    let n = histogram.iter().map(|&n| f64::from(n)).sum::<f64>().max(1.0);
    let moment = |power: i32| -> f64 {
        let term = |(s, &n): (usize, &u32)| f64::from(n) * f64::from(distance[s]).powi(power);
        histogram.iter().enumerate().map(term).sum::<f64>() / n
    };
    let mean = moment(1);
    let variance = moment(2) - mean * mean;
    // What the means of columns, each the mean of so many rows, gain and cost, and how far they are off.
    let weigh = |sums: &[i64], rows: usize| {
        let of_columns: Vec<f64> = sums.iter().map(|&s| s as f64 / rows as f64 - mean).collect();
        let between = of_columns.iter().map(|m| m * m).sum::<f64>() / matrix.cols as f64;
        let explained = between - variance / rows as f64;
        if explained <= 0.0 || variance <= 0.0 {
            return (0.0, f64::INFINITY);
        }
        let gain = -0.5 * (1.0 - (explained / variance).min(0.99)).log2() * matrix.len() as f64;
        let side = matrix.cols as f64 * (between.sqrt().max(0.25).log2() + 3.0);
        (gain, side)
    };
    // Few rows tell as well whether all are worth adding up, and many of them what the means are.
    let every = (rows / LEAST_OF_GLANCE).clamp(1, EVERY_OF_GLANCE);
    let (mut counted, mut of_rows) = (rows.div_ceil(every), sums(matrix, mode, every)?);
    if every > 1 && counted < ENOUGH {
        let (gain, side) = weigh(&of_rows, counted);
        if gain + MARGIN <= side {
            return Ok(None);
        }
        (counted, of_rows) = (rows, sums(matrix, mode, 1)?);
    }
    let (gain, side) = weigh(&of_rows, counted);
    Ok((gain > side + 300.0).then(|| Means {
        symbols: {
            let means = in_one_piece(rounded(&of_rows, counted, mode.into(), size), size);
            // Few bits have bands by the rest of the mean instead.
            match matrix.bits {
                ..=FEW_BITS => means,
                // Half of a squared deviation more for each symbol, in nats.
                _ => by_cost(means, &of_rows, counted, rows as f64 * 0.5 * LOG2_E / variance),
            }
        },
        leanings: leanings(&of_rows, counted),
    }))
}

/// Means moved to where they take fewer bits than symbols take more, `loss` for a mean that is off by one.
fn by_cost(mut means: Vec<u8>, sums: &[i64], rows: usize, loss: f64) -> Vec<u8> {
    let least = means.iter().min().copied().unwrap_or(0);
    let rows = i64::try_from(rows.max(1)).unwrap_or(1);
    let mut exact = Vec::with_capacity(means.len());
    for (mean, &sum) in means.iter_mut().zip(sums) {
        *mean -= least;
        // What rounding took away.
        let half = (2 * sum + rows).rem_euclid(2 * rows) - rows;
        #[expect(clippy::cast_precision_loss, reason = "a share of a symbol")]
        exact.push(f32::from(*mean) + half as f32 / (2 * rows) as f32);
    }
    // These are from the least one on.
    round_by_cost(&mut means, &exact, loss);
    means.iter_mut().for_each(|mean| *mean = mean.saturating_add(least));
    means
}

/// Means, or all of them half a circle on where they are close together then: those on both sides of 0
/// are at both ends of a byte, which takes several bits for each. Of what is left the middle is half a circle on
/// as well.
fn in_one_piece(means: Vec<u8>, size: i32) -> Vec<u8> {
    let half = u8::try_from(size / 2).unwrap_or(0);
    let turned: Vec<u8> = means.iter().map(|mean| mean ^ half).collect();
    match short_stream::cost(&turned) + LEAST_OF_TURNED < short_stream::cost(&means) {
        true => turned,
        false => means,
    }
}

/// The most common symbol.
fn mode(histogram: &Histogram) -> u8 {
    (0u8..=255).zip(histogram).max_by_key(|(s, n)| (**n, 255 - *s)).map_or(0, |(s, _)| s)
}

/// Rows of which a sum is no larger than 16 bits hold: distances are at most 128.
const ROWS_OF_SUMS: usize = 255;

/// The sums of the distances from `mode`, around the circle, by column, of one row in so many.
fn sums(matrix: Matrix<'_>, mode: u8, every: usize) -> Result<Vec<i64>> {
    let present = Present::in_use();
    let make = || (vec![0i64; matrix.cols], vec![0i16; matrix.cols]);
    let all = matrix.windows(every, make, |(sums, partial), window| {
        let mut rows = window.each().map(|(_, row)| row).peekable();
        while rows.peek().is_some() {
            partial.fill(0);
            for row in rows.by_ref().take(ROWS_OF_SUMS) {
                present.run(AddRow { row, mode, bits: matrix.bits, sums: partial });
            }
            sums.iter_mut().zip(&*partial).for_each(|(sum, p)| *sum += i64::from(*p));
        }
        Ok(())
    })?;
    let mut sums = vec![0; matrix.cols];
    for (some, _) in all {
        sums.iter_mut().zip(some).for_each(|(sum, more)| *sum += more);
    }
    Ok(sums)
}

/// Adds the distances of a row's symbols from `mode`, around the circle, to the sums of columns.
struct AddRow<'a> {
    row: &'a [u8],
    mode: u8,
    bits: u32,
    sums: &'a mut [i16],
}

impl Work for AddRow<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (mode, shift) = (i16::from(self.mode), i16::BITS - self.bits);
        for (sum, &s) in self.sums.iter_mut().zip(self.row) {
            *sum += (i16::from(s) - mode) << shift >> shift;
        }
    }
}

/// The mean symbols of columns from the sums of their distances from `mode`.
fn rounded(sums: &[i64], rows: usize, mode: i32, size: i32) -> Vec<u8> {
    let rows = i64::try_from(rows.max(1)).unwrap_or(1);
    let mean = |&sum: &i64| {
        let mean = i64::from(mode) + (2 * sum + rows).div_euclid(2 * rows);
        u8::try_from(mean.rem_euclid(i64::from(size))).unwrap_or(0)
    };
    sums.iter().map(mean).collect()
}

/// In which third of the way from half a symbol below to half a symbol above the nearest one means lie.
fn leanings(sums: &[i64], rows: usize) -> Vec<u8> {
    let rows = i64::try_from(rows.max(1)).unwrap_or(1);
    let third = |&sum: &i64| {
        let above = (2 * sum + rows).rem_euclid(2 * rows);
        u8::try_from(3 * above / (2 * rows)).unwrap_or(1)
    };
    sums.iter().map(third).collect()
}

/// The mean symbol of each column, whatever it is worth.
pub(crate) fn means(matrix: Matrix<'_>) -> Result<Vec<u8>> {
    let mode = mode(&matrix.count(1)?);
    let rows = matrix.len().checked_div(matrix.cols).unwrap_or(0);
    Ok(rounded(&sums(matrix, mode, 1)?, rows, mode.into(), 1 << matrix.bits))
}
