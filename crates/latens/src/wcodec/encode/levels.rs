//! Levels of rows and columns: how large, or where, their symbols are.

use crate::wcodec::class::Blocks;

/// What levels say of symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// The logarithm of the mean distance from the centre: weights.
    Size,
    /// The mean: exponents.
    Place,
}

/// Symbols as signed distances from a centre, with what is known of their blocks.
pub(crate) struct Distances<'a> {
    pub(crate) symbols: &'a [u8],
    pub(crate) cols: usize,
    /// The distance of each symbol; by zero point where there are any.
    pub(crate) distance: Vec<[i16; 256]>,
    pub(crate) zero: Option<&'a Blocks>,
    pub(crate) levels: &'a [Blocks],
    /// log2 of the levels in an octave.
    pub(crate) fraction: u32,
    /// Only every so manieth row counts.
    pub(crate) every: usize,
}

/// Levels as numbers in steps of 2^-fraction, not yet cut to a byte.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fitted {
    pub(crate) rows: Vec<f32>,
    pub(crate) cols: Vec<f32>,
}

/// Rounds levels to bytes from their least on; also the least.
pub(crate) fn to_bytes(levels: &[f32]) -> (Vec<u8>, i32) {
    let least = levels.iter().copied().fold(f32::INFINITY, f32::min).round();
    #[expect(clippy::cast_possible_truncation, reason = "clamped")]
    #[expect(clippy::cast_sign_loss, reason = "clamped")]
    let bytes = levels.iter().map(|l| (l.round() - least).clamp(0.0, 255.0) as u8).collect();
    #[expect(clippy::cast_possible_truncation, reason = "a logarithm or a mean of bytes")]
    let least = if levels.is_empty() { 0 } else { least as i32 };
    (bytes, least)
}

impl Distances<'_> {
    /// What one row has: for each column its size (or place), with the blocks taken out.
    fn row(&self, row: usize, measure: Measure, scale: &[f32], out: &mut [f32]) {
        let symbols = &self.symbols[row * self.cols..];
        let zero = self.zero.map(|zero| (zero, zero.row_start(row)));
        if let Some((blocks, start)) = zero {
            for (c, (x, &s)) in out.iter_mut().zip(symbols).enumerate() {
                let z = usize::try_from(blocks.value(start, c)).unwrap_or(0);
                let map = self.distance.get(z).unwrap_or(&self.distance[0]);
                *x = f32::from(map[usize::from(s)]);
            }
        } else {
            let map = &self.distance[0];
            for (x, &s) in out.iter_mut().zip(symbols) {
                *x = f32::from(map[usize::from(s)]);
            }
        }
        if measure == Measure::Place {
            return;
        }
        out.iter_mut().for_each(|x| *x = x.abs());
        for blocks in self.levels {
            let start = blocks.row_start(row);
            let width = blocks.block_cols();
            for (i, run) in out.chunks_mut(width).enumerate() {
                let level = usize::try_from(blocks.value(start, i * width)).unwrap_or(0);
                let factor = scale.get(level).copied().unwrap_or(1.0);
                run.iter_mut().for_each(|x| *x *= factor);
            }
        }
    }

    /// Levels of rows and of columns that together explain the symbols best, roughly.
    pub(crate) fn fit(&self, measure: Measure, rows: usize, with_cols: bool) -> Fitted {
        let steps = f32::from(1u8 << self.fraction);
        let middle = self.levels.first().map_or(0, Blocks::typical);
        #[expect(clippy::cast_precision_loss, reason = "levels are small")]
        let scale: Vec<f32> = (0..1 << 13).map(|l| ((l - middle) as f32 / steps).exp2()).collect();
        let mut sizes = vec![0f32; self.cols];
        let mut col = vec![0f32; if with_cols { self.cols } else { 0 }];
        let mut row_mean = vec![0f32; rows];
        #[expect(clippy::cast_precision_loss, reason = "a count of columns")]
        let n = self.cols.max(1) as f32;
        for (r, mean) in row_mean.iter_mut().enumerate() {
            self.row(r, measure, &scale, &mut sizes);
            *mean = sizes.iter().sum::<f32>() / n;
            if with_cols && r % self.every == 0 {
                match measure {
                    Measure::Size => {
                        let by = 1.0 / (*mean).max(1e-9);
                        col.iter_mut().zip(&sizes).for_each(|(c, x)| *c += x * by);
                    }
                    Measure::Place => col.iter_mut().zip(&sizes).for_each(|(c, x)| *c += x - *mean),
                }
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a count of rows")]
        let counted = rows.div_ceil(self.every).max(1) as f32;
        let level = |x: f32| match measure {
            Measure::Size => (x.max(1.0 / 64.0)).log2() * steps,
            Measure::Place => x * steps,
        };
        Fitted {
            rows: row_mean.into_iter().map(level).collect(),
            cols: col.into_iter().map(|c| level(c / counted)).collect(),
        }
    }
}
