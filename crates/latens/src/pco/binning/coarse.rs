//! Partitions of many buckets in a part of the time: neighbours that had better share a bin are
//! joined first, [`optimize`](super::optimize) partitions what is left, and then the ends of the bins
//! are put right among the buckets.

use crate::number::Latent;
use crate::pco::binning::buckets::Bucket;
use crate::pco::binning::optimize;
use crate::pco::logarithm::log2;
use latens_kernels::dispatch::Present;
use std::ops::Range;

/// Buckets for each part below which nothing is gained by joining them first.
const FEW: usize = 2;
/// How often the ends of all bins are looked at.
const PASSES: usize = 2;

/// As [`optimize::partition`], of buckets that are joined to about `parts` of even count, and more
/// where they differ.
pub(crate) fn partition<L: Latent>(
    buckets: &[Bucket<L>],
    bits_per_bin: f64,
    parts: usize,
) -> Vec<Bucket<L>> {
    if buckets.len() < FEW * parts {
        return optimize::partition(buckets, bits_per_bin);
    }
    let fine = Fine::new(buckets);
    let starts = fine.joined(bits_per_bin, parts);
    let joined: Vec<Bucket<L>> = starts.windows(2).map(|w| fine.bin(w[0]..w[1])).collect();
    let bins = optimize::partition(&joined, bits_per_bin);
    // Where each bin begins, as places in `starts`.
    let mut place = 0;
    let mut places = Vec::with_capacity(bins.len() + 1);
    for bin in &bins {
        while buckets[starts[place]].lower < bin.lower {
            place += 1;
        }
        places.push(place);
    }
    let mut ends: Vec<usize> = places.iter().map(|&place| starts[place]).collect();
    ends.push(buckets.len());
    for _ in 0..PASSES {
        for (k, &place) in places.iter().enumerate().skip(1) {
            let between = ends[k - 1]..ends[k + 1];
            let near = starts[place - 1]..=starts[place + 1];
            ends[k] = fine.best_end(between, *near.start(), *near.end());
        }
    }
    ends.windows(2).map(|w| fine.bin(w[0]..w[1])).collect()
}

/// Buckets and how many latents lie before each.
struct Fine<'a, L> {
    buckets: &'a [Bucket<L>],
    /// One more than buckets.
    sums: Vec<u32>,
    log_total: f64,
}

impl<'a, L: Latent> Fine<'a, L> {
    fn new(buckets: &'a [Bucket<L>]) -> Self {
        let mut sums = Vec::with_capacity(buckets.len() + 1);
        let mut sum = 0;
        sums.push(0);
        for bucket in buckets {
            sum += bucket.count;
            sums.push(sum);
        }
        Self { buckets, sums, log_total: f64::from(sum.max(1)).log2() }
    }

    /// One bin over some buckets.
    fn bin(&self, range: Range<usize>) -> Bucket<L> {
        Bucket {
            lower: self.buckets[range.start].lower,
            upper: self.buckets[range.end - 1].upper,
            count: self.sums[range.end] - self.sums[range.start],
        }
    }

    /// Bits of codes and offsets of one bin over some buckets.
    #[inline(always)]
    fn bits(&self, start: usize, end: usize) -> f64 {
        let count = f64::from(self.sums[end] - self.sums[start]);
        let width = self.buckets[end - 1].upper.sub(self.buckets[start].lower);
        count * (self.log_total - log2(count) + f64::from(width.bit_length()))
    }

    /// Where buckets begin that are joined as long as one bin costs no more than two and none gets more
    /// than its part; and the end of all. Parts halve towards both ends, as those of buckets do.
    fn joined(&self, bits_per_bin: f64, parts: usize) -> Vec<usize> {
        let total = self.sums[self.buckets.len()] as usize;
        let part = total.div_ceil(parts);
        let mut starts = vec![0];
        let (mut start, mut open) = (0, self.bits(0, 1));
        for next in 1..self.buckets.len() {
            let (before, end) = (self.sums[start] as usize, self.sums[next + 1] as usize);
            let most = part.min(before.min(total - end) / 2 + 1);
            let (alone, both) = (self.bits(next, next + 1), self.bits(start, next + 1));
            if end - before <= most && both <= open + alone + bits_per_bin {
                open = both;
            } else {
                starts.push(next);
                (start, open) = (next, alone);
            }
        }
        starts.push(self.buckets.len());
        starts
    }

    /// The cheapest end between two bins that share some buckets, near one that is good.
    fn best_end(&self, shared: Range<usize>, from: usize, to: usize) -> usize {
        let (from, to) = (from.max(shared.start + 1), to.min(shared.end - 1));
        Present::in_use().call(
            #[inline(always)]
            || {
                let (mut least, mut best) = (f64::INFINITY, from);
                for end in from..=to {
                    let bits = self.bits(shared.start, end) + self.bits(end, shared.end);
                    if bits < least {
                        (least, best) = (bits, end);
                    }
                }
                best
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pco::binning::buckets::Grain;
    use crate::pco::binning::ranked::Ranked;
    use crate::pco::noise::mix;

    /// Bits of a partition, as it is chosen by.
    fn cost(buckets: &[Bucket<u64>], bins: &[Bucket<u64>]) -> f64 {
        let fine = Fine::new(buckets);
        let place = |x: u64| buckets.partition_point(|bucket| bucket.lower < x);
        let of_bin = |bin: &Bucket<u64>| fine.bits(place(bin.lower), place(bin.upper + 1)) + 78.0;
        bins.iter().map(of_bin).sum()
    }

    fn check(latents: impl Iterator<Item = u64>, most: usize, within: f64) {
        let latents: Vec<u64> = latents.collect();
        let buckets = Ranked::of(latents.clone()).buckets(Grain::even(most));
        for parts in [32, 128, 256] {
            let bins = partition(&buckets, 70.0, parts);
            assert_eq!(bins.iter().map(|b| b.count as usize).sum::<usize>(), latents.len());
            assert!(bins.windows(2).all(|w| w[0].upper < w[1].lower));
            let least = cost(&buckets, &optimize::partition(&buckets, 70.0));
            let found = cost(&buckets, &bins);
            assert!(found <= least * within, "{parts} of {most}: {found} {least}");
        }
    }

    #[test]
    fn little_is_lost_by_joining_first() {
        for (n, most) in [(300, 512), (1000, 1024), (20_000, 2048), (60_000, 4096)] {
            check((0..n).map(|i| mix(i) >> 10), most, 1.003);
            // Heavy tails, clusters of which some are small, values that come often.
            check((0..n).map(|i| mix(i) >> (mix(i + n) % 60)), most, 1.003);
            check((0..n).map(|i| ((mix(i) % 40) << 40) + mix(i + n) % 300), most, 1.01);
            let often =
                |i| if mix(i).is_multiple_of(3) { mix(i) % 11 * 1000 } else { mix(i + n) % 9_999 };
            check((0..n).map(often), most, 1.003);
        }
    }

    #[test]
    fn few_buckets_are_partitioned_as_they_are() {
        check((0..60).map(|i| mix(i) >> 10), 64, 1.0);
        assert!(partition::<u8>(&[], 40.0, 32).is_empty());
    }
}
