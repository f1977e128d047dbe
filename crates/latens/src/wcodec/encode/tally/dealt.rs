//! Symbols of few bits whose blocks are as narrow as a column, counted with their bands.

use super::FEW_BITS;
use super::counts::Tally;
use super::places::BITS;
use crate::wcodec::encode::merge::BySum;
use latens_kernels::dispatch::{Present, Work};

/// Bands at most.
const BANDS: usize = 1 << (BITS - FEW_BITS);

/// Counts of symbols of blocks as narrow as a column, each of a band of its own: what is done once for a run
/// would be most of the work.
pub(super) struct Dealt {
    /// Of bands and symbols in one, where both are of [`FEW_BITS`].
    tally: Tally,
    /// Memory that is used again.
    both: Vec<u8>,
}

impl Default for Dealt {
    fn default() -> Self {
        Self { tally: Tally::new(BITS), both: Vec::new() }
    }
}

impl Dealt {
    /// Whether symbols of `bits` and bands up to `last` can be one.
    pub(super) fn fits(bits: u32, last: usize) -> bool {
        bits <= FEW_BITS && last < BANDS
    }

    /// Counts each symbol with its sum and its band.
    pub(super) fn add(&mut self, bands: &[u8], sums: &[u8], symbols: &[u8]) {
        self.both.resize(symbols.len(), 0);
        Present::in_use().run(Join { bands, symbols, both: &mut self.both });
        self.tally.add(sums, &self.both);
    }

    /// Histograms of the sums that occur, by band, by all of them; all counts are zero again.
    pub(super) fn take<'t>(dealt: impl Iterator<Item = &'t mut Self>) -> Vec<BySum> {
        let all = Tally::take(dealt.map(|dealt| &mut dealt.tally).collect());
        let mut maps: Vec<BySum> = vec![Vec::new(); BANDS];
        for (sum, of_sum) in all {
            for (map, of_band) in maps.iter_mut().zip(of_sum.as_chunks::<{ 1 << FEW_BITS }>().0) {
                if of_band.iter().any(|&n| n > 0) {
                    let mut histogram = [0; 256];
                    histogram.iter_mut().zip(of_band).for_each(|(all, n)| *all = *n);
                    map.push((sum, histogram));
                }
            }
        }
        let used = maps.iter().rposition(|map| !map.is_empty()).map_or(1, |last| last + 1);
        maps.truncate(used);
        maps
    }
}

/// Bands and symbols of [`FEW_BITS`] in one of twice as many.
struct Join<'a> {
    bands: &'a [u8],
    symbols: &'a [u8],
    both: &'a mut [u8],
}

impl Work for Join<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for ((both, &band), &symbol) in self.both.iter_mut().zip(self.bands).zip(self.symbols) {
            *both = band << FEW_BITS | symbol;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_are_told_apart_as_tallies_of_their_own_tell_them() {
        let mut seed = 5u32;
        let mut next = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((seed >> 16) % below).to_le_bytes()[0]
        };
        let (mut dealt, mut tallies) = (Dealt::default(), Vec::new());
        // What is taken leaves nothing behind.
        for bands in [16, 3, 9] {
            let mut used = 1;
            for n in [0, 1, 7, 64, 999] {
                let mut some = |below: u32| (0..n).map(|_| next(below)).collect::<Vec<u8>>();
                let (bands, sums, symbols) = (some(bands), some(256), some(16));
                dealt.add(&bands, &sums, &symbols);
                used = Tally::deal(&mut tallies, 4, &bands, &sums, &symbols).max(used);
            }
            let each: Vec<BySum> =
                tallies.iter_mut().take(used).map(|own| Tally::take(vec![own])).collect();
            assert_eq!(Dealt::take(std::iter::once(&mut dealt)), each);
        }
    }

    #[test]
    fn only_few_bits_are_joined() {
        assert!(Dealt::fits(4, 15) && Dealt::fits(2, 0));
        assert!(!Dealt::fits(5, 0) && !Dealt::fits(4, 16));
    }
}
