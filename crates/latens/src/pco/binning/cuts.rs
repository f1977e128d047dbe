//! Buckets of many latents: a sample tells where to cut, all of them or a part are counted.

use crate::number::Latent;
use crate::pco::binning::buckets::{Bucket, Grain, MOST_BUCKETS, of_runs, of_sorted};
use crate::pco::binning::sort::sort;
use crate::spare;
use latens_kernels::dispatch::Present;
use latens_kernels::ranges::Ranges;

/// Where there are twice as many latents as this times the buckets, they are not sorted: a sample
/// of that many tells where to cut.
pub(crate) const SAMPLE: usize = 8;
/// Latents whose ranges are found before they are counted.
const BLOCK: usize = 1 << 10;
/// Latents of which it is looked at together whether one lies at an end.
const GROUP: usize = 64;
/// Latents of a bucket, at least, by which it is estimated, and one latent of so many is looked at, at most.
const SEEN: usize = 64;
const MOST_STRIDE: usize = 8;
/// Latents that follow each other in a part.
const STRETCH: usize = 8;
/// A bucket may reach so many mean distances of its latents beyond what was seen of it, and that part of its width.
const BEYOND: u64 = 8;

/// Buckets that both ends are cut to, at most: as many as widths halve.
const ENDS: usize = 4 * u64::BITS as usize;

/// A value comes often that one latent of so many of a sample has, if these are not a handful.
const OFTEN: usize = 16;

/// One latent of so many suffices for about so many buckets.
pub(crate) fn stride(latents: usize, buckets: usize) -> usize {
    (latents / (SEEN * buckets)).clamp(1, MOST_STRIDE)
}

/// One of so many latents, by stretches where no period of the data keeps step with them.
pub(crate) fn part<L: Latent>(latents: &[L], stride: usize) -> Vec<L> {
    let mut part = spare::take(latents.len() / stride);
    let mut jump = 0usize;
    for (i, stretches) in latents.chunks_exact(STRETCH * stride).enumerate() {
        jump = jump.wrapping_mul(5).wrapping_add(i | 1);
        let stretch = STRETCH * ((jump >> 3) % stride);
        part.extend_from_slice(&stretches[stretch..stretch + STRETCH]);
    }
    part
}

/// Where a sample says that latents are to be cut.
pub(crate) struct Cuts<L> {
    /// A bucket reaches from one of them to the next.
    pub(crate) lowers: Vec<L>,
    /// Latents of the sample, and those that come often enough to have buckets of their own.
    sample: usize,
    alone: usize,
}

impl<L: Latent> Cuts<L> {
    pub(crate) fn of_sample(latents: &[L], grain: Grain) -> Self {
        let n = SAMPLE * grain.most;
        let gap = latents.len() / n;
        // Places that no period of the data keeps step with.
        let mut jump = 0usize;
        let mut pick = |i: usize| {
            jump = jump.wrapping_mul(5).wrapping_add(i | 1);
            latents[i * gap + (jump >> 3) % gap]
        };
        let mut sample: Vec<L> = (0..n).map(&mut pick).collect();
        sort(&mut sample);
        let cuts = Self::of_sorted(&sample, grain);
        let finer = grain.beside(cuts.alone, n).map(|finer| Self::of_sorted(&sample, finer));
        let cuts = finer.filter(Self::are_few).unwrap_or(cuts);
        if cuts.are_few() { cuts } else { Self::of_sorted(&sample, Grain::even(grain.most)) }
    }

    /// Whether there is room for what both ends are cut to besides.
    fn are_few(&self) -> bool {
        self.lowers.len() <= MOST_BUCKETS - ENDS
    }

    fn of_sorted(sample: &[L], grain: Grain) -> Self {
        let n = sample.len();
        let (mut lowers, mut alone) = (Vec::with_capacity(2 * grain.most), 0);
        for cut in of_runs(sample, grain) {
            let is_alone = cut.lower == cut.upper;
            // Latents of the first range are sorted: not those of a value that comes often.
            let is_often = cut.count as usize > (n / OFTEN).max(SAMPLE);
            if lowers.is_empty() && is_alone && is_often && cut.lower != L::ZERO {
                lowers.push(L::ZERO);
            }
            lowers.push(cut.lower);
            if is_alone {
                alone += cut.count as usize;
                // A value of its own is kept apart from what follows it.
                if cut.upper != L::MAX {
                    lowers.push(cut.upper.add(L::ONE));
                }
            }
        }
        lowers.dedup();
        Self { lowers, sample: n, alone }
    }

    /// Whether most latents are of values too rare for a bucket of their own: what is between the values of a part is
    /// then about as what is between them all.
    pub(crate) fn are_continuous(&self) -> bool {
        2 * self.alone <= self.sample
    }

    /// The buckets of all latents, and by latent its range.
    pub(crate) fn counted(&self, latents: &[L]) -> (Vec<Bucket<L>>, Vec<u16>) {
        let mut by_latent = spare::stale(latents.len());
        let found = by_latent.chunks_mut(BLOCK);
        let mut all = with_ends(latents, &self.lowers, &counted(latents, &self.lowers, found));
        all.retain(|bucket| bucket.count > 0);
        (all, by_latent)
    }

    /// The same as a part tells that has one of so many latents, but for both ends, which are exact.
    pub(crate) fn estimated(&self, latents: &[L], part: &[L], stride: usize) -> Vec<Bucket<L>> {
        let mut found = vec![0; part.len()];
        let seen = counted(part, &self.lowers, found.chunks_mut(BLOCK));
        with_ends(latents, &self.lowers, &scaled(&seen, &self.lowers, stride))
    }
}

/// Buckets with the first and the last one taken apart exactly, as fine as the tails of a small set are cut.
fn with_ends<L: Latent>(latents: &[L], lowers: &[L], buckets: &[Bucket<L>]) -> Vec<Bucket<L>> {
    let last = lowers.len() - 1;
    if last == 0 {
        let mut all = latents.to_vec();
        sort(&mut all);
        return of_sorted(&all, 2);
    }
    let (mut least, mut greatest) = ends(latents, lowers[1], lowers[last]);
    sort(&mut least);
    sort(&mut greatest);
    let mut all = of_sorted(&least, 2);
    all.extend(&buckets[1..last]);
    all.extend(of_sorted(&greatest, 2));
    all
}

/// By range, how many latents it has, and from where to where they reach; by block of latents, what range each is in.
fn counted<'a, L: Latent>(
    latents: &[L],
    lowers: &[L],
    found: impl Iterator<Item = &'a mut [u16]>,
) -> Vec<Bucket<L>> {
    let all_ranges = Ranges::new(Present::in_use(), lowers.to_vec(), latents.len());
    let empty = Bucket { lower: L::MAX, upper: L::ZERO, count: 0 };
    let mut buckets = vec![empty; lowers.len()];
    for (latents, ranges) in latents.chunks(BLOCK).zip(found) {
        all_ranges.find(latents, ranges);
        for (&x, &range) in latents.iter().zip(&*ranges) {
            let bucket = &mut buckets[usize::from(range)];
            bucket.lower = bucket.lower.min(x);
            bucket.upper = bucket.upper.max(x);
            bucket.count += 1;
        }
    }
    buckets
}

/// What buckets have if one of `stride` latents was seen: so many times as many, and what lies somewhat farther out,
/// where there is no other range.
fn scaled<L: Latent>(seen: &[Bucket<L>], lowers: &[L], stride: usize) -> Vec<Bucket<L>> {
    #[expect(clippy::cast_possible_truncation, reason = "MOST_STRIDE at most")]
    let stride = stride as u32;
    let nexts = lowers[1..].iter().map(|next| next.sub(L::ONE)).chain([L::MAX]);
    let scale = |((seen, &lower), upper): ((&Bucket<L>, &L), L)| {
        if seen.count == 0 {
            // Others may lie there.
            return Bucket { lower, upper, count: 1 };
        }
        let width = seen.upper.sub(seen.lower).to_u64();
        let distance = width.div_ceil(u64::from(seen.count));
        let beyond = distance.saturating_mul(BEYOND).max(width / BEYOND);
        let (down, up) = (seen.lower.sub(lower).to_u64(), upper.sub(seen.upper).to_u64());
        Bucket {
            lower: seen.lower.sub(L::truncate(beyond.min(down))),
            upper: seen.upper.add(L::truncate(beyond.min(up))),
            count: seen.count * stride,
        }
    };
    seen.iter().zip(lowers).zip(nexts).map(scale).collect()
}

/// The latents below one bound, and those from another one on.
fn ends<L: Latent>(latents: &[L], low: L, high: L) -> (Vec<L>, Vec<L>) {
    let (mut below, mut above) = (Vec::new(), Vec::new());
    Present::in_use().call(
        #[inline(always)]
        || {
            // Most groups have none of them, which vectors tell at once.
            for group in latents.chunks(GROUP) {
                if group.iter().fold(false, |any, &x| any | (x < low) | (x >= high)) {
                    below.extend(group.iter().filter(|&&x| x < low));
                    above.extend(group.iter().filter(|&&x| x >= high));
                }
            }
        },
    );
    (below, above)
}
