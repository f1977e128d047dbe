//! [`optimize::partition`](super::optimize::partition) of few buckets: every start of each bin is tried,
//! many side by side, which for so few takes less time than to leave some out.

use crate::number::Latent;
use crate::pco::binning::buckets::Bucket;
use crate::pco::binning::optimize::{self, End};
use latens_kernels::dispatch::Present;

/// So many buckets are few.
pub(crate) const MOST: usize = 256;

/// Starts are tried so many at a time, those behind the end with them.
const GROUP: usize = 16;

/// The starts of a bin, with room for whole groups.
struct Starts {
    /// Cost of what is before; infinite where that is not known yet.
    before: Vec<f64>,
    /// Latents before.
    counted: Vec<f64>,
    lower: Vec<u64>,
}

/// The cheapest partition; `bits_per_bin` is what a bin takes in the metadata, its weight included.
pub(crate) fn partition<L: Latent>(buckets: &[Bucket<L>], bits_per_bin: f64) -> Vec<Bucket<L>> {
    let n = buckets.len().next_multiple_of(GROUP);
    let mut starts =
        Starts { before: vec![f64::INFINITY; n], counted: vec![0.0; n], lower: vec![0; n] };
    let mut sum = 0;
    for (i, bucket) in buckets.iter().enumerate() {
        starts.counted[i] = f64::from(sum);
        starts.lower[i] = bucket.lower.to_u64();
        sum += bucket.count;
    }
    let log_total = f64::from(sum.max(1)).log2();
    let mut from = vec![0; buckets.len()];
    Present::in_use().call(
        #[inline(always)]
        || {
            let mut cost = 0.0;
            for (j, bucket) in buckets.iter().enumerate() {
                starts.before[j] = cost;
                let counted = starts.counted[j] + f64::from(bucket.count);
                let end = End { upper: bucket.upper.to_u64(), counted, log_total };
                // Behind the end widths wrap around, and the cost before is infinite.
                let tried = ..(j + 1).next_multiple_of(GROUP);
                let Starts { before, counted, lower } = &starts;
                (cost, from[j]) =
                    end.cheapest(&before[tried], &counted[tried], &lower[tried], MOST);
                cost += bits_per_bin;
            }
        },
    );
    optimize::bins(buckets, &from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bits of a bin, its logarithm exact.
    fn cost(bins: &[Bucket<u64>], total: u32) -> f64 {
        let of = |bin: &Bucket<u64>| {
            let width = f64::from((bin.upper - bin.lower).bit_length());
            50.0 + f64::from(bin.count) * ((f64::from(total) / f64::from(bin.count)).log2() + width)
        };
        bins.iter().map(of).sum()
    }

    /// No partition of few buckets is cheaper but for the logarithm's error, of all that there are.
    #[test]
    fn the_cheapest_of_all_partitions_is_found() {
        let mix = |x: u64| (x ^ x >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for seed in 0..60u64 {
            let mut next = seed << 60;
            let buckets: Vec<Bucket<u64>> = (0..1 + seed % 11)
                .map(|i| {
                    let random = mix(mix(seed * 100 + i + 1));
                    let lower = next + 1 + (random >> (20 + random % 40));
                    next = lower + (random >> 50);
                    let count = 1 + u32::try_from(random % 97).unwrap();
                    Bucket { lower, upper: next, count }
                })
                .collect();
            let total = buckets.iter().map(|b| b.count).sum();
            let join = |cuts: u32| {
                let mut bins: Vec<Bucket<u64>> = Vec::new();
                for (i, bucket) in buckets.iter().enumerate() {
                    match bins.last_mut() {
                        Some(last) if cuts >> i & 1 == 0 => {
                            (last.upper, last.count) = (bucket.upper, last.count + bucket.count);
                        }
                        _ => bins.push(*bucket),
                    }
                }
                cost(&bins, total)
            };
            let least = (0..1u32 << buckets.len()).map(join).fold(f64::INFINITY, f64::min);
            let found = cost(&partition(&buckets, 50.0), total);
            assert!(found <= least + 0.004 * f64::from(total), "{seed}: {found} {least}");
        }
    }
}
