//! Trends in place of differences: glanced at, decided on the whole chunk.

use crate::number::Latent;
use crate::pco::config::Favor;
use crate::pco::encode::candidate::{Candidate, Search};
use crate::pco::encode::plan::{ModeChoice, ModeLatents};
use crate::pco::encode::whole::Whole;
use crate::pco::layout::delta::DeltaPayload;
use crate::pco::mode::trend;
use crate::spare;

/// Chunks that are looked at: what shorter ones save is little, longer ones would take more memory than
/// they may.
const LENGTHS: std::ops::RangeInclusive<usize> = 1 << 14..=1 << 20;
/// The least level that looks for them.
const LEAST_LEVEL: u32 = 6;

impl Search<'_> {
    /// Integers whose differences are best so far, as a trend and what they are above it: two variables to decode in
    /// place of one, which takes twice as long.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(crate) fn try_trend<L: Latent>(&self, all: &[L], best: &mut Candidate<L>) {
        let unit = match best.mode {
            ModeChoice::Classic => L::ONE,
            ModeChoice::IntMult(base) => base,
            _ => return,
        };
        let delta = DeltaPayload::Consecutive { order: 1, secondary: false };
        if best.delta != delta
            || self.config.level < LEAST_LEVEL
            || self.config.favor == Favor::Speed
            || !LENGTHS.contains(&all.len())
        {
            return;
        }
        let most = 1.0 - self.slow_must_save();
        let measured = |split: ModeLatents<L>| {
            let mode = split.mode.written_bits() as f64;
            mode + Whole::new(split, &delta, None, self.effort).bits
        };
        let most_each = |stretch: &[L]| {
            let split = ModeLatents::split(stretch.to_vec(), best.mode)?;
            Some(measured(split) / stretch.len() as f64 * most)
        };
        let Some(cell) = trend::glanced(all, unit, most_each) else { return };
        let split = |mode| ModeLatents::split(spare::copy(all), mode);
        let Some(without) = split(best.mode).map(measured) else { return };
        let mode = ModeChoice::Trend(cell);
        let Some(whole) = split(mode) else { return };
        let mode_bits = whole.mode.written_bits() as f64;
        let bits = measured(whole.without_dict());
        if bits < without * most {
            best.take(delta.clone(), best.bits * bits / without);
            best.take_mode(mode, mode_bits, whole);
        }
    }
}
