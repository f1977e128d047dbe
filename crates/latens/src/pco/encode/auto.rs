//! The plan that takes the fewest bits, as far as a sample tells.
//!
//! Each candidate mode is split and each candidate delta encoding applied on stripes of the
//! chunk, binned as the whole would be, and scaled to the chunk. Cheap candidates come first;
//! costly ones (dictionaries, lookbacks, linear predictions) are tried on the best of those, and
//! only where a glance says that they may win. What a caller forces narrows the candidates and
//! nothing else.

use crate::error::{Error, Result};
use crate::number::{Latent, NumberKind, NumberType};
use crate::pco::binning::{self, Effort};
use crate::pco::config::{Config, DeltaSpec, Favor};
use crate::pco::delta::{conv1_fit, lookback_search};
use crate::pco::encode::plan::{ModeChoice, ModeLatents, Plan, forced_delta};
use crate::pco::encode::sample::{self, Sample};
use crate::pco::encode::split::{self, PageLatents, Stored};
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::layout::delta::{Conv1, DeltaPayload, MAX_CONSECUTIVE_ORDER};
use crate::pco::layout::mode::MAX_DICT;
use crate::pco::mode::detect;

/// Longer stretches, for encodings that look far back: for a glance, and for the decision.
const GLANCE: usize = 1 << 12;
const STRETCH: usize = 1 << 15;
/// What slow encodings must save unless size is all that matters.
const SLOW_MUST_SAVE: f64 = 0.08;
/// What lookbacks must save: they are slower than consecutive deltas, though not by much.
const LOOKBACK_MUST_SAVE: f64 = 0.01;
/// So many times the best a glance may cost for a closer look.
const PROMISING: f64 = 1.15;
/// Orders of linear predictions that are tried.
const CONV1_ORDERS: [usize; 5] = [2, 4, 8, 16, 32];
/// The order that a glance tries.
const CONV1_GLANCE: usize = 8;
/// Largest dictionary that is tried.
const DICT: usize = if MAX_DICT < 1 << 16 { MAX_DICT } else { 1 << 16 };

/// Plans a chunk of ordered latents.
pub(crate) fn plan<L: Latent>(
    latents: &[L],
    ty: NumberType,
    mode: Option<ModeChoice<L>>,
    config: &Config,
) -> Result<Plan<L>> {
    let search = Search { config, effort: Effort::of_level(config.level.min(7)), n: latents.len() };
    let too_many = || Error::invalid("more distinct values than a dictionary holds");
    let sample = Sample::new(latents, sample::stripes(latents.len()));
    let modes = match mode {
        Some(mode) => vec![mode],
        None => mode_candidates(&sample.latents, ty),
    };
    let mut best: Option<Candidate<L>> = None;
    for mode in modes {
        if let Some(candidate) = search.candidate(latents, &sample, mode) {
            best = Candidate::better(best, Some(candidate));
        }
    }
    if mode.is_none() && search.dict_may_win(&sample.latents, best.as_ref()) {
        best = Candidate::better(
            best,
            search.candidate(latents, &sample, ModeChoice::Dict { most: DICT }),
        );
    }
    let mut best = best.ok_or_else(too_many)?;
    if config.delta == DeltaSpec::Auto {
        search.refine(latents, &sample, &mut best);
    }
    let latents = match best.whole {
        Some(whole) => whole,
        None => ModeLatents::split(latents, best.mode).ok_or_else(too_many)?,
    };
    // Fitted to all, not to the sample only.
    let refit = |conv: Conv1| match &latents.primary {
        Primary::Latents(primary) => conv1_fit::fit(primary, conv.weights.len()),
        Primary::Indices(indices) => conv1_fit::fit(indices, conv.weights.len()),
    };
    let delta = match best.delta {
        DeltaPayload::Conv1(conv) => DeltaPayload::Conv1(refit(conv)),
        other => other,
    };
    Ok(Plan { latents, delta })
}

/// Modes worth measuring, dictionaries aside.
fn mode_candidates<L: Latent>(sample: &[L], ty: NumberType) -> Vec<ModeChoice<L>> {
    let mut modes = vec![ModeChoice::Classic];
    if ty.kind() == NumberKind::Float {
        modes.extend(detect::float_mult_bases(sample).into_iter().map(ModeChoice::FloatMult));
        modes.extend(detect::float_quant_bits(sample).into_iter().map(ModeChoice::FloatQuant));
    } else {
        modes.extend(detect::int_mult_bases(sample).into_iter().map(ModeChoice::IntMult));
    }
    modes
}

/// A mode with its best delta encoding so far.
struct Candidate<L> {
    mode: ModeChoice<L>,
    /// Bits of the mode's payload.
    mode_bits: f64,
    /// The sample split by the mode.
    sample: ModeLatents<L>,
    /// The whole chunk split by the mode, where that had to be done.
    whole: Option<ModeLatents<L>>,
    delta: DeltaPayload,
    /// About what the chunk takes.
    bits: f64,
}

impl<L> Candidate<L> {
    fn better(a: Option<Self>, b: Option<Self>) -> Option<Self> {
        match (a, b) {
            (Some(a), Some(b)) => Some(if b.bits < a.bits { b } else { a }),
            (a, b) => a.or(b),
        }
    }

    fn take(&mut self, delta: DeltaPayload, bits: f64) {
        self.delta = delta;
        self.bits = bits;
    }
}

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
            None => ModeLatents::split(&sample.latents, candidate.mode)?,
        };
        let bits = candidate.mode_bits + search.split_bits(&latents, &sample, &candidate.delta);
        Some(Self { sample, latents, bits })
    }

    /// A linear prediction for the stretch.
    fn fit(&self, order: usize) -> DeltaPayload {
        DeltaPayload::Conv1(match &self.latents.primary {
            Primary::Latents(primary) => conv1_fit::fit(primary, order),
            Primary::Indices(indices) => conv1_fit::fit(indices, order),
        })
    }

    /// Bits with another delta encoding over bits with the candidate's.
    fn gain(&self, search: &Search<'_>, candidate: &Candidate<L>, delta: &DeltaPayload) -> f64 {
        (candidate.mode_bits + search.split_bits(&self.latents, &self.sample, delta)) / self.bits
    }
}

struct Search<'a> {
    config: &'a Config,
    effort: Effort,
    /// Numbers in the chunk.
    n: usize,
}

impl Search<'_> {
    /// A mode with its best order of consecutive deltas, or with the delta encoding that is
    /// forced; `None` where the mode does not apply.
    fn candidate<L: Latent>(
        &self,
        all: &[L],
        sample: &Sample<L>,
        mode: ModeChoice<L>,
    ) -> Option<Candidate<L>> {
        let whole = match mode {
            // The dictionary is that of the whole chunk.
            ModeChoice::Dict { .. } => Some(ModeLatents::split(all, mode)?),
            _ => None,
        };
        let split = match &whole {
            Some(whole) => whole.gather(&sample.ranges),
            None => ModeLatents::split(&sample.latents, mode)?,
        };
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let mode_bits = whole.as_ref().map_or(&split, |w| w).mode.written_bits() as f64;
        let mut found = Candidate {
            mode,
            mode_bits,
            sample: split,
            whole,
            delta: DeltaPayload::None,
            bits: f64::INFINITY,
        };
        if self.config.delta == DeltaSpec::Auto {
            self.consecutive(sample, &mut found);
        } else {
            let delta = match &found.sample.primary {
                Primary::Latents(primary) => forced_delta(self.config.delta, primary),
                Primary::Indices(indices) => forced_delta(self.config.delta, indices),
            };
            let bits = self.bits(&found, sample, &delta);
            found.take(delta, bits);
        }
        Some(found)
    }

    /// No deltas, or the order of consecutive ones that seems best.
    fn consecutive<L: Latent>(&self, sample: &Sample<L>, found: &mut Candidate<L>) {
        let secondary = self.variable_bits(found.sample.secondary.iter().map(Vec::as_slice), 0);
        let rest = found.mode_bits + secondary;
        let (none, order, ordered) = match &found.sample.primary {
            Primary::Latents(primary) => self.orders(primary, sample),
            Primary::Indices(indices) => self.orders(indices, sample),
        };
        found.take(DeltaPayload::None, rest + none);
        if rest + ordered < found.bits {
            found.take(DeltaPayload::Consecutive { order, secondary: false }, rest + ordered);
        }
    }

    /// Bits of a variable without deltas; the best order for it and its bits.
    fn orders<V: Latent, L: Latent>(&self, primary: &[V], sample: &Sample<L>) -> (f64, u32, f64) {
        let none = self.variable_bits(std::iter::once(primary), 0);
        let orders = sample::rough_bits_by_order(primary, &sample.stripes, MAX_CONSECUTIVE_ORDER);
        let least = orders.iter().copied().fold(f64::INFINITY, f64::min);
        let mut best = (1, f64::INFINITY);
        for (order, &rough) in (1..).zip(&orders) {
            if rough > least * 1.02 {
                continue;
            }
            let delta = DeltaPayload::Consecutive { order, secondary: false };
            let stored: Vec<Stored<V>> = sample
                .stripes
                .iter()
                .map(|range| split::apply(primary[range.clone()].to_vec(), &delta, &[]))
                .collect();
            let bits =
                self.variable_bits(stored.iter().map(|s| s.latents.as_slice()), order as usize);
            if bits < best.1 {
                best = (order, bits);
            }
        }
        (none, best.0, best.1)
    }

    /// Whether a sample's values repeat enough for a dictionary.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn dict_may_win<L: Latent>(&self, sample: &[L], best: Option<&Candidate<L>>) -> bool {
        if L::BITS == 8 {
            return false;
        }
        let mut sorted = sample.to_vec();
        sorted.sort_unstable();
        let total = sorted.len() as f64;
        let (mut distinct, mut entropy) = (0.0, 0.0);
        for run in sorted.chunk_by(|a, b| a == b) {
            let count = run.len() as f64;
            distinct += 1.0;
            entropy += count / total * (total / count).log2();
        }
        let least = entropy * self.n as f64 + distinct * f64::from(L::BITS);
        distinct * 3.0 < total && best.is_none_or(|best| least < best.bits)
    }

    /// Tries what costs more on the best mode.
    fn refine<L: Latent>(&self, all: &[L], sample: &Sample<L>, best: &mut Candidate<L>) {
        if let (&DeltaPayload::Consecutive { order, .. }, Some(_)) =
            (&best.delta, &best.sample.secondary)
        {
            let delta = DeltaPayload::Consecutive { order, secondary: true };
            let bits = self.bits(best, sample, &delta);
            if bits < best.bits {
                best.take(delta, bits);
            }
        }
        if self.config.level >= 2 {
            self.try_conv1(all, best);
            self.try_lookback(all, best);
        }
    }

    /// Linear predictions against the best so far, both on one stretch of the chunk.
    fn try_conv1<L: Latent>(&self, all: &[L], best: &mut Candidate<L>) {
        let is_wide = best.sample.primary.latents().is_some() && L::BITS > 32;
        if is_wide || self.config.favor == Favor::Speed {
            return;
        }
        let Some(glance) = Stretch::new(self, all, best, GLANCE) else { return };
        if glance.gain(self, best, &glance.fit(CONV1_GLANCE)) > PROMISING {
            return;
        }
        let must_save = if self.config.favor == Favor::Size { 0.0 } else { SLOW_MUST_SAVE };
        let Some(stretch) = Stretch::new(self, all, best, STRETCH) else { return };
        let (gain, delta) = CONV1_ORDERS
            .map(|order| stretch.fit(order))
            .map(|delta| (stretch.gain(self, best, &delta), delta))
            .into_iter()
            .fold((f64::INFINITY, DeltaPayload::None), |a, b| if b.0 < a.0 { b } else { a });
        if gain < 1.0 - must_save {
            best.take(delta, best.bits * gain);
        }
    }

    /// Lookbacks against the best so far, both on one stretch of the chunk.
    fn try_lookback<L: Latent>(&self, all: &[L], best: &mut Candidate<L>) {
        let lookback = |n: usize| {
            let window_log = lookback_search::window_log(n);
            DeltaPayload::Lookback { window_log, state_log: 0, secondary: false }
        };
        let Some(glance) = Stretch::new(self, all, best, GLANCE) else { return };
        if glance.gain(self, best, &lookback(GLANCE)) > PROMISING {
            return;
        }
        let must_save = if self.config.favor == Favor::Size { 0.0 } else { LOOKBACK_MUST_SAVE };
        let Some(stretch) = Stretch::new(self, all, best, STRETCH) else { return };
        let gain = stretch.gain(self, best, &lookback(STRETCH));
        if gain < 1.0 - must_save {
            best.take(lookback(all.len()), best.bits * gain);
        }
    }

    /// Bits of the chunk with a candidate's mode and a delta encoding.
    fn bits<L: Latent>(
        &self,
        candidate: &Candidate<L>,
        sample: &Sample<L>,
        delta: &DeltaPayload,
    ) -> f64 {
        candidate.mode_bits + self.split_bits(&candidate.sample, sample, delta)
    }

    /// Bits of the variables of a chunk, by those of a sample's stripes.
    fn split_bits<L: Latent>(
        &self,
        latents: &ModeLatents<L>,
        sample: &Sample<L>,
        delta: &DeltaPayload,
    ) -> f64 {
        fn slices<'a, L: Latent, V: Latent>(
            pages: &'a [PageLatents<L>],
            pick: impl Fn(&'a PageLatents<L>) -> Option<&'a Stored<V>> + 'a,
        ) -> impl Iterator<Item = &'a [V]> + 'a {
            pages.iter().filter_map(pick).map(|stored| stored.latents.as_slice())
        }
        let pages: Vec<_> =
            sample.stripes.iter().map(|range| split::page(latents, delta, range.clone())).collect();
        let state_n = delta.state_n();
        let primary = match &latents.primary {
            Primary::Latents(_) => {
                self.variable_bits(slices(&pages, |p| p.primary.latents()), state_n)
            }
            Primary::Indices(_) => {
                self.variable_bits(slices(&pages, |p| p.primary.indices()), state_n)
            }
        };
        let secondary_n = if delta.covers_secondary() { state_n } else { 0 };
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let meta = delta.written_bits() as f64;
        meta + primary
            + self.variable_bits(slices(&pages, |p| p.delta.as_ref()), 0)
            + self.variable_bits(slices(&pages, |p| p.secondary.as_ref()), secondary_n)
    }

    /// Bits of one variable of the chunk, by what a sample stores of it.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn variable_bits<'v, V: Latent>(
        &self,
        parts: impl Iterator<Item = &'v [V]>,
        state_n: usize,
    ) -> f64 {
        let mut latents: Vec<V> = Vec::new();
        for part in parts {
            latents.extend_from_slice(part);
        }
        let stored = self.n.saturating_sub(state_n);
        let state_bits = (state_n * V::BITS as usize) as f64;
        state_bits + binning::estimate_bits(&mut latents, stored, self.effort)
    }
}
