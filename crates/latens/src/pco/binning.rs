//! Bins for a latent variable: a histogram, the cheapest partition of it, weights, and the way
//! from a latent back to its bin.
//!
//! [`effort`] says how finely. [`histogram`] reduces latents to at most some thousand [`buckets`], of many
//! latents by [`cuts`] that a sample tells; [`coarse`] and [`optimize`] join buckets to bins by dynamic
//! programming over what they cost, [`ends`] looks for better ends of them among all latents, [`fit`] finds
//! the bin of each latent, [`train`] turns bins into a [`Variable`] with the [`table`] that costs least.

pub(crate) mod buckets;
pub(crate) mod coarse;
pub(crate) mod cuts;
pub(crate) mod effort;
pub(crate) mod ends;
pub(crate) mod every;
pub(crate) mod fit;
pub(crate) mod histogram;
pub(crate) mod optimize;
mod parts;
pub(crate) mod ranked;
pub(crate) mod sort;
pub(crate) mod starts;
pub(crate) mod table;

pub(crate) use effort::Effort;

use crate::number::Latent;
use crate::pco::binning::buckets::{Bucket, Grain};
use crate::pco::binning::effort::Partition;
use crate::pco::binning::histogram::Histogram;
use crate::pco::binning::ranked::Ranked;
use crate::pco::binning::table::Table;
use crate::pco::dense;
use crate::pco::layout::variable::{Bin, Variable, offset_field_bits};
use crate::pco::logarithm::log2;

/// Parts that buckets are joined to before they are partitioned: so many of many buckets, and so many of
/// fewer, and for estimates.
const MOST_PARTS: usize = 256;
const PARTS: usize = 128;
const ESTIMATED_PARTS: usize = 32;
/// About the bits of a weight in the metadata.
const WEIGHT_BITS: f64 = 10.0;

/// The bins of a variable, and which of them each latent lies in.
#[derive(Debug)]
pub(crate) struct Trained<L> {
    pub(crate) variable: Variable<L>,
    /// By latent; none where there is one bin at most.
    pub(crate) symbols: Vec<u16>,
}

/// The best bins for the latents of a whole chunk, sorted and disjoint. Where they are short and ranked already,
/// they are not ranked once more.
pub(crate) fn train<L: Latent>(
    latents: &[L],
    ranked: Option<&Ranked<L>>,
    effort: Effort,
) -> Trained<L> {
    let effort = effort.of_length(latents.len());
    let grain = grain(effort);
    if effort.partition == Partition::Exact {
        return train_exactly(latents, effort, grain);
    }
    // Bins of other latents would be wrong ones.
    let is_same =
        |ranked: &Ranked<L>| Ranked::of(latents.to_vec()).buckets(grain) == ranked.buckets(grain);
    debug_assert!(ranked.is_none_or(is_same), "ranked before something changed");
    let histogram = match ranked {
        Some(ranked) => Histogram::of_ranked(ranked, grain),
        None if effort.partition == Partition::Close => Histogram::new(latents, grain),
        None => Histogram::estimate(latents, grain),
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

fn grain(effort: Effort) -> Grain {
    // Fewer buckets, but as many values of their own.
    let alone = if effort.partition == Partition::Near { 4 } else { 1 };
    Grain { most: effort.buckets, alone, rare: effort.rare() }
}

/// The same by ends among all latents and tables that are measured.
fn train_exactly<L: Latent>(latents: &[L], effort: Effort, grain: Grain) -> Trained<L> {
    let per_bin = bits_per_bin::<L>();
    let planned = partition(&Histogram::new(latents, grain).buckets, effort);
    let bins = ends::settle(latents, &planned, per_bin + WEIGHT_BITS);
    if bins.len() < 2 {
        return with_bins(&bins, effort, Vec::new);
    }
    let symbols = fit::symbols(latents, &bins);
    let table = table::best_measured(&counts(&bins), effort, &symbols);
    with_table(&bins, table, || symbols)
}

fn partition<L: Latent>(buckets: &[Bucket<L>], effort: Effort) -> Vec<Bucket<L>> {
    match effort.partition {
        Partition::Coarse => {
            let parts = (buckets.len() / 16).clamp(PARTS, MOST_PARTS);
            coarse::partition(buckets, bits_per_bin::<L>(), parts)
        }
        Partition::Near => optimize::partition(buckets, bits_per_bin::<L>()),
        Partition::Close | Partition::Exact => {
            optimize::partition_closely(buckets, bits_per_bin::<L>())
        }
    }
}

fn bits_per_bin<L: Latent>() -> f64 {
    f64::from(L::BITS + offset_field_bits(L::BITS))
}

fn counts<L: Latent>(ranges: &[Bucket<L>]) -> Vec<u32> {
    ranges.iter().map(|range| range.count).collect()
}

/// Weights for bins, and symbols where there are several bins.
fn with_bins<L: Latent>(
    ranges: &[Bucket<L>],
    effort: Effort,
    symbols: impl FnOnce() -> Vec<u16>,
) -> Trained<L> {
    with_table(ranges, table::best(&counts(ranges), effort), symbols)
}

fn with_table<L: Latent>(
    ranges: &[Bucket<L>],
    table: Table,
    symbols: impl FnOnce() -> Vec<u16>,
) -> Trained<L> {
    if let Some(bin) = one_bin(ranges, bits_per_bin::<L>(), table.bits) {
        return Trained { variable: Variable { log: 0, bins: vec![bin] }, symbols: Vec::new() };
    }
    let symbols = if ranges.len() > 1 { symbols() } else { Vec::new() };
    let to_bin = |(range, &weight): (&Bucket<L>, &u32)| Bin {
        weight,
        lower: range.lower,
        offset_bits: range.offset_bits(),
    };
    let bins = ranges.iter().zip(&table.weights).map(to_bin).collect();
    Trained { variable: Variable { log: table.log, bins }, symbols }
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
    let n: u64 = ranges.iter().map(|range| u64::from(range.count)).sum();
    let offset_bits = last.upper.sub(first.lower).bit_length();
    let several = code_bits + bits_beside_codes(ranges, per_bin);
    let one = n as f64 * f64::from(offset_bits) + per_bin;
    (one <= several).then_some(Bin { weight: 1, lower: first.lower, offset_bits })
}

/// Bits of offsets, and of bins in the metadata.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn bits_beside_codes<L: Latent>(ranges: &[Bucket<L>], per_bin: f64) -> f64 {
    let of = |range: &Bucket<L>| f64::from(range.count) * f64::from(range.offset_bits());
    ranges.iter().map(of).sum::<f64>() + per_bin * ranges.len() as f64
}

/// Bits of all latents with bins that are about as good as those of [`train`], bins included.
pub(crate) fn stored_bits<L: Latent>(latents: &[L], effort: Effort) -> f64 {
    let effort = effort.of_length(latents.len());
    let bins = partition(&Histogram::new(latents, grain(effort)).buckets, effort);
    table::best(&counts(&bins), effort).bits + bits_beside_codes(&bins, bits_per_bin::<L>())
}

/// About how many bits `n` latents of which these are a sample take, bins included.
pub(crate) fn estimate_bits<L: Latent>(sample: &Ranked<L>, n: usize, effort: Effort) -> f64 {
    estimate_buckets(&sample.buckets(Grain::even(effort.buckets)), sample.len(), n)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pco::config::{Config, Favor};
    use crate::pco::noise::mix;

    /// Every latent is in the bin that it is said to be in, and the weights are those of a table.
    fn check<L: Latent>(latents: &[L], effort: Effort) -> Trained<L> {
        let trained = train(latents, None, effort);
        let Variable { log, bins } = &trained.variable;
        assert_eq!(bins.iter().map(|bin| bin.weight).sum::<u32>(), 1 << log);
        assert!(bins.len() == 1 || trained.symbols.len() == latents.len());
        for (i, x) in latents.iter().enumerate() {
            let bin = &bins[trained.symbols.get(i).map_or(0, |&symbol| usize::from(symbol))];
            assert!(*x >= bin.lower && x.sub(bin.lower).bit_length() <= bin.offset_bits, "{x:?}");
        }
        trained
    }

    /// A thousand far values that come often, beside others that come once or some times each.
    #[test]
    fn there_are_no_more_bins_than_a_table_has_slots() {
        let size = Config::default().level(12).favor(Favor::Size);
        for values in [8190, u64::MAX] {
            let value = |i: u64| match mix(i) % 20 {
                0..11 => mix(mix(i + 1) % 1000) >> 8,
                _ => mix(mix(i + 2) % values) >> 8,
            };
            let latents: Vec<u64> = (0..400_000).map(value).collect();
            for effort in [10, 12].map(Effort::of_level).into_iter().chain([Effort::of(&size)]) {
                check(&latents, effort);
            }
        }
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
        let size = Config::default().level(12).favor(Favor::Size);
        let efforts = [4, 7, 8, 11].map(Effort::of_level).into_iter().chain([Effort::of(&size)]);
        for kind in kinds {
            for effort in efforts.clone() {
                let mut latents: Vec<u64> = (0..70_000).map(kind).collect();
                for i in 0..20 {
                    let at = usize::try_from(mix(i) % 70_000).unwrap();
                    latents[at] = mix(i + 3) >> (i * 3);
                }
                check(&latents, effort);
                #[expect(clippy::cast_possible_truncation, reason = "other latents do as well")]
                check(&latents.iter().map(|&x| x as u32).collect::<Vec<u32>>(), effort);
            }
        }
    }

    #[test]
    fn what_a_part_does_not_see_leads_to_all() {
        // One stretch of eight among many has other values.
        let latents: Vec<u64> = (0..1u64 << 18)
            .map(|i| if i / 8 % 64 == 5 { mix(i) >> 8 } else { (1 << 60) + mix(i) % (1 << 30) })
            .collect();
        let trained = check(&latents, Effort::of_level(8));
        let Variable { log, bins } = &trained.variable;
        let bits = |bin: &Bin<u64>| f64::from(bin.offset_bits + log) - log2(bin.weight.into());
        let all: f64 = trained.symbols.iter().map(|&symbol| bits(&bins[usize::from(symbol)])).sum();
        // 63 of 64 take 30 bits, the others 56, and 0.12 bits say which.
        let mean = all / f64::from(1u32 << 18);
        assert!((30.4..30.7).contains(&mean), "{mean} bits");
    }
}
