//! What a chunk takes with a mode and a delta encoding, by buckets of all that it would store.

use crate::number::Latent;
use crate::pco::binning::buckets::Grain;
use crate::pco::binning::histogram::Histogram;
use crate::pco::binning::{Effort, estimate_buckets};
use crate::pco::encode::plan::ModeLatents;
use crate::pco::encode::split::{self, PageLatents, Stored};
use crate::pco::encode::states;
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::layout::delta::DeltaPayload;
use std::mem::take;

/// What more states than one must save: bins of fewer latents are others, for better or worse.
const STATES_MUST_SAVE: f64 = 0.005;
/// Times the bits of a latent that each of them saves at most. What estimates say beyond that is chance.
const STATE_SAVES: u32 = 2;

/// A chunk with a mode and a delta encoding.
pub(crate) struct Whole {
    /// Bits of all variables, and of the delta encoding, not of the mode.
    pub(crate) bits: f64,
    /// Those it was measured with, where the delta encoding has any.
    pub(crate) lookbacks: Option<Vec<u32>>,
}

impl Whole {
    /// Lookbacks that are not settled are searched for.
    pub(crate) fn new<L: Latent>(
        latents: ModeLatents<L>,
        delta: &DeltaPayload,
        lookbacks: Option<Vec<u32>>,
        effort: Effort,
    ) -> Self {
        Self::beside(0.0, latents, delta, lookbacks, effort)
    }

    /// The same beside so many bits of what the latents lack.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(crate) fn beside<L: Latent>(
        rest: f64,
        latents: ModeLatents<L>,
        delta: &DeltaPayload,
        lookbacks: Option<Vec<u32>>,
        effort: Effort,
    ) -> Self {
        let page = match lookbacks {
            Some(lookbacks) => split::with_lookbacks(latents, delta, lookbacks),
            None => split::whole(latents, delta),
        };
        let bits = delta.written_bits() as f64 + bits(rest, &page, delta, effort).0;
        Self { bits, lookbacks: page.delta.map(|mut stored| take(&mut stored.latents)) }
    }
}

/// Bits of all variables of a page that is a whole chunk, with as many states as are best, and log2 of these
/// where they are more than the one that a page with lookbacks has. The page takes `rest` bits besides.
fn bits<L: Latent>(
    rest: f64,
    page: &PageLatents<L>,
    delta: &DeltaPayload,
    effort: Effort,
) -> (f64, Option<u32>) {
    let one = rest + bits_but(0, page, delta, effort);
    let (mut least, mut best) = (one * (1.0 - STATES_MUST_SAVE), None);
    let mut tried = states::promising(page, delta);
    while let Some(log) = tried
        && let Some(states) = states::besides(page, delta, log)
    {
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let most = states as f64 * f64::from(STATE_SAVES * L::BITS.max(u32::BITS));
        let bits = (rest + bits_but(states, page, delta, effort)).max(one - most);
        let is_better = bits < least || best.is_none() && bits < one;
        if bits < least {
            (least, best) = (bits, Some(log));
        }
        tried = is_better.then_some(log + 1);
    }
    (if best.is_some() { least } else { one }, best)
}

/// log2 of the states that are better than the one of a page with lookbacks that is a whole chunk.
pub(crate) fn state_log<L: Latent>(
    page: &PageLatents<L>,
    delta: &DeltaPayload,
    effort: Effort,
) -> Option<u32> {
    states::promising(page, delta).and_then(|_| bits(0.0, page, delta, effort).1)
}

/// Bits of all variables where so many latents are states besides those that are.
fn bits_but<L: Latent>(
    states: usize,
    page: &PageLatents<L>,
    delta: &DeltaPayload,
    effort: Effort,
) -> f64 {
    let primary = match &page.primary {
        Primary::Latents(stored) => variable_bits(stored, states, effort),
        Primary::Indices(stored) => variable_bits(stored, states, effort),
    };
    let lookbacks =
        page.delta.as_ref().map_or(0.0, |stored| latents_bits(&stored.latents[states..], effort));
    let secondary = if delta.covers_secondary() { states } else { 0 };
    let secondary =
        page.secondary.as_ref().map_or(0.0, |stored| variable_bits(stored, secondary, effort));
    primary + lookbacks + secondary
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn variable_bits<V: Latent>(stored: &Stored<V>, states: usize, effort: Effort) -> f64 {
    let state = ((stored.state.len() + states) * V::BITS as usize) as f64;
    state + latents_bits(&stored.latents[states..], effort)
}

/// Bits of some stored latents.
pub(crate) fn latents_bits<V: Latent>(latents: &[V], effort: Effort) -> f64 {
    let histogram = Histogram::new(latents, Grain::even(effort.buckets));
    estimate_buckets(&histogram.buckets, latents.len(), latents.len())
}
