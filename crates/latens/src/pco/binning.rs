//! Bins for a latent variable: a histogram, the cheapest partition of it, weights, and the way
//! from a latent back to its bin.
//!
//! [`histogram`] reduces latents to at most some thousand buckets, [`coarse`] and [`optimize`] join buckets
//! to bins by dynamic programming over what they cost, [`train`] turns bins into a [`Variable`] with
//! the table size that costs least, `latens_kernels::ranges` finds the bin of each latent.

pub(crate) mod coarse;
pub(crate) mod every;
pub(crate) mod histogram;
pub(crate) mod optimize;
pub(crate) mod sort;
pub(crate) mod starts;

use crate::ans::frequencies;
use crate::number::Latent;
use crate::pco::binning::histogram::{Bucket, Grain, Histogram};
use crate::pco::binning::optimize::log2;
use crate::pco::layout::variable::{Bin, Variable, offset_field_bits};

/// Latents of a chunk that is binned more finely than others, and how much more finely.
const SHORT: usize = 1 << 15;
const FINER: usize = 4;
/// Parts that buckets are joined to before they are partitioned: so many of many buckets, and so many of
/// fewer, and for estimates.
const MOST_PARTS: usize = 256;
const PARTS: usize = 128;
const ESTIMATED_PARTS: usize = 32;
/// Tables up to this log2 are walked as fast as small ones. Larger ones must save more than the rest.
const LARGE_LOG: u32 = 10;
const MUST_SAVE: f64 = 0.00005;
const LARGE_MUST_SAVE: f64 = 0.0005;

/// How finely a variable is binned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Most buckets of the histogram.
    pub(crate) buckets: usize,
    /// log2 of the largest table.
    pub(crate) max_log: u32,
    partition: Partition,
}

/// How buckets are joined to bins, the fastest way first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Partition {
    Coarse,
    Near,
    Close,
}

impl Effort {
    /// As a level asks for.
    pub(crate) fn of_level(level: u32) -> Self {
        let finer = u32::from(level >= 6);
        Self {
            buckets: 1 << (level + finer).min(12),
            max_log: (level + 4).min(12).max(level + 2),
            partition: match level {
                ..8 => Partition::Coarse,
                8..11 => Partition::Near,
                11.. => Partition::Close,
            },
        }
    }

    /// As it is for so many latents: a short chunk's bins are found quickly, and are the smaller part of
    /// what it takes.
    fn of_length(self, n: usize) -> Self {
        if self.partition != Partition::Near || n > SHORT {
            return self;
        }
        let buckets = (self.buckets * FINER).min(1 << 12);
        Self { buckets, partition: Partition::Coarse, ..self }
    }

    fn must_save(self, log: u32) -> f64 {
        if log > LARGE_LOG && self.partition != Partition::Close {
            LARGE_MUST_SAVE
        } else {
            MUST_SAVE
        }
    }

    /// As a level asks for where a plan is chosen.
    pub(crate) fn of_estimates(level: u32) -> Self {
        Self::of_level(level.min(6))
    }
}

/// The bins of a variable, and which of them each latent lies in.
#[derive(Debug)]
pub(crate) struct Trained<L> {
    pub(crate) variable: Variable<L>,
    /// By latent; none where there is one bin at most.
    pub(crate) symbols: Vec<u16>,
}

/// The best bins for the latents of a whole chunk, sorted and disjoint.
pub(crate) fn train<L: Latent>(latents: &[L], effort: Effort) -> Trained<L> {
    let effort = effort.of_length(latents.len());
    let mut grain = Grain::even(effort.buckets);
    if effort.partition == Partition::Near {
        // Fewer buckets, but as many values of their own.
        grain.alone = 4;
    }
    let histogram = Histogram::new(latents, grain);
    let per_bin = f64::from(L::BITS + offset_field_bits(L::BITS));
    let ranges = match effort.partition {
        Partition::Coarse => {
            let parts = (histogram.buckets.len() / 16).clamp(PARTS, MOST_PARTS);
            coarse::partition(&histogram.buckets, per_bin, parts)
        }
        Partition::Near => optimize::partition(&histogram.buckets, per_bin),
        Partition::Close => optimize::partition_closely(&histogram.buckets, per_bin),
    };
    let counts: Vec<u32> = ranges.iter().map(|range| range.count).collect();
    let (log, weights, code_bits) = best_table(&counts, effort);
    if let Some(bin) = one_bin(&ranges, per_bin, code_bits) {
        return Trained { variable: Variable { log: 0, bins: vec![bin] }, symbols: Vec::new() };
    }
    let symbols = if ranges.len() > 1 { histogram.symbols(latents, &ranges) } else { Vec::new() };
    let to_bin = |(range, &weight): (&Bucket<L>, &u32)| Bin {
        weight,
        lower: range.lower,
        offset_bits: range.upper.sub(range.lower).bit_length(),
    };
    let bins = ranges.iter().zip(&weights).map(to_bin).collect();
    Trained { variable: Variable { log, bins }, symbols }
}

/// One bin over all latents, which then take as many bits as their range has.
pub(crate) fn one_for_all<L: Latent>(latents: &[L]) -> Trained<L> {
    let to_bin =
        |(min, max): (L, L)| Bin { weight: 1, lower: min, offset_bits: max.sub(min).bit_length() };
    let bins = histogram::bounds(latents).map(to_bin).into_iter().collect();
    Trained { variable: Variable { log: 0, bins }, symbols: Vec::new() }
}

/// One bin over everything, if it is cheaper than several with codes of `code_bits` in all. The
/// partition was chosen by ideal codes; those of a small table cost more.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn one_bin<L: Latent>(ranges: &[Bucket<L>], per_bin: f64, code_bits: f64) -> Option<Bin<L>> {
    let [first, .., last] = ranges else { return None };
    let bits =
        |lower: L, upper: L, count: u64| count as f64 * f64::from(upper.sub(lower).bit_length());
    let offsets: f64 = ranges.iter().map(|r| bits(r.lower, r.upper, u64::from(r.count))).sum();
    let n = ranges.iter().map(|r| u64::from(r.count)).sum();
    let several = code_bits + offsets + per_bin * ranges.len() as f64;
    let one = bits(first.lower, last.upper, n) + per_bin;
    let offset_bits = last.upper.sub(first.lower).bit_length();
    (one <= several).then_some(Bin { weight: 1, lower: first.lower, offset_bits })
}

/// About how many bits `n` latents of which these are a sample take, bins included. The latents
/// are left in another order.
pub(crate) fn estimate_bits<L: Latent>(sample: &mut [L], n: usize, effort: Effort) -> f64 {
    estimate_buckets(&histogram::of_sample(sample, effort.buckets), sample.len(), n)
}

/// The same for a sample in ascending order.
pub(crate) fn estimate_sorted<L: Latent>(sample: &[L], n: usize, effort: Effort) -> f64 {
    estimate_buckets(&histogram::of_sorted(sample, effort.buckets), sample.len(), n)
}

/// The same by the buckets of a sample.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
pub(crate) fn estimate_buckets<L: Latent>(buckets: &[Bucket<L>], sample_n: usize, n: usize) -> f64 {
    if buckets.is_empty() {
        return 0.0;
    }
    let per_bin = f64::from(L::BITS + offset_field_bits(L::BITS));
    let (total, n) = (sample_n as f64, n as f64);
    let log_total = total.log2();
    let bits_of = |range: &Bucket<L>| {
        let count = f64::from(range.count);
        let offset_bits = f64::from(range.upper.sub(range.lower).bit_length());
        per_bin + 8.0 + count / total * n * (log_total - log2(count) + offset_bits)
    };
    19.0 + coarse::partition(buckets, per_bin, ESTIMATED_PARTS).iter().map(bits_of).sum::<f64>()
}

/// The table size whose codes and metadata take the fewest bits, its weights, and those bits.
fn best_table(counts: &[u32], effort: Effort) -> (u32, Vec<u32>, f64) {
    if counts.len() <= 1 {
        return (0, vec![1; counts.len()], 0.0);
    }
    let least = (counts.len() - 1).ilog2() + 1;
    let mut best: Option<(f64, u32, Vec<u32>)> = None;
    for log in least..=effort.max_log.max(least) {
        let weights = frequencies::normalize(log, counts);
        #[expect(clippy::cast_precision_loss, reason = "at most 2^14 bins")]
        let cost =
            frequencies::cost_bits(log, counts, &weights) + f64::from(log) * counts.len() as f64;
        // A larger table is slower to build and to walk: it must pay.
        match &best {
            Some((least_cost, ..)) if cost >= least_cost * (1.0 - effort.must_save(log)) => {}
            _ => best = Some((cost, log, weights)),
        }
    }
    best.map_or((0, Vec::new(), 0.0), |(cost, log, weights)| (log, weights, cost))
}
