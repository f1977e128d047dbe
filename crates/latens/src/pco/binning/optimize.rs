//! Joining neighbouring buckets to bins so that the sum of metadata, codes and offsets is least.
//!
//! A bin of `c` out of `n` latents spanning `w` values costs `c · (log2(n / c) + bits(w))` and its
//! entry in the metadata. The best partition of the first `j` buckets is the best of the first
//! `i` and one bin over the rest, for some `i`.

use crate::number::Latent;
use crate::pco::binning::histogram::Bucket;

/// The cheapest partition; `bits_per_bin` is what a bin takes in the metadata beside its weight.
pub(crate) fn partition<L: Latent>(buckets: &[Bucket<L>], bits_per_bin: f64) -> Vec<Bucket<L>> {
    let total: f64 = buckets.iter().map(|b| f64::from(b.count)).sum();
    // A weight takes about as many bits as it takes to name a bin, and a few more.
    let log_total = total.max(1.0).log2();
    let bits_per_bin = bits_per_bin + (buckets.len().max(2).ilog2() as f64).min(8.0);
    let mut sums = Vec::with_capacity(buckets.len() + 1);
    let mut sum = 0u64;
    sums.push(0);
    for bucket in buckets {
        sum += u64::from(bucket.count);
        sums.push(sum);
    }
    // best[j]: cost of the first j buckets; from[j]: where their last bin begins.
    let mut best = vec![0f64; buckets.len() + 1];
    let mut from = vec![0usize; buckets.len() + 1];
    for j in 1..=buckets.len() {
        let upper = buckets[j - 1].upper;
        let mut least = f64::INFINITY;
        let mut at = j - 1;
        for i in (0..j).rev() {
            let bits = f64::from(upper.sub(buckets[i].lower).bit_length());
            #[expect(clippy::cast_precision_loss, reason = "at most 2^24")]
            let count = (sums[j] - sums[i]) as f64;
            let cost = best[i] + count * (log_total - log2(count) + bits);
            if cost < least {
                least = cost;
                at = i;
            }
            // Earlier buckets only add latents with at least as many offset bits.
            if bits * count > least + bits_per_bin {
                break;
            }
        }
        best[j] = least + bits_per_bin;
        from[j] = at;
    }
    let mut bins = Vec::new();
    let mut j = buckets.len();
    while j > 0 {
        let i = from[j];
        #[expect(clippy::cast_possible_truncation, reason = "at most 2^24")]
        let count = (sums[j] - sums[i]) as u32;
        bins.push(Bucket { lower: buckets[i].lower, upper: buckets[j - 1].upper, count });
        j = i;
    }
    bins.reverse();
    bins
}

/// log2 of a positive number to about 1e-3, much faster than the exact one.
#[inline]
fn log2(x: f64) -> f64 {
    let bits = x.to_bits();
    #[expect(clippy::cast_precision_loss, reason = "an exponent")]
    let exponent = (bits >> 52) as f64 - 1023.0;
    let m = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52) - 1.0;
    // Least squares fit of log2(1 + m) with exact ends.
    exponent + m * (1.437_96 + m * (-0.673_84 + m * (0.317_49 - m * 0.081_61)))
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
