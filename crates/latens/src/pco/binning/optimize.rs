//! Joining neighbouring buckets to bins so that the sum of metadata, codes and offsets is least.
//!
//! A bin of `c` out of `n` latents spanning `w` values costs `c · (log2(n / c) + bits(w))` and its
//! entry in the metadata. The best partition of the first `j` buckets is the best of the first
//! `i` and one bin over the rest, for some `i`.

use crate::number::Latent;
use crate::pco::binning::buckets::Bucket;
use crate::pco::binning::{every, starts};
use crate::pco::logarithm::{exponent, log2};

/// Starts of a last bin that are tried at each distance: one of those of [`starts::partition`].
const NEAR: usize = 16;
/// The same for those who favour size and have the time.
const NEAR_CLOSELY: usize = 64;

/// The cheapest partition, or one that costs hardly more; `bits_per_bin` is what a bin takes in
/// the metadata beside its weight.
pub(crate) fn partition<L: Latent>(buckets: &[Bucket<L>], bits_per_bin: f64) -> Vec<Bucket<L>> {
    let bits_per_bin = bits_per_bin + weight_bits(buckets.len());
    if buckets.len() <= every::MOST {
        return every::partition(buckets, bits_per_bin);
    }
    starts::partition::<L, NEAR>(buckets, bits_per_bin)
}

/// The same with more starts tried of each bin.
pub(crate) fn partition_closely<L: Latent>(
    buckets: &[Bucket<L>],
    bits_per_bin: f64,
) -> Vec<Bucket<L>> {
    starts::partition::<L, NEAR_CLOSELY>(buckets, bits_per_bin + weight_bits(buckets.len()))
}

/// A weight takes about as many bits as it takes to name a bin, and a few more.
fn weight_bits(buckets: usize) -> f64 {
    f64::from(buckets.max(2).ilog2()).min(8.0)
}

/// The bins that end with the last bucket, and each before the start of the one behind it; `from` is by
/// bucket where a bin starts that ends with it.
pub(super) fn bins<L: Latent>(buckets: &[Bucket<L>], from: &[usize]) -> Vec<Bucket<L>> {
    let mut bins = Vec::new();
    let mut end = buckets.len();
    while end > 0 {
        let start = from[end - 1];
        let count = buckets[start..end].iter().map(|bucket| bucket.count).sum();
        bins.push(Bucket { lower: buckets[start].lower, upper: buckets[end - 1].upper, count });
        end = start;
    }
    bins.reverse();
    bins
}

/// Where a bin ends.
pub(super) struct End {
    pub(super) upper: u64,
    /// Latents up to there.
    pub(super) counted: f64,
    pub(super) log_total: f64,
}

impl End {
    /// Bits of offsets from a lower end on.
    #[inline(always)]
    pub(super) fn bits_from<L: Latent>(&self, lower: L) -> u32 {
        (self.upper - lower.to_u64()).bit_length()
    }

    /// Cost of all up to here with a last bin.
    #[inline(always)]
    pub(super) fn cost(&self, before: f64, counted: f64, bits: u32) -> f64 {
        let count = self.counted - counted;
        before + count * (self.log_total - log2(count) + f64::from(bits))
    }

    /// The least cost of all up to here with one of some starts of the last bin, `most` at most, a power
    /// of two, and its place: by start the cost of what is before, the latents before, and the lower end.
    #[inline(always)]
    #[expect(clippy::cast_precision_loss, reason = "the exponent of a width is wanted")]
    #[expect(clippy::cast_possible_truncation, reason = "a place")]
    pub(super) fn cheapest(
        &self,
        before: &[f64],
        counted: &[f64],
        lower: &[u64],
        most: usize,
    ) -> (f64, usize) {
        let place_mask = most as u64 - 1;
        let mut least = u64::MAX;
        let all = before.iter().zip(counted).zip(lower);
        for (place, ((&before, &counted), &lower)) in (0u64..).zip(all) {
            let width = self.upper.wrapping_sub(lower) as f64;
            let count = self.counted - counted;
            let bits = self.log_total - log2(count) + exponent(width * 2.0 + 1.0);
            // The logarithm is not exact.
            let cost = before + count * if bits > 0.0 { bits } else { 0.0 };
            // Floats that are not negative have the order of their bits, of which the last ones matter
            // little: cost and place as one number make this a loop that LLVM makes vectors of.
            least = least.min(cost.to_bits() & !place_mask | place);
        }
        (f64::from_bits(least & !place_mask), (least & place_mask) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_become_bins() {
        let bucket = |lower, upper, count| Bucket { lower, upper, count };
        let buckets = [bucket(0u32, 3, 100), bucket(4, 7, 100), bucket(1 << 30, 1 << 30, 400)];
        let bins = partition(&buckets, 40.0);
        assert_eq!(bins, [bucket(0, 7, 200), bucket(1 << 30, 1 << 30, 400)]);
        assert!(partition::<u8>(&[], 40.0).is_empty());
    }
}
