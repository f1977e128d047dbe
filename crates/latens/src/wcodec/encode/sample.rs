//! Which rows stand for all of them.

use std::ops::Range;

/// One row in so many: of each stretch of these one at a place of its own. By the first row of each, what repeats by the row
/// would be seen in one phase alone: gates in turn with what they open, the same place of every head.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    rows: usize,
    every: usize,
}

impl Sample {
    pub(crate) fn new(rows: usize, every: usize) -> Self {
        Self { rows, every: every.max(1) }
    }

    /// Rows of a stretch.
    pub(crate) fn every(self) -> usize {
        self.every
    }

    /// The row of a stretch.
    fn row(self, stretch: usize) -> usize {
        /// The golden ratio: its multiples fall evenly between whole numbers, in step with no period; from the middle on.
        const PLACES: u32 = 0x9e37_79b9;
        const MIDDLE: u32 = 1 << 31;
        let first = stretch * self.every;
        let rows = self.rows.saturating_sub(first).min(self.every) as u64;
        #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
        let place = u64::from((stretch as u32).wrapping_mul(PLACES).wrapping_add(MIDDLE));
        first + usize::try_from((place * rows) >> 32).unwrap_or(0)
    }

    /// Whether a row is in it.
    pub(crate) fn has(self, row: usize) -> bool {
        self.row(row / self.every) == row
    }

    /// Its rows among some, which begin and end where stretches do, or where all rows end.
    pub(crate) fn within(self, rows: Range<usize>) -> impl Iterator<Item = usize> {
        let stretches = rows.start / self.every..rows.end.div_ceil(self.every);
        stretches.map(move |stretch| self.row(stretch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of whatever repeats, each phase is seen about as often as the others.
    #[test]
    fn no_phase_is_left_out() {
        for every in [2, 3, 8, 24, 64] {
            for period in [2, 3, 4, 32, 64, 96, 128] {
                let sample = Sample::new(every * period * 40, every);
                let mut seen = vec![0; period];
                sample.within(0..every * period * 40).for_each(|row| seen[row % period] += 1);
                assert!(seen.iter().all(|n| (25..=55).contains(n)), "{every} {period} {seen:?}");
            }
        }
    }

    #[test]
    fn one_of_each_stretch_is_taken() {
        for (rows, every) in [(0, 4), (1, 4), (7, 1), (30, 7), (64, 8), (65, 8)] {
            let sample = Sample::new(rows, every);
            let taken: Vec<usize> = sample.within(0..rows).collect();
            assert_eq!(taken.len(), rows.div_ceil(every));
            assert!(taken.iter().enumerate().all(|(i, row)| row / every == i && *row < rows));
            assert!((0..rows).all(|row| sample.has(row) == taken.contains(&row)));
        }
    }
}
