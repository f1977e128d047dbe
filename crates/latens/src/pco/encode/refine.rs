//! Delta encodings that cost more to try, tried on the best mode and only where a glance says
//! that they may win.

mod conv1;
mod lookback;
mod trend;

pub(crate) use lookback::lookback;

use crate::number::Latent;
use crate::pco::config::{Config, Favor};
use crate::pco::encode::candidate::{Candidate, Search};
use crate::pco::encode::plan::{ModeLatents, Ranks};
use crate::pco::encode::recurrence::Values;
use crate::pco::encode::sample::Sample;
use crate::pco::encode::split::PageLatents;
use crate::pco::layout::delta::DeltaPayload;
use std::ops::Range;

/// Chunks shorter than this have no use for linear predictions, whose weights and first latents take as
/// much as they might save, and shorter than that, none for lookbacks.
const CONV1_LEAST: usize = 256;
const LOOKBACK_LEAST: usize = 64;

/// A stretch of the chunk, split by a candidate's mode.
struct Stretch<L> {
    sample: Sample<L>,
    latents: ModeLatents<L>,
}

/// Bits of a chunk by those of a stretch.
struct Bits {
    all: f64,
    /// Those of the secondary variable among them, where no delta encoding covers it.
    secondary: Option<f64>,
}

impl<L: Latent> Stretch<L> {
    /// `length` numbers of the chunk, so many eighths behind its start.
    fn new(all: &[L], candidate: &Candidate<L>, length: usize, eighths: usize) -> Option<Self> {
        let length = all.len().min(length);
        let start = (all.len() - length) * eighths / 8;
        Self::of(all, candidate, std::iter::once(start..start + length).collect())
    }

    /// Several at once.
    fn of(all: &[L], candidate: &Candidate<L>, ranges: Vec<Range<usize>>) -> Option<Self> {
        let sample = Sample::new(all, ranges);
        let latents = match &candidate.whole {
            Some(whole) => whole.gather(&sample.ranges),
            None => ModeLatents::split(sample.latents.clone(), candidate.mode)?,
        };
        Some(Self { sample, latents })
    }
}

/// How long the stretches are that encodings are tried on.
struct Lengths {
    glance: usize,
    decision: usize,
    /// So many times the best a glance may cost for a decision.
    promising: f64,
    conv1_promising: f64,
}

impl Lengths {
    fn new(n: usize, config: &Config) -> Option<Self> {
        let favor = config.favor;
        match (config.level, favor) {
            (0..=1, _) => None,
            (10.., Favor::Size) => Some(Self {
                glance: 1 << 12,
                decision: 1 << 15,
                promising: 1.15,
                conv1_promising: 1.05,
            }),
            // The same at all other levels, so that a higher one does not choose worse.
            _ => Some(Self {
                glance: (n / 16).clamp(1 << 10, 1 << 12),
                decision: (n / 8).clamp(1 << 12, 1 << 14),
                promising: 0.995,
                conv1_promising: if favor == Favor::Size { 1.0 } else { 0.98 },
            }),
        }
    }
}

/// What slow encodings must save unless size is all that matters.
const SLOW_MUST_SAVE: f64 = 0.08;

impl Search<'_> {
    fn slow_must_save(&self) -> f64 {
        if self.config.favor == Favor::Size { 0.0 } else { SLOW_MUST_SAVE }
    }

    /// Tries what costs more on the best mode.
    pub(crate) fn refine<L: Latent>(
        &self,
        all: &[L],
        values: &Values<'_, L>,
        best: &mut Candidate<L>,
    ) {
        let sample = values.sample;
        self.try_secondary(sample, best);
        let Some(lengths) = Lengths::new(all.len(), self.config) else { return };
        if all.len() >= CONV1_LEAST {
            self.try_conv1(all, sample, &lengths, best);
        }
        if all.len() >= LOOKBACK_LEAST {
            self.try_lookback(all, &lengths, values, best);
        }
    }

    /// Consecutive deltas of the secondary variable too.
    fn try_secondary<L: Latent>(&self, sample: &Sample<L>, best: &mut Candidate<L>) {
        let (&DeltaPayload::Consecutive { order, .. }, Some(secondary), Some(without)) =
            (&best.delta, &best.sample.secondary, best.secondary_bits())
        else {
            return;
        };
        let delta = DeltaPayload::Consecutive { order, secondary: true };
        let (with, ranked) = self.variable_with(secondary, sample, &delta);
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let bits = best.bits - without + with + delta.written_bits() as f64;
        if bits < best.bits {
            let primary = best.ranks.primary.take();
            best.take(delta, bits);
            best.ranks = Ranks { primary, secondary: Some(ranked) };
        }
    }

    /// Bits of the chunk with the candidate's delta encoding, by those of a stretch.
    fn as_it_is<L: Latent>(&self, candidate: &Candidate<L>, stretch: &Stretch<L>) -> Bits {
        let delta = &candidate.delta;
        let pages = Self::pages(&stretch.latents, &stretch.sample, delta);
        let secondary = self.secondary_bits(&pages, delta);
        let all = candidate.mode_bits + (self.bits_but_secondary(&pages, delta) + secondary);
        Bits { all, secondary: (!delta.covers_secondary()).then_some(secondary) }
    }

    /// Bits of the chunk with a delta encoding, by those of a stretch.
    fn with<L: Latent>(
        &self,
        delta: &DeltaPayload,
        candidate: &Candidate<L>,
        stretch: &Stretch<L>,
        secondary: Option<f64>,
    ) -> f64 {
        let pages = Self::pages(&stretch.latents, &stretch.sample, delta);
        self.of_pages(delta, candidate, &pages, secondary)
    }

    /// The same by what the stretch stores.
    #[inline(never)]
    fn of_pages<L: Latent>(
        &self,
        delta: &DeltaPayload,
        candidate: &Candidate<L>,
        pages: &[PageLatents<L>],
        secondary: Option<f64>,
    ) -> f64 {
        let secondary = secondary.unwrap_or_else(|| self.secondary_bits(pages, delta));
        candidate.mode_bits + (self.bits_but_secondary(pages, delta) + secondary)
    }
}
