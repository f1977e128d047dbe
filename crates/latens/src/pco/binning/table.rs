//! The table of a variable: how large it is, and how many of its slots each bin has.

use crate::ans::{frequencies, tans};
use crate::pco::binning::effort::Effort;
use crate::spare;
use latens_kernels::dispatch::Present;
use latens_kernels::tans::LANES;

/// A table is measured if it might take no more than the best one: what codes really take is up to this
/// much more than their share of slots says.
const MEASURED_WITHIN: f64 = 1.005;

/// A table of some size and what is stored of it and by it.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) log: u32,
    /// By bin, slots of it.
    pub(crate) weights: Vec<u32>,
    /// Bits of all codes and of the weights in the metadata.
    pub(crate) bits: f64,
}

impl Table {
    /// By the share of the slots that each bin has.
    fn of_size(log: u32, counts: &[u32]) -> Self {
        let weights = frequencies::normalize(log, counts);
        let bits = frequencies::cost_bits(log, counts, &weights) + weight_bits(log, counts.len());
        Self { log, weights, bits }
    }

    /// The same with what codes really take. Where the slots of a bin lie makes a difference of up to some
    /// thousandths.
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52 bits")]
    fn measured(mut self, symbols: &[u16]) -> Self {
        let mut codes: Vec<u64> = spare::stale(symbols.len().div_ceil(LANES));
        tans::encoder(self.log, &self.weights).codes(Present::in_use(), symbols, &mut codes);
        // Each group has its length in the highest byte.
        let bits: u64 = codes.iter().map(|group| group >> 56).sum();
        spare::give(codes);
        self.bits = bits as f64 + weight_bits(self.log, self.weights.len());
        self
    }
}

fn weight_bits(log: u32, bins: usize) -> f64 {
    f64::from(log) * bins as f64
}

/// The table that takes the fewest bits, no larger than the effort allows if there are not more bins. A larger
/// one is slower to build and to walk: it must pay.
pub(crate) fn best(counts: &[u32], effort: Effort) -> Table {
    least(sizes(counts, effort), effort).unwrap_or_else(|| alone(counts))
}

/// The same by what the codes of these symbols really take.
pub(crate) fn best_measured(counts: &[u32], effort: Effort, symbols: &[u16]) -> Table {
    let tables: Vec<Table> = sizes(counts, effort).collect();
    let most =
        tables.iter().map(|table| table.bits).fold(f64::INFINITY, f64::min) * MEASURED_WITHIN;
    let close = tables.into_iter().filter(|table| table.bits <= most);
    least(close.map(|table| table.measured(symbols)), effort).unwrap_or_else(|| alone(counts))
}

/// Codes of one bin, or none, take nothing.
fn alone(counts: &[u32]) -> Table {
    Table { log: 0, weights: vec![1; counts.len()], bits: 0.0 }
}

fn sizes(counts: &[u32], effort: Effort) -> impl Iterator<Item = Table> {
    let bins = counts.len();
    let least = bins.saturating_sub(1).max(1).ilog2() + 1;
    let logs = (bins > 1).then_some(least..=effort.max_log.max(least));
    logs.into_iter().flatten().map(|log| Table::of_size(log, counts))
}

fn least(tables: impl Iterator<Item = Table>, effort: Effort) -> Option<Table> {
    tables.reduce(|best, table| {
        let most = best.bits * (1.0 - effort.table_must_save(table.log));
        if table.bits < most { table } else { best }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pco::noise::mix;

    #[test]
    fn a_measured_table_takes_what_it_is_said_to() {
        let symbols: Vec<u16> =
            (0..50_000).map(|i| [0, 0, 0, 0, 1, 2, 3, 3][(mix(i) % 8) as usize]).collect();
        let count =
            |symbol| u32::try_from(symbols.iter().filter(|&&s| s == symbol).count()).unwrap();
        let counts: Vec<u32> = (0..4).map(count).collect();
        let effort = Effort::of_level(12);
        let (measured, shares) = (best_measured(&counts, effort, &symbols), best(&counts, effort));
        assert_eq!(measured.weights.iter().sum::<u32>(), 1 << measured.log);
        assert!(measured.bits <= shares.measured(&symbols).bits);
        // 1.75 bits a symbol.
        assert!((87_000.0..88_000.0).contains(&measured.bits), "{measured:?}");
    }

    #[test]
    fn one_bin_needs_no_codes() {
        for counts in [&[][..], &[9]] {
            let Table { log, weights, bits } = best(counts, Effort::of_level(8));
            assert_eq!((log, weights.len(), bits.to_bits()), (0, counts.len(), 0));
        }
    }
}
