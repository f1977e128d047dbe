//! Pairs of symbols of four bits, coded as one.

use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::matrix::Matrix;
use crate::wcodec::encode::plan::{Explained, Plan};
use crate::wcodec::encode::symbols::{DirectConfig, MANY};

/// Sizes of the tables of pairs: the smaller ones where these cost so much more of all bits at most. Those
/// of 2^14 slots save 0.01 % more than those of 2^13, and take twice the memory of a decoder.
const PAIR_BITS: u32 = 12;
const FINE_PAIR_BITS: u32 = 13;
const LOSS_OF_PAIRS: f64 = 0.0006;
/// The same of tensors of many symbols whose columns are alike or in an order of their own, so that the size of tables is
/// what holds decoders up.
const LOSS_OF_MANY: f64 = 0.0015;
/// Symbols from which on pairs may pay.
const PAIRED: usize = 1 << 14;

/// Whether two symbols of four bits may be coded as one, which halves the steps of a decoder.
pub(super) fn may_pair(matrix: Matrix<'_>) -> bool {
    let n = matrix.len();
    let even = matrix.cols.is_multiple_of(2) && n.is_multiple_of(2);
    matrix.bits == 4 && even && n >= PAIRED
}

/// Pairs of `n` symbols, and the size of their tables, which are products of those of single ones. `None`
/// where that cannot be.
pub(super) fn in_pairs(
    explained: &Explained,
    n: usize,
    config: DirectConfig,
    bank: &mut Bank,
) -> Option<(Plan, u32)> {
    let mut single = explained.tables(config.table_bits, bank);
    let alike = single.classes.as_ref().is_none_or(|rule| rule.cols.is_empty());
    let many = n >= MANY && (alike || explained.order().is_some());
    let loss = if many { LOSS_OF_MANY } else { LOSS_OF_PAIRS };
    if let Some(rule) = &mut single.classes {
        rule.cols = match explained.order() {
            Some(order) => order.of_pairs(),
            None => rule.cols.as_chunks::<2>().0.iter().map(|[first, _]| *first).collect(),
        };
    }
    let before = bank.len();
    let fine = products(single.clone(), FINE_PAIR_BITS, bank)?;
    let kept = bank.take_from(before);
    match products(single, PAIR_BITS, bank) {
        Some(plan) if plan.bits <= fine.bits * (1.0 + loss) => Some((plan, PAIR_BITS)),
        _ => {
            bank.take_from(before);
            bank.give_back(kept);
            Some((fine, FINE_PAIR_BITS))
        }
    }
}

/// Products in place of the tables of single symbols.
fn products(mut plan: Plan, table_bits: u32, bank: &mut Bank) -> Option<Plan> {
    for (table, histogram) in plan.tables.iter_mut().zip(&plan.histograms) {
        let before = bank.len();
        let product = bank.product(*table, *table, table_bits)?;
        let single = bank.bits_under(*table, histogram);
        plan.bits += bank.bits_of_pairs(product, histogram) - single;
        plan.bits += 8.0 * bank.bytes_from(before) as f64;
        *table = product;
    }
    Some(plan)
}
