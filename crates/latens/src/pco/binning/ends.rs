//! Ends of bins among all latents, where the partition had only those of buckets.
//!
//! As long as the offsets of two neighbours keep their widths, what both take is least where one of them has
//! as many latents as its width allows, since −x · log x is concave. So few ends may be the best one: for
//! each width of either bin, the farthest that it reaches.

use crate::number::Latent;
use crate::pco::binning::buckets::Bucket;
use crate::pco::binning::sort::sort;
use crate::spare;
use std::ops::Range;

/// More latents than this are sorted in place, which takes longer: beside what is stored there is no room for
/// them twice.
const MANY: usize = 1 << 18;
/// How often all ends are looked at, at most.
const PASSES: usize = 16;
/// Bits that a better end must save, so that rounding moves none.
const MUST_SAVE: f64 = 0.01;

/// The same bins with the ends that take the fewest bits, and neighbours joined that had better be one. Bins
/// are in order and hold all latents.
pub(crate) fn settle<L: Latent>(
    latents: &[L],
    planned: &[Bucket<L>],
    bits_per_bin: f64,
) -> Vec<Bucket<L>> {
    if planned.len() < 2 {
        return planned.to_vec();
    }
    let mut all = spare::copy(latents);
    if all.len() > MANY {
        all.sort_unstable();
    } else {
        sort(&mut all);
    }
    let sorted = Sorted::new(&all);
    let mut starts: Vec<usize> = vec![0];
    starts.extend(planned.iter().scan(0, |end, bin| {
        *end += bin.count as usize;
        Some(*end)
    }));
    for _ in 0..PASSES {
        let next = sorted.moved(&starts, bits_per_bin);
        if next == starts {
            break;
        }
        starts = next;
    }
    let bins = starts.windows(2).map(|w| sorted.bin(w[0]..w[1])).collect();
    spare::give(all);
    bins
}

/// Latents in ascending order.
struct Sorted<'a, L> {
    latents: &'a [L],
    log_total: f64,
}

impl<'a, L: Latent> Sorted<'a, L> {
    #[expect(clippy::cast_precision_loss, reason = "a chunk has 2^24 latents at most")]
    fn new(latents: &'a [L]) -> Self {
        Self { latents, log_total: (latents.len() as f64).log2() }
    }

    /// One bin over some latents.
    #[expect(clippy::cast_possible_truncation, reason = "a chunk has 2^24 latents at most")]
    fn bin(&self, range: Range<usize>) -> Bucket<L> {
        let count = range.len() as u32;
        Bucket { lower: self.latents[range.start], upper: self.latents[range.end - 1], count }
    }

    /// Bits of its codes and offsets.
    fn bits(&self, range: Range<usize>) -> f64 {
        let bin = self.bin(range);
        let count = f64::from(bin.count);
        count * (self.log_total - count.log2() + f64::from(bin.offset_bits()))
    }

    /// The starts of bins, and the end of all, each of them moved to where it is best for the bin before it and
    /// behind it; left out where these are better one.
    fn moved(&self, starts: &[usize], bits_per_bin: f64) -> Vec<usize> {
        let mut moved = vec![0];
        for ends in starts[1..].windows(2) {
            let (end, next) = (ends[0], ends[1]);
            let start = moved[moved.len() - 1];
            let now = self.bits(start..end) + self.bits(end..next);
            let (bits, best) = self.cheapest_end(start..next);
            let end = if bits < now - MUST_SAVE { best } else { end };
            if bits.min(now) + bits_per_bin < self.bits(start..next) {
                moved.push(end);
            }
        }
        moved.push(self.latents.len());
        moved
    }

    /// Where some latents are best cut to two bins, and what these take.
    fn cheapest_end(&self, range: Range<usize>) -> (f64, usize) {
        let both = &self.latents[range.clone()];
        let (first, last) = (both[0], both[both.len() - 1]);
        let mut best = (f64::INFINITY, range.end);
        for bits in 0..last.sub(first).bit_length() {
            let reached = both.partition_point(|x| x.sub(first).bit_length() <= bits);
            let beyond = both.partition_point(|x| last.sub(*x).bit_length() > bits);
            for end in [reached, beyond].map(|place| range.start + place) {
                let cost = self.bits(range.start..end) + self.bits(end..range.end);
                if cost < best.0 {
                    best = (cost, end);
                }
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pco::noise::mix;

    /// What bins take, their entries included.
    fn bits<L: Latent>(bins: &[Bucket<L>]) -> f64 {
        let total: f64 = bins.iter().map(|bin| f64::from(bin.count)).sum();
        let of_bin = |bin: &Bucket<L>| {
            let count = f64::from(bin.count);
            70.0 + count * ((total / count).log2() + f64::from(bin.offset_bits()))
        };
        bins.iter().map(of_bin).sum()
    }

    fn check<L: Latent>(latents: &[L], every: usize) -> (Vec<Bucket<L>>, Vec<Bucket<L>>) {
        let mut sorted = latents.to_vec();
        sorted.sort_unstable();
        let all = Sorted::new(&sorted);
        // As many latents each, but for values that would be in two bins.
        let mut starts: Vec<usize> = (0..sorted.len())
            .step_by(every)
            .map(|i| sorted.partition_point(|&x| x < sorted[i]))
            .collect();
        starts.push(sorted.len());
        starts.dedup();
        let planned: Vec<_> = starts.windows(2).map(|w| all.bin(w[0]..w[1])).collect();
        let settled = settle(latents, &planned, 70.0);
        assert!(bits(&settled) <= bits(&planned), "{planned:?} {settled:?}");
        assert!(settled.windows(2).all(|w| w[0].upper < w[1].lower));
        for bin in &settled {
            let held = sorted.iter().filter(|x| (bin.lower..=bin.upper).contains(*x)).count();
            assert_eq!(held, bin.count as usize);
        }
        assert_eq!(settled.iter().map(|bin| bin.count as usize).sum::<usize>(), latents.len());
        (planned, settled)
    }

    #[test]
    fn ends_are_found_between_those_of_buckets() {
        // Two hills of 2^10 and 2^14 values; bins of 1,500 part them at the wrong place.
        let hill = |i: u64| if i.is_multiple_of(3) { 1 << 20 | mix(i) >> 50 } else { mix(i) >> 54 };
        let (planned, settled) = check(&(0..3000).map(hill).collect::<Vec<u64>>(), 1500);
        assert!(planned[0].count < 1600);
        assert_eq!(settled.iter().map(|bin| bin.count).collect::<Vec<_>>(), [2000, 1000]);
    }

    #[test]
    fn bins_stay_bins_of_all_latents() {
        for every in [1, 7, 100, 1000, 5000] {
            check(&(0..3000).map(|i| mix(i) >> (mix(i + 9) % 64)).collect::<Vec<u64>>(), every);
            check(&(0..3000).map(|i| u8::truncate(mix(i) % 50)).collect::<Vec<u8>>(), every);
            check(&[u64::MAX, 0, u64::MAX, 1 << 63], every);
            check(&[5u16; 40], every);
        }
    }
}
