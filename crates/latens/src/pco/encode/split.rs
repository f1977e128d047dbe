//! The stored latents of a page: mode latents with the plan's delta encoding applied.

use crate::number::sealed::Sealed;
use crate::number::{AnyNumbers, AnySlice, Latent, Number, with_slice};
use crate::pco::delta::{consecutive, conv1, lookback, lookback_search};
use crate::pco::encode::plan::ModeLatents;
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::layout::delta::DeltaPayload;
use crate::spare;
use std::mem::take;
use std::ops::Range;

/// Numbers as latents in their order.
pub(crate) fn ordered<T: Number>(numbers: &[T]) -> Vec<T::L> {
    let mut latents = spare::take(numbers.len());
    latents.extend(numbers.iter().map(|x| x.to_latent()));
    latents
}

/// The same for numbers of any type, whose latents are `L`; none where that is another one.
pub(crate) fn ordered_any<L: Latent>(numbers: AnySlice<'_>) -> Vec<L> {
    fn any<T: Number>(numbers: &[T]) -> AnyNumbers {
        Sealed::any_vec(ordered(numbers))
    }
    L::of_any_vec(with_slice!(numbers, v => any(v))).unwrap_or_default()
}

/// What a page stores of one variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stored<L: Latent> {
    /// The delta state.
    pub(crate) state: Vec<L>,
    /// The latents that are binned and coded.
    pub(crate) latents: Vec<L>,
}

impl<L: Latent> Drop for Stored<L> {
    fn drop(&mut self) {
        spare::give(take(&mut self.latents));
    }
}

/// What a page stores.
#[derive(Clone, Debug)]
pub(crate) struct PageLatents<L: Latent> {
    /// Numbers in the page.
    pub(crate) n: usize,
    pub(crate) delta: Option<Stored<u32>>,
    pub(crate) primary: Primary<Stored<L>, Stored<u32>>,
    pub(crate) secondary: Option<Stored<L>>,
}

/// Applies the delta encoding to a range of the chunk's latents, which becomes a page.
pub(crate) fn page<L: Latent>(
    latents: &ModeLatents<L>,
    delta: &DeltaPayload,
    range: Range<usize>,
) -> PageLatents<L> {
    whole(latents.gather(&[range]), delta)
}

/// The same for all latents of a chunk.
pub(crate) fn whole<L: Latent>(latents: ModeLatents<L>, delta: &DeltaPayload) -> PageLatents<L> {
    let lookbacks = match (&latents.primary, delta) {
        (Primary::Latents(primary), DeltaPayload::Lookback { window_log, state_log, .. }) => {
            lookback_search::search(primary, *window_log, *state_log)
        }
        (Primary::Indices(indices), DeltaPayload::Lookback { window_log, state_log, .. }) => {
            lookback_search::search(indices, *window_log, *state_log)
        }
        _ => Vec::new(),
    };
    with_lookbacks(latents, delta, lookbacks)
}

/// The same with lookbacks that are settled, where the delta encoding has any.
pub(crate) fn with_lookbacks<L: Latent>(
    latents: ModeLatents<L>,
    delta: &DeltaPayload,
    lookbacks: Vec<u32>,
) -> PageLatents<L> {
    let secondary_delta = if delta.covers_secondary() { delta } else { &DeltaPayload::None };
    PageLatents {
        n: latents.len(),
        primary: match latents.primary {
            Primary::Latents(primary) => Primary::Latents(apply(primary, delta, &lookbacks)),
            Primary::Indices(indices) => Primary::Indices(apply(indices, delta, &lookbacks)),
        },
        secondary: latents.secondary.map(|secondary| apply(secondary, secondary_delta, &lookbacks)),
        delta: matches!(delta, DeltaPayload::Lookback { .. })
            .then_some(Stored { state: Vec::new(), latents: lookbacks }),
    }
}

/// One variable's state and residuals.
pub(crate) fn apply<L: Latent>(
    mut latents: Vec<L>,
    delta: &DeltaPayload,
    lookbacks: &[u32],
) -> Stored<L> {
    let state = match delta {
        DeltaPayload::None => Vec::new(),
        DeltaPayload::Consecutive { order, .. } => consecutive::encode(*order, &mut latents),
        DeltaPayload::Lookback { state_log, .. } => {
            lookback::encode(1 << state_log, lookbacks, &mut latents)
        }
        DeltaPayload::Conv1(conv) => conv1::encode(conv, &mut latents),
    };
    Stored { state, latents }
}
