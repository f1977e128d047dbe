//! [`optimize::partition`](super::optimize::partition) with more starts of each bin tried, for those who
//! favour size and have the time.

use crate::number::Latent;
use crate::pco::binning::histogram::Bucket;
use crate::pco::binning::optimize::log2;

/// Starts of a last bin that are tried one by one before they are tried at growing distances.
const NEAR: usize = 64;

/// The cheapest partition of buckets to bins, or one that costs hardly more; `bits_per_bin` is what
/// a bin takes in the metadata, its weight included.
pub(crate) fn partition<L: Latent>(buckets: &[Bucket<L>], bits_per_bin: f64) -> Vec<Bucket<L>> {
    let mut sums = vec![0u32];
    let mut sum = 0;
    sums.extend(buckets.iter().map(|bucket| {
        sum += bucket.count;
        sum
    }));
    let log_total = f64::from(sum.max(1)).log2();
    // Of the first j buckets: the least cost, and where the last bin begins.
    let mut best = vec![(0f64, 0usize); buckets.len() + 1];
    // By width in bits, the first bucket of the widest bin that ends with the current one.
    let mut farthest = [0usize; 65];
    for j in 1..=buckets.len() {
        let upper = buckets[j - 1].upper;
        let mut least = (f64::INFINITY, j - 1);
        let mut consider = |i: usize| {
            let bits = upper.sub(buckets[i].lower).bit_length();
            let count = f64::from(sums[j] - sums[i]);
            let cost = best[i].0 + count * (log_total - log2(count) + f64::from(bits));
            if cost < least.0 {
                least = (cost, i);
            }
        };
        let (mut back, mut step) = (1, 1);
        while back <= j {
            consider(j - back);
            step = if back >= NEAR * step * 2 { step * 2 } else { step };
            back += step;
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
        best[j] = (least.0 + bits_per_bin, least.1);
    }
    let mut bins = Vec::new();
    let mut j = buckets.len();
    while j > 0 {
        let i = best[j].1;
        let count = sums[j] - sums[i];
        bins.push(Bucket { lower: buckets[i].lower, upper: buckets[j - 1].upper, count });
        j = i;
    }
    bins.reverse();
    bins
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pco::binning::optimize;

    fn cost(bins: &[Bucket<u32>], bits_per_bin: f64) -> f64 {
        let total: u32 = bins.iter().map(|bin| bin.count).sum();
        let of = |bin: &Bucket<u32>| {
            let share = f64::from(total) / f64::from(bin.count);
            let bits = share.log2() + f64::from((bin.upper - bin.lower).bit_length());
            bits_per_bin + f64::from(bin.count) * bits
        };
        bins.iter().map(of).sum()
    }

    #[test]
    fn as_good_as_the_quick_one_or_better() {
        let mix = |i: u32| (i ^ i >> 5).wrapping_mul(0x9e37_79b9);
        for most in [3, 40, 1000] {
            let mut lower = 0;
            let bucket = |i: u32| {
                let width = mix(i) >> (20 + i % 9);
                lower += width + 1 + mix(i + 7) % 3;
                Bucket { lower: lower - width, upper: lower, count: 1 + mix(i) % 50 }
            };
            let buckets: Vec<Bucket<u32>> = (0..most).map(bucket).collect();
            let weight = f64::from(most.max(2).ilog2()).min(8.0);
            let quick = cost(&optimize::partition(&buckets, 40.0), 40.0 + weight);
            let close = cost(&partition(&buckets, 40.0 + weight), 40.0 + weight);
            assert!(close <= quick * 1.0002, "{most}: {close} {quick}");
        }
    }
}
