//! Latents reduced to buckets of about equal count that no value straddles.

use crate::number::Latent;
use crate::pco::binning::sort::sort;
use crate::spare;
use latens_kernels::dispatch::Present;
use latens_kernels::ranges::Ranges;

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

/// How finely latents are cut to buckets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grain {
    /// Buckets, at most about.
    pub(crate) most: usize,
    /// A value that comes as often as one in so many of a bucket's latents gets a bucket of its own.
    pub(crate) alone: u64,
}

impl Grain {
    /// At most about so many buckets, and one for each value that alone would fill one.
    pub(crate) fn even(most: usize) -> Self {
        Self { most, alone: 1 }
    }
}

/// Values are counted directly when they span no more than this.
const DENSE: u64 = 1 << 16;
/// Where there are twice as many latents as this times the buckets, they are not sorted: a sample
/// of that many tells where to cut.
const SAMPLE: usize = 8;

/// Latents whose buckets are found before they are counted.
const BLOCK: usize = 1 << 10;
/// Latents of which it is looked at together whether one lies at an end.
const GROUP: usize = 64;

/// Buckets of all latents of a variable, and what was learnt on the way about where each lies.
#[derive(Debug)]
pub(crate) struct Histogram<L> {
    /// Ascending and disjoint.
    pub(crate) buckets: Vec<Bucket<L>>,
    places: Places<L>,
}

#[derive(Debug)]
enum Places<L> {
    /// All latents lie within `span` of `min`.
    Dense { min: L, span: u64 },
    /// By latent, the range that it lies in; by range, its lower bound. The first and the last
    /// range were cut further.
    Ranges { by_latent: Vec<u16>, lowers: Vec<L> },
    /// Nothing.
    Unknown,
}

impl<L: Latent> Histogram<L> {
    /// Of all latents.
    pub(crate) fn new(latents: &[L], grain: Grain) -> Self {
        let Some((min, max)) = bounds(latents) else {
            return Self { buckets: Vec::new(), places: Places::Unknown };
        };
        let span = max.sub(min).to_u64();
        if span == 0 {
            #[expect(clippy::cast_possible_truncation, reason = "a chunk has 2^24 latents at most")]
            let all = Bucket { lower: min, upper: max, count: latents.len() as u32 };
            Self { buckets: vec![all], places: Places::Unknown }
        } else if is_dense(span, latents.len()) {
            let buckets = dense(latents, min, span, grain);
            Self { buckets, places: Places::Dense { min, span } }
        } else if latents.len() < 2 * SAMPLE * grain.most {
            let mut sorted = latents.to_vec();
            sort(&mut sorted);
            Self { buckets: of_runs(&sorted, grain), places: Places::Unknown }
        } else {
            sampled(latents, grain)
        }
    }

    /// By latent, which of the bins it lies in. The bins are unions of buckets that follow each
    /// other, and there are 2^14 of them at most.
    #[expect(clippy::cast_possible_truncation, reason = "at most 2^14 bins")]
    pub(crate) fn symbols(self, latents: &[L], bins: &[Bucket<L>]) -> Vec<u16> {
        let bin_of = |x: L| bins.partition_point(|bin| bin.lower <= x).saturating_sub(1) as u16;
        match self.places {
            Places::Dense { min, span } => {
                let mut by_value = vec![0u16; span as usize + 1];
                for (symbol, bin) in (0u16..).zip(bins) {
                    let from = bin.lower.sub(min).to_u64() as usize;
                    let to = bin.upper.sub(min).to_u64() as usize;
                    by_value[from..=to].fill(symbol);
                }
                let mut symbols = spare::take(latents.len());
                symbols.extend(latents.iter().map(|x| by_value[x.sub(min).to_u64() as usize]));
                symbols
            }
            Places::Ranges { mut by_latent, lowers } => {
                // A bin begins at a latent, which may lie behind the lower bound of its range.
                let mut by_range: Vec<u16> =
                    lowers[1..].iter().map(|next| bin_of(next.sub(L::ONE))).collect();
                by_range.push(u16::MAX);
                by_range[0] = u16::MAX;
                for (place, &x) in by_latent.iter_mut().zip(latents) {
                    let symbol = by_range[usize::from(*place)];
                    *place = if symbol == u16::MAX { bin_of(x) } else { symbol };
                }
                by_latent
            }
            Places::Unknown => {
                let mut symbols = spare::filled(0, latents.len());
                let lowers = bins.iter().map(|bin| bin.lower).collect();
                let ranges = Ranges::new(lowers, latents.len());
                ranges.find(Present::in_use(), latents, &mut symbols);
                symbols
            }
        }
    }
}

/// Buckets of a sample, as [`Histogram`] would have them. The latents are left in another order.
pub(crate) fn of_sample<L: Latent>(latents: &mut [L], most: usize) -> Vec<Bucket<L>> {
    let Some((min, max)) = bounds(latents) else { return Vec::new() };
    let span = max.sub(min).to_u64();
    if is_dense(span, latents.len()) {
        return dense(latents, min, span, Grain::even(most));
    }
    sort(latents);
    of_sorted(latents, most)
}

fn is_dense(span: u64, n: usize) -> bool {
    span < DENSE && span / 4 < n as u64
}

/// The least and the largest latent.
pub(crate) fn bounds<L: Latent>(latents: &[L]) -> Option<(L, L)> {
    let first = *latents.first()?;
    let bounds = Present::in_use().call(
        #[inline(always)]
        || latents.iter().fold((first, first), |(min, max), &x| (min.min(x), max.max(x))),
    );
    Some(bounds)
}

/// Counts each value of `min..=min + span`.
fn dense<L: Latent>(latents: &[L], min: L, span: u64, grain: Grain) -> Vec<Bucket<L>> {
    // Several counts of each value, since neighbours are often equal and a sum waits for the one
    // before; not where they would not fit in the nearest cache.
    let counts = if span < 1 << 11 {
        counts::<L, 4>(latents, min, span)
    } else {
        counts::<L, 1>(latents, min, span)
    };
    let mut buckets = Collector::new(latents.len(), grain);
    for (value, &count) in (0u64..).zip(&counts) {
        if count > 0 {
            buckets.run(min.add(L::truncate(value)), count);
        }
    }
    buckets.finish()
}

#[expect(clippy::cast_possible_truncation, reason = "below DENSE")]
fn counts<L: Latent, const LANES: usize>(latents: &[L], min: L, span: u64) -> Vec<u32> {
    let mut counts = vec![[0u32; LANES]; span as usize + 1];
    let (groups, rest) = latents.as_chunks::<LANES>();
    for group in groups {
        for lane in 0..LANES {
            counts[group[lane].sub(min).to_u64() as usize][lane] += 1;
        }
    }
    for &x in rest {
        counts[x.sub(min).to_u64() as usize][0] += 1;
    }
    counts.into_iter().map(|lanes| lanes.iter().sum()).collect()
}

/// Buckets of latents in ascending order.
pub(crate) fn of_sorted<L: Latent>(latents: &[L], most: usize) -> Vec<Bucket<L>> {
    of_runs(latents, Grain::even(most))
}

fn of_runs<L: Latent>(latents: &[L], grain: Grain) -> Vec<Bucket<L>> {
    let mut buckets = Collector::new(latents.len(), grain);
    for run in latents.chunk_by(|a, b| a == b) {
        #[expect(clippy::cast_possible_truncation, reason = "a chunk has 2^24 latents at most")]
        buckets.run(run[0], run.len() as u32);
    }
    buckets.finish()
}

/// Cuts where a sample says, counts all latents, and takes the two ends apart exactly.
fn sampled<L: Latent>(latents: &[L], grain: Grain) -> Histogram<L> {
    let most = grain.most;
    let gap = latents.len() / (SAMPLE * most);
    // Places that no period of the data keeps step with.
    let mut jump = 0usize;
    let mut pick = |i: usize| {
        jump = jump.wrapping_mul(5).wrapping_add(i | 1);
        latents[i * gap + (jump >> 3) % gap]
    };
    let mut sample: Vec<L> = (0..SAMPLE * most).map(&mut pick).collect();
    sort(&mut sample);
    let cuts = of_runs(&sample, grain);
    // A bucket reaches from its lower cut to the next one.
    let mut lowers: Vec<L> = cuts
        .iter()
        .flat_map(|c| {
            // A value of its own is kept apart from what follows it.
            let behind = (c.lower == c.upper && c.upper != L::MAX).then(|| c.upper.add(L::ONE));
            std::iter::once(c.lower).chain(behind)
        })
        .collect();
    lowers.dedup();
    let (all_ranges, present) = (Ranges::new(lowers.clone(), latents.len()), Present::in_use());
    let empty = Bucket { lower: L::MAX, upper: L::ZERO, count: 0 };
    let mut buckets = vec![empty; lowers.len()];
    let mut by_latent = spare::filled(0u16, latents.len());
    for (latents, ranges) in latents.chunks(BLOCK).zip(by_latent.chunks_mut(BLOCK)) {
        all_ranges.find(present, latents, ranges);
        for (&x, &range) in latents.iter().zip(&*ranges) {
            let bucket = &mut buckets[usize::from(range)];
            bucket.lower = bucket.lower.min(x);
            bucket.upper = bucket.upper.max(x);
            bucket.count += 1;
        }
    }
    // As fine as the tails of a small set are cut.
    let end = |which: usize| {
        #[expect(clippy::cast_possible_truncation, reason = "at most 2^14 ranges")]
        let which = which as u16;
        let mut end = Vec::with_capacity(buckets[usize::from(which)].count as usize);
        // Most groups have none of them, which vectors tell at once.
        for (latents, ranges) in latents.chunks(GROUP).zip(by_latent.chunks(GROUP)) {
            if ranges.iter().fold(false, |any, &range| any | (range == which)) {
                let here = latents.iter().zip(ranges).filter(|&(_, &range)| range == which);
                end.extend(here.map(|(&x, _)| x));
            }
        }
        sort(&mut end);
        of_sorted(&end, 2)
    };
    let last = lowers.len() - 1;
    let mut all = end(0);
    if last > 0 {
        all.extend(buckets[1..last].iter().filter(|b| b.count > 0));
        all.extend(end(last));
    }
    Histogram { buckets: all, places: Places::Ranges { by_latent, lowers } }
}

/// Takes runs of equal values in ascending order.
struct Collector<L> {
    done: Vec<Bucket<L>>,
    open: Option<Bucket<L>>,
    /// Latents taken so far, and in how many of equal size they are to be cut.
    taken: u64,
    total: u64,
    most: u64,
    /// A run of as many latents stands alone.
    alone: u64,
    /// As soon as so many are taken, the open bucket is full.
    cut: u64,
}

impl<L: Latent> Collector<L> {
    fn new(total: usize, Grain { most, alone }: Grain) -> Self {
        let mut new = Self {
            done: Vec::with_capacity(most + 1),
            open: None,
            taken: 0,
            total: total.max(1) as u64,
            most: most.max(1) as u64,
            alone: 0,
            cut: 0,
        };
        new.alone = new.total.div_ceil(new.most * alone);
        new.cut = new.cut_behind(0);
        new
    }

    /// Where the part ends that the `i`-th latent lies in: parts are of equal size, but for the
    /// first and the last, which halve towards the ends, since there heavy tails take many bits in
    /// few latents.
    fn cut_behind(&self, i: u64) -> u64 {
        let part = (i * self.most / self.total).min(self.most);
        let end = ((part + 1) * self.total).div_ceil(self.most);
        if part == 0 {
            end.min((2 << (i + 1).ilog2()) - 1)
        } else if part + 1 >= self.most {
            let half = 1 << (self.total - i.min(self.total) + 1).ilog2();
            if half > 1 { self.total + 2 - half } else { u64::MAX }
        } else {
            end
        }
    }

    #[inline]
    fn run(&mut self, value: L, count: u32) {
        let end = self.taken + u64::from(count);
        self.taken = end;
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
            let buckets = of_sample(&mut latents.clone(), 1 << log);
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
        let buckets = Histogram::new(&latents, Grain::even(256)).buckets;
        assert_eq!(buckets.iter().map(|b| b.count as usize).sum::<usize>(), latents.len());
        assert!(buckets.windows(2).all(|w| w[0].upper < w[1].lower));
        assert!(buckets.contains(&Bucket { lower: 1 << 40, upper: 1 << 40, count: 33_334 }));
    }
}
