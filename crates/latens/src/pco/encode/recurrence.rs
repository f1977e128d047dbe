//! How soon values of a sample come again, which says how likely lookbacks are.

use crate::number::Latent;
use crate::pco::encode::sample::Sample;
use crate::pco::mode::dict;
use std::cell::OnceCell;
use std::ops::Range;

/// How many of some places, a bit each, the hashes of latents fall on.
pub(crate) fn taken<'a, L: Latent>(
    latents: impl Iterator<Item = &'a L>,
    places: &mut [u64],
) -> usize {
    let log = (places.len() * 64).ilog2();
    places.fill(0);
    latents.for_each(|&x| {
        let place = dict::hash(x, log);
        places[place / 64] |= 1 << (place % 64);
    });
    places.iter().map(|word| word.count_ones() as usize).sum()
}

/// How soon values come again: the part of some latents that have values of their own, by their hashes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recurrence {
    /// Where those latents are neighbours.
    near: f64,
    /// Where they come from all over a sample.
    anywhere: f64,
    /// How often a value comes in the sample, on average.
    repeats: f64,
}

impl Recurrence {
    /// Of so many latents at a time.
    const LATENTS: usize = 256;
    const WORDS: usize = 64;

    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    /// Of a sample that has so many values.
    #[inline(never)]
    fn of<L: Latent>(sample: &Sample<L>, distinct: usize) -> Self {
        let latents = &sample.latents;
        let mut places = [0; Self::WORDS];
        let near = |stripe: &Range<usize>| latents[stripe.clone()].chunks_exact(Self::LATENTS);
        let (mut sum, mut sum_anywhere, mut all) = (0, 0, 0);
        for (start, near) in sample.stripes.iter().flat_map(near).enumerate().step_by(2) {
            let apart = latents.len() / Self::LATENTS;
            let anywhere = latents.iter().skip(start).step_by(apart).take(Self::LATENTS);
            sum += taken(near.iter(), &mut places);
            sum_anywhere += taken(anywhere, &mut places);
            all += Self::LATENTS;
        }
        let part = |sum| if all == 0 { 1.0 } else { sum as f64 / all as f64 };
        let repeats = latents.len() as f64 / distinct.max(1) as f64;
        Self { near: part(sum), anywhere: part(sum_anywhere), repeats }
    }

    /// Whether few latents come again.
    pub(crate) fn is_rare(self) -> bool {
        self.repeats < 1.1
    }

    /// Whether a mode that takes so many bits a latent may hide that latents come again: stretches have few
    /// values each, as rows with a scale of their own have, or a lookback takes fewer bits than a latent.
    pub(crate) fn is_hidden(self, bits: f64) -> bool {
        self.near <= 0.25 || self.repeats > 1.1 && bits > 16.0
    }

    /// Whether lookbacks are likely: neighbours share values more often than others do, or a lookback takes hardly
    /// more bits than a latent.
    pub(crate) fn is_likely(self, bits: f64) -> bool {
        self.near < self.anywhere * 0.75 || self.repeats > 1.1 && bits > 12.0
    }
}

/// The values of a sample, and how soon they come again, which is found out where somebody asks.
pub(crate) struct Values<'a, L> {
    pub(crate) sample: &'a Sample<L>,
    /// How many there are.
    pub(crate) distinct: usize,
    recurrence: OnceCell<Recurrence>,
}

impl<'a, L: Latent> Values<'a, L> {
    pub(crate) fn new(sample: &'a Sample<L>, distinct: usize) -> Self {
        Self { sample, distinct, recurrence: OnceCell::new() }
    }

    pub(crate) fn recurrence(&self) -> Recurrence {
        *self.recurrence.get_or_init(|| Recurrence::of(self.sample, self.distinct))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pco::binning::sort::sort;
    use crate::pco::encode::distinct::count;
    use crate::pco::encode::sample::stripes;
    use crate::pco::noise::mix;

    fn recurrence(latent: impl Fn(u64) -> u64) -> Recurrence {
        let latents: Vec<u64> = (0..100_000).map(latent).collect();
        let sample = Sample::new(&latents, stripes(latents.len(), 1 << 12));
        let mut sorted = sample.latents.clone();
        sort(&mut sorted);
        Recurrence::of(&sample, count(&sorted))
    }

    #[test]
    fn what_comes_again_is_told_from_what_does_not() {
        let noise = recurrence(mix);
        assert!(noise.is_rare() && !noise.is_likely(60.0) && !noise.is_hidden(60.0));
        // Anywhere: a lookback must take fewer bits than a latent.
        let table = recurrence(|i| mix(mix(i) % 3000));
        assert!(!table.is_rare() && table.is_likely(20.0) && !table.is_likely(11.0));
        assert!(table.is_hidden(20.0) && !table.is_hidden(11.0));
        let rows = recurrence(|i| mix(i / 512 * 100 + mix(i) % 20));
        assert!(rows.is_likely(1.0) && rows.is_hidden(1.0));
    }
}
