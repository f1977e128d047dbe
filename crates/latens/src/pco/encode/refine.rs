//! Delta encodings that cost more to try, tried on the best mode and only where a glance says
//! that they may win.

use crate::number::Latent;
use crate::pco::binning::optimize::log2;
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
const CONV1_GLANCE: usize = 16;
/// Chunks up to this are looked at as a whole where a dictionary is best: of what repeats, a stretch has
/// seen too little.
const SHORT: usize = 1 << 14;
/// Where stretches lie, in eighths: the one that is glanced at for lookbacks, and those that decide with it.
const MIDDLE: usize = 4;
const ENDS: [usize; 2] = [1, 7];

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
        let sample = Sample::new(all, std::iter::once(start..start + length).collect());
        let latents = match &candidate.whole {
            Some(whole) => whole.gather(&sample.ranges),
            None => ModeLatents::split(sample.latents.clone(), candidate.mode)?,
        };
        Some(Self { sample, latents })
    }
}

/// How often each entry of a dictionary comes in all of a chunk. A stretch has fewer values, and by its own
/// counts it would take fewer bits to say which.
struct InAll {
    counts: Vec<u32>,
}

impl InAll {
    /// Of a candidate that has a dictionary without deltas.
    fn of<L: Latent>(candidate: &Candidate<L>) -> Option<Self> {
        let indices = candidate.whole.as_ref()?.primary.indices()?;
        if candidate.delta != DeltaPayload::None {
            return None;
        }
        let mut counts = vec![0; indices.iter().max().map_or(0, |&most| most as usize + 1)];
        for &index in indices {
            counts[index as usize] += 1;
        }
        Some(Self { counts })
    }

    /// About what the chunk would take if all of it were as the stretch is.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn bits<L: Latent>(&self, candidate: &Candidate<L>, stretch: &Stretch<L>) -> Option<f64> {
        let indices = stretch.latents.primary.indices()?;
        let n = self.counts.iter().map(|&count| f64::from(count)).sum::<f64>();
        let of = |&index: &u32| log2(f64::from(self.counts[index as usize]));
        let each = log2(n) - indices.iter().map(of).sum::<f64>() / indices.len() as f64;
        Some(candidate.mode_bits + each * n)
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
        if all.len() >= LOOKBACK_LEAST {
            self.try_lookback(all, &lengths, best);
        }
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

    /// Lookbacks against the best so far, both on stretches of the chunk.
    fn try_lookback<L: Latent>(&self, all: &[L], lengths: &Lengths, best: &mut Candidate<L>) {
        let bits = |length, eighths| {
            let stretch = Stretch::new(all, best, length, eighths)?;
            let without = self.without_lookback(best, &stretch);
            Some((without.all, self.with_lookback(best, &stretch, length, without.secondary)))
        };
        let Some(glance) = bits(lengths.glance, MIDDLE) else { return };
        if glance.1 > glance.0 * lengths.promising {
            return;
        }
        // Where chunks are long, one stretch may be unlike all others.
        let is_long = all.len() >= lengths.decision * ENDS.len();
        let ends = if is_long { &ENDS[..] } else { &[] };
        let Some(middle) = bits(lengths.decision, MIDDLE) else { return };
        let least = 1.0 - self.lookback_must_save();
        if middle.1 >= middle.0 * least {
            return;
        }
        // These are shorter, and have less behind them to look back to.
        let ends = ends.iter().filter_map(|&eighths| bits(lengths.decision / 2, eighths));
        let (without, with) = ends.fold(middle, |a, b| (a.0 + b.0, a.1 + b.1));
        if with < without {
            best.take(lookback(all.len()), best.bits * f64::min(with / without, least));
        }
    }

    /// Lookbacks with other modes than the best, which may well hide what they save.
    pub(crate) fn try_lookback_of_modes<L: Latent>(
        &self,
        all: &[L],
        others: impl Iterator<Item = Candidate<L>>,
        best: &mut Candidate<L>,
    ) {
        let lengths = Lengths::new(all.len(), self.config.level, self.config.favor);
        let Some(lengths) = lengths else { return };
        let least = 1.0 - self.lookback_must_save();
        let most: &[_] = if all.len() <= SHORT {
            &[(all.len(), least)]
        } else {
            &[(lengths.glance, lengths.promising), (lengths.decision, least)]
        };
        let mut in_all = InAll::of(best);
        'others: for mut other in others {
            let mut gain = 1.0;
            for &(length, most) in most {
                let with = Stretch::new(all, &other, length, MIDDLE);
                let without = Stretch::new(all, best, length, MIDDLE);
                let (Some(with), Some(without)) = (with, without) else { continue 'others };
                let bits = in_all.as_ref().and_then(|in_all| in_all.bits(best, &without));
                let bits = bits.unwrap_or_else(|| self.without_lookback(best, &without).all);
                gain = self.with_lookback(&other, &with, length, None) / bits;
                if gain >= most {
                    continue 'others;
                }
            }
            other.take(lookback(all.len()), best.bits * gain);
            *best = other;
            in_all = None;
        }
    }

    /// Bits of the chunk with the candidate's delta encoding, by those of a stretch.
    fn without_lookback<L: Latent>(&self, candidate: &Candidate<L>, stretch: &Stretch<L>) -> Bits {
        let delta = &candidate.delta;
        let pages = Self::pages(&stretch.latents, &stretch.sample, delta);
        let secondary = self.secondary_bits(&pages, delta);
        let all = candidate.mode_bits + (self.bits_but_secondary(&pages, delta) + secondary);
        Bits { all, secondary: (!delta.covers_secondary()).then_some(secondary) }
    }

    /// Bits of the chunk with lookbacks, by those of a stretch.
    fn with_lookback<L: Latent>(
        &self,
        candidate: &Candidate<L>,
        stretch: &Stretch<L>,
        length: usize,
        secondary: Option<f64>,
    ) -> f64 {
        let delta = lookback(length.min(stretch.sample.latents.len()));
        let pages = Self::pages(&stretch.latents, &stretch.sample, &delta);
        let secondary = secondary.unwrap_or_else(|| self.secondary_bits(&pages, &delta));
        candidate.mode_bits + (self.bits_but_secondary(&pages, &delta) + secondary)
    }
}
