//! Two symbols of at most four bits as one byte, the first one in the low four bits.

use super::by_rows::by_rows;
use latens_kernels::dispatch::{Present, Work};

/// The lower symbols of all pairs.
const LOW: u8 = 0x0f;

/// Joins neighbours. `pairs` is half as long as `symbols`.
pub(crate) fn join(symbols: &[u8], pairs: &mut [u8]) {
    Present::in_use().run(Join { symbols, pairs });
}

/// The inverse of [`join`].
pub(crate) fn apart(pairs: &[u8], symbols: &mut [u8]) {
    for (two, pair) in symbols.as_chunks_mut::<2>().0.iter_mut().zip(pairs) {
        *two = [pair & LOW, pair >> 4];
    }
}

/// Adds to both symbols of `bits` of each pair those of `means`, a row of symbols, mod 2^bits.
pub(crate) fn add(pairs: &mut [u8], means: &[u8], bits: u32) {
    by_means(pairs, means, bits, false);
}

/// The inverse of [`add`].
pub(crate) fn subtract(pairs: &mut [u8], means: &[u8], bits: u32) {
    by_means(pairs, means, bits, true);
}

fn by_means(pairs: &mut [u8], means: &[u8], bits: u32, negated: bool) {
    let mut row = vec![0; means.len() / 2];
    join(means, &mut row);
    let mask = LOW >> (4 - bits.clamp(1, 4));
    if negated {
        row.iter_mut().for_each(|pair| *pair = of_both(!*pair, 0x11, 0xff));
    }
    let mask = mask | mask << 4;
    by_rows(
        pairs,
        &row,
        #[inline(always)]
        move |pair, mean| of_both(pair, mean, mask),
    );
}

/// Sums of both symbols, mod 16 and then as `mask` has it.
#[inline(always)]
fn of_both(a: u8, b: u8, mask: u8) -> u8 {
    ((a.wrapping_add(b) & LOW) | (a & !LOW).wrapping_add(b & !LOW)) & mask
}

struct Join<'a> {
    symbols: &'a [u8],
    pairs: &'a mut [u8],
}

impl Work for Join<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (pair, two) in self.pairs.iter_mut().zip(self.symbols.as_chunks::<2>().0) {
            let two = u16::from_le_bytes(*two);
            [*pair, _] = (two | two >> 4).to_le_bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums and differences are those of single symbols, whatever they are.
    #[test]
    fn pairs_are_their_symbols() {
        for bits in 1..=4 {
            let size = 1u8 << bits;
            let all: Vec<u8> =
                (0..size).flat_map(|a| (0..size).flat_map(move |b| [a, b])).collect();
            for mean in 0..size {
                let means: Vec<u8> =
                    [0, 1, 2].iter().cycle().map(|c| (mean + c) % size).take(all.len()).collect();
                let less = |(s, m): (&u8, &u8)| s.wrapping_sub(*m) % size;
                let wanted: Vec<u8> = all.iter().zip(&means).map(less).collect();
                let (mut pairs, mut parted) = (vec![0; all.len() / 2], vec![0; all.len()]);
                join(&all, &mut pairs);
                subtract(&mut pairs, &means, bits);
                apart(&pairs, &mut parted);
                assert_eq!(parted, wanted);
                add(&mut pairs, &means, bits);
                apart(&pairs, &mut parted);
                assert_eq!(parted, all);
            }
        }
    }
}
