//! Symbols counted by rules, and what they take.

use super::OF_CLASSES;
use crate::error::Result;
use crate::wcodec::encode::matrix::Matrix;
use crate::wcodec::encode::merge::{Worth, merge_all};
use crate::wcodec::encode::sources::Sources;
use crate::wcodec::encode::tally::{Sums, Tallies, by_sum, rest_by_sum};
use crate::wcodec::layout::class_rule::ClassRule;
use crate::wcodec::layout::symbols::MAX_CLASSES;

/// How symbols are counted by rules.
pub(super) struct Counting<'c> {
    pub(super) matrix: Matrix<'c>,
    pub(super) sources: &'c Sources<'c>,
    /// One row in so many is.
    pub(super) step: usize,
    pub(super) tallies: &'c Tallies,
}

impl Counting<'_> {
    /// What fewer classes are worth.
    pub(super) fn worth(&self) -> Worth {
        let (mut worth, effort) =
            (Worth::of(self.matrix.bits, self.matrix.len()), self.sources.hints.effort);
        if effort.closely {
            worth = worth.of_slow_writing();
        }
        if effort.slow_reading { worth.of_slow_reading() } else { worth }
    }

    /// Bits of all symbols by a rule for a sample, `side` those of its side information, and the histograms.
    pub(super) fn price(&self, rule: &ClassRule, side: f64) -> Result<(f64, Sums)> {
        let Self { matrix, sources, step, tallies } = *self;
        let sums = by_sum(matrix, sources, rule, step, tallies)?;
        let merged = merge_all(&sums.maps, self.worth(), MAX_CLASSES, (step > 1).then_some(1.0));
        let bits: f64 = merged.iter().map(|of| of.2).sum();
        let classes_bits = OF_CLASSES * sums.maps.len() as f64;
        let written = sources.bands.written_bits(sums.maps.len());
        Ok(((bits - classes_bits) * sums.scale + classes_bits + side + written, sums))
    }

    /// The histograms by a rule of one row in so many, where there are those of one in some more.
    pub(super) fn again(
        &self,
        (sums, step): (Sums, usize),
        rule: &ClassRule,
        every: usize,
    ) -> Result<Sums> {
        let Self { matrix, sources, tallies, .. } = *self;
        match every {
            1 => rest_by_sum(matrix, sources, rule, (sums, step), tallies),
            _ => by_sum(matrix, sources, rule, every, tallies),
        }
    }
}
