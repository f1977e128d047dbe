//! Buckets: latents in ascending order, cut to ranges of about equal count that no value straddles.

use crate::bits::low_mask;
use crate::number::Latent;
use crate::pco::binning::parts::Part;
use latens_kernels::dispatch::Present;

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

impl<L: Latent> Bucket<L> {
    /// Bits of an offset in it.
    pub(crate) fn offset_bits(&self) -> u32 {
        self.upper.sub(self.lower).bit_length()
    }

    /// The greatest latent that so many bits reach.
    pub(crate) fn limit(&self) -> L {
        let reach = self.lower.add(L::truncate(low_mask(self.offset_bits())));
        if reach < self.lower { L::MAX } else { reach }
    }
}

/// Each may become a bin, of which a table has no more.
pub(crate) const MOST_BUCKETS: usize = 1 << 14;

/// How finely latents are cut to buckets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grain {
    /// Buckets, at most about.
    pub(crate) most: usize,
    /// A value that comes as often as one in so many of a bucket's latents gets a bucket of its own.
    pub(crate) alone: u64,
    /// At most so many times as many where most latents are of values with buckets of their own, so that the others
    /// do not share a few.
    pub(crate) rare: usize,
}

impl Grain {
    /// At most about so many buckets, and one for each value that alone would fill one.
    pub(crate) fn even(most: usize) -> Self {
        Self { most, alone: 1, rare: 1 }
    }

    /// The finer grain for `n` latents, of which so many are of values with buckets of their own; `None` where
    /// they are not most, or all.
    pub(crate) fn beside(self, alone: usize, n: usize) -> Option<Self> {
        let times = n.checked_div(n - alone)?.min(self.rare);
        (times > 1).then(|| Self { most: self.most << times.ilog2(), rare: 1, ..self })
    }
}

/// Buckets of latents in ascending order.
pub(crate) fn of_sorted<L: Latent>(latents: &[L], most: usize) -> Vec<Bucket<L>> {
    of_runs(latents, Grain::even(most))
}

pub(crate) fn of_runs<L: Latent>(latents: &[L], grain: Grain) -> Vec<Bucket<L>> {
    let mut buckets = Collector::new(latents.len(), grain);
    Present::in_use().call(
        #[inline(always)]
        || {
            if buckets.alone <= 1 {
                buckets.done.extend(latents.chunk_by(|a, b| a == b).map(bucket));
                return;
            }
            let mut start = 0;
            while start < latents.len() {
                start = buckets.next_of(latents, start);
            }
        },
    );
    buckets.finish()
}

/// Buckets of `n` latents from `min` on, of which it is known how often each value comes.
pub(crate) fn of_counts<L: Latent>(
    n: usize,
    min: L,
    counts: &[u32],
    grain: Grain,
) -> Vec<Bucket<L>> {
    let mut buckets = Collector::new(n, grain);
    let mut start = 0;
    while start < counts.len() {
        start = buckets.next_counted(min, counts, start);
    }
    buckets.finish()
}

/// One over some latents in ascending order.
#[expect(clippy::cast_possible_truncation, reason = "a chunk has 2^24 latents at most")]
fn bucket<L: Latent>(latents: &[L]) -> Bucket<L> {
    Bucket { lower: latents[0], upper: latents[latents.len() - 1], count: latents.len() as u32 }
}

/// How many of the first latents are this one.
#[inline(always)]
fn run_n<L: Latent>(latents: &[L], value: L) -> usize {
    latents.iter().take_while(|&&x| x == value).count()
}

/// Takes runs of equal values in ascending order.
struct Collector<L> {
    done: Vec<Bucket<L>>,
    open: Option<Bucket<L>>,
    /// Latents taken so far, and in how many of equal size they are to be cut.
    taken: u64,
    total: u64,
    most: u64,
    /// The first part, and the one that was reached.
    size: Part,
    part: Part,
    /// A run of as many latents stands alone.
    alone: u64,
    /// As soon as so many are taken, the open bucket is full.
    cut: u64,
}

impl<L: Latent> Collector<L> {
    fn new(total: usize, Grain { most, alone, .. }: Grain) -> Self {
        let buckets = most + 1;
        let (total, most) = (total.max(1) as u64, most.max(1) as u64);
        let mut new = Self {
            done: Vec::with_capacity(buckets),
            open: None,
            taken: 0,
            total,
            most,
            size: Part::first(total, most),
            part: Part::first(total, most),
            alone: total.div_ceil(most * alone),
            cut: 0,
        };
        new.cut = new.cut_behind(0);
        new
    }

    /// Where the part ends that the `i`-th latent lies in, which lies behind those asked for before: parts are of
    /// equal size, but for the first and the last, which halve towards the ends, since there heavy tails take
    /// many bits in few latents.
    fn cut_behind(&mut self, i: u64) -> u64 {
        while self.part.end() <= i && self.part.number < self.most {
            self.part.advance(&self.size, self.most);
        }
        let Part { number, .. } = self.part;
        if number == 0 {
            self.part.end().min((2 << (i + 1).ilog2()) - 1)
        } else if number + 1 >= self.most {
            let half = 1 << (self.total - i.min(self.total) + 1).ilog2();
            if half > 1 { self.total + 2 - half } else { u64::MAX }
        } else {
            self.part.end()
        }
    }

    /// Takes so many latents of a value greater than those before.
    #[inline]
    fn run(&mut self, value: L, count: u32) {
        let end = self.taken + u64::from(count);
        self.taken = end;
        if self.alone <= 1 {
            // Each value stands alone, wherever parts end.
            self.done.push(Bucket { lower: value, upper: value, count });
            return;
        }
        if u64::from(count) >= self.alone {
            self.done.extend(self.open.take());
            self.done.push(Bucket { lower: value, upper: value, count });
        } else {
            match &mut self.open {
                Some(open) => {
                    open.upper = value;
                    open.count += count;
                }
                None => self.open = Some(Bucket { lower: value, upper: value, count }),
            }
            if end >= self.cut {
                self.done.extend(self.open.take());
            }
        }
        if end >= self.cut {
            self.cut = self.cut_behind(end);
        }
    }

    /// Takes what comes from a place on in latents in ascending order, where a run begins: all up to the end
    /// of a bucket. Where the next ones begin.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "of what is in memory")]
    fn next_of(&mut self, latents: &[L], mut start: usize) -> usize {
        let (alone, cut) = (self.alone as usize, self.cut.min(self.total) as usize);
        let end = cut + run_n(&latents[cut..], latents[cut - 1]);
        let part = &latents[start..end];
        // No two latents so far from each other are alike, so that none stands alone.
        let pairs = part.iter().zip(part.get(alone - 1..).unwrap_or_default());
        if !pairs.fold(false, |any, (a, b)| any | (a == b)) {
            self.fill(bucket(part));
            return end;
        }
        while start < end {
            let n = run_n(&latents[start..end], latents[start]);
            self.run(latents[start], n as u32);
            start += n;
        }
        end
    }

    /// The same of values that are counted, from the `start`-th one on, which is `min` and as many.
    fn next_counted(&mut self, min: L, counts: &[u32], start: usize) -> usize {
        let (mut taken, mut end) = (self.taken, start);
        loop {
            taken += u64::from(counts[end]);
            end += 1;
            if taken >= self.cut || end == counts.len() {
                break;
            }
        }
        let part = &counts[start..end];
        let value = |place: usize| min.add(L::truncate((start + place) as u64));
        let has_alone =
            part.iter().fold(false, |any, &count| any | (u64::from(count) >= self.alone));
        if has_alone {
            for (place, &count) in part.iter().enumerate().filter(|(_, count)| **count > 0) {
                self.run(value(place), count);
            }
        } else if let Some(first) = part.iter().position(|&count| count > 0) {
            let last = part.iter().rposition(|&count| count > 0).unwrap_or(first);
            #[expect(clippy::cast_possible_truncation, reason = "a chunk has 2^24 latents at most")]
            let count = (taken - self.taken) as u32;
            self.fill(Bucket { lower: value(first), upper: value(last), count });
        }
        end
    }

    /// Takes what fills a bucket, without a run that stands alone.
    #[inline]
    fn fill(&mut self, part: Bucket<L>) {
        self.taken += u64::from(part.count);
        self.done.push(match self.open.take() {
            Some(Bucket { lower, count, .. }) => {
                Bucket { lower, count: count + part.count, ..part }
            }
            None => part,
        });
        self.cut = self.cut_behind(self.taken);
    }

    /// The buckets of all that was taken.
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
        /// Parts taken at once are those that runs one after the other fill.
        #[test]
        fn parts_are_those_of_runs(
            mut latents in prop::collection::vec(prop_oneof![any::<u64>(), 0..50u64], 0..2000),
            log in 0u32..12,
            alone in 1..5u64,
        ) {
            latents.sort_unstable();
            let grain = Grain { alone, ..Grain::even(1 << log) };
            let mut by_runs = Collector::new(latents.len(), grain);
            for run in latents.chunk_by(|a, b| a == b) {
                by_runs.run(run[0], u32::try_from(run.len()).unwrap());
            }
            prop_assert_eq!(of_runs(&latents, grain), by_runs.finish());
        }
    }
}
