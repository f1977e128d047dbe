//! AVX-512 kernel of [`crate::pack`], for bins that fit in registers: on a Zen 4 gathers are slower than single loads.

use crate::latent::Latent;
use crate::pack::{IN_REGISTERS, Place, Spans};
use crate::x86_64::registers512::Table;
use std::arch::x86_64::*;

/// Latents whose fields are made before these are written.
const STRETCH: usize = 64;

/// Writes the offsets of whole stretches of latents of up to 32 bits; of how many latents, and the place behind them.
///
/// # Panics
/// Where the words have no room, or one of the symbols has no bin.
///
/// # Safety
/// Needs AVX-512 as [`crate::dispatch::Simd::Avx512`] has it.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn offsets<L: Latent>(
    words: &mut [u64],
    at: Place,
    spans: &Spans,
    latents: &[L],
    symbols: &[u16],
) -> (usize, Place) {
    let (latents, symbols) = (latents.as_chunks().0, symbols.as_chunks().0);
    if L::WIDTH == 64 || spans.count > IN_REGISTERS || spans.widest == 0 || latents.is_empty() {
        return (0, at);
    }
    let greatest = symbols.as_flattened().iter().fold(0, |most, &symbol| most.max(symbol));
    assert!(usize::from(greatest) < spans.count, "a bin for each symbol");
    let at = match (spans.count, spans.widest) {
        (0..=32, 0..=8) => stretches::<L, 1, 8>(words, at, spans, latents, symbols),
        (0..=32, 9..=16) => stretches::<L, 1, 16>(words, at, spans, latents, symbols),
        (0..=32, _) => stretches::<L, 1, 32>(words, at, spans, latents, symbols),
        (_, 0..=8) => stretches::<L, 4, 8>(words, at, spans, latents, symbols),
        (_, 9..=16) => stretches::<L, 4, 16>(words, at, spans, latents, symbols),
        _ => stretches::<L, 4, 32>(words, at, spans, latents, symbols),
    };
    (latents.len() * STRETCH, at)
}

/// By `FIELDS` a stretch, with 1 or 4 `PAIRS` of registers for the lower bounds.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,bmi1,bmi2,popcnt")]
fn stretches<L: Latent, const PAIRS: usize, const FIELDS: usize>(
    words: &mut [u64],
    mut at: Place,
    spans: &Spans,
    latents: &[[L; STRETCH]],
    symbols: &[[u16; STRETCH]],
) -> Place {
    let bins = Bins::<PAIRS>::new(spans);
    for (latents, symbols) in latents.iter().zip(symbols) {
        let twos = |i: usize| bins.twos::<L>(latents, symbols, i);
        let fours = |i: usize| twos(i).joined(twos(i + 1));
        let (mut values, mut widths) = ([0; FIELDS], [0; FIELDS]);
        let places = (values.as_chunks_mut().0, widths.as_chunks_mut().0);
        for (i, (values, widths)) in places.0.iter_mut().zip(places.1).enumerate() {
            let fields = match FIELDS {
                8 => fours(0).joined(fours(2)),
                16 => fours(2 * i),
                _ => twos(i),
            };
            fields.store(values, widths);
        }
        for (value, width) in values.into_iter().zip(widths) {
            at = at.write(words, value, width);
        }
    }
    at
}

/// Up to [`IN_REGISTERS`] bins.
struct Bins<const PAIRS: usize> {
    lowers: Table<PAIRS>,
    widths: [__m512i; 2],
}

impl<const PAIRS: usize> Bins<PAIRS> {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(spans: &Spans) -> Self {
        let widths = spans.widths.as_ptr();
        // SAFETY: `IN_REGISTERS` bytes at least.
        let widths = unsafe {
            [_mm512_loadu_si512(widths.cast()), _mm512_loadu_si512(widths.add(64).cast())]
        };
        Self { lowers: Table::of_low_halves(&spans.lowers), widths }
    }

    /// The `i`-th sixteen offsets of a stretch, by twos.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx2")]
    fn twos<L: Latent>(
        &self,
        latents: &[L; STRETCH],
        symbols: &[u16; STRETCH],
        i: usize,
    ) -> Fields {
        let (latents, symbols) = (&latents.as_chunks::<16>().0[i], &symbols.as_chunks::<16>().0[i]);
        // SAFETY: sixteen symbols of 16 bits are 32 bytes, and sixteen latents as many times their size.
        let (latents, symbols) = unsafe {
            let latents = match L::WIDTH {
                8 => _mm512_cvtepu8_epi32(_mm_loadu_si128(latents.as_ptr().cast())),
                16 => _mm512_cvtepu16_epi32(_mm256_loadu_si256(latents.as_ptr().cast())),
                _ => _mm512_loadu_si512(latents.as_ptr().cast()),
            };
            let symbols = _mm256_loadu_si256(symbols.as_ptr().cast());
            (latents, _mm512_cvtepu16_epi32(symbols))
        };
        let lowers = self.lowers.look_up_32(symbols, Table::<PAIRS>::pairs_of_32(symbols));
        let offsets = _mm512_sub_epi32(latents, lowers);
        let lowest = 0x1111_1111_1111_1111;
        let [first, second] = self.widths;
        let widths = _mm512_maskz_permutex2var_epi8(lowest, first, symbols, second);
        let lower_half = _mm512_set1_epi64(0xffff_ffff);
        let even = Fields {
            values: _mm512_and_si512(offsets, lower_half),
            widths: _mm512_and_si512(widths, lower_half),
        };
        even.before(Fields {
            values: _mm512_srli_epi64::<32>(offsets),
            widths: _mm512_srli_epi64::<32>(widths),
        })
    }
}

/// Eight fields and how many bits they have.
struct Fields {
    values: __m512i,
    widths: __m512i,
}

impl Fields {
    /// Each field with the one of `behind` behind it.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn before(self, behind: Self) -> Self {
        let raised = _mm512_sllv_epi64(behind.values, self.widths);
        Self {
            values: _mm512_or_si512(self.values, raised),
            widths: _mm512_add_epi64(self.widths, behind.widths),
        }
    }

    /// These and `others` by twos.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn joined(self, others: Self) -> Self {
        let each_second = |order| Self {
            values: _mm512_permutex2var_epi64(self.values, order, others.values),
            widths: _mm512_permutex2var_epi64(self.widths, order, others.widths),
        };
        let first = each_second(_mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0));
        first.before(each_second(_mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1)))
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn store(self, values: &mut [u64; 8], widths: &mut [u64; 8]) {
        // SAFETY: 64 bytes each.
        unsafe {
            _mm512_storeu_si512(values.as_mut_ptr().cast(), self.values);
            _mm512_storeu_si512(widths.as_mut_ptr().cast(), self.widths);
        }
    }
}
