//! Latents by their order: what buckets of any grain are cut from, so that what was sorted for an estimate
//! is not sorted again for the bins that are stored.

use crate::number::Latent;
use crate::pco::binning::buckets::{Bucket, Grain, of_counts, of_runs};
use crate::pco::binning::sort::sort;
use crate::pco::dense;

/// Latents by their order.
#[derive(Clone, Debug)]
pub(crate) enum Ranked<L> {
    /// How often each value comes, from the least to the greatest.
    Counted { min: L, counts: Vec<u32>, n: usize },
    /// All of them, the least first.
    Sorted(Vec<L>),
}

impl<L: Latent> Ranked<L> {
    #[inline(never)]
    pub(crate) fn of(mut latents: Vec<L>) -> Self {
        let counted = dense::bounds(&latents).and_then(|bounds| Self::counted(&latents, bounds));
        counted.unwrap_or_else(|| {
            sort(&mut latents);
            Self::Sorted(latents)
        })
    }

    /// The same where no latents have to be sorted for it, by the least and the greatest of them.
    pub(crate) fn counted(latents: &[L], (min, max): (L, L)) -> Option<Self> {
        let span = dense::span((min, max), latents.len())?;
        Some(Self::Counted { min, counts: dense::counts(latents, min, span), n: latents.len() })
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Counted { n, .. } => *n,
            Self::Sorted(latents) => latents.len(),
        }
    }

    /// The least of them and how far the greatest lies above it, where they lie near each other.
    pub(crate) fn span(&self) -> Option<(L, usize)> {
        match self {
            Self::Counted { min, counts, .. } => Some((*min, counts.len() - 1)),
            Self::Sorted(latents) => {
                let (&min, &max) = (latents.first()?, latents.last()?);
                Some((min, dense::span((min, max), latents.len())?))
            }
        }
    }

    #[inline(never)]
    pub(crate) fn buckets(&self, grain: Grain) -> Vec<Bucket<L>> {
        match self {
            Self::Counted { min, counts, n } => of_counts(*n, *min, counts, grain),
            Self::Sorted(latents) => of_runs(latents, grain),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn buckets_are_ordered_and_count_all(
            latents in prop::collection::vec(prop_oneof![any::<u64>(), 0..50u64], 0..2000),
            log in 0u32..9,
        ) {
            let buckets = Ranked::of(latents.clone()).buckets(Grain::even(1 << log));
            prop_assert_eq!(buckets.iter().map(|b| b.count as usize).sum::<usize>(), latents.len());
            prop_assert!(buckets.iter().all(|b| b.lower <= b.upper));
            prop_assert!(buckets.windows(2).all(|w| w[0].upper < w[1].lower));
            prop_assert!(buckets.len() <= (2 << log) + 24);
            for x in latents {
                prop_assert!(buckets.iter().any(|b| (b.lower..=b.upper).contains(&x)));
            }
        }

        /// Counted or sorted, buckets are the same.
        #[test]
        fn either_way_buckets_are_the_same(
            mut latents in prop::collection::vec(0..500u32, 130..600),
            log in 0u32..9,
        ) {
            let grain = Grain::even(1 << log);
            let bounds = dense::bounds(&latents).unwrap();
            let counted = Ranked::counted(&latents, bounds).unwrap();
            latents.sort_unstable();
            let sorted = Ranked::Sorted(latents);
            prop_assert_eq!(counted.buckets(grain), sorted.buckets(grain));
            prop_assert_eq!((counted.len(), counted.span()), (sorted.len(), sorted.span()));
        }
    }
}
