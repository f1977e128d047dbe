//! Joining neighbouring buckets to bins so that the sum of metadata, codes and offsets is least.
//!
//! A bin of `c` out of `n` latents spanning `w` values costs `c · (log2(n / c) + bits(w))` and its
//! entry in the metadata. The best partition of the first `j` buckets is the best of the first
//! `i` and one bin over the rest, for some `i`.

use crate::number::Latent;
use crate::pco::binning::histogram::Bucket;

/// Starts of a last bin that are tried one by one before they are tried at growing distances.
const NEAR: usize = 8;

/// The cheapest partition, or one that costs hardly more; `bits_per_bin` is what a bin takes in
/// the metadata beside its weight.
///
/// Not every start of the last bin is tried. For each width in bits the farthest start is, since
/// there what one more bucket would cost jumps; in between costs are flat and a sparser and
/// sparser grid will do.
pub(crate) fn partition<L: Latent>(buckets: &[Bucket<L>], bits_per_bin: f64) -> Vec<Bucket<L>> {
    // A weight takes about as many bits as it takes to name a bin, and a few more.
    let bits_per_bin = bits_per_bin + f64::from(buckets.len().max(2).ilog2()).min(8.0);
    let mut sums = Vec::with_capacity(buckets.len() + 1);
    let mut sum = 0u32;
    sums.push(0);
    for bucket in buckets {
        sum += bucket.count;
        sums.push(sum);
    }
    let log_total = f64::from(sum.max(1)).log2();
    // best[j]: cost of the first j buckets; from[j]: where their last bin begins.
    let mut best = vec![0f64; buckets.len() + 1];
    let mut from = vec![0usize; buckets.len() + 1];
    // By width in bits, the first bucket of the widest bin that ends with the current one.
    let mut farthest = [0usize; 65];
    for j in 1..=buckets.len() {
        let upper = buckets[j - 1].upper;
        let (mut least, mut at) = (f64::INFINITY, j - 1);
        let mut consider = |i: usize| {
            let bits = upper.sub(buckets[i].lower).bit_length();
            let count = f64::from(sums[j] - sums[i]);
            let cost = best[i] + count * (log_total - log2(count) + f64::from(bits));
            if cost < least {
                (least, at) = (cost, i);
            }
        };
        let (mut i, mut tried, mut step) = (j - 1, 0, 1);
        loop {
            consider(i);
            tried += 1;
            if tried == NEAR {
                (tried, step) = (NEAR / 2, step * 2);
            }
            if i < step {
                break;
            }
            i -= step;
        }
        for (bits, first) in (0u32..).zip(&mut farthest) {
            while *first < j && upper.sub(buckets[*first].lower).bit_length() > bits {
                *first += 1;
            }
            if *first + 1 < j {
                consider(*first);
            }
            if *first == 0 {
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
        let count = sums[j] - sums[i];
        bins.push(Bucket { lower: buckets[i].lower, upper: buckets[j - 1].upper, count });
        j = i;
    }
    bins.reverse();
    bins
}

/// log2 of a positive number to about 1e-3, much faster than the exact one.
#[inline]
pub(crate) fn log2(x: f64) -> f64 {
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
