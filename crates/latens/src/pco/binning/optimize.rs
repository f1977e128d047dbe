//! Joining neighbouring buckets to bins so that the sum of metadata, codes and offsets is least.
//!
//! A bin of `c` out of `n` latents spanning `w` values costs `c · (log2(n / c) + bits(w))` and its
//! entry in the metadata. The best partition of the first `j` buckets is the best of the first
//! `i` and one bin over the rest, for some `i`.

use crate::number::Latent;
use crate::pco::binning::histogram::Bucket;
use latens_kernels::dispatch::Present;

/// Starts of a last bin that are tried one by one before they are tried at growing distances.
const NEAR: usize = 8;

/// The cheapest partition, or one that costs hardly more; `bits_per_bin` is what a bin takes in
/// the metadata beside its weight.
///
/// Not every start of the last bin is tried. For each width in bits the farthest start is, since
/// there what one more bucket would cost jumps; in between costs are flat and a sparser and
/// sparser grid will do.
pub(crate) fn partition<L: Latent>(buckets: &[Bucket<L>], bits_per_bin: f64) -> Vec<Bucket<L>> {
    Present::in_use().call(
        #[inline(always)]
        || partition_in(buckets, bits_per_bin),
    )
}

#[inline(always)]
fn partition_in<L: Latent>(buckets: &[Bucket<L>], bits_per_bin: f64) -> Vec<Bucket<L>> {
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
    let mut starts = Starts::default();
    for j in 1..=buckets.len() {
        let upper = buckets[j - 1].upper;
        starts.n = 0;
        let mut consider = |i: usize| {
            let bits = upper.sub(buckets[i].lower).bit_length();
            starts.push(i, best[i], sums[j] - sums[i], bits);
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
        let mut before = j;
        for (bits, first) in (0u32..).zip(&mut farthest) {
            while *first < j && upper.sub(buckets[*first].lower).bit_length() > bits {
                *first += 1;
            }
            // Not once more what the width before it has shown.
            if *first + 1 < before {
                consider(*first);
                before = *first + 1;
            }
            if *first == 0 {
                break;
            }
        }
        let (least, at) = starts.cheapest(log_total);
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

/// Starts of a last bin, side by side so that their costs are found several at a time.
struct Starts {
    n: usize,
    at: [usize; MOST_STARTS],
    /// Cost of what is before.
    before: [f64; MOST_STARTS],
    /// Latents in the last bin, and bits of its offsets.
    count: [f64; MOST_STARTS],
    bits: [f64; MOST_STARTS],
}

/// At most [`NEAR`], half as many for each doubling of the step up to 2^16 buckets, and one for
/// each width; to a multiple of [`AT_ONCE`].
const MOST_STARTS: usize = NEAR + NEAR / 2 * 16 + 65 + 7;
/// Costs found together.
const AT_ONCE: usize = 8;

impl Default for Starts {
    fn default() -> Self {
        // What is beyond the last start is a number, whichever.
        let ones = [1.0; MOST_STARTS];
        Self { n: 0, at: [0; MOST_STARTS], before: ones, count: ones, bits: ones }
    }
}

impl Starts {
    #[inline(always)]
    fn push(&mut self, at: usize, before: f64, count: u32, bits: u32) {
        let n = self.n;
        self.at[n] = at;
        self.before[n] = before;
        self.count[n] = f64::from(count);
        self.bits[n] = f64::from(bits);
        self.n += 1;
    }

    /// The least cost, and the first start that has it.
    #[inline(always)]
    fn cheapest(&self, log_total: f64) -> (f64, usize) {
        let (mut least, mut best) = (f64::INFINITY, 0);
        let (before, _) = self.before.as_chunks::<AT_ONCE>();
        let (count, _) = self.count.as_chunks::<AT_ONCE>();
        let (bits, _) = self.bits.as_chunks::<AT_ONCE>();
        let groups = before.iter().zip(count).zip(bits).take(self.n.div_ceil(AT_ONCE));
        for (group, ((before, count), bits)) in groups.enumerate() {
            let mut costs = [0.0; AT_ONCE];
            for (k, cost) in costs.iter_mut().enumerate() {
                *cost = before[k] + count[k] * (log_total - log2(count[k]) + bits[k]);
            }
            for (k, cost) in (group * AT_ONCE..self.n).zip(costs) {
                if cost < least {
                    (least, best) = (cost, k);
                }
            }
        }
        (least, self.at[best])
    }
}

/// log2 of a positive number to about 1e-3, much faster than the exact one.
#[inline(always)]
pub(crate) fn log2(x: f64) -> f64 {
    let bits = x.to_bits();
    // The exponent as the low bits of a float: there is no instruction that would convert four.
    let exponent = f64::from_bits(bits >> 52 | 1075 << 52) - (4_503_599_627_370_496.0 + 1023.0);
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
