//! The mode that a lower level would choose: samples of another length say something else now and then, and all of
//! the chunk tells which of them was right.

use crate::number::Latent;
use crate::pco::binning::{self, Effort};
use crate::pco::config::{Config, DeltaSpec};
use crate::pco::encode::auto::Found;
use crate::pco::encode::auto::modes::sample_lengths;
use crate::pco::encode::candidate::Candidate;
use crate::pco::encode::plan::ModeLatents;
use crate::pco::encode::split::{self, Stored};
use crate::pco::layout::chunk_meta::Primary;
use crate::spare;

/// The level that is asked, by all above it.
const LEVEL: u32 = 8;

/// Whether a lower level is asked for `n` numbers: not where its sample is the same one, nor where chunks are cut, as
/// candidates are measured on all of them then.
pub(super) fn is_asked(config: &Config, n: usize) -> bool {
    config.level > LEVEL
        && config.delta == DeltaSpec::Auto
        && !config.cuts()
        && sample_lengths(n, config.level).0 > sample_lengths(n, LEVEL).0
}

pub(super) fn config(config: &Config) -> Config {
    config.clone().level(LEVEL)
}

/// What takes less for all latents, where the two are not the same.
pub(super) fn better<L: Latent>(latents: &[L], a: Found<L>, b: Found<L>, level: u32) -> Found<L> {
    let effort = Effort::of_level(level);
    let is_same = a.best.mode == b.best.mode && a.best.delta == b.best.delta;
    if is_same || bits(latents, &a.best, effort) <= bits(latents, &b.best, effort) { a } else { b }
}

/// Bits of all latents; beyond all bounds where the mode does not apply to them.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn bits<L: Latent>(latents: &[L], candidate: &Candidate<L>, effort: Effort) -> f64 {
    let split = match &candidate.whole {
        Some(whole) => Some(whole.without_dict()),
        None => ModeLatents::split(spare::copy(latents), candidate.mode),
    };
    let Some(split) = split else { return f64::INFINITY };
    let page = split::whole(split, &candidate.delta);
    let primary = match &page.primary {
        Primary::Latents(stored) => variable_bits(stored, effort),
        Primary::Indices(stored) => variable_bits(stored, effort),
    };
    let secondary = page.secondary.as_ref().map_or(0.0, |stored| variable_bits(stored, effort));
    candidate.mode_bits + candidate.delta.written_bits() as f64 + primary + secondary
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn variable_bits<V: Latent>(stored: &Stored<V>, effort: Effort) -> f64 {
    let state = stored.state.len() * V::BITS as usize;
    state as f64 + binning::stored_bits(&stored.latents, effort)
}
