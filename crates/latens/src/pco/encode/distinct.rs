//! What the distinct values of a sample say: whether dictionaries may win.

use crate::number::Latent;
use crate::pco::config::{Config, DeltaSpec};
use crate::pco::encode::recurrence::taken;
use crate::pco::encode::rough;
use crate::pco::encode::sample::Sample;
use crate::pco::layout::mode::MAX_DICT;
use crate::pco::logarithm::log2;
use crate::pco::mode::dict;
use latens_kernels::dispatch::Present;
use std::f64::consts::LN_2;

/// Largest dictionary that is tried.
pub(crate) const DICT: usize = if MAX_DICT < 1 << 16 { MAX_DICT } else { 1 << 16 };
/// Part of the bits of the best other mode that a dictionary's ideal codes must take at most, and that its
/// differences must in the order of values: bins take somewhat more.
const MOST_OF_OTHER: f64 = 0.98;
const MOST_IN_ORDER: f64 = 0.98;
/// The same at quick levels, as making a dictionary takes long.
const QUICK_MOST_OF_OTHER: f64 = 0.95;
const QUICK_MOST_IN_ORDER: f64 = 0.9;
/// How often values come at least on average for a dictionary, and the part of all bits that entries of one in
/// the order of values take at most.
const REPEATS: f64 = 3.0;
const OF_ENTRIES: f64 = 0.71;
/// Where values never seen, were each of them another one, would take no more than this part of the bits, a sample
/// tells how many values there are.
const SURE: f64 = 0.05;
/// Where no more than this part of many numbers has values never seen, so many times fewer say how many values there
/// are, a group at a time.
const FEW_UNSEEN: f64 = 0.1;
const MANY: usize = 1 << 16;
const PART: usize = 4;
const GROUP: usize = 256;
/// Places for hashes, as bits in the nearest cache.
const PLACES: usize = 1 << 18;

/// How many values there are in latents in ascending order.
pub(crate) fn count<L: Latent>(sorted: &[L]) -> usize {
    Present::in_use().call(
        #[inline(always)]
        || {
            let nexts = sorted.get(1..).unwrap_or_default();
            usize::from(!sorted.is_empty())
                + sorted.iter().zip(nexts).map(|(a, b)| usize::from(a != b)).sum::<usize>()
        },
    )
}

/// Whether a dictionary may take fewer than `bits` for `n` latents, of which a sample has so many values. As
/// [`Distinct`] would have it, but for what needs their counts.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
pub(crate) fn may_win<L: Latent>(sample_n: usize, distinct: usize, bits: f64) -> bool {
    let entries = distinct as f64 * f64::from(L::BITS);
    L::BITS > 8 && (sample_n as f64 > REPEATS * distinct as f64 || entries <= bits * OF_ENTRIES)
}

/// Distinct values of a sample.
pub(crate) struct Distinct<L> {
    values: Vec<L>,
    /// About no fewer there are in all, as far as they were counted.
    at_least: usize,
    /// About how many there are in all.
    in_all: f64,
    /// Bits to say which one, per latent.
    entropy: f64,
    repeats: f64,
    /// Part of all latents that have a value never seen.
    unseen: f64,
}

impl<L: Latent> Distinct<L> {
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(crate) fn of(sorted: &[L], distinct: usize) -> Self {
        let total = sorted.len() as f64;
        let (mut values, mut once, mut twice) = (Vec::with_capacity(distinct), 0.0, 0.0);
        // What a value that comes once takes is the logarithm of all.
        let mut entropy = log2(total);
        for run in sorted.chunk_by(|a, b| a == b) {
            let count = run.len() as f64;
            values.push(run[0]);
            if run.len() > 1 {
                entropy -= count / total * log2(count);
            }
            once += if run.len() == 1 { 1.0 } else { 0.0 };
            twice += if run.len() == 2 { 1.0 } else { 0.0 };
        }
        // After Miller and Madow: a sample has fewer values, and tells them apart by fewer bits.
        let distinct = values.len() as f64;
        entropy += (distinct - 1.0) / (2.0 * LN_2 * total);
        // After Chao: those never seen, by how many were seen once and twice.
        let in_all = distinct + once * once / (2.0 * f64::max(twice, 1.0));
        // After Good and Turing: as many as have a value that was seen once.
        let unseen = once / f64::max(total, 1.0);
        let at_least = values.len();
        Self { values, at_least, in_all, entropy, repeats: total / distinct.max(1.0), unseen }
    }

    /// Orders of dictionaries that may take fewer than `bits` for all latents.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(crate) fn orders(
        mut self,
        all: &[L],
        sample: &Sample<L>,
        bits: f64,
        config: &Config,
    ) -> Vec<dict::Order> {
        let (most, in_order) = if config.is_quick() {
            (bits * QUICK_MOST_OF_OTHER, bits * QUICK_MOST_IN_ORDER)
        } else {
            (bits * MOST_OF_OTHER, bits * MOST_IN_ORDER)
        };
        let may_win = |distinct: &Self, order| match order {
            dict::Order::Count => distinct.may_win(all.len(), most),
            dict::Order::Value => {
                config.delta == DeltaSpec::Auto
                    && distinct.may_win_in_order(sample, all.len(), in_order)
            }
        };
        let mut orders = vec![dict::Order::Count, dict::Order::Value];
        orders.retain(|&order| may_win(&self, order));
        let of_unseen = self.unseen * all.len() as f64 * f64::from(L::BITS);
        if !orders.is_empty() && of_unseen > bits * SURE {
            self.count(all);
            orders.retain(|&order| may_win(&self, order));
        }
        orders
    }

    /// What a sample cannot tell: how many values come in all, no fewer of which are found than places that
    /// their hashes fall on. Of a part, values go on as they grew from the sample to it, by a power law.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "up to 2^24")]
    fn count(&mut self, all: &[L]) {
        let is_sure = self.unseen <= FEW_UNSEEN && all.len() > MANY;
        let part = if is_sure { PART } else { 1 };
        let latents = all.chunks(GROUP).step_by(part).flatten();
        let taken = taken(latents, &mut vec![0; PLACES / 64]).max(self.at_least) as f64;
        let (seen, sample_n) = (self.values.len() as f64, self.repeats * self.values.len() as f64);
        let times = (all.len() / part) as f64 / sample_n;
        let power = if times > 1.0 { (taken / seen).ln() / times.ln() } else { 0.0 };
        let taken = taken * (part as f64).powf(power.clamp(0.0, 1.0));
        self.at_least = taken as usize;
        self.in_all = self.in_all.max(taken);
    }

    /// Whether values repeat enough for a dictionary of a chunk of `n`, whose codes take `most` bits at most.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn may_win(&self, n: usize, most: f64) -> bool {
        let least = self.entropy * n as f64 + self.at_least as f64 * f64::from(L::BITS);
        L::BITS > 8 && self.at_least <= DICT && self.repeats > REPEATS && least < most
    }

    /// The same for a dictionary in the order of the values, by small differences of indices.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn may_win_in_order(&self, sample: &Sample<L>, n: usize, most: f64) -> bool {
        let entries = self.in_all * f64::from(L::BITS);
        if L::BITS == 8 || self.in_all > DICT as f64 || entries > most * OF_ENTRIES {
            return false;
        }
        let ranks = self.ranks(&sample.latents);
        let by_order = rough::bits_by_order(&ranks, &sample.stripes, 3);
        let rough = by_order.into_iter().fold(f64::INFINITY, f64::min);
        // Differences grow with the values that the sample has not seen, where these are.
        let wider = -(1.0 - self.unseen).max(0.5).log2();
        entries + (rough + wider) * (n as f64) < most
    }

    /// Which of the values each latent is.
    #[expect(clippy::cast_possible_truncation, reason = "of a sample")]
    fn ranks(&self, latents: &[L]) -> Vec<u32> {
        let (Some(&min), Some(max)) = (self.values.first(), self.values.last()) else {
            return Vec::new();
        };
        let place = |x: L| x.sub(min).to_u64() as usize;
        let span = max.sub(min).to_u64();
        if span >= 1 << 16 {
            let rank = |x: &L| self.values.partition_point(|value| value < x) as u32;
            return latents.iter().map(rank).collect();
        }
        let mut ranks = vec![0; span as usize + 1];
        for (rank, &value) in (0..).zip(&self.values) {
            ranks[place(value)] = rank;
        }
        latents.iter().map(|&x| ranks[place(x)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pco::binning::sort::sort;
    use crate::pco::encode::sample::stripes;
    use crate::pco::noise::mix;

    #[test]
    fn no_more_values_are_counted_than_there_are() {
        let latents: Vec<u64> = (0..200_000).map(|i| mix(i % 50_000)).collect();
        let mut distinct = Distinct::of(&latents[..1], 1);
        distinct.count(&latents);
        assert!((40_000..=50_000).contains(&distinct.at_least), "{}", distinct.at_least);
    }

    /// Where a sample has seen nearly all, a quarter is counted: some values come in most places, others once in a while.
    #[test]
    fn values_that_a_quarter_has_not_seen_are_reckoned_with() {
        for rare in [1u64, 2_000, 8_000] {
            let latent =
                |i| if mix(i).is_multiple_of(20) { 100 + mix(i + 7) % rare } else { mix(i) % 50 };
            let latents: Vec<u64> = (0..400_000).map(latent).collect();
            let mut sample = Sample::new(&latents, stripes(latents.len(), 1 << 12)).latents;
            sort(&mut sample);
            let mut distinct = Distinct::of(&sample, count(&sample));
            assert!(distinct.unseen <= FEW_UNSEEN);
            distinct.count(&latents);
            let mut all = latents.clone();
            sort(&mut all);
            all.dedup();
            let range = all.len() * 9 / 10..=all.len() * 5 / 2;
            assert!(range.contains(&distinct.at_least), "{} of {}", distinct.at_least, all.len());
        }
    }
}
