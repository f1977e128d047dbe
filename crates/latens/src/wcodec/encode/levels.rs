//! Levels of rows and columns: how large, or where, their symbols are.

use crate::wcodec::class::Blocks;
use crate::wcodec::encode::matrix::Window;
use crate::wcodec::encode::sources::Near;
use latens_kernels::dispatch::{Present, Work};

/// What levels say of symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// The logarithm of the mean distance from the centre: weights.
    Size,
    /// The mean: exponents.
    Place,
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

/// What symbols are measured by.
pub(crate) struct Gauge {
    pub(crate) measure: Measure,
    /// Symbols a row.
    pub(crate) cols: usize,
    /// Bits a symbol.
    pub(crate) bits: u32,
    /// The symbol from which distances count, around the circle; by zero point where there are any.
    pub(crate) centres: Vec<u8>,
    /// Whether levels and zero points of blocks count, and the level that most of them have.
    pub(crate) blocks: Option<i32>,
    /// log2 of the levels in an octave.
    pub(crate) fraction: u32,
    /// Only every so manieth row counts for columns; none where this is 0.
    pub(crate) every: usize,
}

/// Levels of rows and of columns that together explain the symbols best, roughly.
pub(crate) struct Fit {
    gauge: Gauge,
    steps: f32,
    /// By level of a block: what a distance is multiplied by.
    scale: Vec<f32>,
    /// By column, of the row at hand.
    centres: Vec<u8>,
    factors: Vec<f32>,
    more: Vec<f32>,
    sizes: Vec<f32>,
    /// The sums of columns.
    cols: Vec<f32>,
    row_means: Vec<f32>,
}

impl Fit {
    pub(crate) fn new(gauge: Gauge, rows: usize) -> Self {
        let steps = f32::from(1u8 << gauge.fraction);
        #[expect(clippy::cast_precision_loss, reason = "levels are small")]
        let factor = |level: i32, middle: i32| ((level - middle) as f32 / steps).exp2();
        let middle = gauge.blocks;
        let scale = middle.map(|middle| (0..1 << 13).map(|l| factor(l, middle)).collect());
        let cols = gauge.cols;
        Self {
            steps,
            scale: scale.unwrap_or_default(),
            centres: vec![gauge.centres.first().copied().unwrap_or(0); cols],
            factors: vec![1.0; cols],
            more: vec![1.0; cols],
            sizes: vec![0.0; cols],
            cols: vec![0.0; if gauge.every > 0 { cols } else { 0 }],
            row_means: Vec::with_capacity(rows),
            gauge,
        }
    }

    /// Takes in rows, all of them in order, with the sources of their blocks.
    pub(crate) fn rows(&mut self, window: &Window<'_>, near: &Near) {
        let levels: &[Blocks] = if self.gauge.blocks.is_some() { &near.levels } else { &[] };
        let zero = near.zero.as_ref().filter(|_| self.gauge.blocks.is_some());
        // Where the values are that centres and factors are made of.
        let mut made: Option<Vec<usize>> = None;
        for (r, symbols) in window.each() {
            if !levels.is_empty() || zero.is_some() {
                let from: Vec<usize> = levels.iter().chain(zero).map(|b| b.row(r)).collect();
                if made.as_ref() != Some(&from) {
                    self.spread(r, levels, zero);
                    made = Some(from);
                }
            }
            self.row(r, symbols);
        }
    }

    /// What the blocks of row `r` say of its columns.
    fn spread(&mut self, r: usize, levels: &[Blocks], zero: Option<&Blocks>) {
        let centres = &self.gauge.centres;
        let first = centres.first().copied().unwrap_or(0);
        let centre = |z: i32| {
            let z = usize::try_from(z).unwrap_or(0);
            centres.get(z).copied().unwrap_or(first)
        };
        if let Some(zero) = zero {
            zero.spread(r, centre, &mut self.centres);
        }
        let scale = &self.scale;
        let factor = |level: i32| {
            usize::try_from(level).ok().and_then(|l| scale.get(l)).copied().unwrap_or(1.0)
        };
        for (i, blocks) in levels.iter().enumerate() {
            if i == 0 {
                blocks.spread(r, factor, &mut self.factors);
            } else {
                blocks.spread(r, factor, &mut self.more);
                self.factors.iter_mut().zip(&self.more).for_each(|(f, m)| *f *= m);
            }
        }
    }

    fn row(&mut self, r: usize, symbols: &[u8]) {
        let Gauge { measure, bits, every, .. } = self.gauge;
        let (centres, factors, out) = (&self.centres[..], &self.factors[..], &mut self.sizes[..]);
        #[expect(clippy::cast_precision_loss, reason = "a count of columns")]
        let n = self.gauge.cols.max(1) as f32;
        let sizes = Sizes { measure, symbols, centres, factors, bits, out };
        let mean = Present::in_use().run(sizes) / n;
        self.row_means.push(mean);
        if every > 0 && r.is_multiple_of(every) {
            let cols = self.cols.iter_mut().zip(&self.sizes);
            match measure {
                Measure::Size => {
                    let by = 1.0 / mean.max(1e-9);
                    cols.for_each(|(c, x)| *c += x * by);
                }
                Measure::Place => cols.for_each(|(c, x)| *c += x - mean),
            }
        }
    }

    /// The levels.
    pub(crate) fn finish(self) -> Fitted {
        #[expect(clippy::cast_precision_loss, reason = "a count of rows")]
        let counted = self.row_means.len().div_ceil(self.gauge.every.max(1)).max(1) as f32;
        let level = |x: f32| match self.gauge.measure {
            Measure::Size => (x.max(1.0 / 64.0)).log2() * self.steps,
            Measure::Place => x * self.steps,
        };
        Fitted {
            cols: self.cols.into_iter().map(|c| level(c / counted)).collect(),
            rows: self.row_means.into_iter().map(level).collect(),
        }
    }
}
