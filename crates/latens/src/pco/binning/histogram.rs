//! A variable's latents as buckets, by the quickest way that there is for them.

use crate::number::Latent;
use crate::pco::binning::buckets::{Bucket, Grain, MOST_BUCKETS};
use crate::pco::binning::cuts::{self, Cuts, SAMPLE};
use crate::pco::binning::fit;
use crate::pco::binning::ranked::Ranked;
use crate::pco::dense;
use crate::spare;

/// Stands for the bins of a range of which parts lie in several.
const CUT_FURTHER: u16 = u16::MAX;
/// Latents of which it is looked at together whether one lies in such a range.
const GROUP: usize = 64;

/// Buckets of all latents of a variable, and what was learnt on the way about where each lies.
#[derive(Debug)]
pub(crate) struct Histogram<L> {
    /// Ascending and disjoint.
    pub(crate) buckets: Vec<Bucket<L>>,
    places: Places<L>,
    /// Whether a part of the latents has said how many a bucket has, and from where to where they reach.
    pub(crate) is_estimate: bool,
}

#[derive(Debug)]
enum Places<L> {
    /// All latents lie within `span` of `min`.
    Dense { min: L, span: usize },
    /// By latent, the range that it lies in; by range, its lower bound. The first and the last
    /// range were cut further.
    Ranges { by_latent: Vec<u16>, lowers: Vec<L> },
    /// Nothing.
    Unknown,
}

impl<L: Latent> Histogram<L> {
    /// Of all latents.
    pub(crate) fn new(latents: &[L], grain: Grain) -> Self {
        Self::by_part(latents, grain, 1)
    }

    /// From all latents where that is quick, or from enough of them that bins are chosen nearly as well: the least
    /// and the greatest ones are exact, and buckets in between those of a part.
    pub(crate) fn estimate(latents: &[L], grain: Grain) -> Self {
        Self::by_part(latents, grain, cuts::stride(latents.len(), grain.most))
    }

    /// Of latents by their order.
    pub(crate) fn of_ranked(ranked: &Ranked<L>, grain: Grain) -> Self {
        let places = ranked.span().map(|(min, span)| Places::Dense { min, span });
        let mut buckets = ranked.buckets(grain);
        let alone = buckets.iter().filter(|bucket| bucket.lower == bucket.upper);
        let alone = alone.map(|bucket| bucket.count as usize).sum();
        let finer = grain.beside(alone, ranked.len()).map(|finer| ranked.buckets(finer));
        if let Some(finer) = finer.filter(|finer| finer.len() <= MOST_BUCKETS) {
            buckets = finer;
        }
        Self { buckets, places: places.unwrap_or(Places::Unknown), is_estimate: false }
    }

    fn by_part(latents: &[L], grain: Grain, stride: usize) -> Self {
        let exact = |buckets| Self { buckets, places: Places::Unknown, is_estimate: false };
        let Some((min, max)) = dense::bounds(latents) else {
            return exact(Vec::new());
        };
        if min == max {
            #[expect(clippy::cast_possible_truncation, reason = "a chunk has 2^24 latents at most")]
            let all = Bucket { lower: min, upper: max, count: latents.len() as u32 };
            exact(vec![all])
        } else if let Some(counted) = Ranked::counted(latents, (min, max)) {
            Self::of_ranked(&counted, grain)
        } else if latents.len() < 2 * SAMPLE * grain.most {
            Self::of_ranked(&Ranked::of(latents.to_vec()), grain)
        } else {
            let part = (stride > 1).then(|| cuts::part(latents, stride));
            let cuts = Cuts::of_sample(part.as_deref().unwrap_or(latents), grain);
            match part {
                Some(part) if cuts.are_continuous() => {
                    let buckets = cuts.estimated(latents, &part, stride);
                    spare::give(part);
                    Self { is_estimate: true, ..exact(buckets) }
                }
                _ => {
                    let (buckets, by_latent) = cuts.counted(latents);
                    let places = Places::Ranges { by_latent, lowers: cuts.lowers };
                    Self { places, ..exact(buckets) }
                }
            }
        }
    }

    /// By latent, which of the bins it lies in. The bins are unions of buckets that follow each
    /// other, and there are 2^14 of them at most.
    #[expect(clippy::cast_possible_truncation, reason = "at most 2^14 bins")]
    pub(crate) fn symbols(self, latents: &[L], bins: &[Bucket<L>]) -> Vec<u16> {
        let bin_of = |x: L| bins.partition_point(|bin| bin.lower <= x).saturating_sub(1) as u16;
        match self.places {
            Places::Dense { min, span } => {
                let ranges = bins.iter().map(|bin| (bin.lower, bin.upper));
                dense::symbols(latents, (min, span), ranges)
            }
            Places::Ranges { mut by_latent, lowers } => {
                // A bin begins at a latent, which may lie behind the lower bound of its range.
                let mut by_range: Vec<u16> =
                    lowers[1..].iter().map(|next| bin_of(next.sub(L::ONE))).collect();
                by_range.push(CUT_FURTHER);
                by_range[0] = CUT_FURTHER;
                for (places, latents) in by_latent.chunks_mut(GROUP).zip(latents.chunks(GROUP)) {
                    let mut any = false;
                    for place in &mut *places {
                        *place = by_range[usize::from(*place)];
                        any |= *place == CUT_FURTHER;
                    }
                    if any {
                        let places = places.iter_mut().zip(latents);
                        places
                            .filter(|(place, _)| **place == CUT_FURTHER)
                            .for_each(|(place, &x)| *place = bin_of(x));
                    }
                }
                by_latent
            }
            Places::Unknown => fit::symbols(latents, bins),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_latents_are_all_counted() {
        let mix = |x: u64| (x ^ x >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let heavy =
            |i: u64| if i.is_multiple_of(3) { 1 << 40 } else { mix(mix(i)) >> (mix(i + 7) % 60) };
        let latents: Vec<u64> = (0..100_000).map(heavy).collect();
        let buckets = Histogram::new(&latents, Grain::even(256)).buckets;
        assert_eq!(buckets.iter().map(|b| b.count as usize).sum::<usize>(), latents.len());
        assert!(buckets.windows(2).all(|w| w[0].upper < w[1].lower));
        assert!(buckets.contains(&Bucket { lower: 1 << 40, upper: 1 << 40, count: 33_334 }));
    }
}
