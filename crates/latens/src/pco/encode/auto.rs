//! The plan that takes the fewest bits, as far as a sample tells.
//!
//! Each candidate mode is split and each candidate delta encoding applied on stripes of the
//! chunk, binned as the whole would be, and scaled to the chunk. What a caller forces narrows the
//! candidates and nothing else.

use crate::error::{Error, Result};
use crate::number::{Latent, NumberKind, NumberType};
use crate::pco::binning::{self, Effort};
use crate::pco::config::{Config, DeltaSpec, Favor};
use crate::pco::delta::{conv1_fit, lookback_search};
use crate::pco::encode::plan::{ModeChoice, ModeLatents, Plan, forced_delta};
use crate::pco::encode::split::{self, Stored};
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::layout::delta::{DeltaPayload, MAX_CONSECUTIVE_ORDER};
use crate::pco::layout::mode::MAX_DICT;
use crate::pco::mode::detect;
use std::ops::Range;

/// Latents of a stripe, and stripes of a sample.
const STRIPE: usize = 1 << 11;
const STRIPES: usize = 8;
/// A longer stretch, for encodings that look far back.
const STRETCH: usize = 1 << 15;
/// What slow encodings must save unless size is all that matters.
const SLOW_MUST_SAVE: f64 = 0.08;
/// What lookbacks must save: they are slower than consecutive deltas, though not by much.
const LOOKBACK_MUST_SAVE: f64 = 0.01;

/// Plans a chunk of ordered latents.
pub(crate) fn plan<L: Latent>(
    latents: &[L],
    ty: NumberType,
    mode: Option<ModeChoice<L>>,
    config: &Config,
) -> Result<Plan<L>> {
    let sample = Sample::new(latents, stripes(latents.len()));
    let candidates = match mode {
        Some(mode) => vec![mode],
        None => mode_candidates(&sample.latents, ty),
    };
    let search = Search { config, n: latents.len() };
    let best = candidates
        .into_iter()
        .filter_map(|mode| search.best_delta(latents, &sample, mode).map(|found| (found, mode)))
        .min_by(|a, b| a.0.bits.total_cmp(&b.0.bits));
    let Some((found, mode)) = best else {
        return Err(Error::invalid("more distinct values than a dictionary holds"));
    };
    let latents = ModeLatents::split(latents, mode)
        .ok_or_else(|| Error::invalid("more distinct values than a dictionary holds"))?;
    let delta = match (found.delta, &latents.primary) {
        // Fitted to all, not to the sample only.
        (DeltaPayload::Conv1(conv), Primary::Latents(primary)) => {
            DeltaPayload::Conv1(conv1_fit::fit(primary, conv.weights.len()))
        }
        (DeltaPayload::Conv1(conv), Primary::Indices(indices)) => {
            DeltaPayload::Conv1(conv1_fit::fit(indices, conv.weights.len()))
        }
        (other, _) => other,
    };
    Ok(Plan { latents, delta })
}

/// Modes worth measuring.
fn mode_candidates<L: Latent>(sample: &[L], ty: NumberType) -> Vec<ModeChoice<L>> {
    let mut modes = vec![ModeChoice::Classic];
    if ty.kind() == NumberKind::Float {
        modes.extend(detect::float_mult_bases(sample).into_iter().map(ModeChoice::FloatMult));
        modes.extend(detect::float_quant_bits(sample).into_iter().map(ModeChoice::FloatQuant));
    } else {
        modes.extend(detect::int_mult_bases(sample).into_iter().map(ModeChoice::IntMult));
    }
    let mut distinct = sample.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    if L::BITS > 8 && distinct.len() * 3 < sample.len() {
        modes.push(ModeChoice::Dict { most: MAX_DICT.min(1 << 16) });
    }
    modes
}

/// Evenly spread ranges of `0..n`, all of it where it is short.
fn stripes(n: usize) -> Vec<Range<usize>> {
    if n <= STRIPE * STRIPES {
        return std::iter::once(0..n).collect();
    }
    let gap = (n - STRIPE) / (STRIPES - 1);
    (0..STRIPES).map(|i| i * gap..i * gap + STRIPE).collect()
}

/// Some stripes of a chunk, end to end.
struct Sample<L> {
    latents: Vec<L>,
    /// Where each stripe lies in `latents`.
    stripes: Vec<Range<usize>>,
}

impl<L: Latent> Sample<L> {
    fn new(all: &[L], ranges: Vec<Range<usize>>) -> Self {
        let mut latents = Vec::new();
        let mut stripes = Vec::new();
        for range in ranges {
            let start = latents.len();
            latents.extend_from_slice(&all[range]);
            stripes.push(start..latents.len());
        }
        Self { latents, stripes }
    }
}

/// A delta encoding and about how many bits the chunk takes with it.
struct Found {
    delta: DeltaPayload,
    bits: f64,
}

struct Search<'a> {
    config: &'a Config,
    /// Numbers in the chunk.
    n: usize,
}

impl Search<'_> {
    /// The best delta encoding with a mode; `None` where the mode does not apply.
    fn best_delta<L: Latent>(
        &self,
        all: &[L],
        sample: &Sample<L>,
        mode: ModeChoice<L>,
    ) -> Option<Found> {
        let (latents, meta_bits) = self.split_sample(all, sample, mode)?;
        let measure = |delta: DeltaPayload| Found {
            bits: meta_bits + self.bits(&latents, &sample.stripes, &delta),
            delta,
        };
        if self.config.delta != DeltaSpec::Auto {
            return Some(measure(match &latents.primary {
                Primary::Latents(primary) => forced_delta(self.config.delta, primary),
                Primary::Indices(indices) => forced_delta(self.config.delta, indices),
            }));
        }
        let mut best = measure(DeltaPayload::None);
        let mut worse = 0;
        for order in 1..=MAX_CONSECUTIVE_ORDER {
            let found = measure(DeltaPayload::Consecutive { order, secondary: false });
            // Costs fall to the best order and rise behind it; one hump is forgiven.
            if found.bits < best.bits {
                (best, worse) = (found, 0);
            } else if worse == 1 {
                break;
            } else {
                worse += 1;
            }
        }
        if let (DeltaPayload::Consecutive { order, .. }, Some(_)) =
            (&best.delta, &latents.secondary)
        {
            let found = measure(DeltaPayload::Consecutive { order: *order, secondary: true });
            if found.bits < best.bits {
                best = found;
            }
        }
        if self.config.level >= 2 {
            best = self.try_conv1(&latents, best, &measure);
            best = self.try_lookback(all, mode, best);
        }
        Some(best)
    }

    /// The sample after its mode, and the bits of the mode's payload for the whole chunk.
    fn split_sample<L: Latent>(
        &self,
        all: &[L],
        sample: &Sample<L>,
        mode: ModeChoice<L>,
    ) -> Option<(ModeLatents<L>, f64)> {
        let ModeChoice::Dict { most } = mode else {
            let latents = ModeLatents::split(&sample.latents, mode)?;
            #[expect(clippy::cast_precision_loss, reason = "an estimate")]
            let bits = latents.mode.written_bits() as f64;
            return Some((latents, bits));
        };
        // The dictionary is that of the whole chunk.
        let whole = ModeLatents::split(all, ModeChoice::Dict { most })?;
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let bits = whole.mode.written_bits() as f64;
        let Primary::Indices(indices) = whole.primary else { return None };
        let gathered = Sample::new(&indices, stripes(self.n));
        Some((
            ModeLatents {
                mode: whole.mode,
                primary: Primary::Indices(gathered.latents),
                secondary: None,
            },
            bits,
        ))
    }

    fn try_conv1<L: Latent>(
        &self,
        latents: &ModeLatents<L>,
        mut best: Found,
        measure: &impl Fn(DeltaPayload) -> Found,
    ) -> Found {
        let Primary::Latents(primary) = &latents.primary else { return best };
        if L::BITS > 32 || self.config.favor == Favor::Speed {
            return best;
        }
        let must_save = if self.config.favor == Favor::Size { 0.0 } else { SLOW_MUST_SAVE };
        let bar = best.bits * (1.0 - must_save);
        for order in [2, 4, 8, 16, 32] {
            let found = measure(DeltaPayload::Conv1(conv1_fit::fit(primary, order)));
            if found.bits < bar && found.bits < best.bits {
                best = found;
            }
        }
        best
    }

    /// Lookbacks against the best so far, both on one long stretch of the chunk.
    fn try_lookback<L: Latent>(&self, all: &[L], mode: ModeChoice<L>, best: Found) -> Found {
        let length = all.len().min(STRETCH);
        let start = (all.len() - length) / 2;
        let stretch = Sample::new(all, vec![start..start + length]);
        let Some((latents, meta_bits)) = self.split_sample(&stretch.latents, &stretch, mode) else {
            return best;
        };
        let window_log = lookback_search::window_log(length);
        let delta = DeltaPayload::Lookback { window_log, state_log: 0, secondary: false };
        let with = meta_bits + self.bits(&latents, &stretch.stripes, &delta);
        let without = meta_bits + self.bits(&latents, &stretch.stripes, &best.delta);
        let must_save = if self.config.favor == Favor::Size { 0.0 } else { LOOKBACK_MUST_SAVE };
        if with < without * (1.0 - must_save) {
            return Found { delta, bits: best.bits * with / without };
        }
        best
    }

    /// Bits of the variables of a chunk, by those of a sample's stripes.
    fn bits<L: Latent>(
        &self,
        latents: &ModeLatents<L>,
        stripes: &[Range<usize>],
        delta: &DeltaPayload,
    ) -> f64 {
        let pages: Vec<_> =
            stripes.iter().map(|range| split::page(latents, delta, range.clone())).collect();
        let mut bits = match &latents.primary {
            Primary::Latents(_) => {
                self.variable_bits(pages.iter().filter_map(|p| match &p.primary {
                    Primary::Latents(stored) => Some(stored),
                    Primary::Indices(_) => None,
                }))
            }
            Primary::Indices(_) => {
                self.variable_bits(pages.iter().filter_map(|p| match &p.primary {
                    Primary::Indices(stored) => Some(stored),
                    Primary::Latents(_) => None,
                }))
            }
        };
        bits += self.variable_bits(pages.iter().filter_map(|p| p.delta.as_ref()));
        bits += self.variable_bits(pages.iter().filter_map(|p| p.secondary.as_ref()));
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let meta = delta.written_bits() as f64;
        bits + meta
    }

    /// Bits of one variable of the chunk, by what a sample stores of it.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn variable_bits<'a, L: Latent>(&self, stored: impl Iterator<Item = &'a Stored<L>>) -> f64 {
        let mut latents = Vec::new();
        let mut state_n = 0;
        for part in stored {
            latents.extend_from_slice(&part.latents);
            state_n = part.state.len();
        }
        if latents.is_empty() {
            return (state_n * L::BITS as usize) as f64;
        }
        let scale = self.n.saturating_sub(state_n) as f64 / latents.len() as f64;
        let trained = binning::train(&mut latents, Effort::of_level(self.config.level.min(7)));
        trained.meta_bits + trained.body_bits * scale + (state_n * L::BITS as usize) as f64
    }
}
