//! Sums of the sizes (or places) of symbols, over rows and for columns: symbol by symbol, and a run at a time.

use super::Measure;
use latens_kernels::dispatch::{Present, Work};
use latens_kernels::sizes::{self, Run};

/// Symbols side by side in a sum.
const LANES: usize = 16;

/// The sizes (or places) of the symbols of a row, and their sum.
pub(super) struct Sizes<'a> {
    pub(super) measure: Measure,
    pub(super) symbols: &'a [u8],
    pub(super) centres: &'a [u8],
    pub(super) factors: &'a [f32],
    pub(super) bits: u32,
    pub(super) out: &'a mut [f32],
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

/// Adds the sizes (or places) of the symbols of a row, by their mean, to the sums of columns.
pub(super) struct AddSizes<'a> {
    pub(super) measure: Measure,
    pub(super) mean: f32,
    pub(super) sizes: &'a [f32],
    pub(super) cols: &'a mut [f32],
}

impl Work for AddSizes<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let cols = self.cols.iter_mut().zip(self.sizes);
        match self.measure {
            Measure::Size => {
                let by = 1.0 / self.mean.max(1e-9);
                cols.for_each(|(c, x)| *c += x * by);
            }
            Measure::Place => cols.for_each(|(c, x)| *c += x - self.mean),
        }
    }
}

/// The sum of the sizes (or places) of symbols in runs that have the same centre, each run in whole numbers:
/// several times as fast as [`Sizes`], which says it of each symbol.
#[expect(clippy::cast_precision_loss, reason = "a mean, roughly")]
pub(super) fn sum_of_runs(measure: Measure, symbols: &[u8], runs: &[Run], bits: u32) -> f32 {
    let (present, mask) = (Present::in_use(), u8::MAX >> (8 - bits));
    if measure == Measure::Size {
        return sizes::sum_of_runs(present, symbols, runs, mask);
    }
    let (mut all, mut from) = (0.0, 0);
    for &Run { end, centre, factor } in runs {
        let symbols = symbols.get(from..end.min(symbols.len())).unwrap_or_default();
        from = end;
        all += factor * present.run(SumOfPlaces { symbols, centre, mask }) as f32;
    }
    all
}

/// The sum of the distances of symbols from a centre, those below it negative.
struct SumOfPlaces<'a> {
    symbols: &'a [u8],
    centre: u8,
    mask: u8,
}

impl Work for SumOfPlaces<'_> {
    type Output = i64;

    #[inline(always)]
    fn run(self) -> i64 {
        let Self { symbols, centre, mask } = self;
        // The sign bit turned over is the distance plus half of the circle.
        let half = mask / 2 + 1;
        let place = |&s: &u8| u32::from((s.wrapping_sub(centre) & mask) ^ half);
        let sum: u32 = symbols.iter().map(place).sum();
        i64::from(sum) - i64::from(half) * i64::try_from(symbols.len()).unwrap_or(0)
    }
}

/// Adds the sizes (or places) of the symbols of a row, by their mean, to the sums of columns, a run at a time:
/// nothing is written down for each symbol, as [`Sizes`] does.
pub(super) struct AddRuns<'a> {
    pub(super) measure: Measure,
    pub(super) symbols: &'a [u8],
    pub(super) runs: &'a [Run],
    pub(super) bits: u32,
    pub(super) mean: f32,
    pub(super) cols: &'a mut [f32],
}

impl Work for AddRuns<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mask = u8::MAX >> (8 - self.bits);
        let by = 1.0 / self.mean.max(1e-9);
        let mut from = 0;
        for &Run { end, centre, factor } in self.runs {
            let run = from..end.min(self.symbols.len());
            let symbols = self.symbols.get(run.clone()).unwrap_or_default();
            let cols = self.cols.get_mut(run).unwrap_or_default().iter_mut().zip(symbols);
            from = end;
            match self.measure {
                Measure::Size => {
                    let by = by * factor;
                    cols.for_each(|(c, &s)| *c += f32::from(sizes::size(s, centre, mask)) * by);
                }
                Measure::Place => {
                    let half = mask / 2 + 1;
                    let middle = self.mean + f32::from(half);
                    let place = |s: u8| f32::from((s.wrapping_sub(centre) & mask) ^ half);
                    cols.for_each(|(c, &s)| *c += place(s) - middle);
                }
            }
        }
    }
}
