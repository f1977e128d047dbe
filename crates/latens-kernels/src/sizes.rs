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

/// Symbols up to `end` that have a centre in common, and a factor.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Behind the last one, counted from where the first run begins.
    pub end: usize,
    /// From which distances count.
    pub centre: u8,
    /// By which they are multiplied.
    pub factor: f32,
}

/// The sum of the distances of symbols on a circle of `mask` + 1, in runs one behind the other.
pub fn sum_of_runs(present: Present, symbols: &[u8], runs: &[Run], mask: u8) -> f32 {
    #[cfg(target_arch = "x86_64")]
    if matches!(present.simd(), Simd::Avx2 | Simd::Avx512) {
        // SAFETY: `present` is what the processor has, and AVX2 is there where AVX-512 is.
        return unsafe { avx2_sizes::sum_of_runs(symbols, runs, mask) };
    }
    let _ = present;
    by_runs(symbols, runs, |symbols, centre| scalar(symbols, centre, mask))
}

/// What the sums of runs, by symbols and centre, come to.
#[inline(always)]
#[expect(clippy::cast_precision_loss, reason = "a mean is made of it, roughly")]
pub(crate) fn by_runs(symbols: &[u8], runs: &[Run], sum: impl Fn(&[u8], u8) -> u64) -> f32 {
    let (mut all, mut from) = (0.0, 0);
    for &Run { end, centre, factor } in runs {
        let run = symbols.get(from..end.min(symbols.len())).unwrap_or_default();
        from = end;
        all += factor * sum(run, centre) as f32;
    }
    all
}

/// How far a symbol is from a centre.
#[inline(always)]
pub fn size(symbol: u8, centre: u8, mask: u8) -> u8 {
    let d = symbol.wrapping_sub(centre);
    (d & mask).min(d.wrapping_neg() & mask)
}

#[inline(always)]
pub(crate) fn scalar(symbols: &[u8], centre: u8, mask: u8) -> u64 {
    symbols.iter().map(|&s| u64::from(size(s, centre, mask))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::noise;
    use crate::twin_test;

    twin_test!(
        all_kernels_sum_runs_alike,
        {
            let mut next = noise(11);
            let mut cases = Vec::new();
            for len in [0usize, 1, 100, 384, 1000] {
                for each in [1, 31, 128, 2000] {
                    let symbols: Vec<u8> = (0..len).map(|_| next().to_le_bytes()[0]).collect();
                    let run = |i: usize| {
                        let [centre, factor, ..] = next().to_le_bytes();
                        Run { end: (i + 1) * each, centre, factor: f32::from(factor) / 8.0 }
                    };
                    let runs: Vec<Run> = (0..=len / each).map(run).collect();
                    cases.push((symbols, runs));
                }
            }
            cases
        },
        |simd, case| {
            [255, 15, 3]
                .map(|mask| sum_of_runs(Present::new(simd), &case.0, &case.1, mask).to_bits())
        }
    );

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
