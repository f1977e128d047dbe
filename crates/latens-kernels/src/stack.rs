//! Pairs of symbols of four bits that are of one column and two rows each, column after column, and the rows that they
//! are of: two neighbouring symbols a byte, the first one low.

use crate::dispatch::Present;
#[cfg(target_arch = "x86_64")]
use crate::dispatch::Simd;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::avx2_stack;

/// Columns, and pairs of a column, that vectors take at a time.
#[cfg(target_arch = "x86_64")]
pub(crate) const TILE: usize = 32;

/// Which rows are paired, and where the pairs of each column are.
#[derive(Clone, Copy, Debug)]
pub struct Pairing<'a> {
    lines: &'a [u32],
    rows: &'a [u32],
    height: usize,
}

/// Bytes of all rows, of which the columns of a pairing are some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Bytes of a row.
    pub stride: usize,
    /// Which of them holds the first two columns.
    pub first: usize,
}

impl<'a> Pairing<'a> {
    /// Of as many columns as `lines`, which say where among them all the pairs of each column are; and of two `rows` for
    /// each of these pairs, the one in the low halves of bytes first. `None` where columns or rows are an odd number,
    /// a line is beyond the last one, or a row not below `height`.
    pub fn new(lines: &'a [u32], rows: &'a [u32], height: usize) -> Option<Self> {
        // All are looked at, which vectors do.
        let most = |all: &[u32]| all.iter().fold(0, |most, &n| most.max(n)) as usize;
        let below = |all: &[u32], end: usize| all.is_empty() || most(all) < end;
        let even = lines.len().is_multiple_of(2) && rows.len().is_multiple_of(2);
        let fits = even && below(lines, lines.len()) && below(rows, height);
        fits.then_some(Self { lines, rows, height })
    }

    /// Pairs of a column.
    #[inline(always)]
    pub(crate) fn pairs(&self) -> usize {
        self.rows.len() / 2
    }

    /// For each column where its pairs are.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn lines(&self) -> &'a [u32] {
        self.lines
    }

    /// The rows of pair 0, 1, …, two each.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn rows(&self) -> &'a [u32] {
        self.rows
    }

    /// Takes pairs apart. Where a row is in more than one, it is that of the last one.
    ///
    /// # Panics
    /// Where `stacked` are not all pairs of all columns, or `out` does not have the rows.
    pub fn apart(&self, present: Present, stacked: &[u8], place: Place, out: &mut [u8]) {
        self.check(stacked.len(), place, out.len());
        let tiled = self.is_tiled(present);
        #[cfg(target_arch = "x86_64")]
        if tiled {
            // SAFETY: the set is present, there is a tile, and all places are checked.
            return unsafe { avx2_stack::apart(self, stacked, place, out) };
        }
        let _ = tiled;
        for (byte, [a, b]) in (place.first..).zip(self.lines.as_chunks().0) {
            let [a, b] = [a, b].map(|&line| &stacked[line as usize * self.pairs()..]);
            for ([low, high], (a, b)) in self.rows.as_chunks().0.iter().zip(a.iter().zip(b)) {
                out[*low as usize * place.stride + byte] = a & 15 | b << 4;
                out[*high as usize * place.stride + byte] = a >> 4 | b & 0xf0;
            }
        }
    }

    /// The inverse of [`Pairing::apart`].
    ///
    /// # Panics
    /// As [`Pairing::apart`] does.
    pub fn join(&self, present: Present, rows: &[u8], place: Place, stacked: &mut [u8]) {
        self.check(stacked.len(), place, rows.len());
        let tiled = self.is_tiled(present);
        #[cfg(target_arch = "x86_64")]
        if tiled {
            // SAFETY: as for `apart`.
            return unsafe { avx2_stack::join(self, rows, place, stacked) };
        }
        let _ = tiled;
        for (byte, lines) in (place.first..).zip(self.lines.as_chunks::<2>().0) {
            let [a, b] = lines.map(|line| line as usize * self.pairs());
            for (k, of) in self.rows.as_chunks::<2>().0.iter().enumerate() {
                let [low, high] = of.map(|row| rows[row as usize * place.stride + byte]);
                stacked[a + k] = low & 15 | high << 4;
                stacked[b + k] = low >> 4 | high & 0xf0;
            }
        }
    }

    fn check(&self, stacked: usize, Place { stride, first }: Place, rows: usize) {
        assert!(
            stacked == self.lines.len() * self.pairs(),
            "pairs that are not all of all columns"
        );
        let all = self.height.checked_mul(stride);
        assert!(all.is_some_and(|all| all <= rows), "rows that are not all there");
        let fits = first.checked_add(self.lines.len() / 2).is_some_and(|end| end <= stride);
        assert!(fits || self.height == 0, "columns beyond their rows");
    }

    /// Whether there is work for vectors.
    fn is_tiled(&self, present: Present) -> bool {
        #[cfg(target_arch = "x86_64")]
        return matches!(present.simd(), Simd::Avx2 | Simd::Avx512)
            && self.pairs() >= TILE
            && self.lines.len() >= TILE;
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = present;
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::Simd;
    use crate::testing::noise;
    use crate::twin_test;

    /// 0, 1, … in an order that looks random.
    fn order(count: usize, next: &mut impl FnMut() -> u64) -> Vec<u32> {
        let mut order: Vec<u32> = (0..u32::try_from(count).unwrap()).collect();
        for i in (1..count).rev() {
            order.swap(i, usize::try_from(next() % (i as u64 + 1)).unwrap());
        }
        order
    }

    type Case = (Vec<u32>, Vec<u32>, Place, Vec<u8>);

    fn cases() -> Vec<Case> {
        let mut next = noise(12);
        let mut cases = Vec::new();
        for cols in [2usize, 30, 32, 34, 64, 66, 100] {
            for rows in [2usize, 62, 64, 66, 90, 128, 130] {
                for (before, behind) in [(0, 0), (3, 5)] {
                    let place = Place { stride: before + cols / 2 + behind, first: before };
                    let bytes = (0..rows * place.stride).map(|_| next().to_le_bytes()[0]);
                    let bytes = bytes.collect();
                    cases.push((order(cols, &mut next), order(rows, &mut next), place, bytes));
                }
            }
        }
        cases
    }

    fn joined(simd: Simd, (lines, rows, place, bytes): &Case) -> Vec<u8> {
        let stack = Pairing::new(lines, rows, rows.len()).unwrap();
        let mut stacked = vec![0; lines.len() * rows.len() / 2];
        stack.join(Present::new(simd), bytes, *place, &mut stacked);
        stacked
    }

    twin_test!(all_kernels_join_alike, cases(), |simd, case| joined(simd, case));

    twin_test!(all_kernels_take_apart_alike, cases(), |simd, case| {
        let (lines, rows, place, bytes) = case;
        let stacked: Vec<u8> = joined(simd, case).iter().map(|b| b.wrapping_mul(7)).collect();
        let mut out = bytes.clone();
        let stack = Pairing::new(lines, rows, rows.len()).unwrap();
        stack.apart(Present::new(simd), &stacked, *place, &mut out);
        out
    });

    /// Symbol by symbol, and back.
    #[test]
    fn symbols_are_where_lines_and_rows_say() {
        for case in cases() {
            let (lines, rows, place, bytes) = &case;
            for simd in Simd::available() {
                let stacked = joined(simd, &case);
                let symbol = |row: u32, col: usize| {
                    bytes[row as usize * place.stride + place.first + col / 2] >> (4 * (col % 2))
                        & 15
                };
                for (col, &line) in lines.iter().enumerate() {
                    for (k, [low, high]) in rows.as_chunks().0.iter().enumerate() {
                        let pair = symbol(*low, col) | symbol(*high, col) << 4;
                        assert_eq!(stacked[line as usize * rows.len() / 2 + k], pair);
                    }
                }
                let mut out = bytes.clone();
                for row in out.chunks_mut(place.stride) {
                    row[place.first..place.first + lines.len() / 2].fill(0x55);
                }
                let stack = Pairing::new(lines, rows, rows.len()).unwrap();
                stack.apart(Present::new(simd), &stacked, *place, &mut out);
                assert_eq!(&out, bytes);
            }
        }
    }

    #[test]
    fn a_row_in_two_pairs_is_that_of_the_last_one() {
        let lines = order(64, &mut noise(3));
        let mut rows: Vec<u32> = (0..67).collect();
        rows.push(66);
        let stack = Pairing::new(&lines, &rows, 67).unwrap();
        let place = Place { stride: 32, first: 0 };
        let stacked: Vec<u8> = (0..64 * 34usize).map(|i| i.to_le_bytes()[0]).collect();
        let out = Simd::available().into_iter().map(|simd| {
            let mut out = vec![0; 67 * 32];
            stack.apart(Present::new(simd), &stacked, place, &mut out);
            let [a, b] = [lines[0], lines[1]].map(|line| stacked[line as usize * 34 + 33]);
            assert_eq!(out[66 * 32], a >> 4 | b & 0xf0);
            out
        });
        assert!(out.collect::<Vec<_>>().windows(2).all(|two| two[0] == two[1]));
    }

    #[test]
    fn what_is_beyond_is_refused() {
        assert!(Pairing::new(&[1, 0], &[0, 1], 2).is_some());
        assert!(Pairing::new(&[], &[], 0).is_some());
        assert!(Pairing::new(&[0], &[0, 1], 2).is_none());
        assert!(Pairing::new(&[1, 0], &[0], 2).is_none());
        assert!(Pairing::new(&[2, 0], &[0, 1], 2).is_none());
        assert!(Pairing::new(&[1, 0], &[0, 2], 2).is_none());
    }
}
