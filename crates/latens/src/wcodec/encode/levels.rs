//! Levels of rows and columns: how large, or where, their symbols are.

use crate::wcodec::class::Blocks;
use latens_kernels::dispatch::{Present, Work};

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
    pub(crate) bits: u32,
    /// The symbol from which distances count, around the circle; by zero point where there are any.
    pub(crate) centres: Vec<u8>,
    pub(crate) zero: Option<&'a Blocks>,
    pub(crate) levels: &'a [Blocks],
    /// log2 of the levels in an octave.
    pub(crate) fraction: u32,
    /// Only every so manieth row counts for columns.
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

/// Symbols side by side in a sum.
const LANES: usize = 16;

/// The sizes (or places) of the symbols of a row, and their sum.
struct Sizes<'a> {
    measure: Measure,
    symbols: &'a [u8],
    centres: &'a [u8],
    factors: &'a [f32],
    bits: u32,
    out: &'a mut [f32],
}

impl Sizes<'_> {
    #[inline(always)]
    fn by(self, of: impl Fn(i32, f32) -> f32) -> f32 {
        let shift = 32 - self.bits;
        let numbers = self.symbols.iter().zip(self.centres).zip(self.factors);
        for (out, ((&s, &centre), &factor)) in self.out.iter_mut().zip(numbers) {
            *out = of((i32::from(s) - i32::from(centre)) << shift >> shift, factor);
        }
        let (out, rest) = self.out.as_chunks::<LANES>();
        let mut sums = [0f32; LANES];
        for out in out {
            sums.iter_mut().zip(out).for_each(|(sum, x)| *sum += x);
        }
        sums.iter_mut().zip(rest).for_each(|(sum, x)| *sum += x);
        sums.iter().sum()
    }
}

impl Work for Sizes<'_> {
    type Output = f32;

    #[inline(always)]
    #[expect(clippy::cast_precision_loss, reason = "distances of bytes")]
    fn run(self) -> f32 {
        match self.measure {
            Measure::Size => self.by(|d, factor| d.abs() as f32 * factor),
            Measure::Place => self.by(|d, _| d as f32),
        }
    }
}

impl Distances<'_> {
    /// Levels of rows and of columns that together explain the symbols best, roughly.
    pub(crate) fn fit(&self, measure: Measure, rows: usize, with_cols: bool) -> Fitted {
        let steps = f32::from(1u8 << self.fraction);
        let middle = self.levels.first().map_or(0, Blocks::typical);
        #[expect(clippy::cast_precision_loss, reason = "levels are small")]
        let factor = |level: i32| ((level.clamp(0, 1 << 13) - middle) as f32 / steps).exp2();
        let scale: Vec<f32> = match self.levels {
            [] => Vec::new(),
            _ => (0..1 << 13).map(factor).collect(),
        };
        let factor = |level: i32| {
            usize::try_from(level).ok().and_then(|l| scale.get(l)).copied().unwrap_or(1.0)
        };
        let first = self.centres.first().copied().unwrap_or(0);
        let mut centres = vec![first; self.cols];
        let mut factors = vec![1f32; self.cols];
        let mut more = vec![1f32; self.cols];
        // Where the values are that centres and factors are made of.
        let mut made: Option<Vec<usize>> = None;
        let mut sizes = vec![0f32; self.cols];
        let mut col = vec![0f32; if with_cols { self.cols } else { 0 }];
        let mut row_mean = vec![0f32; rows];
        #[expect(clippy::cast_precision_loss, reason = "a count of columns")]
        let n = self.cols.max(1) as f32;
        let present = Present::in_use();
        for (r, mean) in row_mean.iter_mut().enumerate() {
            let sources = self.levels.iter().chain(self.zero);
            if !self.levels.is_empty() || self.zero.is_some() {
                let from: Vec<usize> = sources.map(|blocks| blocks.row(r)).collect();
                if made.as_ref() != Some(&from) {
                    if let Some(zero) = self.zero {
                        let centre = |z: i32| {
                            let z = usize::try_from(z).unwrap_or(0);
                            self.centres.get(z).copied().unwrap_or(first)
                        };
                        zero.spread(r, centre, &mut centres);
                    }
                    for (i, blocks) in self.levels.iter().enumerate() {
                        if i == 0 {
                            blocks.spread(r, factor, &mut factors);
                        } else {
                            blocks.spread(r, factor, &mut more);
                            factors.iter_mut().zip(&more).for_each(|(f, m)| *f *= m);
                        }
                    }
                    made = Some(from);
                }
            }
            let symbols = &self.symbols[r * self.cols..][..self.cols];
            let (bits, out) = (self.bits, &mut sizes[..]);
            let (centres, factors) = (&centres[..], &factors[..]);
            *mean = present.run(Sizes { measure, symbols, centres, factors, bits, out }) / n;
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
