//! Delta encodings that cost more to try, tried on the best mode and only where a glance says
//! that they may win.

use crate::number::Latent;
use crate::pco::binning::optimize::log2;
use crate::pco::config::{Config, Favor};
use crate::pco::delta::{conv1_fit, lookback_search};
use crate::pco::encode::candidate::{Candidate, Search};
use crate::pco::encode::distinct::Recurrence;
use crate::pco::encode::plan::{ModeChoice, ModeLatents};
use crate::pco::encode::sample::{self, Sample};
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::layout::delta::DeltaPayload;
use std::ops::Range;

/// What slow encodings must save unless size is all that matters.
const SLOW_MUST_SAVE: f64 = 0.08;
/// What lookbacks must save: they are slower than consecutive deltas, though not by that much.
const LOOKBACK_MUST_SAVE: f64 = 0.025;
/// The same at quick levels, as they take three to seven times as long to encode.
const QUICK_LOOKBACK_MUST_SAVE: f64 = 0.05;
/// Numbers that are glanced at for lookbacks where those are unlikely.
const SHORT_GLANCE: usize = 1 << 9;
/// So many times what linear predictions take on one stretch may lookbacks take there: elsewhere they may
/// be better, where predictions fit less well.
const PROMISING_OF_CONV1: f64 = 1.05;
/// Orders of linear predictions that are tried.
const CONV1_ORDERS: [usize; 5] = [2, 4, 8, 16, 32];
/// The order that a glance tries.
const CONV1_GLANCE: usize = 16;
/// Numbers that linear predictions are glanced at and decided by, at most.
const CONV1_GLANCED: usize = 1 << 13;
const CONV1_DECIDED: usize = 1 << 14;
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

/// How often each entry of a dictionary comes in all of a chunk. A stretch has fewer values, and by its own
/// counts it would take fewer bits to say which.
struct InAll {
    counts: Vec<u32>,
}

impl InAll {
    /// Of a candidate that has a dictionary without deltas.
    fn of<L: Latent>(candidate: &Candidate<L>) -> Option<Self> {
        let whole = candidate.whole.as_ref()?;
        let is_bare = !whole.counts.is_empty() && candidate.delta == DeltaPayload::None;
        is_bare.then(|| Self { counts: whole.counts.clone() })
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
            _ if self.config.is_quick() => QUICK_LOOKBACK_MUST_SAVE,
            Favor::Speed | Favor::Balanced => LOOKBACK_MUST_SAVE,
        }
    }

    /// Tries what costs more on the best mode.
    pub(crate) fn refine<L: Latent>(
        &self,
        all: &[L],
        sample: &Sample<L>,
        recurrence: Recurrence,
        best: &mut Candidate<L>,
    ) {
        if let (&DeltaPayload::Consecutive { order, .. }, Some(_)) =
            (&best.delta, &best.sample.secondary)
        {
            let delta = DeltaPayload::Consecutive { order, secondary: true };
            let bits = self.bits(best, sample, &delta);
            if bits < best.bits {
                best.take(delta, bits);
            }
        }
        let Some(lengths) = Lengths::new(all.len(), self.config) else { return };
        if all.len() >= CONV1_LEAST {
            self.try_conv1(all, sample, &lengths, best);
        }
        if all.len() >= LOOKBACK_LEAST {
            self.try_lookback(all, &lengths, recurrence, best);
        }
    }

    /// Linear predictions against the best so far, glanced at on the sample and decided by a larger one.
    fn try_conv1<L: Latent>(
        &self,
        all: &[L],
        sample: &Sample<L>,
        lengths: &Lengths,
        best: &mut Candidate<L>,
    ) {
        let is_wide = best.sample.primary.latents().is_some() && L::BITS > 32;
        if is_wide || self.config.favor == Favor::Speed {
            return;
        }
        let every = if sample.latents.len() > CONV1_GLANCED { 2 } else { 1 };
        let few: Vec<Range<usize>> = sample.stripes.iter().step_by(every).cloned().collect();
        let glance = fits(&best.sample, &few, &[CONV1_GLANCE]).pop();
        let Some(glance) = glance.map(|delta| self.bits(best, sample, &delta)) else { return };
        if glance > best.bits * lengths.conv1_promising {
            return;
        }
        let n =
            (all.len() / 16).clamp(sample.latents.len(), CONV1_DECIDED.max(sample.latents.len()));
        let Some(stretch) = Stretch::of(all, best, sample::stripes(all.len(), n)) else { return };
        let without = self.as_it_is(best, &stretch);
        let mut with = (f64::INFINITY, DeltaPayload::None);
        for delta in fits(&stretch.latents, &stretch.sample.stripes, &CONV1_ORDERS) {
            let bits = self.with(&delta, best, &stretch, without.secondary);
            with = if bits < with.0 { (bits, delta) } else { with };
        }
        let must_save = if self.config.favor == Favor::Size { 0.0 } else { SLOW_MUST_SAVE };
        let gain = with.0 / without.all;
        if gain < 1.0 - must_save {
            best.take(with.1, best.bits * gain);
        }
    }

    /// Lookbacks against the best so far, both on stretches of the chunk.
    fn try_lookback<L: Latent>(
        &self,
        all: &[L],
        lengths: &Lengths,
        recurrence: Recurrence,
        best: &mut Candidate<L>,
    ) {
        let bits = |length, eighths| {
            let stretch = Stretch::new(all, best, length, eighths)?;
            let without = self.as_it_is(best, &stretch);
            Some((without.all, self.with_lookback(best, &stretch, length, without.secondary)))
        };
        let few = self.is_short_glance(recurrence, best).then_some(SHORT_GLANCE);
        let Some(glance) = bits(few.unwrap_or(lengths.glance), MIDDLE) else { return };
        let least = 1.0 - self.lookback_must_save();
        let (promising, near) = match best.delta {
            DeltaPayload::Conv1(_) => (PROMISING_OF_CONV1, PROMISING_OF_CONV1),
            _ => (lengths.promising, least),
        };
        if glance.1 > glance.0 * promising {
            return;
        }
        // Where chunks are long, one stretch may be unlike all others.
        let is_long = all.len() >= lengths.decision * ENDS.len();
        let ends = if is_long { &ENDS[..] } else { &[] };
        let Some(middle) = bits(lengths.decision, MIDDLE) else { return };
        if middle.1 >= middle.0 * near {
            return;
        }
        // These are shorter, and have less behind them to look back to.
        let ends = ends.iter().filter_map(|&eighths| bits(lengths.decision / 2, eighths));
        let (without, with) = ends.fold(middle, |a, b| (a.0 + b.0, a.1 + b.1));
        if with < without {
            best.take(lookback(all.len()), best.bits * f64::min(with / without, least));
        }
    }

    /// Whether lookbacks are so unlikely that few numbers are glanced at. Beside linear predictions, longer glances
    /// take little time.
    fn is_short_glance<L>(&self, recurrence: Recurrence, best: &Candidate<L>) -> bool {
        match self.config.level {
            _ if self.config.favor == Favor::Size => false,
            _ if self.config.is_quick() => !recurrence.is_likely(self.bits_each(best)),
            ..10 => recurrence.is_rare() && !matches!(best.delta, DeltaPayload::Conv1(_)),
            10.. => false,
        }
    }

    /// Lookbacks with other modes than the best, which may well hide what they save.
    pub(crate) fn try_lookback_of_modes<L: Latent>(
        &self,
        all: &[L],
        others: impl Iterator<Item = Candidate<L>>,
        best: &mut Candidate<L>,
    ) {
        let Some(lengths) = Lengths::new(all.len(), self.config) else { return };
        let least = 1.0 - self.lookback_must_save();
        let is_dict = matches!(best.mode, ModeChoice::Dict { .. });
        let most: &[_] = if all.len() <= SHORT && is_dict {
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
                let bits = bits.unwrap_or_else(|| self.as_it_is(best, &without).all);
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
    fn as_it_is<L: Latent>(&self, candidate: &Candidate<L>, stretch: &Stretch<L>) -> Bits {
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
        self.with(&delta, candidate, stretch, secondary)
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
        let secondary = secondary.unwrap_or_else(|| self.secondary_bits(&pages, delta));
        candidate.mode_bits + (self.bits_but_secondary(&pages, delta) + secondary)
    }
}

/// Linear predictions of some orders, fitted to stripes of latents.
fn fits<L: Latent>(
    latents: &ModeLatents<L>,
    stripes: &[Range<usize>],
    orders: &[usize],
) -> Vec<DeltaPayload> {
    let fits = match &latents.primary {
        Primary::Latents(primary) => conv1_fit::fits(primary, stripes, orders),
        Primary::Indices(indices) => conv1_fit::fits(indices, stripes, orders),
    };
    fits.into_iter().map(DeltaPayload::Conv1).collect()
}
