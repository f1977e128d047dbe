//! What a chunk takes with a mode and a delta encoding, by buckets of all that it would store.

use crate::number::Latent;
use crate::pco::binning::buckets::Grain;
use crate::pco::binning::histogram::Histogram;
use crate::pco::binning::{Effort, estimate_buckets};
use crate::pco::encode::plan::ModeLatents;
use crate::pco::encode::split::{self, Stored};
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::layout::delta::DeltaPayload;
use std::mem::take;

/// A chunk with a mode and a delta encoding.
pub(crate) struct Whole {
    /// Bits of all variables, and of the delta encoding, not of the mode.
    pub(crate) bits: f64,
    /// Those it was measured with, where the delta encoding has any.
    pub(crate) lookbacks: Option<Vec<u32>>,
}

impl Whole {
    /// Lookbacks that are not settled are searched for.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(crate) fn new<L: Latent>(
        latents: ModeLatents<L>,
        delta: &DeltaPayload,
        lookbacks: Option<Vec<u32>>,
        effort: Effort,
    ) -> Self {
        let page = match lookbacks {
            Some(lookbacks) => split::with_lookbacks(latents, delta, lookbacks),
            None => split::whole(latents, delta),
        };
        let primary = match &page.primary {
            Primary::Latents(stored) => variable_bits(stored, effort),
            Primary::Indices(stored) => variable_bits(stored, effort),
        };
        let bits = delta.written_bits() as f64
            + primary
            + page.delta.as_ref().map_or(0.0, |stored| variable_bits(stored, effort))
            + page.secondary.as_ref().map_or(0.0, |stored| variable_bits(stored, effort));
        Self { bits, lookbacks: page.delta.map(|mut stored| take(&mut stored.latents)) }
    }
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn variable_bits<V: Latent>(stored: &Stored<V>, effort: Effort) -> f64 {
    let n = stored.latents.len();
    let histogram = Histogram::new(&stored.latents, Grain::even(effort.buckets));
    let state = (stored.state.len() * V::BITS as usize) as f64;
    state + estimate_buckets(&histogram.buckets, n, n)
}
