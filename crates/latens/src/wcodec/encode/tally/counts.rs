//! How often symbols occur, by sum.

use super::FEW_BITS;
use super::places::{BITS, FEW_PLACES, PLACES, places};
use crate::wcodec::encode::merge::BySum;
use latens_kernels::dispatch::Present;
use latens_kernels::nibbles;

/// Counts of pairs of a sum and a symbol.
pub(super) struct Tally {
    /// The counts of neighbours are apart, where there are any: few symbols would else wait for themselves.
    counts: [Vec<u32>; 2],
    /// Bits that a symbol has in a place.
    bits: u32,
    /// The least and the largest sum that occur.
    sums: (u8, u8),
    /// Memory that is used again.
    places: Vec<[u8; 2]>,
}

impl Tally {
    /// For symbols of `bits`.
    pub(super) fn new(bits: u32) -> Self {
        let bits = if bits <= FEW_BITS { FEW_BITS } else { BITS };
        let counts = [vec![0; 256 << bits], Vec::new()];
        Self { counts, bits, sums: (u8::MAX, 0), places: Vec::new() }
    }

    pub(super) fn add(&mut self, sums: &[u8], symbols: &[u8]) {
        let places = places(sums, symbols, self.bits, &mut self.places);
        let [even, odd] = &mut self.counts;
        odd.resize(even.len(), 0);
        if self.bits == FEW_BITS {
            // To look for sums that occur in so few places takes less time than to note them.
            self.sums = (0, u8::MAX);
            return add_to::<FEW_PLACES>(&mut self.counts, places);
        }
        let least = sums.iter().fold(self.sums.0, |least, &sum| least.min(sum));
        self.sums = (least, sums.iter().fold(self.sums.1, |most, &sum| most.max(sum)));
        add_to::<PLACES>(&mut self.counts, places);
    }

    /// Counts symbols of [`FEW_BITS`] that have the same sum.
    pub(super) fn add_run(&mut self, sum: u8, symbols: &[u8]) {
        self.sums = (self.sums.0.min(sum), self.sums.1.max(sum));
        let of_sum = self.counts[0].as_chunks_mut().0.get_mut(usize::from(sum));
        if let Some(counts) = of_sum {
            nibbles::count(Present::in_use(), symbols, counts);
        }
    }

    /// The counts of symbols of [`FEW_BITS`], by sums from `least` to `most`.
    pub(super) fn of_few(&mut self, least: u8, most: u8) -> Option<&mut [nibbles::Counts; 256]> {
        self.sums = (self.sums.0.min(least), self.sums.1.max(most));
        self.counts[0].as_chunks_mut().0.first_chunk_mut()
    }

    /// Counts each symbol in the tally of its band: blocks may be as narrow as a column, and then what
    /// is done once for a run is most of the work. How many bands there are at least.
    pub(super) fn deal(
        tallies: &mut Vec<Self>,
        bits: u32,
        bands: &[u8],
        sums: &[u8],
        symbols: &[u8],
    ) -> usize {
        let bands = &bands[..symbols.len()];
        let used = bands.iter().fold(0, |most, &band| most.max(band));
        let used = usize::from(used) + 1;
        while tallies.len() < used {
            tallies.push(Self::new(bits));
        }
        let range = sums.iter().fold((u8::MAX, 0), |r, &sum| (sum.min(r.0), sum.max(r.1)));
        for tally in tallies.iter_mut().take(used) {
            tally.sums = (tally.sums.0.min(range.0), tally.sums.1.max(range.1));
        }
        for ((&band, &sum), &symbol) in bands.iter().zip(sums).zip(symbols) {
            let Some(tally) = tallies.get_mut(usize::from(band)) else { continue };
            let place = usize::from(u16::from(sum) << tally.bits | u16::from(symbol));
            if let Some(count) = tally.counts[0].get_mut(place) {
                *count += 1;
            }
        }
        used
    }

    /// Histograms of the sums that occur, by all of them; all counts are zero again.
    pub(super) fn take(mut tallies: Vec<&mut Self>) -> BySum {
        let none = (u8::MAX, 0);
        let (least, most) =
            tallies.iter().fold(none, |all, t| (all.0.min(t.sums.0), all.1.max(t.sums.1)));
        tallies.iter_mut().for_each(|tally| tally.sums = none);
        // Most have that many at least.
        let mut out = Vec::with_capacity(32);
        for sum in least..=most {
            let occurs = |tally: &&mut Self| {
                let (each, sum) = (1usize << tally.bits, usize::from(sum));
                let of_sum = |counts: &Vec<u32>| {
                    counts
                        .get(sum * each..(sum + 1) * each)
                        .is_some_and(|counts| counts.iter().fold(0, |all, n| all | n) > 0)
                };
                tally.counts.iter().any(of_sum)
            };
            if !tallies.iter().any(occurs) {
                continue;
            }
            let mut histogram = [0; 256];
            for tally in &mut tallies {
                let (each, sum) = (1usize << tally.bits, usize::from(sum));
                for counts in &mut tally.counts {
                    let counts = counts.get_mut(sum * each..(sum + 1) * each).unwrap_or_default();
                    histogram.iter_mut().zip(&*counts).for_each(|(all, n)| *all += n);
                    counts.fill(0);
                }
            }
            out.push((sum.into(), histogram));
        }
        out
    }
}

/// Counts symbols by their places, of which there are `MANY`: an index below that needs no check then. Four
/// places are loaded at once, as loads and stores of counts are all that a core can do.
fn add_to<const MANY: usize>(counts: &mut [Vec<u32>; 2], places: &[[u8; 2]]) {
    let [even, odd] = counts;
    let Some(even) = even.first_chunk_mut::<MANY>() else { return };
    let Some(odd) = odd.first_chunk_mut::<MANY>() else { return };
    let (fours, rest) = places.as_flattened().as_chunks::<8>();
    let place =
        |places: u64, shift: u32| usize::try_from(places >> shift & 0xffff).unwrap_or(0) % MANY;
    for &four in fours {
        let four = u64::from_le_bytes(four);
        even[place(four, 0)] += 1;
        odd[place(four, 16)] += 1;
        even[place(four, 32)] += 1;
        odd[place(four, 48)] += 1;
    }
    for &place in rest.as_chunks::<2>().0 {
        even[usize::from(u16::from_le_bytes(place)) % MANY] += 1;
    }
}
