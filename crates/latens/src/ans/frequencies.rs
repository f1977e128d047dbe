//! From counts to weights: whole numbers of slots that sum to a power of two.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Bits that `counts` cost when coded with `weights` out of `2^log`.
pub(crate) fn cost_bits(log: u32, counts: &[u32], weights: &[u32]) -> f64 {
    let log = f64::from(log);
    counts.iter().zip(weights).map(|(&c, &w)| f64::from(c) * (log - f64::from(w).log2())).sum()
}

/// A step of one slot more or less for a symbol, by what it costs.
struct Step {
    cost: f64,
    symbol: usize,
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Step {}
impl PartialOrd for Step {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Step {
    /// The cheapest step is the greatest; ties go to the first symbol.
    fn cmp(&self, other: &Self) -> Ordering {
        other.cost.total_cmp(&self.cost).then(other.symbol.cmp(&self.symbol))
    }
}

/// Weights, each at least 1, that sum to `2^log` and cost `counts` the fewest bits.
///
/// `counts` are positive and there are at most `2^log` of them. Rounding comes first; what is
/// then missing or too much goes slot by slot to where it costs least.
#[expect(clippy::cast_possible_truncation, reason = "weights are at most 2^14")]
#[expect(clippy::cast_sign_loss, reason = "all terms are positive")]
pub(crate) fn normalize(log: u32, counts: &[u32]) -> Vec<u32> {
    let size = 1i64 << log;
    debug_assert!(counts.len() as i64 <= size);
    let total: f64 = counts.iter().map(|&c| f64::from(c)).sum();
    let scale = (1u64 << log) as f64 / total.max(1.0);
    let mut weights: Vec<u32> =
        counts.iter().map(|&c| ((f64::from(c) * scale).round() as u32).max(1)).collect();
    let mut excess = weights.iter().map(|&w| i64::from(w)).sum::<i64>() - size;
    let sign = if excess > 0 { -1i32 } else { 1 };
    let step = |weights: &[u32], symbol: usize| -> Option<Step> {
        let w = weights[symbol];
        let new = w.checked_add_signed(sign).filter(|&new| new > 0)?;
        let cost = f64::from(counts[symbol]) * (f64::from(w).log2() - f64::from(new).log2());
        Some(Step { cost, symbol })
    };
    let mut heap: BinaryHeap<Step> = if excess == 0 {
        BinaryHeap::new()
    } else {
        (0..counts.len()).filter_map(|s| step(&weights, s)).collect()
    };
    while excess != 0 {
        let Some(Step { symbol, .. }) = heap.pop() else { break };
        weights[symbol] = weights[symbol].saturating_add_signed(sign);
        excess += i64::from(sign);
        heap.extend(step(&weights, symbol));
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn exact_when_it_can_be() {
        assert_eq!(normalize(4, &[10, 10, 30, 110]), [1, 1, 3, 11]);
        assert_eq!(normalize(0, &[7]), [1]);
    }

    proptest! {
        #[test]
        fn sums_and_presence(
            log in 0u32..=14,
            counts in prop::collection::vec(prop_oneof![1u32..1_000_000, Just(1), 1..=u32::MAX], 1..=256),
        ) {
            let log = log.max(counts.len().next_power_of_two().ilog2());
            let weights = normalize(log, &counts);
            prop_assert_eq!(weights.iter().sum::<u32>(), 1 << log);
            prop_assert!(weights.iter().all(|&w| w >= 1));
        }
    }
}
