//! The plan that takes the fewest bits, as far as a sample tells.
//!
//! Each candidate mode is split on stripes of the chunk and weighed without deltas and, roughly,
//! with consecutive ones; orders are measured only for the modes that may win. What costs more
//! (dictionaries, lookbacks, linear predictions) is tried on the best of those, and only where a
//! glance says that it may win. What a caller forces narrows the candidates and nothing else.

mod full;
mod lower;
mod modes;

use crate::error::{Error, Result};
use crate::number::{Latent, NumberKind, NumberType};
use crate::pco::binning::Effort;
use crate::pco::config::{Config, DeltaSpec};
use crate::pco::delta::conv1_fit;
use crate::pco::encode::candidate::{Candidate, Rival, Search};
use crate::pco::encode::distinct::{self, DICT, Distinct};
use crate::pco::encode::exact;
use crate::pco::encode::period;
use crate::pco::encode::plan::{ModeChoice, ModeLatents, Plan, Ranks};
use crate::pco::encode::recurrence::Values;
use crate::pco::encode::sample::Sample;
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::layout::delta::DeltaPayload;
use crate::pco::mode::dict;
use crate::spare;
use full::is_foretold;
use modes::{Weighed, sample_lengths};

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
        return Ok(Plan { latents, delta, lookbacks: None, ranks: Ranks::NONE });
    }
    let search = Search { config, effort: Effort::of_estimates(config.level), n };
    let found = search.find(&latents, ty, mode)?.ok_or_else(too_many)?;
    let Found { weighed, plain, mut best, rivals } = found;
    if config.delta == DeltaSpec::Auto {
        best = search.refined(&latents, &weighed, mode.is_none().then_some(plain), best)?;
        let has_trends = mode.is_none() && ty.kind() != NumberKind::Float;
        if config.cuts() {
            return exact::decide(latents, best, rivals, has_trends, config.level)
                .ok_or_else(too_many);
        }
        if has_trends {
            search.try_trend(&latents, &mut best);
        }
    }
    config.watch.ask()?;
    search.settle(latents, &weighed.sample, best).ok_or_else(too_many)
}

/// A mode with consecutive deltas or none, the best as far as a sample tells.
struct Found<L> {
    weighed: Weighed<L>,
    best: Candidate<L>,
    /// The best mode that is no dictionary.
    plain: ModeChoice<L>,
    /// What came close.
    rivals: Vec<Rival<L>>,
}

impl Search<'_> {
    /// The best mode with consecutive deltas or none; `None` if a dictionary does not hold all values. From some
    /// level on, also by what a lower one finds.
    fn find<L: Latent>(
        &self,
        latents: &[L],
        ty: NumberType,
        mode: Option<ModeChoice<L>>,
    ) -> Result<Option<Found<L>>> {
        let Some(found) = self.find_by_sample(latents, ty, mode)? else { return Ok(None) };
        if !lower::is_asked(self.config, self.n) {
            return Ok(Some(found));
        }
        let config = lower::config(self.config);
        let search = Search { config: &config, ..*self };
        Ok(match search.find_by_sample(latents, ty, mode)? {
            Some(other) => Some(lower::better(latents, found, other, self.config.level)),
            None => Some(found),
        })
    }

    /// The same as far as a sample of this level tells.
    fn find_by_sample<L: Latent>(
        &self,
        latents: &[L],
        ty: NumberType,
        mode: Option<ModeChoice<L>>,
    ) -> Result<Option<Found<L>>> {
        let lengths = sample_lengths(self.n, self.config.level);
        let mut weighed = self.weigh_modes(latents, ty, mode, lengths.0);
        if lengths.1 > lengths.0 && weighed.is_close() {
            weighed = self.weigh_modes(latents, ty, mode, lengths.1);
        }
        let mut rivals = Vec::new();
        let candidates = std::mem::take(&mut weighed.candidates);
        let best = self.best(&weighed.sample, candidates, &mut rivals);
        self.config.watch.ask()?;
        let plain = best.as_ref().map_or(ModeChoice::Classic, |best| best.mode);
        let best = match mode {
            None => self.with_dicts(latents, &weighed, best, &mut rivals),
            Some(_) => best,
        };
        self.config.watch.ask()?;
        Ok(best.map(|best| Found { weighed, plain, best, rivals }))
    }

    /// The best so far, or a dictionary where that is better.
    fn with_dicts<L: Latent>(
        &self,
        latents: &[L],
        weighed: &Weighed<L>,
        mut best: Option<Candidate<L>>,
        rivals: &mut Vec<Rival<L>>,
    ) -> Option<Candidate<L>> {
        let Weighed { sample, sorted, bound, distinct, .. } = weighed;
        let bits = best.as_ref().map_or(f64::INFINITY, |best| best.bits);
        let dicts = if distinct::may_win::<L>(sorted.len(), *distinct, bits) {
            Distinct::of(sorted, *distinct).orders(latents, sample, bits, self.config)
        } else {
            Vec::new()
        };
        // One dictionary in two orders: values are looked for once.
        let has_two = dicts.len() > 1;
        let mut in_order = None;
        for order in dicts {
            let mode = ModeChoice::Dict { most: DICT, order };
            let whole = in_order.take().or_else(|| ModeLatents::dict(latents, DICT, order));
            let dict = whole
                .and_then(|whole| self.candidate_of(Some(whole), sample, sorted, mode, *bound));
            let mut dict = self.best(sample, dict.into_iter().collect(), rivals);
            if has_two && order == dict::Order::Count {
                in_order = dict.as_ref().and_then(|dict| dict.whole.as_ref()?.in_order());
            }
            if let (Some(dict), Some(plain)) = (&mut dict, &mut best) {
                self.weigh_in_full(latents, dict, plain);
            }
            best = Candidate::better(best, dict);
        }
        best
    }

    /// The best with other delta encodings than consecutive ones, or lookbacks by another mode, where
    /// they are better. `plain` is the best mode that is no dictionary; none where the caller asks for a
    /// mode, which is kept.
    fn refined<L: Latent>(
        &self,
        latents: &[L],
        weighed: &Weighed<L>,
        plain: Option<ModeChoice<L>>,
        mut best: Candidate<L>,
    ) -> Result<Candidate<L>> {
        let Weighed { sample, sorted, distinct, .. } = weighed;
        let values = Values::new(sample, *distinct);
        self.refine(latents, &values, &mut best);
        self.config.watch.ask()?;
        let is_dict = matches!(best.mode, ModeChoice::Dict { .. });
        let is_lookback = matches!(best.delta, DeltaPayload::Lookback { .. });
        let bits = self.bits_each(&best);
        let hides = match best.mode {
            ModeChoice::Classic => false,
            ModeChoice::Dict { .. } => !is_lookback,
            _ => is_lookback || self.tries_lookbacks() && values.recurrence().is_hidden(bits),
        };
        let candidate = |mode| self.candidate(latents, sample, sorted, mode, f64::INFINITY);
        if let Some(plain) = plain.filter(|_| hides) {
            let mut modes = vec![ModeChoice::Classic];
            modes.extend((is_dict && plain != ModeChoice::Classic).then_some(plain));
            let others = modes.into_iter().filter_map(candidate);
            self.try_lookback_of_modes(latents, others, &mut best);
        }
        let is_free = is_dict && plain.is_some();
        if is_free && is_lookback
            || !is_lookback
                && self.tries_lookbacks()
                && (is_foretold(&best, latents.len(), bits) || period::exists(latents, bits))
        {
            let plain = is_free.then_some(ModeChoice::Classic).and_then(candidate);
            best = self.repeats_in_full(latents, best, plain);
        }
        Ok(best)
    }

    /// The plan that the best one is; `None` if a dictionary does not hold all values.
    fn settle<L: Latent>(
        &self,
        latents: Vec<L>,
        sample: &Sample<L>,
        mut best: Candidate<L>,
    ) -> Option<Plan<L>> {
        let is_all = self.is_all(sample);
        let latents = match best.whole.take() {
            Some(whole) => {
                spare::give(latents);
                whole
            }
            None if is_all && best.mode != ModeChoice::Classic => best.sample.clone(),
            None => ModeLatents::split(latents, best.mode)?,
        };
        if let DeltaPayload::Conv1(conv) = &best.delta {
            // Fitted to all, not to the sample only, unless the sample is worse off: least squares are those of
            // what is far off, and what repeats has many fits, of which some are worse once they are whole numbers.
            let fitted = DeltaPayload::Conv1(match &latents.primary {
                Primary::Latents(primary) => conv1_fit::fit(primary, conv.weights.len()),
                Primary::Indices(indices) => conv1_fit::fit(indices, conv.weights.len()),
            });
            let is_forced = self.config.delta != DeltaSpec::Auto;
            if is_forced
                || self.bits(&best, sample, &fitted) <= self.bits(&best, sample, &best.delta)
            {
                best.delta = fitted;
            }
        }
        let ranks = if is_all { best.ranks } else { Ranks::NONE };
        Some(Plan { latents, delta: best.delta, lookbacks: best.lookbacks, ranks })
    }
}
