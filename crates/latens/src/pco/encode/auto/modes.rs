//! Modes weighed on a sample: without deltas, roughly with consecutive ones, and with those where they pay.

use crate::number::{Latent, NumberKind, NumberType};
use crate::pco::binning::sort::sort;
use crate::pco::config::DeltaSpec;
use crate::pco::encode::candidate::{Candidate, Rival, Search};
use crate::pco::encode::distinct;
use crate::pco::encode::few;
use crate::pco::encode::plan::{ModeChoice, forced_delta};
use crate::pco::encode::sample::{self, Sample};
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::mode::{decimals, detect, detect_floats, dict};

/// Consecutive deltas are measured for modes that roughly take no more than this times the best.
const CLOSE: f64 = 1.05;
/// The same for few numbers at quick levels.
const QUICK_CLOSE: f64 = 1.01;

/// Bits of mantissas are tried as zeros where they save no less than this part of what multiples save.
const QUANT_OF_MULT: f64 = 0.8;

/// How many of `n` numbers are looked at, and how many where modes are close to each other then.
pub(super) fn sample_lengths(n: usize, level: u32) -> (usize, usize) {
    let part = |of: usize, least: usize, most: usize| (n / of).clamp(least, most);
    match level {
        0..=5 => (part(32, 1 << 11, 1 << 12), 0),
        6..=8 => (1 << 12, part(32, 1 << 12, 1 << 13)),
        _ => (part(16, 1 << 12, 1 << 14), 0),
    }
}

/// Modes other than dictionaries, weighed on a sample without deltas and, roughly, with consecutive ones.
pub(super) struct Weighed<L> {
    pub(super) sample: Sample<L>,
    /// The sample in ascending order.
    pub(super) sorted: Vec<L>,
    /// Values in it.
    pub(super) distinct: usize,
    pub(super) candidates: Vec<Candidate<L>>,
    /// The fewest bits of them.
    pub(super) bound: f64,
}

impl<L: Latent> Weighed<L> {
    /// Whether another mode takes hardly more than the best.
    pub(super) fn is_close(&self) -> bool {
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
    pub(super) fn weigh_modes<L: Latent>(
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
        let distinct = distinct::count(&sorted);
        Weighed { sample, sorted, distinct, candidates, bound }
    }

    /// The best of the candidates, with consecutive deltas where they pay, or with the delta
    /// encoding that is forced.
    pub(super) fn best<L: Latent>(
        &self,
        sample: &Sample<L>,
        mut candidates: Vec<Candidate<L>>,
        rivals: &mut Vec<Rival<L>>,
    ) -> Option<Candidate<L>> {
        if self.config.delta == DeltaSpec::Auto {
            let (within, close) = match self.config.level {
                10.. => (1.03, 1.1),
                _ if self.config.is_quick() && self.n <= few::MOST => (1.01, QUICK_CLOSE),
                _ => (1.01, CLOSE),
            };
            let least = candidates.iter().fold(f64::INFINITY, |a, c| a.min(c.bits).min(c.rough()));
            for candidate in candidates.iter_mut().filter(|c| c.rough() < least * close) {
                self.consecutive(sample, candidate, within);
            }
        } else {
            for candidate in &mut candidates {
                let delta = match &candidate.sample.primary {
                    Primary::Latents(primary) => forced_delta(self.config.delta, primary),
                    Primary::Indices(indices) => forced_delta(self.config.delta, indices),
                };
                let bits = self.bits(candidate, sample, &delta);
                candidate.take(delta, bits);
            }
        }
        rivals.extend(Candidate::rivals(&candidates));
        candidates.into_iter().map(Some).fold(None, Candidate::better)
    }
}
