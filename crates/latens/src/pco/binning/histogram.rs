//! Latents reduced to buckets of about equal count that no value straddles.

use crate::number::Latent;
use crate::pco::binning::lookup::Lookup;
use crate::pco::layout::variable::Bin;

/// A range of latents and how many fall in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bucket<L> {
    /// The smallest latent in it.
    pub(crate) lower: L,
    /// The largest latent in it.
    pub(crate) upper: L,
    /// Latents in it, at least 1.
    pub(crate) count: u32,
}

/// Values are counted directly when they span no more than this.
const DENSE: u64 = 1 << 16;
/// More latents than this are not sorted: a sample of as many tells where to cut.
const SAMPLE: usize = 1 << 14;

/// At most about `most` buckets, in ascending order. The latents may be left in another order.
///
/// A value that alone fills a bucket gets one of its own.
pub(crate) fn histogram<L: Latent>(latents: &mut [L], most: usize) -> Vec<Bucket<L>> {
    let Some((min, max)) = bounds(latents) else { return Vec::new() };
    let span = max.sub(min).to_u64();
    if span < DENSE && span / 4 < latents.len() as u64 {
        dense(latents, min, span, most)
    } else if latents.len() < 2 * SAMPLE || most > SAMPLE / 16 {
        latents.sort_unstable();
        of_sorted(latents, most)
    } else {
        sampled(latents, most)
    }
}

fn bounds<L: Latent>(latents: &[L]) -> Option<(L, L)> {
    let first = *latents.first()?;
    Some(latents.iter().fold((first, first), |(min, max), &x| (min.min(x), max.max(x))))
}

/// Counts each value of `min..=min + span`.
fn dense<L: Latent>(latents: &[L], min: L, span: u64, most: usize) -> Vec<Bucket<L>> {
    #[expect(clippy::cast_possible_truncation, reason = "below DENSE")]
    let mut counts = vec![0u32; span as usize + 1];
    for &x in latents {
        #[expect(clippy::cast_possible_truncation, reason = "below DENSE")]
        let at = x.sub(min).to_u64() as usize;
        counts[at] += 1;
    }
    let mut buckets = Collector::new(latents.len(), most);
    for (value, &count) in (0u64..).zip(&counts) {
        if count > 0 {
            buckets.run(min.add(L::truncate(value)), count);
        }
    }
    buckets.finish()
}

fn of_sorted<L: Latent>(latents: &[L], most: usize) -> Vec<Bucket<L>> {
    let mut buckets = Collector::new(latents.len(), most);
    for run in latents.chunk_by(|a, b| a == b) {
        #[expect(clippy::cast_possible_truncation, reason = "a chunk has 2^24 latents at most")]
        buckets.run(run[0], run.len() as u32);
    }
    buckets.finish()
}

/// Cuts where a sample says, counts all latents, and takes the two ends apart exactly.
fn sampled<L: Latent>(latents: &[L], most: usize) -> Vec<Bucket<L>> {
    let gap = latents.len() / SAMPLE;
    // Places that no period of the data keeps step with.
    let mut jump = 0usize;
    let mut pick = |i: usize| {
        jump = jump.wrapping_mul(5).wrapping_add(i | 1);
        latents[i * gap + (jump >> 3) % gap]
    };
    let mut sample: Vec<L> = (0..SAMPLE).map(&mut pick).collect();
    sample.sort_unstable();
    let cuts = of_sorted(&sample, most);
    // A bucket reaches from its lower cut to the next one.
    let bins: Vec<Bin<L>> = cuts
        .iter()
        .flat_map(|c| {
            // A value of its own is kept apart from what follows it.
            let behind = (c.lower == c.upper && c.upper != L::MAX).then(|| c.upper.add(L::ONE));
            std::iter::once(c.lower).chain(behind)
        })
        .map(|lower| Bin { weight: 1, lower, offset_bits: 0 })
        .collect();
    let mut lowers: Vec<Bin<L>> = bins;
    lowers.dedup_by(|b, a| a.lower == b.lower);
    if let Some(first) = lowers.first_mut() {
        first.lower = L::ZERO;
    }
    let lookup = Lookup::new(&lowers);
    let empty = Bucket { lower: L::MAX, upper: L::ZERO, count: 0 };
    let mut buckets = vec![empty; lowers.len()];
    let last = lowers.len() - 1;
    let (mut low_end, mut high_end) = (Vec::new(), Vec::new());
    for &x in latents {
        let at = lookup.find(x);
        let bucket = &mut buckets[at];
        bucket.lower = bucket.lower.min(x);
        bucket.upper = bucket.upper.max(x);
        bucket.count += 1;
        if at == 0 {
            low_end.push(x);
        } else if at == last {
            high_end.push(x);
        }
    }
    let mut all = Vec::with_capacity(buckets.len() + 64);
    let ends = |end: &mut Vec<L>| {
        end.sort_unstable();
        // As fine as the tails of a small set are cut.
        of_sorted(end, 2)
    };
    all.extend(ends(&mut low_end));
    if last > 0 {
        all.extend(buckets[1..last].iter().filter(|b| b.count > 0));
        all.extend(ends(&mut high_end));
    }
    all
}

/// Takes runs of equal values in ascending order.
struct Collector<L> {
    done: Vec<Bucket<L>>,
    open: Option<Bucket<L>>,
    /// Latents taken so far, and in how many of equal size they are to be cut.
    taken: u64,
    total: u64,
    most: u64,
}

impl<L: Latent> Collector<L> {
    fn new(total: usize, most: usize) -> Self {
        Self {
            done: Vec::with_capacity(most + 1),
            open: None,
            taken: 0,
            total: total.max(1) as u64,
            most: most.max(1) as u64,
        }
    }

    /// Which part the `i`-th latent lies in: parts of equal size, but for the first and the last,
    /// which halve towards the ends, since there heavy tails take many bits in few latents.
    fn part(&self, i: u64) -> u64 {
        const TAIL: u64 = 64;
        let part = (i * self.most / self.total).min(self.most);
        let from_end = self.total - i.min(self.total);
        let tail = if part == 0 {
            u64::from((i + 1).ilog2())
        } else if part + 1 >= self.most {
            TAIL - 1 - u64::from((from_end + 1).ilog2())
        } else {
            0
        };
        part * TAIL + tail
    }

    fn run(&mut self, value: L, count: u32) {
        let (first, end) = (self.taken, self.taken + u64::from(count));
        self.taken = end;
        // A run that covers a part of its own stands alone.
        if u64::from(count) * self.most >= self.total {
            self.done.extend(self.open.take());
            self.done.push(Bucket { lower: value, upper: value, count });
            return;
        }
        match &mut self.open {
            Some(open) => {
                open.upper = value;
                open.count += count;
            }
            None => self.open = Some(Bucket { lower: value, upper: value, count }),
        }
        if self.part(end) > self.part(first) {
            self.done.extend(self.open.take());
        }
    }

    fn finish(mut self) -> Vec<Bucket<L>> {
        self.done.extend(self.open.take());
        self.done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn buckets_are_ordered_and_count_all(
            latents in prop::collection::vec(prop_oneof![any::<u64>(), 0..50u64], 0..2000),
            log in 0u32..9,
        ) {
            let buckets = histogram(&mut latents.clone(), 1 << log);
            prop_assert_eq!(buckets.iter().map(|b| b.count as usize).sum::<usize>(), latents.len());
            prop_assert!(buckets.iter().all(|b| b.lower <= b.upper));
            prop_assert!(buckets.windows(2).all(|w| w[0].upper < w[1].lower));
            prop_assert!(buckets.len() <= (2 << log) + 24);
            for x in latents {
                prop_assert!(buckets.iter().any(|b| (b.lower..=b.upper).contains(&x)));
            }
        }
    }
}

#[cfg(test)]
mod sampled_tests {
    use super::*;

    #[test]
    fn many_latents_are_all_counted() {
        let mix = |x: u64| (x ^ x >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let heavy =
            |i: u64| if i.is_multiple_of(3) { 1 << 40 } else { mix(mix(i)) >> (mix(i + 7) % 60) };
        let latents: Vec<u64> = (0..100_000).map(heavy).collect();
        let buckets = histogram(&mut latents.clone(), 256);
        assert_eq!(buckets.iter().map(|b| b.count as usize).sum::<usize>(), latents.len());
        assert!(buckets.windows(2).all(|w| w[0].upper < w[1].lower));
        assert!(buckets.contains(&Bucket { lower: 1 << 40, upper: 1 << 40, count: 33_334 }));
    }
}
