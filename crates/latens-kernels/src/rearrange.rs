//! Symbols of four bits, two to a byte and the first one low, in another order within windows of 32.

use crate::dispatch::Present;
#[cfg(target_arch = "x86_64")]
use crate::dispatch::Simd;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::{avx2_rearrange, avx512_rearrange};

/// Symbols of a window; the last one of a row may have fewer.
pub const WINDOW: usize = 32;
/// Bytes of a window, and of two.
const BYTES: usize = WINDOW / 2;
const VECTOR: usize = 2 * BYTES;

/// For the low halves of bytes and then the high ones: which byte's low half, and which byte's high half they are. What
/// has its top bit set is neither.
pub(crate) type Shuffles = [[u8; VECTOR]; 4];
const NONE: u8 = 0x80;

/// Another order of the symbols of each row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rearrangement {
    from: Vec<u8>,
    /// By two windows.
    shuffles: Vec<Shuffles>,
}

impl Rearrangement {
    /// Where in its window each symbol of a row comes from. `None` where these are an odd number, or beyond their windows.
    pub fn new(from: Vec<u8>) -> Option<Self> {
        let fits = |window: &[u8]| window.iter().all(|&place| usize::from(place) < window.len());
        if !from.len().is_multiple_of(2) || !from.chunks(WINDOW).all(fits) {
            return None;
        }
        let two_windows = |from: &[u8; 2 * VECTOR]| {
            let mut shuffles = [[NONE; VECTOR]; 4];
            for (i, place) in from.iter().enumerate() {
                shuffles[2 * (i % 2) + usize::from(place % 2)][i / 2] = place / 2;
            }
            shuffles
        };
        let shuffles = from.as_chunks().0.iter().map(two_windows).collect();
        Some(Self { from, shuffles })
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        self.from.len() + size_of_val(&self.shuffles[..])
    }

    /// Rearranges whole rows.
    pub fn apply(&self, present: Present, pairs: &mut [u8]) {
        for row in pairs.chunks_exact_mut((self.from.len() / 2).max(1)) {
            let done = self.by_vectors(present, row);
            scalar(&self.from[2 * done..], &mut row[done..]);
        }
    }

    /// Rearranges what vectors are made for of a row; how many pairs those are.
    #[inline]
    fn by_vectors(&self, present: Present, row: &mut [u8]) -> usize {
        #[cfg(target_arch = "x86_64")]
        if matches!(present.simd(), Simd::Avx2 | Simd::Avx512) {
            let vectors = row.as_chunks_mut::<VECTOR>().0;
            // SAFETY: `present` is what the processor has; places are within their windows.
            unsafe {
                match present.simd() {
                    Simd::Avx512 => avx512_rearrange::rearrange(self.from.as_chunks().0, vectors),
                    _ => avx2_rearrange::rearrange(&self.shuffles, vectors),
                }
            }
            return vectors.len() * VECTOR;
        }
        let _ = (present, row);
        0
    }
}

fn scalar(from: &[u8], pairs: &mut [u8]) {
    for (from, window) in from.chunks(WINDOW).zip(pairs.chunks_mut(BYTES)) {
        let mut before = [0; BYTES];
        before[..window.len()].copy_from_slice(window);
        let symbol = |place: u8| before[usize::from(place / 2) % BYTES] >> (4 * (place % 2)) & 15;
        for (pair, [low, high]) in window.iter_mut().zip(from.as_chunks().0) {
            *pair = symbol(*low) | symbol(*high) << 4;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::Simd;
    use crate::testing::noise;
    use crate::twin_test;

    /// An order of so many symbols that looks random.
    fn order(len: usize, next: &mut impl FnMut() -> u64) -> Vec<u8> {
        let mut from: Vec<u8> = (0..len).map(|i| (i % WINDOW).to_le_bytes()[0]).collect();
        for window in from.chunks_mut(WINDOW) {
            for i in (1..window.len()).rev() {
                window.swap(i, usize::try_from(next() % (i as u64 + 1)).unwrap());
            }
        }
        from
    }

    twin_test!(
        all_kernels_rearrange_alike,
        {
            let mut next = noise(12);
            let mut cases = Vec::new();
            for len in [2usize, 30, 32, 34, 62, 64, 66, 96, 128, 160, 384, 1000] {
                for rows in [0, 1, 3] {
                    let pairs: Vec<u8> =
                        (0..len / 2 * rows).map(|_| next().to_le_bytes()[0]).collect();
                    cases.push((order(len, &mut next), pairs));
                }
            }
            cases
        },
        |simd, case| {
            let mut pairs = case.1.clone();
            Rearrangement::new(case.0.clone()).unwrap().apply(Present::new(simd), &mut pairs);
            pairs
        }
    );

    /// Symbol by symbol, and back.
    #[test]
    fn symbols_come_from_their_places() {
        let mut next = noise(13);
        for len in [2usize, 6, 32, 64, 90, 320] {
            let from = order(len, &mut next);
            let symbols: Vec<u8> = (0..len).map(|_| next().to_le_bytes()[0] & 15).collect();
            let joined = |symbols: &[u8]| -> Vec<u8> {
                symbols.as_chunks().0.iter().map(|[a, b]| a | b << 4).collect()
            };
            let (mut wanted, mut back) = (symbols.clone(), from.clone());
            for (i, &place) in from.iter().enumerate() {
                let at = i / WINDOW * WINDOW + usize::from(place);
                wanted[i] = symbols[at];
                back[at] = (i % WINDOW).to_le_bytes()[0];
            }
            for simd in Simd::available() {
                let mut pairs = joined(&symbols);
                Rearrangement::new(from.clone()).unwrap().apply(Present::new(simd), &mut pairs);
                assert_eq!(pairs, joined(&wanted));
                Rearrangement::new(back.clone()).unwrap().apply(Present::new(simd), &mut pairs);
                assert_eq!(pairs, joined(&symbols));
            }
        }
    }

    #[test]
    fn places_beyond_their_windows_are_refused() {
        assert!(Rearrangement::new(vec![0]).is_none());
        assert!(Rearrangement::new(vec![2, 1]).is_none());
        assert!(Rearrangement::new(vec![32; 32]).is_none());
        let mut short: Vec<u8> = (0..32).chain(0..4).collect();
        assert!(Rearrangement::new(short.clone()).is_some());
        short[35] = 4;
        assert!(Rearrangement::new(short).is_none());
        assert!(Rearrangement::new(Vec::new()).is_some());
    }
}
