//! Latents that lie near each other: a table has a place for each value from the least to the greatest.

use crate::number::Latent;
use crate::spare;
use latens_kernels::dispatch::Present;

/// The greatest latent lies no more than this above the least.
const MOST: u64 = 1 << 16;
/// Values up to this far apart are counted in several places each, as far as those fit in the nearest cache.
const FEW: usize = 1 << 11;

/// The least and the greatest latent.
pub(crate) fn bounds<L: Latent>(latents: &[L]) -> Option<(L, L)> {
    let first = *latents.first()?;
    let bounds = Present::in_use().call(
        #[inline(always)]
        || latents.iter().fold((first, first), |(min, max), &x| (min.min(x), max.max(x))),
    );
    Some(bounds)
}

/// How far `max` lies above `min`, where a table for `n` latents between them is worth it.
pub(crate) fn span<L: Latent>((min, max): (L, L), n: usize) -> Option<usize> {
    let span = max.sub(min).to_u64();
    #[expect(clippy::cast_possible_truncation, reason = "below MOST")]
    let is_dense = (span < MOST && span / 4 < n as u64).then_some(span as usize);
    is_dense
}

/// Where the table has a latent.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "below MOST")]
pub(crate) fn place<L: Latent>(x: L, min: L) -> usize {
    x.sub(min).to_u64() as usize
}

/// How often each value of `min..=min + span` comes.
pub(crate) fn counts<L: Latent>(latents: &[L], min: L, span: usize) -> Vec<u32> {
    // Neighbours are often equal, and a sum waits for the one before.
    if span < FEW {
        by_lanes::<L, 4>(latents, min, span)
    } else {
        by_lanes::<L, 1>(latents, min, span)
    }
}

fn by_lanes<L: Latent, const LANES: usize>(latents: &[L], min: L, span: usize) -> Vec<u32> {
    let mut counts = vec![[0u32; LANES]; span + 1];
    let (groups, rest) = latents.as_chunks::<LANES>();
    for group in groups {
        for lane in 0..LANES {
            counts[place(group[lane], min)][lane] += 1;
        }
    }
    for &x in rest {
        counts[place(x, min)][0] += 1;
    }
    counts.into_iter().map(|lanes| lanes.iter().sum()).collect()
}

/// By latent, which of some ranges of values it lies in, all of them between `min` and `min + span`.
pub(crate) fn symbols<L: Latent>(
    latents: &[L],
    (min, span): (L, usize),
    ranges: impl Iterator<Item = (L, L)>,
) -> Vec<u16> {
    const GROUP: usize = 8;
    // A power of two has a mask, which is quicker than a comparison that can fail.
    let mut by_value = vec![0u16; (span + 1).next_power_of_two()];
    for (symbol, (lower, upper)) in (0u16..).zip(ranges) {
        by_value[place(lower, min)..=place(upper, min)].fill(symbol);
    }
    let mask = by_value.len() - 1;
    let symbol = |x: L| by_value[place(x, min) & mask];
    let mut symbols = spare::stale(latents.len());
    let (groups, rest) = latents.as_chunks::<GROUP>();
    let (to_groups, to_rest) = symbols.as_chunks_mut::<GROUP>();
    for (to, group) in to_groups.iter_mut().zip(groups) {
        for lane in 0..GROUP {
            to[lane] = symbol(group[lane]);
        }
    }
    to_rest.iter_mut().zip(rest).for_each(|(to, &x)| *to = symbol(x));
    symbols
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_is_counted() {
        for most in [7u32, 3000] {
            let latents: Vec<u32> = (0..10_001).map(|i| 1_000_000 + i * i % most).collect();
            let limits = bounds(&latents).unwrap();
            let span = span(limits, latents.len()).unwrap();
            let counts = counts(&latents, limits.0, span);
            for (value, &count) in (limits.0..).zip(&counts) {
                let found = latents.iter().filter(|&&x| x == value).count();
                assert_eq!(count as usize, found, "{value}");
            }
            assert_eq!(counts.len(), span + 1);
        }
        assert_eq!(span((0u32, 1 << 16), 1 << 20), None);
        assert_eq!(span((0u32, 400), 50), None);
    }

    #[test]
    fn each_latent_gets_the_range_that_it_lies_in() {
        for n in [1u64, 7, 8, 9, 1003] {
            let latents: Vec<u64> = (0..n).map(|i| 500 + i * i % 301).collect();
            let ranges = [(500, 500), (501, 640), (700, 800)];
            let latents: Vec<u64> =
                latents.into_iter().filter(|x| !(641..700).contains(x)).collect();
            let symbols = symbols(&latents, (500, 300), ranges.into_iter());
            let lies_in = |(&x, &symbol): (&u64, &u16)| {
                let (lower, upper) = ranges[usize::from(symbol)];
                (lower..=upper).contains(&x)
            };
            assert_eq!(symbols.len(), latents.len());
            assert!(latents.iter().zip(&symbols).all(lies_in));
        }
    }
}
