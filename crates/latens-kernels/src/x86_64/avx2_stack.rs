//! AVX2 kernel of [`crate::stack`]: tiles of 32 columns and 32 pairs, sixteen bytes of sixteen vectors transposed in
//! each half. The last tiles lie over those before them.

use std::arch::x86_64::*;

use crate::stack::{Pairing, Place, TILE};

const HALF: usize = TILE / 2;

/// The starts of tiles that cover `count`, which is one tile at least.
fn tiles(count: usize) -> impl Iterator<Item = usize> {
    (0..count.div_ceil(TILE)).map(move |tile| (tile * TILE).min(count - TILE))
}

/// Tiles of columns that are done side by side.
const ABREAST: usize = 4;

/// Columns of tiles side by side: where they begin, and where the pairs of each column do.
#[derive(Clone, Copy)]
struct Tiles {
    cols: [usize; ABREAST],
    lines: [[[usize; 2]; HALF]; ABREAST],
    count: usize,
}

/// All columns, some tiles at a time. Those of a last tile begin at an even one, as all columns are an even number.
fn columns<'s>(stack: &'s Pairing<'_>) -> impl Iterator<Item = Tiles> + use<'s> {
    let (count, pairs) = (stack.lines().len(), stack.pairs());
    (0..count.div_ceil(TILE)).step_by(ABREAST).map(move |first| {
        let mut all = Tiles { cols: [0; ABREAST], lines: [[[0; 2]; HALF]; ABREAST], count: 0 };
        let starts = tiles(count).skip(first).take(ABREAST);
        for ((at, lines), col) in all.cols.iter_mut().zip(&mut all.lines).zip(starts) {
            *at = col;
            for (at, of) in lines.iter_mut().zip(stack.lines()[col..].as_chunks::<2>().0) {
                *at = of.map(|line| line as usize * pairs);
            }
            all.count += 1;
        }
        all
    })
}

/// Bytes of rows where some tiles are side by side.
#[repr(C, align(64))]
struct Rows([[[u8; HALF]; ABREAST]; 2 * TILE]);

impl Tiles {
    /// Where in its row each tile begins; where the rows of each of 32 pairs begin is the other half of a place.
    fn places(&self) -> impl Iterator<Item = usize> {
        self.cols.into_iter().take(self.count).map(|col| col / 2)
    }

    /// Whether the tiles are one after the other, and as many as there may be.
    fn are_whole(&self) -> bool {
        self.count == ABREAST && self.cols.windows(2).all(|two| two[1] - two[0] == TILE)
    }
}

/// [`Pairing::apart`].
///
/// # Safety
/// `stack` has a tile of columns and of pairs at least, `stacked` all its pairs, and `out` all its rows by `place`.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn apart(stack: &Pairing<'_>, stacked: &[u8], place: Place, out: &mut [u8]) {
    let (low, high) = (_mm256_set1_epi8(15), _mm256_set1_epi8(!15));
    // Lines of the nearest cache are filled at once: rows whose bytes are a power of two share few places there.
    let mut rows = Rows([[[0; HALF]; ABREAST]; 2 * TILE]);
    for (tiles, pair) in columns(stack).flat_map(|c| tiles(stack.pairs()).map(move |p| (c, p))) {
        // Where the next ones go, which is fetched meanwhile.
        for row in stack.rows()[2 * pair..].iter().skip(2 * TILE).take(2 * TILE) {
            let start = *row as usize * place.stride + place.first;
            // Both lines that its bytes may be in.
            let last = tiles.cols[tiles.count - 1] / 2 + HALF - 1;
            for at in [tiles.cols[0] / 2, last] {
                _mm_prefetch::<_MM_HINT_T0>(out[start + at..].as_ptr().cast());
            }
        }
        for (tile, lines) in tiles.lines.iter().take(tiles.count).enumerate() {
            for which in 0..2 {
                let mut x = [_mm256_setzero_si256(); HALF];
                for (x, lines) in x.iter_mut().zip(lines) {
                    // SAFETY: each line has a byte for each pair, of which the tile's are 32.
                    let [a, b] = lines.map(|line| unsafe {
                        _mm256_loadu_si256(stacked.as_ptr().add(line + pair).cast())
                    });
                    let (a, b) = match which {
                        0 => (a, _mm256_slli_epi16::<4>(b)),
                        _ => (_mm256_srli_epi16::<4>(a), b),
                    };
                    *x = _mm256_or_si256(_mm256_and_si256(a, low), _mm256_and_si256(b, high));
                }
                for (i, x) in transposed(x).into_iter().enumerate() {
                    let [a, b] = [i, i + HALF].map(|i| &raw mut rows.0[2 * i + which][tile]);
                    // SAFETY: each has 16 bytes.
                    unsafe {
                        _mm_storeu_si128(a.cast(), _mm256_castsi256_si128(x));
                        _mm_storeu_si128(b.cast(), _mm256_extracti128_si256::<1>(x));
                    }
                }
            }
        }
        let all = stack.rows()[2 * pair..].iter().zip(&rows.0);
        let start = |row: u32| row as usize * place.stride + place.first;
        if tiles.are_whole() {
            for (&row, bytes) in all {
                let to = start(row) + tiles.cols[0] / 2;
                out[to..to + HALF * ABREAST].copy_from_slice(bytes.as_flattened());
            }
            continue;
        }
        for (&row, bytes) in all {
            for (bytes, at) in bytes.iter().zip(tiles.places()) {
                out[start(row) + at..][..HALF].copy_from_slice(bytes);
            }
        }
    }
}

/// [`Pairing::join`].
///
/// # Safety
/// As for [`apart`].
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn join(stack: &Pairing<'_>, from: &[u8], place: Place, stacked: &mut [u8]) {
    let (low, high) = (_mm256_set1_epi8(15), _mm256_set1_epi8(!15));
    let mut rows = Rows([[[0; HALF]; ABREAST]; 2 * TILE]);
    for (tiles, pair) in columns(stack).flat_map(|c| tiles(stack.pairs()).map(move |p| (c, p))) {
        for (&row, bytes) in stack.rows()[2 * pair..].iter().zip(&mut rows.0) {
            let start = row as usize * place.stride + place.first;
            for (bytes, at) in bytes.iter_mut().zip(tiles.places()) {
                bytes.copy_from_slice(&from[start + at..][..HALF]);
            }
        }
        for (tile, lines) in tiles.lines.iter().take(tiles.count).enumerate() {
            let half = |which: usize| {
                let mut all = [_mm256_setzero_si256(); HALF];
                for (i, x) in all.iter_mut().enumerate() {
                    // SAFETY: each has 16 bytes.
                    let [a, b] = [i, i + HALF].map(|i| unsafe {
                        _mm_loadu_si128(rows.0[2 * i + which][tile].as_ptr().cast())
                    });
                    *x = _mm256_set_m128i(b, a);
                }
                transposed(all)
            };
            let (even, odd) = (half(0), half(1));
            for ((even, odd), lines) in even.into_iter().zip(odd).zip(lines) {
                let a = (_mm256_and_si256(even, low), _mm256_slli_epi16::<4>(odd));
                let b = (_mm256_and_si256(_mm256_srli_epi16::<4>(even), low), odd);
                for (line, (x, y)) in lines.iter().zip([a, b]) {
                    // SAFETY: each line has a byte for each pair, of which the tile's are 32.
                    unsafe {
                        let to = stacked.as_mut_ptr().add(*line + pair);
                        let both = _mm256_or_si256(x, _mm256_and_si256(y, high));
                        _mm256_storeu_si256(to.cast(), both);
                    }
                }
            }
        }
    }
}

/// Sixteen bytes of sixteen vectors, in each half by itself: byte j of vector i becomes byte i of vector j. Each
/// step takes the vectors' numbers and the bytes' round by one bit.
#[inline]
#[target_feature(enable = "avx2")]
fn transposed(mut x: [__m256i; HALF]) -> [__m256i; HALF] {
    for _ in 0..HALF.ilog2() {
        let before = x;
        for i in 0..HALF / 2 {
            x[2 * i] = _mm256_unpacklo_epi8(before[i], before[i + HALF / 2]);
            x[2 * i + 1] = _mm256_unpackhi_epi8(before[i], before[i + HALF / 2]);
        }
    }
    x
}
