//! Sums of how far symbols are from a centre, around the circle.

use crate::dispatch::Present;
#[cfg(target_arch = "x86_64")]
use crate::dispatch::Simd;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::avx2_sizes;

/// The sum of the distances of `symbols` from `centre` on a circle of `mask` + 1 symbols, a power of two.
pub fn sum(present: Present, symbols: &[u8], centre: u8, mask: u8) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if matches!(present.simd(), Simd::Avx2 | Simd::Avx512) {
        let (vectors, rest) = symbols.as_chunks::<{ avx2_sizes::WIDTH }>();
        // SAFETY: `present` is what the processor has, and AVX2 is there where AVX-512 is.
        return unsafe { avx2_sizes::sum(vectors, centre, mask) } + scalar(rest, centre, mask);
    }
    let _ = present;
    scalar(symbols, centre, mask)
}

/// How far a symbol is from a centre.
#[inline(always)]
pub fn size(symbol: u8, centre: u8, mask: u8) -> u8 {
    let d = symbol.wrapping_sub(centre);
    (d & mask).min(d.wrapping_neg() & mask)
}

fn scalar(symbols: &[u8], centre: u8, mask: u8) -> u64 {
    symbols.iter().map(|&s| u64::from(size(s, centre, mask))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::noise;
    use crate::twin_test;

    twin_test!(
        all_kernels_sum_alike,
        {
            let mut next = noise(9);
            let mut cases = Vec::new();
            for len in [0usize, 1, 31, 32, 33, 128, 1000, 100_000] {
                for bits in 1..=8 {
                    let mask = u8::MAX >> (8 - bits);
                    let symbols: Vec<u8> =
                        (0..len).map(|_| next().to_le_bytes()[0] & mask).collect();
                    cases.push((symbols, next().to_le_bytes()[0] & mask, mask));
                }
            }
            // The farthest there is, throughout.
            cases.push((vec![128; 1 << 16], 0, u8::MAX));
            cases
        },
        |simd, case| sum(Present::new(simd), &case.0, case.1, case.2)
    );
}
