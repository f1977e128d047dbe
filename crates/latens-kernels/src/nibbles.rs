//! How often each symbol of four bits occurs.

use crate::dispatch::Present;
#[cfg(target_arch = "x86_64")]
use crate::dispatch::Simd;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::avx512_nibbles;

/// Counts by symbol.
pub type Counts = [u32; 16];

/// Adds how often each symbol occurs, by its four low bits.
pub fn count(present: Present, symbols: &[u8], counts: &mut Counts) {
    #[cfg(target_arch = "x86_64")]
    let symbols = if matches!(present.simd(), Simd::Avx512) {
        let (vectors, rest) = symbols.as_chunks::<{ avx512_nibbles::WIDTH }>();
        // SAFETY: `present` is what the processor has.
        unsafe { avx512_nibbles::count(vectors, counts) };
        rest
    } else {
        symbols
    };
    let _ = present;
    scalar(symbols, counts);
}

/// Two by two: half as many counts are waited for.
fn scalar(symbols: &[u8], counts: &mut Counts) {
    const PAIRS: usize = 256;
    let (pairs, mut rest) = symbols.as_chunks::<2>();
    if pairs.len() < PAIRS {
        rest = symbols;
    } else {
        let mut of_pairs = [0u32; PAIRS];
        for [a, b] in pairs {
            of_pairs[usize::from(a & 15 | b << 4)] += 1;
        }
        for (b, of_a) in of_pairs.as_chunks::<16>().0.iter().enumerate() {
            for (a, n) in of_a.iter().enumerate() {
                counts[a] += n;
                counts[b] += n;
            }
        }
    }
    rest.iter().for_each(|symbol| counts[usize::from(symbol & 15)] += 1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::noise;
    use crate::twin_test;

    twin_test!(
        all_kernels_count_alike,
        {
            let mut next = noise(10);
            let mut cases: Vec<Vec<u8>> = Vec::new();
            for len in [0usize, 1, 2, 63, 64, 65, 128, 511, 512, 513, 1000, 20_001] {
                for mask in [15, 3, 255] {
                    cases.push((0..len).map(|_| next().to_le_bytes()[0] & mask).collect());
                }
            }
            cases.push(vec![9; 70_000]);
            cases
        },
        |simd, case| {
            let mut counts = [3; 16];
            count(Present::new(simd), case, &mut counts);
            assert_eq!(counts.iter().sum::<u32>() as usize, 48 + case.len());
            counts
        }
    );
}
