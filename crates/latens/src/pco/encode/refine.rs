//! Delta encodings that cost more to try, tried on the best mode and only where a glance says
//! that they may win.

use crate::number::Latent;
use crate::pco::config::Favor;
use crate::pco::delta::{conv1_fit, lookback_search};
use crate::pco::encode::candidate::{Candidate, Search};
use crate::pco::encode::plan::ModeLatents;
use crate::pco::encode::sample::Sample;
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::layout::delta::{Conv1, DeltaPayload};
use std::ops::Range;

/// What slow encodings must save unless size is all that matters.
const SLOW_MUST_SAVE: f64 = 0.08;
/// What lookbacks must save: they are slower than consecutive deltas, though not by that much.
const LOOKBACK_MUST_SAVE: f64 = 0.02;
/// Orders of linear predictions that are tried.
const CONV1_ORDERS: [usize; 5] = [2, 4, 8, 16, 32];
/// The order that a glance tries.
const CONV1_GLANCE: usize = 8;

/// Chunks shorter than this have no use for linear predictions, whose weights and first latents take as
/// much as they might save, and shorter than that, none for lookbacks.
const CONV1_LEAST: usize = 256;
const LOOKBACK_LEAST: usize = 64;

/// A stretch of the chunk, split by a candidate's mode.
struct Stretch<L> {
    sample: Sample<L>,
    latents: ModeLatents<L>,
    /// Bits with the candidate's delta encoding.
    bits: f64,
}

impl<L: Latent> Stretch<L> {
    /// The `length` numbers in the middle of the chunk.
    fn new(
        search: &Search<'_>,
        all: &[L],
        candidate: &Candidate<L>,
        length: usize,
    ) -> Option<Self> {
        let length = all.len().min(length);
        let start = (all.len() - length) / 2;
        let sample = Sample::new(all, std::iter::once(start..start + length).collect());
        let latents = match &candidate.whole {
            Some(whole) => whole.gather(&sample.ranges),
            None => ModeLatents::split(sample.latents.clone(), candidate.mode)?,
        };
        let bits = candidate.mode_bits + search.split_bits(&latents, &sample, &candidate.delta);
        Some(Self { sample, latents, bits })
    }

    /// Bits with another delta encoding over bits with the candidate's.
    fn gain(&self, search: &Search<'_>, candidate: &Candidate<L>, delta: &DeltaPayload) -> f64 {
        (candidate.mode_bits + search.split_bits(&self.latents, &self.sample, delta)) / self.bits
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
    fn new(n: usize, level: u32, favor: Favor) -> Option<Self> {
        match (level, favor) {
            (0..=1, _) => None,
            (10.., Favor::Size) => Some(Self {
                glance: 1 << 12,
                decision: 1 << 15,
                promising: 1.15,
                conv1_promising: 1.05,
            }),
            // The same at all levels, so that a higher one does not choose worse.
            _ => Some(Self {
                glance: (n / 16).clamp(1 << 10, 1 << 12),
                decision: (n / 8).clamp(1 << 12, 1 << 14),
                promising: 0.995,
                conv1_promising: if favor == Favor::Size { 1.0 } else { 0.96 },
            }),
        }
    }
}

/// Lookbacks for a chunk of so many latents.
pub(crate) fn lookback(n: usize) -> DeltaPayload {
    let window_log = lookback_search::window_log(n);
    DeltaPayload::Lookback { window_log, state_log: 0, secondary: false }
}

impl Search<'_> {
    /// Whether lookbacks are tried at this level.
    pub(crate) fn tries_lookbacks(&self) -> bool {
        self.config.level > 1
    }

    /// What lookbacks must save.
    pub(crate) fn lookback_must_save(&self) -> f64 {
        match self.config.favor {
            Favor::Size => 0.0,
            Favor::Speed | Favor::Balanced => LOOKBACK_MUST_SAVE,
        }
    }

    /// Tries what costs more on the best mode.
    pub(crate) fn refine<L: Latent>(&self, all: &[L], sample: &Sample<L>, best: &mut Candidate<L>) {
        if let (&DeltaPayload::Consecutive { order, .. }, Some(_)) =
            (&best.delta, &best.sample.secondary)
        {
            let delta = DeltaPayload::Consecutive { order, secondary: true };
            let bits = self.bits(best, sample, &delta);
            if bits < best.bits {
                best.take(delta, bits);
            }
        }
        let Some(lengths) = Lengths::new(all.len(), self.config.level, self.config.favor) else {
            return;
        };
        if all.len() >= CONV1_LEAST {
            self.try_conv1(sample, &lengths, best);
        }
        if all.len() < LOOKBACK_LEAST {
            return;
        }
        let Some(glance) = Stretch::new(self, all, best, lengths.glance) else { return };
        self.try_lookback(all, &glance, &lengths, best);
    }

    /// Linear predictions against the best so far, both on the sample.
    fn try_conv1<L: Latent>(&self, sample: &Sample<L>, lengths: &Lengths, best: &mut Candidate<L>) {
        let is_wide = best.sample.primary.latents().is_some() && L::BITS > 32;
        if is_wide || self.config.favor == Favor::Speed {
            return;
        }
        let fits = |orders: &[usize], stripes: &[Range<usize>]| match &best.sample.primary {
            Primary::Latents(primary) => conv1_fit::fits(primary, stripes, orders),
            Primary::Indices(indices) => conv1_fit::fits(indices, stripes, orders),
        };
        let of_fit = |conv: Conv1| {
            let delta = DeltaPayload::Conv1(conv);
            (self.bits(best, sample, &delta), delta)
        };
        // A glance at every other stripe.
        let few: Vec<Range<usize>> = sample.stripes.iter().step_by(2).cloned().collect();
        let Some((bits, _)) = fits(&[CONV1_GLANCE], &few).pop().map(of_fit) else { return };
        if bits > best.bits * lengths.conv1_promising {
            return;
        }
        let must_save = if self.config.favor == Favor::Size { 0.0 } else { SLOW_MUST_SAVE };
        let found = fits(&CONV1_ORDERS, &sample.stripes)
            .into_iter()
            .map(of_fit)
            .fold((f64::INFINITY, DeltaPayload::None), |a, b| if b.0 < a.0 { b } else { a });
        if found.0 < best.bits * (1.0 - must_save) {
            best.take(found.1, found.0);
        }
    }

    /// Lookbacks against the best so far, both on one stretch of the chunk.
    fn try_lookback<L: Latent>(
        &self,
        all: &[L],
        glance: &Stretch<L>,
        lengths: &Lengths,
        best: &mut Candidate<L>,
    ) {
        if glance.gain(self, best, &lookback(glance.sample.latents.len())) > lengths.promising {
            return;
        }
        let Some(stretch) = Stretch::new(self, all, best, lengths.decision) else { return };
        let gain = stretch.gain(self, best, &lookback(lengths.decision));
        if gain < 1.0 - self.lookback_must_save() {
            best.take(lookback(all.len()), best.bits * gain);
        }
    }
}
