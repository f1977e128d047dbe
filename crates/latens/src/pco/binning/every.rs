//! [`optimize::partition`](super::optimize::partition) of few buckets: every start of each bin is tried,
//! many side by side, which for so few takes less time than to leave some out.

use crate::number::Latent;
use crate::pco::binning::histogram::Bucket;
use crate::pco::binning::optimize::{exponent, log2};
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
                (cost, from[j]) = end.cheapest(&starts, (j + 1).next_multiple_of(GROUP));
                cost += bits_per_bin;
            }
        },
    );
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
struct End {
    upper: u64,
    /// Latents up to there.
    counted: f64,
    log_total: f64,
}

impl End {
    /// The least cost up to here, and the start of the last bin that has it, of the first `n`.
    #[inline(always)]
    #[expect(clippy::cast_precision_loss, reason = "the exponent of a width is wanted")]
    fn cheapest(&self, starts: &Starts, n: usize) -> (f64, usize) {
        const PLACE: u64 = MOST as u64 - 1;
        let all = starts.before[..n].iter().zip(&starts.counted[..n]).zip(&starts.lower[..n]);
        let mut least = u64::MAX;
        for (place, ((&before, &counted), &lower)) in (0u64..).zip(all) {
            // Behind the end this wraps around, and the cost before is infinite.
            let width = self.upper.wrapping_sub(lower) as f64;
            let count = self.counted - counted;
            let bits = self.log_total - log2(count) + exponent(width * 2.0 + 1.0);
            // The logarithm is not exact.
            let cost = before + count * if bits > 0.0 { bits } else { 0.0 };
            // Floats that are not negative have the order of their bits, of which the last ones matter little:
            // cost and place as one number make this a loop that LLVM makes vectors of.
            least = least.min(cost.to_bits() & !PLACE | place);
        }
        (f64::from_bits(least & !PLACE), (least & PLACE) as usize)
    }
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
