//! Joining neighbouring buckets to bins so that the sum of metadata, codes and offsets is least.
//!
//! A bin of `c` out of `n` latents spanning `w` values costs `c · (log2(n / c) + bits(w))` and its
//! entry in the metadata. The best partition of the first `j` buckets is the best of the first
//! `i` and one bin over the rest, for some `i`.

use crate::number::Latent;
use crate::pco::binning::histogram::Bucket;
use crate::pco::binning::{every, starts};

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

/// log2 of a positive number to about 1e-3, much faster than the exact one.
#[inline(always)]
pub(crate) fn log2(x: f64) -> f64 {
    let m = f64::from_bits(x.to_bits() & ((1 << 52) - 1) | 1023 << 52) - 1.0;
    // Least squares fit of log2(1 + m) with exact ends.
    exponent(x) + m * (1.437_96 + m * (-0.673_84 + m * (0.317_49 - m * 0.081_61)))
}

/// log2 of a positive number, rounded down.
#[inline(always)]
pub(crate) fn exponent(x: f64) -> f64 {
    // As the low bits of a float: there is no instruction that would convert four.
    f64::from_bits(x.to_bits() >> 52 | 1075 << 52) - (4_503_599_627_370_496.0 + 1023.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_logarithm_is_close() {
        for i in 1..100_000u32 {
            let x = f64::from(i) * 1.7;
            assert!((log2(x) - x.log2()).abs() < 2e-3, "{x}");
        }
    }

    #[test]
    fn clusters_become_bins() {
        let bucket = |lower, upper, count| Bucket { lower, upper, count };
        let buckets = [bucket(0u32, 3, 100), bucket(4, 7, 100), bucket(1 << 30, 1 << 30, 400)];
        let bins = partition(&buckets, 40.0);
        assert_eq!(bins, [bucket(0, 7, 200), bucket(1 << 30, 1 << 30, 400)]);
        assert!(partition::<u8>(&[], 40.0).is_empty());
    }
}
