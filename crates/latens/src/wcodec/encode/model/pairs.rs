//! Pairs of symbols of two to four bits, coded as one.

use super::{FEW_BITS, FINE, Modelling, Paired, finer, with_small_groups};
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::cost::{self, Histogram};
use crate::wcodec::encode::matrix::Matrix;
use crate::wcodec::encode::plan::Plan;
use crate::wcodec::encode::symbols::{DirectConfig, MANY};
use crate::wcodec::layout::table::Factors;
use crate::wcodec::order::Order;

/// The usual size of tables of pairs: of half as many slots where these cost so much more of all bits at most, of twice as
/// many where pairs would take too much otherwise. Pairs that come less often than once in four times as many are said apart.
const PAIR_BITS: u32 = 12;
const LOSS_OF_PAIRS: f64 = 0.0006;
/// The same of tensors of many symbols whose columns are alike, in an order of their own or coded one by one, so that the
/// size of tables is what holds decoders up.
const LOSS_OF_MANY: f64 = 0.0015;
/// The same of tables without an escape, which are as fast and take less to write.
const LOSS_OF_NONE_APART: f64 = 0.0002;
/// What pairs of two of a column may take more: so many times the usual share, as they are of large tensors, which would
/// be decoded one symbol at a time otherwise.
const OF_STACKED: f64 = 5.0;
/// Symbols from which on pairs may pay.
const PAIRED: usize = 1 << 14;

/// Whether two symbols may be coded as one, which halves the steps of a decoder.
pub(super) fn may_pair(matrix: Matrix<'_>) -> bool {
    let n = matrix.len();
    let even = matrix.cols.is_multiple_of(2) && n.is_multiple_of(2);
    matches!(matrix.bits, 2..=FEW_BITS) && even && n >= PAIRED
}

/// How symbols are coded: one by one, or in pairs.
pub(super) struct Coded {
    /// With products for tables of pairs.
    pub(super) plan: Plan,
    pub(super) table_bits: u32,
    pub(super) pairs: bool,
    /// The order of columns in which neighbours are paired, where that is not their own.
    pub(super) order: Option<Order>,
    /// Rows of a group, where two of a column are paired.
    pub(super) stacked_rows: Option<usize>,
}

impl Coded {
    /// Symbols one by one.
    pub(super) fn single(plan: Plan, table_bits: u32) -> Self {
        Self { plan, table_bits, pairs: false, order: None, stacked_rows: None }
    }
}

impl Modelling {
    /// The `n` symbols as `single` has them, or in pairs. `before` tables were there before those of `single`.
    pub(super) fn best(
        &self,
        mut single: Plan,
        n: usize,
        mut config: DirectConfig,
        (bank, before): (&mut Bank, usize),
    ) -> Coded {
        let kept = bank.take_from(before);
        if let Some(pairs) = self.in_pairs(single.bits, n, config, bank) {
            return pairs;
        }
        bank.take_from(before);
        bank.give_back(kept);
        if matches!(self.pairs, Paired::Surely) {
            single = finer(&self.single, n, &mut config, bank);
        }
        Coded::single(single, config.table_bits)
    }

    /// The same `n` symbols in pairs, where these take no more than they may beyond single ones, which take so many bits.
    fn in_pairs(
        &self,
        single: f64,
        n: usize,
        config: DirectConfig,
        bank: &mut Bank,
    ) -> Option<Coded> {
        let (explained, stacked_rows) = match &self.pairs {
            Paired::None => return None,
            Paired::Alike | Paired::Surely => (&self.single, None),
            Paired::Apart(explained) => (&**explained, None),
            Paired::Stacked(rows) => (&self.single, Some(*rows)),
        };
        let order = explained.order().cloned();
        let mut plan = explained.factors(config.table_bits, bank);
        let alike = plan.classes.as_ref().is_none_or(|rule| rule.cols.is_empty());
        let many = n >= MANY && (alike || order.is_some() || stacked_rows.is_some());
        let loss = if many { LOSS_OF_MANY } else { LOSS_OF_PAIRS };
        if let (None, Some(rule)) = (stacked_rows, &mut plan.classes) {
            rule.cols = match &order {
                Some(order) => order.of_pairs(),
                None => rule.cols.as_chunks::<2>().0.iter().map(|[first, _]| *first).collect(),
            };
        }
        let slack = config.pairs_slack * if stacked_rows.is_some() { OF_STACKED } else { 1.0 };
        let above = above_order_0(&explained.whole, n);
        let most = match single.is_finite() {
            true => (single * (1.0 + slack)).min(above.max(single)),
            false => above,
        };
        let (escape, before) = (rarest(&explained.whole), bank.len());
        let mut made = |table_bits, escape, best: Option<(&Plan, f64)>| {
            let kept = bank.take_from(before);
            let within = best.map_or(f64::INFINITY, |(best, loss)| best.bits * (1.0 + loss));
            let plan = products(plan.clone(), table_bits, escape, bank);
            let plan = plan.filter(|plan| plan.bits <= most.min(within));
            if plan.is_none() {
                bank.take_from(before);
                bank.give_back(kept);
            }
            plan
        };
        let mut first = |escape| {
            let mut sizes = [PAIR_BITS, PAIR_BITS + 1].into_iter();
            sizes.find_map(|bits| Some((made(bits, escape, None)?, bits)))
        };
        // Two rows of a pair may differ: what is between their classes may have no slot.
        let must_escape = stacked_rows.is_some();
        // Where no pair is rare, an escape costs more than the slots of all of them.
        let found = first(Some(escape)).or_else(|| if must_escape { None } else { first(None) });
        let (mut plan, mut table_bits) = found?;
        let mut escape = Some(escape);
        if !must_escape
            && let Some(without) = made(table_bits, None, Some((&plan, LOSS_OF_NONE_APART)))
        {
            (plan, escape) = (without, None);
        }
        let may_be_smaller = escape.is_some() || explained.has_few_pairs();
        if table_bits == PAIR_BITS
            && may_be_smaller
            && let Some(smaller) = made(PAIR_BITS - 1, escape, Some((&plan, loss)))
        {
            (plan, table_bits) = (smaller, PAIR_BITS - 1);
        }
        Some(Coded { plan, table_bits, pairs: true, order, stacked_rows })
    }
}

/// What so many symbols may take, where they are many: with groups a hundredth of a bit above order 0.
fn above_order_0(whole: &Histogram, n: usize) -> f64 {
    if n < FINE {
        return f64::INFINITY;
    }
    let least = cost::entropy(whole);
    with_small_groups(least, least, n)
}

/// The pair of the rarest symbol with itself: of fewer bits than four one that there is not.
fn rarest(whole: &Histogram) -> u8 {
    let rarest = (0..16).zip(whole).min_by_key(|(_, n)| **n).map_or(0, |(symbol, _)| symbol);
    rarest | rarest << 4
}

/// Products in place of the tables of single symbols.
fn products(mut plan: Plan, table_bits: u32, escape: Option<u8>, bank: &mut Bank) -> Option<Plan> {
    for (table, histogram) in plan.tables.iter_mut().zip(&plan.histograms) {
        let before = bank.len();
        let factors = Factors { low: *table, high: *table, escape };
        let product = bank.product(factors, table_bits)?;
        let single = bank.bits_under(*table, histogram);
        plan.bits += bank.bits_of_pairs(product, histogram) - single;
        plan.bits += 8.0 * bank.bytes_from(before) as f64;
        *table = product;
    }
    plan.escapes = escape.map(|escape| (escape, 0.0));
    Some(plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wcodec::crew::Crew;
    use crate::wcodec::data::Data;

    #[test]
    fn symbols_of_two_to_four_bits_in_even_rows_may_be_paired() {
        let symbols = vec![0; 4 * PAIRED];
        let may = |bits: u32, cols: usize, count: usize| {
            let symbols = Data::Held(&symbols[..count]);
            may_pair(Matrix { symbols, cols, bits, crew: Crew::ALONE })
        };
        let by_bits: Vec<bool> = (1..=8).map(|bits| may(bits, 64, PAIRED)).collect();
        assert_eq!(by_bits, [false, true, true, true, false, false, false, false]);
        for bits in [2, 3, 4] {
            assert!(!may(bits, 63, 63 * PAIRED / 32), "an odd row has a symbol without another");
            assert!(!may(bits, 64, PAIRED + 1) && !may(bits, 64, PAIRED - 2));
        }
    }
}
