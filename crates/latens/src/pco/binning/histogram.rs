//! Latents reduced to buckets of about equal count that no value straddles.

use crate::number::Latent;

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

/// At most about `most` buckets, in ascending order. The latents may be left in another order.
///
/// A value that alone fills a bucket gets one of its own.
pub(crate) fn histogram<L: Latent>(latents: &mut [L], most: usize) -> Vec<Bucket<L>> {
    let mut buckets = Collector::new(latents.len(), most);
    let (Some(&min), Some(&max)) = (latents.iter().min(), latents.iter().max()) else {
        return Vec::new();
    };
    let span = max.sub(min).to_u64();
    if span < DENSE && span / 4 < latents.len() as u64 {
        #[expect(clippy::cast_possible_truncation, reason = "below DENSE")]
        let mut counts = vec![0u32; span as usize + 1];
        for &x in &*latents {
            #[expect(clippy::cast_possible_truncation, reason = "below DENSE")]
            let at = x.sub(min).to_u64() as usize;
            counts[at] += 1;
        }
        for (value, &count) in (0u64..).zip(&counts) {
            if count > 0 {
                buckets.run(min.add(L::truncate(value)), count);
            }
        }
    } else {
        latents.sort_unstable();
        for run in latents.chunk_by(|a, b| a == b) {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a chunk has 2^24 latents at most"
            )]
            buckets.run(run[0], run.len() as u32);
        }
    }
    buckets.finish()
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

    /// Which of the equal parts the `i`-th latent lies in.
    fn part(&self, i: u64) -> u64 {
        i * self.most / self.total
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
            prop_assert!(buckets.len() <= (2 << log) + 1);
            for x in latents {
                prop_assert!(buckets.iter().any(|b| (b.lower..=b.upper).contains(&x)));
            }
        }
    }
}
