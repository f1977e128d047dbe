//! Partitions of many buckets: starts of each bin are tried side by side, near ones all, and the
//! farther away the fewer.

use crate::number::Latent;
use crate::pco::binning::buckets::Bucket;
use crate::pco::binning::optimize::{self, End};
use latens_kernels::dispatch::Present;

/// Where all starts at some distance cost so many bins' metadata more than the best, none farther
/// away is tried.
const HOPELESS: f64 = 0.5;

/// The cheapest partition of buckets to bins, or one that costs hardly more; `bits_per_bin` is what
/// a bin takes in the metadata, its weight included.
///
/// Twice `N` starts are tried, then `N` of every second one, of every fourth and so on; and for each
/// width in bits the farthest, since there what one more bucket would cost jumps.
pub(crate) fn partition<L: Latent, const N: usize>(
    buckets: &[Bucket<L>],
    bits_per_bin: f64,
) -> Vec<Bucket<L>> {
    let from = Present::in_use().call(
        #[inline(always)]
        || cheapest_starts::<L, N>(buckets, bits_per_bin),
    );
    optimize::bins(buckets, &from)
}

/// By bucket: where the last bin starts that ends with it.
#[inline(always)]
fn cheapest_starts<L: Latent, const N: usize>(
    buckets: &[Bucket<L>],
    bits_per_bin: f64,
) -> Vec<usize> {
    let mut counted = Vec::with_capacity(buckets.len());
    let mut sum = 0;
    for bucket in buckets {
        counted.push(f64::from(sum));
        sum += bucket.count;
    }
    let log_total = f64::from(sum.max(1)).log2();
    let is_of_use = |&log: &usize| log == 0 || buckets.len() >> log >= N;
    let grid = |log| Grid::<N>::new(buckets, &counted, log);
    let mut grids: Vec<Grid<N>> = (0..).take_while(is_of_use).map(grid).collect();
    let mut from = vec![0; buckets.len()];
    // By width in bits, the first bucket of the widest bin that ends with the current one, or one
    // before it, as widths are looked at when it is their turn.
    let mut farthest = [0usize; 65];
    let hopeless = HOPELESS * bits_per_bin;
    let mut cost = 0.0;
    for (j, bucket) in buckets.iter().enumerate() {
        for (log, grid) in grids.iter_mut().enumerate() {
            if j % (1 << log) == 0 {
                grid.before[(j >> log) + N] = cost;
            }
        }
        let (upper, counted_here) = (bucket.upper.to_u64(), counted[j] + f64::from(bucket.count));
        let end = End { upper, counted: counted_here, log_total };
        // The least cost with its start; starts before `behind` are still to be tried.
        let (mut best, mut behind) = ((f64::INFINITY, j), j + 1);
        for log in std::iter::once(0).chain(0..grids.len()) {
            let grid = &grids[log];
            let ends = behind.div_ceil(1 << log);
            let (cost, place) = grid.cheapest(&end, ends);
            if cost > best.0 + hopeless {
                break;
            }
            if cost < best.0 {
                best = (cost, (ends + place).saturating_sub(N) << log);
            }
            behind = ends.saturating_sub(N) << log;
            if behind == 0 {
                break;
            }
        }
        // What one more bucket costs jumps where the width does.
        if behind > 0 {
            for bits in end.bits_from(buckets[behind].lower)..=L::BITS {
                let first = &mut farthest[bits as usize];
                while end.bits_from(buckets[*first].lower) > bits {
                    *first += 1;
                }
                let cost = end.cost(grids[0].before[*first + N], counted[*first], bits);
                best = if cost < best.0 { (cost, *first) } else { best };
                if *first == 0 || cost > best.0 + hopeless {
                    break;
                }
            }
        }
        from[j] = best.1;
        cost = best.0 + bits_per_bin;
    }
    from
}

/// Starts whose numbers are multiples of a power of two, behind `N` that cost infinitely much.
struct Grid<const N: usize> {
    /// Cost of what is before.
    before: Vec<f64>,
    /// Latents before.
    counted: Vec<f64>,
    lower: Vec<u64>,
}

impl<const N: usize> Grid<N> {
    fn new<L: Latent>(buckets: &[Bucket<L>], counted: &[f64], log: usize) -> Self {
        let n = buckets.len().div_ceil(1 << log) + N;
        let bucket = |i: usize| i.checked_sub(N).map(|i| i << log);
        Self {
            before: vec![f64::INFINITY; n],
            counted: (0..n).map(|i| bucket(i).map_or(0.0, |i| counted[i])).collect(),
            lower: (0..n).map(|i| bucket(i).map_or(0, |i| buckets[i].lower.to_u64())).collect(),
        }
    }

    /// The least cost with one of the `N` starts up to number `ends`, and its place among them.
    #[inline(always)]
    fn cheapest(&self, end: &End, ends: usize) -> (f64, usize) {
        let Self { before, counted, lower } = self;
        let tried = ends..ends + N;
        end.cheapest(&before[tried.clone()], &counted[tried.clone()], &lower[tried], N)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pco::binning::every;

    fn cost(bins: &[Bucket<u32>], bits_per_bin: f64) -> f64 {
        let total: u32 = bins.iter().map(|bin| bin.count).sum();
        let of = |bin: &Bucket<u32>| {
            let share = f64::from(total) / f64::from(bin.count);
            let bits = share.log2() + f64::from((bin.upper - bin.lower).bit_length());
            bits_per_bin + f64::from(bin.count) * bits
        };
        bins.iter().map(of).sum()
    }

    #[test]
    fn hardly_worse_than_every_start() {
        let mix = |i: u32| (i ^ i >> 5).wrapping_mul(0x9e37_79b9);
        for most in [1, 3, 40, 65, 200, 256] {
            let mut lower = 0;
            let bucket = |i: u32| {
                let width = mix(i) >> (20 + i % 9);
                lower += width + 1 + mix(i + 7) % 3;
                Bucket { lower: lower - width, upper: lower, count: 1 + mix(i) % 50 }
            };
            let buckets: Vec<Bucket<u32>> = (0..most).map(bucket).collect();
            let best = cost(&every::partition(&buckets, 48.0), 48.0);
            let quick = cost(&partition::<_, 16>(&buckets, 48.0), 48.0);
            let close = cost(&partition::<_, 64>(&buckets, 48.0), 48.0);
            assert!(quick <= best * 1.002, "{most}: {quick} {best}");
            assert!(close <= best * 1.0005, "{most}: {close} {best}");
        }
        assert!(partition::<u8, 16>(&[], 40.0).is_empty());
    }
}
