//! Joining neighbouring buckets to bins so that the sum of metadata, codes and offsets is least.
//!
//! A bin of `c` out of `n` latents spanning `w` values costs `c · (log2(n / c) + bits(w))` and its
//! entry in the metadata. The best partition of the first `j` buckets is the best of the first
//! `i` and one bin over the rest, for some `i`.

use crate::number::Latent;
use crate::pco::binning::every;
use crate::pco::binning::histogram::Bucket;
use latens_kernels::dispatch::Present;

/// Starts of a last bin that are tried one by one before they are tried at growing distances.
const NEAR: usize = 8;
/// Where the starts of a last bin cost so many bins' metadata more than the best, none farther away
/// is tried.
const HOPELESS: f64 = 0.25;

/// The cheapest partition, or one that costs hardly more; `bits_per_bin` is what a bin takes in
/// the metadata beside its weight.
///
/// Of many buckets not every start of the last bin is tried. For each width in bits the farthest start is, since
/// there what one more bucket would cost jumps; in between costs are flat and a sparser and
/// sparser grid will do.
pub(crate) fn partition<L: Latent>(buckets: &[Bucket<L>], bits_per_bin: f64) -> Vec<Bucket<L>> {
    if buckets.len() <= every::MOST {
        return every::partition(buckets, bits_per_bin + weight_bits(buckets.len()));
    }
    Present::in_use().call(
        #[inline(always)]
        || partition_in(buckets, bits_per_bin),
    )
}

/// A weight takes about as many bits as it takes to name a bin, and a few more.
fn weight_bits(buckets: usize) -> f64 {
    f64::from(buckets.max(2).ilog2()).min(8.0)
}

#[inline(always)]
fn partition_in<L: Latent>(buckets: &[Bucket<L>], bits_per_bin: f64) -> Vec<Bucket<L>> {
    let bits_per_bin = bits_per_bin + weight_bits(buckets.len());
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
    // By width in bits, the first bucket of the widest bin that ends with the current one, or one
    // before it, as widths are looked at when it is their turn.
    let mut farthest = [0usize; 65];
    let hopeless = HOPELESS * bits_per_bin;
    for j in 1..=buckets.len() {
        let end = End { buckets: &buckets[..j], sums: &sums[..=j], best: &best[..j] };
        let mut starts = Starts::new(log_total);
        let (mut i, mut tried, mut step) = (j - 1, 0, 1);
        loop {
            let lag = starts.push(end.start(i));
            tried += 1;
            if tried == NEAR {
                (tried, step) = (NEAR / 2, step * 2);
            }
            if i < step || lag > hopeless {
                break;
            }
            i -= step;
        }
        let mut before = j;
        for bits in end.bits_from(j - 1)..=64 {
            let first = &mut farthest[bits as usize];
            while *first < j && end.bits_from(*first) > bits {
                *first += 1;
            }
            // Not once more what the width before it has shown.
            if *first + 1 < before {
                before = *first + 1;
                if starts.push(end.start(*first)) > hopeless {
                    break;
                }
            }
            if *first == 0 {
                break;
            }
        }
        let (least, at) = starts.cheapest();
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

/// Where a last bin ends.
struct End<'a, L> {
    /// Up to there, as is what follows.
    buckets: &'a [Bucket<L>],
    /// One more than buckets.
    sums: &'a [u32],
    best: &'a [f64],
}

/// Where a last bin may start.
struct Start {
    at: usize,
    /// Cost of what is before.
    before: f64,
    /// Latents in the bin, and bits of its offsets.
    count: u32,
    bits: u32,
}

impl<L: Latent> End<'_, L> {
    /// Bits of offsets from the lower end of a bucket on.
    #[inline(always)]
    fn bits_from(&self, i: usize) -> u32 {
        let last = &self.buckets[self.buckets.len() - 1];
        last.upper.sub(self.buckets[i].lower).bit_length()
    }

    #[inline(always)]
    fn start(&self, at: usize) -> Start {
        let count = self.sums[self.buckets.len()] - self.sums[at];
        Start { at, before: self.best[at], count, bits: self.bits_from(at) }
    }
}

/// Starts of a last bin, some side by side so that their costs are found together.
struct Starts {
    log_total: f64,
    n: usize,
    at: [usize; AT_ONCE],
    before: [f64; AT_ONCE],
    count: [i32; AT_ONCE],
    bits: [i32; AT_ONCE],
    /// The least cost so far, and the first start that has it.
    least: f64,
    best: usize,
}

/// Costs found together.
const AT_ONCE: usize = 8;

impl Starts {
    #[inline(always)]
    fn new(log_total: f64) -> Self {
        Self {
            log_total,
            n: 0,
            at: [0; AT_ONCE],
            // What is beyond the last start is a number, whichever.
            before: [1.0; AT_ONCE],
            count: [1; AT_ONCE],
            bits: [1; AT_ONCE],
            least: f64::INFINITY,
            best: 0,
        }
    }

    /// By how much the cheapest of the last [`AT_ONCE`] starts costs more than the best, whenever
    /// there are so many.
    #[inline(always)]
    #[expect(clippy::cast_possible_wrap, reason = "a chunk has 2^24 latents at most")]
    fn push(&mut self, start: Start) -> f64 {
        let Start { at, before, count, bits } = start;
        let n = self.n % AT_ONCE;
        self.at[n] = at;
        self.before[n] = before;
        self.count[n] = count as i32;
        self.bits[n] = bits as i32;
        self.n = n + 1;
        if self.n == AT_ONCE { self.weigh() - self.least } else { 0.0 }
    }

    /// The least of the costs side by side.
    #[inline(always)]
    fn weigh(&mut self) -> f64 {
        let mut costs = [0.0; AT_ONCE];
        for (k, cost) in costs.iter_mut().enumerate() {
            let count = f64::from(self.count[k]);
            let bits = f64::from(self.bits[k]);
            *cost = self.before[k] + count * (self.log_total - log2(count) + bits);
        }
        let (mut least, mut best) = (f64::INFINITY, 0);
        for (k, cost) in costs.into_iter().enumerate().take(self.n) {
            if cost < least {
                (least, best) = (cost, k);
            }
        }
        if least < self.least {
            (self.least, self.best) = (least, self.at[best]);
        }
        least
    }

    /// The least cost, and the first start that has it.
    #[inline(always)]
    fn cheapest(mut self) -> (f64, usize) {
        self.weigh();
        (self.least, self.best)
    }
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
