//! Bins for a latent variable: a histogram, the cheapest partition of it, weights, and the way
//! from a latent back to its bin.
//!
//! [`histogram`] reduces latents to at most some thousand buckets, [`optimize`] joins buckets to
//! bins by dynamic programming over what they cost, [`train`] turns bins into a [`Variable`] with
//! the table size that costs least, [`lookup`] finds the bin of each latent.

pub(crate) mod histogram;
pub(crate) mod lookup;
pub(crate) mod optimize;

use crate::ans::frequencies;
use crate::number::Latent;
use crate::pco::layout::variable::{Bin, Variable, offset_field_bits};

/// Bins of a variable, and about how many bits its latents take with them.
#[derive(Clone, Debug)]
pub(crate) struct Trained<L> {
    /// What goes into the chunk metadata; bins are sorted and do not overlap.
    pub(crate) variable: Variable<L>,
    /// Bits of metadata.
    pub(crate) meta_bits: f64,
    /// Bits of codes and offsets.
    pub(crate) body_bits: f64,
}

/// How finely a variable is binned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Most buckets of the histogram.
    pub(crate) buckets: usize,
    /// log2 of the largest table.
    pub(crate) max_log: u32,
}

impl Effort {
    /// As a level asks for.
    pub(crate) fn of_level(level: u32) -> Self {
        let finer = u32::from(level >= 6);
        Self { buckets: 1 << (level + finer).min(12), max_log: 12.min(level + 4) }
    }
}

/// The best bins for the latents of a whole chunk. The latents are left in another order.
pub(crate) fn train<L: Latent>(latents: &mut [L], effort: Effort) -> Trained<L> {
    let buckets = histogram::histogram(latents, effort.buckets);
    let per_bin = f64::from(L::BITS + offset_field_bits(L::BITS));
    let ranges = optimize::partition(&buckets, per_bin);
    let counts: Vec<u32> = ranges.iter().map(|range| range.count).collect();
    let (log, weights, code_bits) = best_table(&counts, effort.max_log);
    let to_bin = |(range, &weight): (&histogram::Bucket<L>, &u32)| Bin {
        weight,
        lower: range.lower,
        offset_bits: range.upper.sub(range.lower).bit_length(),
    };
    let bins: Vec<Bin<L>> = ranges.iter().zip(&weights).map(to_bin).collect();
    let offsets: f64 =
        bins.iter().zip(&counts).map(|(b, &c)| f64::from(b.offset_bits) * f64::from(c)).sum();
    let variable = Variable { log, bins };
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let meta_bits = variable.written_bits() as f64;
    Trained { meta_bits, body_bits: code_bits + offsets, variable }
}

/// The table size whose codes and metadata take the fewest bits, its weights and code bits.
fn best_table(counts: &[u32], max_log: u32) -> (u32, Vec<u32>, f64) {
    if counts.len() <= 1 {
        return (0, vec![1; counts.len()], 0.0);
    }
    let least = (counts.len() - 1).ilog2() + 1;
    let mut best: Option<(f64, u32, Vec<u32>, f64)> = None;
    for log in least..=max_log.max(least) {
        let weights = frequencies::normalize(log, counts);
        let code_bits = frequencies::cost_bits(log, counts, &weights);
        #[expect(clippy::cast_precision_loss, reason = "at most 2^14 bins")]
        let cost = code_bits + f64::from(log) * counts.len() as f64;
        // A larger table is slower to build and to walk: it must pay.
        match &best {
            Some((least_cost, ..)) if cost >= least_cost * 0.9998 => {}
            _ => best = Some((cost, log, weights, code_bits)),
        }
    }
    best.map_or((0, Vec::new(), 0.0), |(_, log, weights, code_bits)| (log, weights, code_bits))
}
