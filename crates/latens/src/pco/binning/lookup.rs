//! From latents to the indices of their bins.

use crate::number::Latent;
use crate::pco::layout::variable::Bin;

/// Cells of the table of first guesses.
const CELLS: u64 = 1 << 12;

/// Finds bins. They must be sorted, must not overlap, and must cover every latent asked for.
#[derive(Clone, Debug)]
pub(crate) struct Lookup<L> {
    lowers: Vec<L>,
    /// Latents are counted from the first lower bound and shifted right by this to find a cell.
    shift: u32,
    base: L,
    /// By cell: the last bin that begins at or before the cell's start.
    first: Vec<u16>,
}

impl<L: Latent> Lookup<L> {
    /// For at least one bin.
    pub(crate) fn new(bins: &[Bin<L>]) -> Self {
        let lowers: Vec<L> = bins.iter().map(|bin| bin.lower).collect();
        let base = lowers.first().copied().unwrap_or(L::ZERO);
        let last = lowers.last().copied().unwrap_or(L::ZERO);
        let span = last.sub(base);
        let shift = span.bit_length().saturating_sub(CELLS.ilog2());
        #[expect(clippy::cast_possible_truncation, reason = "at most CELLS")]
        let cells = (span.to_u64() >> shift) as usize + 1;
        let mut first = vec![0u16; cells];
        let mut bin = 0;
        for (cell, slot) in (0u64..).zip(&mut first) {
            let start = base.to_u64() + (cell << shift);
            while bin + 1 < lowers.len() && lowers[bin + 1].to_u64() <= start {
                bin += 1;
            }
            #[expect(clippy::cast_possible_truncation, reason = "at most 2^14 bins")]
            let guess = bin as u16;
            *slot = guess;
        }
        Self { lowers, shift, base, first }
    }

    /// The index of the bin that holds `latent`.
    #[inline]
    pub(crate) fn find(&self, latent: L) -> usize {
        let offset = latent.sub(self.base).to_u64() >> self.shift;
        let cell =
            usize::try_from(offset).map_or(self.first.len() - 1, |c| c.min(self.first.len() - 1));
        let mut bin = usize::from(self.first[cell]);
        // Mostly none or one step; a cell with many bins is halved.
        let end = self.first.get(cell + 1).map_or(self.lowers.len() - 1, |&b| usize::from(b));
        if end - bin > 8 {
            return bin + self.lowers[bin + 1..=end].partition_point(|&lower| lower <= latent);
        }
        while bin < end && self.lowers[bin + 1] <= latent {
            bin += 1;
        }
        bin
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_what_a_search_finds(
            lowers in prop::collection::btree_set(prop_oneof![any::<u64>(), 0..300u64], 1..200),
            latents in prop::collection::vec(prop_oneof![any::<u64>(), 0..300u64], 100),
        ) {
            let bins: Vec<_> = lowers.iter().map(|&lower| Bin { weight: 1, lower, offset_bits: 0 }).collect();
            let lookup = Lookup::new(&bins);
            for x in latents.into_iter().filter(|&x| x >= bins[0].lower) {
                prop_assert_eq!(lookup.find(x), bins.partition_point(|bin| bin.lower <= x) - 1);
            }
        }
    }
}
