//! Bins for a latent variable: a histogram, the cheapest partition of it, weights, and the way
//! from a latent back to its bin.
//!
//! [`histogram`] reduces latents to at most some thousand [`buckets`], of many latents by [`cuts`] that a
//! sample tells; [`coarse`] and [`optimize`] join buckets to bins by dynamic programming over what they
//! cost, [`fit`] finds the bin of each latent, [`train`] turns bins into a [`Variable`] with the table size
//! that costs least.

pub(crate) mod buckets;
pub(crate) mod coarse;
pub(crate) mod cuts;
pub(crate) mod every;
pub(crate) mod fit;
pub(crate) mod histogram;
pub(crate) mod optimize;
pub(crate) mod sort;
pub(crate) mod starts;

use crate::ans::frequencies;
use crate::number::Latent;
use crate::pco::binning::buckets::{Bucket, Grain};
use crate::pco::binning::histogram::Histogram;
use crate::pco::dense;
use crate::pco::layout::variable::{Bin, Variable, offset_field_bits};
use crate::pco::logarithm::log2;

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
    let histogram = if effort.partition == Partition::Close {
        Histogram::new(latents, grain)
    } else {
        Histogram::estimate(latents, grain)
    };
    let planned = partition(&histogram.buckets, effort);
    if !histogram.is_estimate {
        return with_bins(&planned, effort, || histogram.symbols(latents, &planned));
    }
    if let Some((symbols, bins)) = fit::within(latents, &planned) {
        return with_bins(&bins, effort, || symbols);
    }
    let histogram = Histogram::new(latents, grain);
    let bins = partition(&histogram.buckets, effort);
    with_bins(&bins, effort, || histogram.symbols(latents, &bins))
}

fn partition<L: Latent>(buckets: &[Bucket<L>], effort: Effort) -> Vec<Bucket<L>> {
    match effort.partition {
        Partition::Coarse => {
            let parts = (buckets.len() / 16).clamp(PARTS, MOST_PARTS);
            coarse::partition(buckets, bits_per_bin::<L>(), parts)
        }
        Partition::Near => optimize::partition(buckets, bits_per_bin::<L>()),
        Partition::Close => optimize::partition_closely(buckets, bits_per_bin::<L>()),
    }
}

fn bits_per_bin<L: Latent>() -> f64 {
    f64::from(L::BITS + offset_field_bits(L::BITS))
}

/// Weights for bins, and symbols where there are several bins.
fn with_bins<L: Latent>(
    ranges: &[Bucket<L>],
    effort: Effort,
    symbols: impl FnOnce() -> Vec<u16>,
) -> Trained<L> {
    let counts: Vec<u32> = ranges.iter().map(|range| range.count).collect();
    let (log, weights, code_bits) = best_table(&counts, effort);
    if let Some(bin) = one_bin(ranges, bits_per_bin::<L>(), code_bits) {
        return Trained { variable: Variable { log: 0, bins: vec![bin] }, symbols: Vec::new() };
    }
    let symbols = if ranges.len() > 1 { symbols() } else { Vec::new() };
    let to_bin = |(range, &weight): (&Bucket<L>, &u32)| Bin {
        weight,
        lower: range.lower,
        offset_bits: range.offset_bits(),
    };
    let bins = ranges.iter().zip(&weights).map(to_bin).collect();
    Trained { variable: Variable { log, bins }, symbols }
}

/// One bin over all latents, which then take as many bits as their range has.
pub(crate) fn one_for_all<L: Latent>(latents: &[L]) -> Trained<L> {
    let to_bin =
        |(min, max): (L, L)| Bin { weight: 1, lower: min, offset_bits: max.sub(min).bit_length() };
    let bins = dense::bounds(latents).map(to_bin).into_iter().collect();
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
    estimate_buckets(&buckets::of_sorted(sample, effort.buckets), sample.len(), n)
}

/// The same by the buckets of a sample.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
pub(crate) fn estimate_buckets<L: Latent>(buckets: &[Bucket<L>], sample_n: usize, n: usize) -> f64 {
    if buckets.is_empty() {
        return 0.0;
    }
    let per_bin = bits_per_bin::<L>();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pco::noise::mix;

    /// Every latent is in the bin that it is said to be in, and the weights are those of a table.
    fn check<L: Latent>(latents: &[L], level: u32) -> Trained<L> {
        let trained = train(latents, Effort::of_level(level));
        let Variable { log, bins } = &trained.variable;
        assert_eq!(bins.iter().map(|bin| bin.weight).sum::<u32>(), 1 << log);
        assert!(bins.len() == 1 || trained.symbols.len() == latents.len());
        for (i, x) in latents.iter().enumerate() {
            let bin = &bins[trained.symbols.get(i).map_or(0, |&symbol| usize::from(symbol))];
            assert!(*x >= bin.lower && x.sub(bin.lower).bit_length() <= bin.offset_bits, "{x:?}");
        }
        trained
    }

    #[test]
    fn bins_hold_all_latents_though_a_part_has_shaped_them() {
        // Heavy tails, two hills far apart, values with gaps, a few equal ones, and always some that no part sees.
        let kinds: [fn(u64) -> u64; 5] = [
            |i| mix(i) >> (mix(i + 7) % 60),
            |i| ((mix(i) % 2) << 50) + mix(i + 1) % 100_000,
            |i| (mix(i) % 30_000) * 1_000,
            |i| if mix(i).is_multiple_of(3) { 1 << 40 } else { mix(i + 5) >> 20 },
            |i| mix(i) % 70_000 * 64 + u64::from(i % 977 == 0),
        ];
        for kind in kinds {
            for level in [4, 7, 8, 11] {
                let mut latents: Vec<u64> = (0..70_000).map(kind).collect();
                for i in 0..20 {
                    let at = usize::try_from(mix(i) % 70_000).unwrap();
                    latents[at] = mix(i + 3) >> (i * 3);
                }
                check(&latents, level);
                #[expect(clippy::cast_possible_truncation, reason = "other latents do as well")]
                check(&latents.iter().map(|&x| x as u32).collect::<Vec<u32>>(), level);
            }
        }
    }

    #[test]
    fn what_a_part_does_not_see_leads_to_all() {
        // One stretch of eight among many has other values.
        let latents: Vec<u64> = (0..1u64 << 18)
            .map(|i| if i / 8 % 64 == 5 { mix(i) >> 8 } else { (1 << 60) + mix(i) % (1 << 30) })
            .collect();
        let trained = check(&latents, 8);
        let Variable { log, bins } = &trained.variable;
        let bits = |bin: &Bin<u64>| f64::from(bin.offset_bits + log) - log2(bin.weight.into());
        let all: f64 = trained.symbols.iter().map(|&symbol| bits(&bins[usize::from(symbol)])).sum();
        // 63 of 64 take 30 bits, the others 56, and 0.12 bits say which.
        let mean = all / f64::from(1u32 << 18);
        assert!((30.4..30.7).contains(&mean), "{mean} bits");
    }
}
