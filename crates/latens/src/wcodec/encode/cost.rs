//! What histograms cost, in bits.

use latens_kernels::dispatch::Present;
use latens_kernels::nibbles;
use std::sync::LazyLock;

/// Counts by symbol.
pub(crate) type Histogram = [u32; 256];

/// Base-2 logarithms of 0 (as 0) to 2^14.
static LOGS: LazyLock<Vec<f64>> = LazyLock::new(|| {
    (0..=1u32 << 14).map(|i| if i == 0 { 0.0 } else { f64::from(i).log2() }).collect()
});

/// log2 of a count, 0 for 0.
pub(crate) fn log2(n: u32) -> f64 {
    match LOGS.get(n as usize) {
        Some(&log) => log,
        None => f64::from(n).log2(),
    }
}

/// Bits of the symbols of a histogram under their own frequencies.
pub(crate) fn entropy(histogram: &Histogram) -> f64 {
    entropy_of(histogram, &[0; 256])
}

/// [`entropy`] of the sum of two histograms, or of as many symbols of both, a multiple of eight.
pub(crate) fn entropy_of(a: &[u32], b: &[u32]) -> f64 {
    let (mut total, mut sum) = (0u64, 0.0);
    for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        let counts: [u32; 8] = std::array::from_fn(|i| a[i] + b[i]);
        // Most histograms are of few symbols, side by side.
        if counts == [0; 8] {
            continue;
        }
        for n in counts {
            total += u64::from(n);
            sum += f64::from(n) * log2(n);
        }
    }
    if total == 0 { 0.0 } else { total as f64 * (total as f64).log2() - sum }
}

/// [`entropy`], and what a histogram of a sample leaves out of the entropy of the whole: half a
/// nat for each symbol (Miller and Madow).
pub(crate) fn learned(histogram: &Histogram) -> f64 {
    learned_of(histogram, &[0; 256])
}

/// [`learned`] of the sum of two, as [`entropy_of`].
pub(crate) fn learned_of(a: &[u32], b: &[u32]) -> f64 {
    let present = a.iter().zip(b).filter(|(a, b)| **a + **b > 0).count();
    entropy_of(a, b) + 0.72 * present.saturating_sub(1) as f64
}

/// Bits of each symbol under frequencies that sum to `2^bits`; infinite where there is none.
pub(crate) fn prices(frequencies: &[u16], bits: u32) -> [f32; 256] {
    std::array::from_fn(|s| match frequencies.get(s) {
        None | Some(0) => f32::INFINITY,
        #[expect(clippy::cast_possible_truncation, reason = "a logarithm")]
        Some(&f) => (f64::from(bits) - log2(u32::from(f))) as f32,
    })
}

/// Bits of a histogram at `prices`; infinite where a symbol has none.
pub(crate) fn at(histogram: &Histogram, prices: &[f32; 256]) -> f64 {
    Counts::new(histogram).at(prices)
}

/// The counts of a histogram that is priced more than once, without what is empty.
pub(crate) struct Counts {
    /// Eight counts each.
    counts: [[f32; 8]; 32],
    /// Which eight symbols they are of.
    places: [u8; 32],
    len: usize,
}

impl Counts {
    pub(crate) fn new(histogram: &Histogram) -> Self {
        let mut all = Self { counts: [[0.0; 8]; 32], places: [0; 32], len: 0 };
        for (place, counts) in (0u8..).zip(histogram.as_chunks::<8>().0) {
            if *counts != [0; 8] {
                #[expect(clippy::cast_precision_loss, reason = "an estimate")]
                {
                    all.counts[all.len] = counts.map(|n| n as f32);
                }
                all.places[all.len] = place;
                all.len += 1;
            }
        }
        all
    }

    /// As [`at`].
    #[inline(always)]
    pub(crate) fn at(&self, prices: &[f32; 256]) -> f64 {
        let mut sums = [0f32; 8];
        let eights = prices.as_chunks::<8>().0;
        for (counts, &place) in self.counts.iter().zip(&self.places).take(self.len) {
            let prices = &eights[usize::from(place % 32)];
            for ((sum, &n), &price) in sums.iter_mut().zip(counts).zip(prices) {
                *sum += if n == 0.0 { 0.0 } else { n * price };
            }
        }
        f64::from(sums.iter().sum::<f32>())
    }
}

/// Bits under `frequencies` that sum to `2^bits`; infinite where a symbol has none.
pub(crate) fn under(histogram: &Histogram, frequencies: &[u16], bits: u32) -> f64 {
    at(histogram, &prices(frequencies, bits))
}

/// Adds `b` to `a`.
pub(crate) fn add(a: &mut Histogram, b: &Histogram) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a = a.saturating_add(*b));
}

/// Counts symbols of four bits, of several runs.
pub(crate) fn count_nibbles<'a>(runs: impl Iterator<Item = &'a [u8]>) -> Histogram {
    let (mut all, present) = ([0; 256], Present::in_use());
    if let Some(counts) = all.first_chunk_mut() {
        runs.for_each(|symbols| nibbles::count(present, symbols, counts));
    }
    all
}

/// Counts symbols; four counters at once, for runs of the same symbol.
pub(crate) fn count(symbols: &[u8]) -> Histogram {
    count_runs([symbols].into_iter())
}

/// As [`count`], of several runs.
pub(crate) fn count_runs<'a>(runs: impl Iterator<Item = &'a [u8]>) -> Histogram {
    let mut four = [[0u32; 256]; 4];
    let [a, b, c, d] = &mut four;
    for symbols in runs {
        let (eights, rest) = symbols.as_chunks::<8>();
        for eight in eights {
            let [s, t, u, v, w, x, y, z] = eight.map(usize::from);
            a[s] += 1;
            b[t] += 1;
            c[u] += 1;
            d[v] += 1;
            a[w] += 1;
            b[x] += 1;
            c[y] += 1;
            d[z] += 1;
        }
        rest.iter().for_each(|&s| a[usize::from(s)] += 1);
    }
    let [mut sum, ..] = four;
    four[1..].iter().for_each(|counts| add(&mut sum, counts));
    sum
}
