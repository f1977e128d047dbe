//! Zero points that share classes.
//!
//! Symbols have at most 64 classes, and classes by zero point are known by the symbols of one zero
//! point only. Up to 16 of those, which is all of four bits, stand for themselves. More of them are
//! joined with their neighbours: those of eight bits lie close together for the width of what they
//! are the middle of.

use crate::wcodec::layout::class_rule::Map;

/// Bands at most.
const MOST: u64 = 16;
/// Bits of a map of one or two classes.
const MAP_BITS: f64 = 32.0;

/// Which zero points go together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bands {
    of: [u8; 256],
    /// Whether all zero points are apart.
    apart: bool,
    /// The largest zero point.
    last: usize,
}

impl Bands {
    /// Bands of about as many blocks each; `counts` are how many blocks have each zero point.
    pub(crate) fn new(counts: &[u64; 256]) -> Self {
        let last = counts.iter().rposition(|&n| n > 0).unwrap_or(0);
        let all: u64 = counts.iter().sum();
        let apart = counts.iter().filter(|&&n| n > 0).count() as u64 <= MOST;
        let mut of: [u8; 256] = std::array::from_fn(|z| z.to_le_bytes()[0]);
        if !apart {
            let mut before = 0;
            for (of, n) in of.iter_mut().zip(counts) {
                // By the middle of its blocks, so that a zero point of many has a band of its own.
                let band = (2 * before + n) * MOST / (2 * all);
                *of = band.min(MOST - 1).to_le_bytes()[0];
                before += n;
            }
        }
        Self { of, apart, last }
    }

    /// The band of a zero point.
    pub(crate) fn of(&self, zero: usize) -> usize {
        self.of.get(zero).map_or(0, |&band| band.into())
    }

    /// As [`Bands::of`], of a value that is no count.
    pub(crate) fn of_value(&self, zero: i32) -> u8 {
        usize::try_from(zero).ok().and_then(|zero| self.of.get(zero)).copied().unwrap_or(0)
    }

    /// The band of the largest zero point, which is the last one.
    pub(crate) fn last(&self) -> usize {
        self.of(self.last)
    }

    /// Bits of the maps of so many bands, where each is written for all of its zero points.
    pub(crate) fn written_bits(&self, bands: usize) -> f64 {
        if self.apart || bands <= 1 { 0.0 } else { MAP_BITS * (self.last + 1) as f64 }
    }

    /// Maps by zero point from maps by band.
    pub(crate) fn spread(&self, maps: Vec<Map>) -> Vec<Map> {
        if self.apart || maps.len() <= 1 {
            return maps;
        }
        let last = maps.len() - 1;
        (0..=self.last).filter_map(|z| maps.get(self.of(z).min(last)).copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bands(counts: impl IntoIterator<Item = (usize, u64)>) -> Bands {
        let mut all = [0; 256];
        counts.into_iter().for_each(|(z, n)| all[z] = n);
        Bands::new(&all)
    }

    #[test]
    fn few_zero_points_stay_apart() {
        let few = bands((0..16).map(|z| (z * 16, 1)));
        assert!((0..256).all(|z| few.of(z) == z));
        assert_eq!(few.written_bits(241), 0.0);
        assert_eq!(few.spread(vec![[1; 256]; 3]), vec![[1; 256]; 3]);
    }

    #[test]
    fn many_zero_points_share_bands_in_their_order() {
        let many = bands((0..256).map(|z| (z, if z == 100 { 1000 } else { 2 })));
        assert!((0..255).all(|z| many.of(z) <= many.of(z + 1) && many.of(z + 1) < 16));
        assert!(many.of(99) < many.of(100) && many.of(100) < many.of(101));
        let maps: Vec<Map> = (0..16).map(|band| [band; 256]).collect();
        let spread = many.spread(maps);
        assert_eq!((spread.len(), many.written_bits(16)), (256, 256.0 * MAP_BITS));
        assert!(spread.iter().enumerate().all(|(z, map)| usize::from(map[0]) == many.of(z)));
    }
}
