//! Levels of rows and columns: how large, or where, their symbols are.

mod sums;

use crate::wcodec::class::Blocks;
use crate::wcodec::encode::matrix::Window;
use crate::wcodec::encode::sample::Sample;
use crate::wcodec::encode::sources::Near;
use crate::wcodec::layout::class_rule::MAX_SOURCES;
use latens_kernels::dispatch::Present;
use std::iter::repeat_n;

use latens_kernels::sizes::Run;
use sums::{AddRuns, AddSizes, Sizes, sum_of_runs};

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
    if levels.is_empty() {
        return (Vec::new(), 0);
    }
    let least = rounded(levels.iter().copied().fold(f32::INFINITY, f32::min));
    #[expect(clippy::cast_sign_loss, reason = "clamped")]
    let bytes =
        levels.iter().map(|&l| rounded(l).saturating_sub(least).clamp(0, 255) as u8).collect();
    (bytes, least)
}

/// The nearest whole number of a logarithm or a mean of bytes, halves away from zero: `round` is a call where
/// every x86-64 is to run it.
fn rounded(x: f32) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "small numbers")]
    let whole = x as i32;
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let rest = x - whole as f32;
    // Scales need not be finite.
    whole.saturating_add(i32::from(rest >= 0.5) - i32::from(rest <= -0.5))
}

/// Two to the power of `n`, within what is a sound factor.
fn octaves(n: i32) -> f32 {
    const BIAS: i32 = 127;
    const MANTISSA: u32 = 23;
    let exponent = (n + BIAS).clamp(1, 2 * BIAS);
    f32::from_bits(u32::try_from(exponent).unwrap_or(0) << MANTISSA)
}

/// Blocks of fewer columns than this are taken symbol by symbol.
const NARROW: usize = 16;

/// Levels that far from the typical one are looked up.
const NEAR: i32 = 64;

/// Sources of levels, and of a zero point.
const MOST_OF_BLOCKS: usize = MAX_SOURCES + 1;

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
    /// How many sources these levels are of: the first ones.
    pub(crate) sizes: usize,
    /// log2 of the levels in an octave.
    pub(crate) fraction: u32,
    /// The rows that count for columns; none where there is but one.
    pub(crate) for_cols: Option<Sample>,
}

/// Finds levels of rows and of columns that together explain the symbols best, roughly.
pub(crate) struct Fit<'g> {
    gauge: &'g Gauge,
    /// By level of a block, from the typical one on: what a distance is multiplied by, within an octave.
    octave: Vec<f32>,
    /// The same by levels that are near to the typical one.
    near: Vec<f32>,
    /// What blocks say of the row at hand, where they are not narrow.
    runs: Vec<Run>,
    /// By column of the row at hand, where blocks are narrow.
    centres: Vec<u8>,
    factors: Vec<f32>,
    more: Vec<f32>,
    sizes: Vec<f32>,
    /// Of the rows that have been taken in.
    seen: Seen,
}

/// What some rows say.
#[derive(Default)]
pub(crate) struct Seen {
    /// The sums of columns.
    cols: Vec<f32>,
    row_means: Vec<f32>,
}

impl<'g> Fit<'g> {
    pub(crate) fn new(gauge: &'g Gauge) -> Self {
        let steps = f32::from(1u8 << gauge.fraction);
        let octave = (0..1u8 << gauge.fraction).map(|l| (f32::from(l) / steps).exp2()).collect();
        let cols = gauge.cols;
        let centre = gauge.centres.first().copied().unwrap_or(0);
        let mut fit = Self {
            near: Vec::new(),
            runs: vec![Run { end: cols, centre, factor: 1.0 }],
            octave,
            centres: vec![centre; cols],
            factors: vec![1.0; cols],
            more: vec![1.0; cols],
            sizes: vec![0.0; cols],
            seen: Seen::default(),
            gauge,
        };
        if let Some(typical) = gauge.blocks {
            fit.near = (-NEAR..NEAR).map(|above| fit.factor(typical + above)).collect();
        }
        fit
    }

    /// What the rows of a window say, with the sources of their blocks.
    pub(crate) fn rows(&mut self, window: &Window<'_>, near: &Near) -> Seen {
        self.seen.cols.resize(self.gauge.for_cols.map_or(0, |_| self.gauge.cols), 0.0);
        let sizes = if self.gauge.blocks.is_some() { self.gauge.sizes } else { 0 };
        let levels = near.levels.get(..sizes).unwrap_or_default();
        let zero = near.zero.as_ref().filter(|_| self.gauge.blocks.is_some());
        let narrow = levels.iter().chain(zero).any(|blocks| blocks.block_cols < NARROW);
        // Where the values are that runs, or centres and factors by column, are made of.
        let mut made = [usize::MAX; MOST_OF_BLOCKS];
        for (r, symbols) in window.each() {
            let for_columns = self.gauge.for_cols.is_some_and(|sample| sample.has(r));
            if !levels.is_empty() || zero.is_some() {
                let mut from = [0; MOST_OF_BLOCKS];
                from.iter_mut().zip(levels.iter().chain(zero)).for_each(|(f, b)| *f = b.row(r));
                // Written out: it is few bytes for a call of a function that compares them.
                if made.iter().zip(&from).any(|(made, from)| made != from) {
                    match narrow {
                        true => self.spread(r, levels, zero),
                        false => self.find_runs(&from, levels, zero),
                    }
                    made = from;
                }
            }
            if narrow {
                self.row(symbols, for_columns);
            } else {
                self.row_of_runs(symbols, for_columns);
            }
        }
        std::mem::take(&mut self.seen)
    }

    /// The centre of symbols whose zero point is `z`.
    fn centre(&self, z: i32) -> u8 {
        let centres = &self.gauge.centres;
        let of_z = usize::try_from(z).ok().and_then(|z| centres.get(z));
        of_z.or(centres.first()).copied().unwrap_or(0)
    }

    /// What distances are multiplied by in blocks of a level.
    fn factor(&self, level: i32) -> f32 {
        let above = level - self.gauge.blocks.unwrap_or(0);
        let near = usize::try_from(above + NEAR).ok().and_then(|at| self.near.get(at));
        if let Some(&near) = near {
            return near;
        }
        let within = above & ((1 << self.gauge.fraction) - 1);
        let within = usize::try_from(within).ok().and_then(|l| self.octave.get(l)).copied();
        within.unwrap_or(1.0) * octaves(above >> self.gauge.fraction)
    }

    /// The runs of a row whose blocks have their values `from` there on.
    fn find_runs(
        &mut self,
        from: &[usize; MOST_OF_BLOCKS],
        levels: &[Blocks],
        zero: Option<&Blocks>,
    ) {
        let mut runs = std::mem::take(&mut self.runs);
        runs.clear();
        let (mut col, cols) = (0, self.gauge.cols);
        if let ([blocks], None) = (levels, zero) {
            // Most weights have scales and nothing else.
            let values = blocks.values.get(from[0]..).unwrap_or_default();
            let (centre, mut end) = (self.centre(0), 0usize);
            runs.extend(values.iter().take(blocks.stride).map(|&value| {
                end = end.saturating_add(blocks.block_cols);
                Run { end: end.min(cols), centre, factor: self.factor(value.into()) }
            }));
            col = end.min(cols);
        }
        while col < cols {
            let mut run = Run { end: cols, centre: self.centre(0), factor: 1.0 };
            for (i, (blocks, from)) in levels.iter().chain(zero).zip(from).enumerate() {
                let block = col / blocks.block_cols;
                let value = blocks.at(from.saturating_add(block));
                run.end = run.end.min((block + 1).saturating_mul(blocks.block_cols));
                if i < levels.len() {
                    run.factor *= self.factor(value);
                } else {
                    run.centre = self.centre(value);
                }
            }
            col = run.end;
            runs.push(run);
        }
        self.runs = runs;
    }

    /// What the blocks of row `r` say of its columns.
    fn spread(&mut self, r: usize, levels: &[Blocks], zero: Option<&Blocks>) {
        let mut centres = std::mem::take(&mut self.centres);
        let mut factors = std::mem::take(&mut self.factors);
        if let Some(zero) = zero {
            zero.spread(r, |z| self.centre(z), &mut centres);
        }
        let mut more = std::mem::take(&mut self.more);
        for (i, blocks) in levels.iter().enumerate() {
            if i == 0 {
                blocks.spread(r, |level| self.factor(level), &mut factors);
            } else {
                blocks.spread(r, |level| self.factor(level), &mut more);
                factors.iter_mut().zip(&more).for_each(|(f, m)| *f *= m);
            }
        }
        (self.centres, self.factors, self.more) = (centres, factors, more);
    }

    /// A row by its runs.
    #[expect(clippy::cast_precision_loss, reason = "a count of columns")]
    fn row_of_runs(&mut self, symbols: &[u8], for_columns: bool) {
        let &Gauge { measure, bits, cols, .. } = self.gauge;
        let runs = &self.runs[..];
        let mean = sum_of_runs(measure, symbols, runs, bits) / cols.max(1) as f32;
        self.seen.row_means.push(mean);
        if for_columns {
            let cols = &mut self.seen.cols[..];
            Present::in_use().run(AddRuns { measure, symbols, runs, bits, mean, cols });
        }
    }

    /// A row symbol by symbol.
    fn row(&mut self, symbols: &[u8], for_columns: bool) {
        let &Gauge { measure, bits, .. } = self.gauge;
        let (centres, factors, out) = (&self.centres[..], &self.factors[..], &mut self.sizes[..]);
        #[expect(clippy::cast_precision_loss, reason = "a count of columns")]
        let n = self.gauge.cols.max(1) as f32;
        let sizes = Sizes { measure, symbols, centres, factors, bits, out };
        let mean = Present::in_use().run(sizes) / n;
        self.seen.row_means.push(mean);
        if for_columns {
            let (cols, sizes) = (&mut self.seen.cols[..], &self.sizes[..]);
            Present::in_use().run(AddSizes { measure, mean, sizes, cols });
        }
    }
}

impl Gauge {
    /// The levels, from what windows of one row in so many say, in their order.
    pub(crate) fn levels<'s>(&self, seen: impl Iterator<Item = &'s Seen>, every: usize) -> Fitted {
        let (mut cols, mut row_means): (Vec<f32>, Vec<f32>) = Default::default();
        for Seen { cols: some, row_means: of_rows } in seen {
            cols.resize(some.len(), 0.0);
            cols.iter_mut().zip(some).for_each(|(sum, more)| *sum += more);
            row_means.extend_from_slice(of_rows);
        }
        let of_cols = self.for_cols.map_or(1, |sample| (sample.every() / every.max(1)).max(1));
        #[expect(clippy::cast_precision_loss, reason = "a count of rows")]
        let counted = row_means.len().div_ceil(of_cols).max(1) as f32;
        let steps = f32::from(1u8 << self.fraction);
        let level = |x: f32| match self.measure {
            Measure::Size => (x.max(1.0 / 64.0)).log2() * steps,
            Measure::Place => x * steps,
        };
        Fitted {
            cols: cols.into_iter().map(|c| level(c / counted)).collect(),
            rows: row_means.into_iter().flat_map(|x| repeat_n(level(x), every)).collect(),
        }
    }
}
