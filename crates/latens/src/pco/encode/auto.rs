//! The plan that takes the fewest bits, as far as a sample tells.
//!
//! Each candidate mode is split on stripes of the chunk and weighed without deltas and, roughly,
//! with consecutive ones; orders are measured only for the modes that may win. What costs more
//! (dictionaries, lookbacks, linear predictions) is tried on the best of those, and only where a
//! glance says that it may win. What a caller forces narrows the candidates and nothing else.

use crate::error::{Error, Result};
use crate::number::{Latent, NumberKind, NumberType};
use crate::pco::binning::Effort;
use crate::pco::config::{Config, DeltaSpec};
use crate::pco::delta::conv1_fit;
use crate::pco::encode::candidate::{Candidate, Search};
use crate::pco::encode::plan::{ModeChoice, ModeLatents, Plan, forced_delta};
use crate::pco::encode::sample::{self, Sample};
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::layout::delta::{Conv1, DeltaPayload};
use crate::pco::layout::mode::MAX_DICT;
use crate::pco::mode::detect;

/// Largest dictionary that is tried.
const DICT: usize = if MAX_DICT < 1 << 16 { MAX_DICT } else { 1 << 16 };
/// Consecutive deltas are measured for modes that roughly take no more than this times the best.
const CLOSE: f64 = 1.05;

/// Plans a chunk of ordered latents.
pub(crate) fn plan<L: Latent>(
    latents: Vec<L>,
    ty: NumberType,
    mode: Option<ModeChoice<L>>,
    config: &Config,
) -> Result<Plan<L>> {
    let n = latents.len();
    let search = Search { config, effort: Effort::of_estimates(config.level), n };
    let too_many = || Error::invalid("more distinct values than a dictionary holds");
    let sample = Sample::new(&latents, sample::stripes(n, sample_n(n, config.level)));
    let mut sorted = sample.latents.clone();
    sorted.sort_unstable();
    let modes = match mode {
        Some(mode) => vec![mode],
        None => mode_candidates(&sample.latents, ty),
    };
    let mut candidates: Vec<Candidate<L>> = modes
        .into_iter()
        .filter_map(|mode| search.candidate(&latents, &sample, &sorted, mode))
        .collect();
    let mut best = search.best(&sample, &mut candidates);
    if mode.is_none() && dict_may_win(&sorted, n, best.as_ref()) {
        let dict =
            search.candidate(&latents, &sample, &sorted, ModeChoice::Dict { most: DICT });
        let dict = search.best(&sample, &mut dict.into_iter().collect());
        best = Candidate::better(best, dict);
    }
    let mut best = best.ok_or_else(too_many)?;
    if config.delta == DeltaSpec::Auto {
        search.refine(&latents, &sample, &mut best);
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

/// How many of `n` numbers are looked at.
fn sample_n(n: usize, level: u32) -> usize {
    match level {
        0..=5 => (n / 32).clamp(1 << 11, 1 << 12),
        6..=9 => (n / 16).clamp(1 << 12, 1 << 13),
        _ => 1 << 14,
    }
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

/// Whether a sample's values repeat enough for a dictionary of a chunk of `n`.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn dict_may_win<L: Latent>(sorted: &[L], n: usize, best: Option<&Candidate<L>>) -> bool {
    if L::BITS == 8 {
        return false;
    }
    let total = sorted.len() as f64;
    let (mut distinct, mut entropy) = (0.0, 0.0);
    for run in sorted.chunk_by(|a, b| a == b) {
        let count = run.len() as f64;
        distinct += 1.0;
        entropy += count / total * (total / count).log2();
    }
    let least = entropy * n as f64 + distinct * f64::from(L::BITS);
    distinct * 3.0 < total && best.is_none_or(|best| least < best.bits)
}

impl Search<'_> {
    /// The best of the candidates, with consecutive deltas where they pay, or with the delta
    /// encoding that is forced.
    fn best<L: Latent>(
        &self,
        sample: &Sample<L>,
        candidates: &mut Vec<Candidate<L>>,
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
        candidates.drain(..).map(Some).fold(None, Candidate::better)
    }
}
