//! The plan that takes the fewest bits, as far as a sample tells.
//!
//! Each candidate mode is split on stripes of the chunk and weighed without deltas and, roughly,
//! with consecutive ones; orders are measured only for the modes that may win. What costs more
//! (dictionaries, lookbacks, linear predictions) is tried on the best of those, and only where a
//! glance says that it may win. What a caller forces narrows the candidates and nothing else.

use crate::error::{Error, Result};
use crate::number::{Latent, NumberKind, NumberType};
use crate::pco::binning::sort::sort;
use crate::pco::binning::{self, Effort};
use crate::pco::config::{Config, DeltaSpec};
use crate::pco::delta::conv1_fit;
use crate::pco::encode::candidate::{Candidate, Rival, Search};
use crate::pco::encode::distinct::{DICT, Distinct, Recurrence};
use crate::pco::encode::exact;
use crate::pco::encode::period;
use crate::pco::encode::plan::{ModeChoice, ModeLatents, Plan, forced_delta};
use crate::pco::encode::refine::lookback;
use crate::pco::encode::sample::{self, Sample};
use crate::pco::encode::whole::Whole;
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::layout::delta::DeltaPayload;
use crate::pco::mode::{decimals, detect, detect_floats, dict};
use crate::spare;

/// Consecutive deltas are measured for modes that roughly take no more than this times the best.
const CLOSE: f64 = 1.05;

/// Bits of mantissas are tried as zeros where they save no less than this part of what multiples save.
const QUANT_OF_MULT: f64 = 0.8;
/// A linear prediction is fitted to all of a chunk if that takes no more than this times the bits on the
/// sample that it was chosen by.
const REFIT: f64 = 1.02;
/// Bits a number of linear predictions that are right nearly always.
const FORETOLD: f64 = 0.25;
/// Longer chunks would take more memory than they may.
const FORETOLD_MOST: usize = 1 << 18;

/// Plans a chunk of ordered latents.
pub(crate) fn plan<L: Latent>(
    latents: Vec<L>,
    ty: NumberType,
    mode: Option<ModeChoice<L>>,
    config: &Config,
) -> Result<Plan<L>> {
    let n = latents.len();
    let too_many = || Error::invalid("more distinct values than a dictionary holds");
    if n == 1 && mode.is_none() && config.delta == DeltaSpec::Auto {
        // There is nothing to choose: the number is the first one of a page, and nothing is stored.
        let latents = ModeLatents::split(latents, ModeChoice::Classic).ok_or_else(too_many)?;
        let delta = DeltaPayload::Consecutive { order: 1, secondary: false };
        return Ok(Plan { latents, delta, lookbacks: None });
    }
    let search = Search { config, effort: Effort::of_estimates(config.level), n };
    let lengths = sample_lengths(n, config.level);
    let mut weighed = search.weigh_modes(&latents, ty, mode, lengths.0);
    if lengths.1 > lengths.0 && weighed.is_close() {
        weighed = search.weigh_modes(&latents, ty, mode, lengths.1);
    }
    let Weighed { sample, sorted, mut candidates, bound } = weighed;
    let mut rivals = Vec::new();
    let mut best = search.best(&sample, &mut candidates, &mut rivals);
    config.watch.ask()?;
    // The best mode that is no dictionary.
    let plain = best.as_ref().map_or(ModeChoice::Classic, |best| best.mode);
    if mode.is_none() {
        let bits = best.as_ref().map_or(f64::INFINITY, |best| best.bits);
        let dicts = Distinct::of(&sorted).orders(&latents, &sample, bits, config);
        // One dictionary in two orders: values are looked for once.
        let has_two = dicts.len() > 1;
        let mut in_order = None;
        for order in dicts {
            let mode = ModeChoice::Dict { most: DICT, order };
            let whole = in_order.take().or_else(|| ModeLatents::dict(&latents, DICT, order));
            let dict = whole
                .and_then(|whole| search.candidate_of(Some(whole), &sample, &sorted, mode, bound));
            let mut dict = search.best(&sample, &mut dict.into_iter().collect(), &mut rivals);
            if has_two && order == dict::Order::Count {
                in_order = dict.as_ref().and_then(|dict| dict.whole.as_ref()?.in_order());
            }
            if let (Some(dict), Some(plain)) = (&mut dict, &mut best) {
                search.weigh_in_full(&latents, dict, plain);
            }
            best = Candidate::better(best, dict);
        }
    }
    let mut best = best.ok_or_else(too_many)?;
    config.watch.ask()?;
    if config.delta == DeltaSpec::Auto {
        let recurrence = Recurrence::of(&sample, &sorted);
        search.refine(&latents, &sample, recurrence, &mut best);
        config.watch.ask()?;
        let is_dict = matches!(best.mode, ModeChoice::Dict { .. });
        let is_lookback = matches!(best.delta, DeltaPayload::Lookback { .. });
        let bits = search.bits_each(&best);
        // A mode that the caller asks for is kept.
        let hides = match best.mode {
            ModeChoice::Classic => false,
            ModeChoice::Dict { .. } => !is_lookback,
            _ => is_lookback || recurrence.is_hidden(bits),
        };
        if hides && mode.is_none() {
            let mut modes = vec![ModeChoice::Classic];
            modes.extend((is_dict && plain != ModeChoice::Classic).then_some(plain));
            let others = modes.into_iter().filter_map(|mode| {
                search.candidate(&latents, &sample, &sorted, mode, f64::INFINITY)
            });
            search.try_lookback_of_modes(&latents, others, &mut best);
        }
        let is_free = is_dict && mode.is_none();
        if is_free && is_lookback
            || !is_lookback
                && search.tries_lookbacks()
                && (is_foretold(&best, latents.len(), bits) || period::exists(&latents, bits))
        {
            let plain = is_free.then_some(ModeChoice::Classic);
            let plain = plain
                .and_then(|mode| search.candidate(&latents, &sample, &sorted, mode, f64::INFINITY));
            best = search.repeats_in_full(&latents, best, plain);
        }
        if config.cuts() {
            return exact::decide(latents, best, rivals, config.level).ok_or_else(too_many);
        }
    }
    config.watch.ask()?;
    let latents = match best.whole.take() {
        Some(whole) => {
            spare::give(latents);
            whole
        }
        None => ModeLatents::split(latents, best.mode).ok_or_else(too_many)?,
    };
    if let DeltaPayload::Conv1(conv) = &best.delta {
        // Fitted to all, not to the sample only. What repeats has many fits, of which some are worse
        // once they are whole numbers.
        let fitted = DeltaPayload::Conv1(match &latents.primary {
            Primary::Latents(primary) => conv1_fit::fit(primary, conv.weights.len()),
            Primary::Indices(indices) => conv1_fit::fit(indices, conv.weights.len()),
        });
        let is_forced = config.delta != DeltaSpec::Auto;
        if is_forced || search.bits(&best, &sample, &fitted) <= best.bits * REFIT {
            best.delta = fitted;
        }
    }
    Ok(Plan { latents, delta: best.delta, lookbacks: best.lookbacks })
}

/// Whether a linear prediction is right so often that numbers may well be the same again and again.
fn is_foretold<L>(candidate: &Candidate<L>, n: usize, bits: f64) -> bool {
    matches!(candidate.delta, DeltaPayload::Conv1(_)) && bits < FORETOLD && n <= FORETOLD_MOST
}

/// How many of `n` numbers are looked at, and how many where modes are close to each other then.
fn sample_lengths(n: usize, level: u32) -> (usize, usize) {
    let part = |of: usize, least: usize, most: usize| (n / of).clamp(least, most);
    match level {
        0..=5 => (part(32, 1 << 11, 1 << 12), 0),
        6..=8 => (1 << 12, part(32, 1 << 12, 1 << 13)),
        _ => (part(16, 1 << 12, 1 << 14), 0),
    }
}

/// Modes other than dictionaries, weighed on a sample without deltas and, roughly, with consecutive ones.
struct Weighed<L> {
    sample: Sample<L>,
    /// The sample in ascending order.
    sorted: Vec<L>,
    candidates: Vec<Candidate<L>>,
    /// The fewest bits of them.
    bound: f64,
}

impl<L: Latent> Weighed<L> {
    /// Whether another mode takes hardly more than the best.
    fn is_close(&self) -> bool {
        let is_close = |c: &&Candidate<L>| c.bits.min(c.rough()) <= self.bound * CLOSE;
        self.candidates.iter().filter(is_close).count() > 1
    }
}

/// Modes worth measuring, dictionaries aside.
fn mode_candidates<L: Latent>(sample: &[L], ty: NumberType) -> Vec<ModeChoice<L>> {
    let mut modes = vec![ModeChoice::Classic];
    if ty.kind() == NumberKind::Float {
        let (bases, saves) = detect_floats::float_mult_bases(sample);
        modes.extend(bases.into_iter().map(ModeChoice::FloatMult));
        let bits = detect_floats::float_quant_bits(sample, saves * QUANT_OF_MULT);
        modes.extend(bits.into_iter().map(ModeChoice::FloatQuant));
    } else {
        modes.extend(detect::int_mult_bases(sample).into_iter().map(ModeChoice::IntMult));
    }
    modes
}

impl Search<'_> {
    /// All modes that may be worth it, or the one that the caller forces.
    fn weigh_modes<L: Latent>(
        &self,
        latents: &[L],
        ty: NumberType,
        mode: Option<ModeChoice<L>>,
        sample_n: usize,
    ) -> Weighed<L> {
        let config = self.config;
        let sample = Sample::new(latents, sample::stripes(latents.len(), sample_n));
        let mut sorted = sample.latents.clone();
        sort(&mut sorted);
        let modes = match mode {
            // Which order is better depends on the delta encoding.
            Some(ModeChoice::Dict { most, .. }) if config.delta == DeltaSpec::Auto => {
                [dict::Order::Count, dict::Order::Value]
                    .map(|order| ModeChoice::Dict { most, order })
                    .to_vec()
            }
            Some(mode) => vec![mode],
            None => {
                let mut modes = mode_candidates(&sample.latents, ty);
                if config.cuts() && ty.kind() == NumberKind::Float {
                    let decimals = decimals::bases(&sample.latents);
                    let decimals = decimals.into_iter().map(ModeChoice::FloatMult);
                    modes.extend(decimals.filter(|mode| !modes.contains(mode)).collect::<Vec<_>>());
                }
                modes
            }
        };
        let (mut candidates, mut bound) = (Vec::new(), f64::INFINITY);
        for mode in modes {
            let candidate = self.candidate(latents, &sample, &sorted, mode, bound);
            bound = candidate.as_ref().map_or(bound, |c| bound.min(c.bits).min(c.rough()));
            candidates.extend(candidate);
        }
        Weighed { sample, sorted, candidates, bound }
    }

    /// At high levels, whose many bins are nearly a dictionary themselves, the bits of the whole
    /// chunk with and without one.
    fn weigh_in_full<L: Latent>(
        &self,
        all: &[L],
        dict: &mut Candidate<L>,
        plain: &mut Candidate<L>,
    ) {
        let is_bare = plain.mode == ModeChoice::Classic
            && [&*dict, plain].iter().all(|c| c.delta == DeltaPayload::None);
        let indices = dict.whole.as_ref().and_then(|whole| whole.primary.indices());
        if let (10.., true, Some(indices)) = (self.config.level, is_bare, indices) {
            let effort = Effort::of_level(self.config.level);
            plain.bits = binning::estimate_bits(&mut all.to_vec(), self.n, effort);
            dict.bits =
                dict.mode_bits + binning::estimate_bits(&mut indices.clone(), self.n, effort);
        }
    }

    /// Lookbacks on the whole chunk, with the best mode so far and without its dictionary: where
    /// latents repeat, they are stored about once either way, which no stretch shows.
    fn repeats_in_full<L: Latent>(
        &self,
        all: &[L],
        mut best: Candidate<L>,
        plain: Option<Candidate<L>>,
    ) -> Candidate<L> {
        let delta = lookback(all.len());
        let of = |candidate: &Candidate<L>| {
            let split = match &candidate.whole {
                Some(whole) => whole.without_dict(),
                None => ModeLatents::split(spare::copy(all), candidate.mode)?,
            };
            let whole = Whole::new(split, &delta, None, self.effort);
            Some((candidate.mode_bits + whole.bits, whole.lookbacks))
        };
        if let Some((bits, lookbacks)) = of(&best)
            && (bits < best.bits * (1.0 - self.lookback_must_save())
                || matches!(best.delta, DeltaPayload::Lookback { .. }))
        {
            best.take(delta.clone(), bits);
            best.lookbacks = lookbacks;
        }
        if let Some(mut plain) = plain
            && let Some((bits, lookbacks)) = of(&plain)
            && bits < best.bits * (1.0 - self.lookback_must_save())
        {
            plain.take(delta, bits);
            plain.lookbacks = lookbacks;
            best = plain;
        }
        best
    }

    /// The best of the candidates, with consecutive deltas where they pay, or with the delta
    /// encoding that is forced.
    fn best<L: Latent>(
        &self,
        sample: &Sample<L>,
        candidates: &mut Vec<Candidate<L>>,
        rivals: &mut Vec<Rival<L>>,
    ) -> Option<Candidate<L>> {
        if self.config.delta == DeltaSpec::Auto {
            let (within, close) = if self.config.level >= 10 { (1.03, 1.1) } else { (1.01, CLOSE) };
            let least = candidates.iter().fold(f64::INFINITY, |a, c| a.min(c.bits).min(c.rough()));
            for candidate in candidates.iter_mut().filter(|c| c.rough() < least * close) {
                self.consecutive(sample, candidate, within);
            }
        } else {
            for candidate in candidates.iter_mut() {
                let delta = match &candidate.sample.primary {
                    Primary::Latents(primary) => forced_delta(self.config.delta, primary),
                    Primary::Indices(indices) => forced_delta(self.config.delta, indices),
                };
                let bits = self.bits(candidate, sample, &delta);
                candidate.take(delta, bits);
            }
        }
        rivals.extend(Candidate::rivals(candidates));
        candidates.drain(..).map(Some).fold(None, Candidate::better)
    }
}
