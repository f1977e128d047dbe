//! AVX-512 kernel of [`crate::rans::encode`]: two vectors of sixteen states.
//!
//! Steps come by gathers, or by single loads where gathers are slow, those of even lanes and of odd ones into
//! vectors of their own, as the multiplication of 32 by 32 bits wants them. The lanes that put out a word are a
//! mask, under which their low halves are compressed; words that are there already are kept from the store by
//! another.

use std::arch::x86_64::*;

use crate::rans::classes::Classes;
use crate::rans::encode::tables::EncodeTables;
use crate::rans::encode::writer::Writer;
use crate::rans::state::LANES;

/// Lanes of a vector.
const WIDTH: usize = 16;
/// The odd lanes.
const ODD: __mmask16 = 0xaaaa;

/// All rows that are left; they are whole.
///
/// # Safety
/// Each class has a table, there are as many classes as symbols, and `writer.buffer` has two bytes
/// for each symbol left before `writer.at`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn rows<S: Steps>(tables: &EncodeTables, writer: &mut Writer<'_>) {
    // SAFETY: as the caller vouches; loads and stores of states are of whole arrays.
    unsafe {
        let mut states = [_mm512_setzero_si512(); LANES / WIDTH];
        for (x, from) in states.iter_mut().zip(writer.states.as_chunks::<WIDTH>().0) {
            *x = _mm512_loadu_si512(from.as_ptr().cast());
        }
        let (classes, fixed) = match writer.classes {
            Classes::One(class) => (None, _mm256_set1_epi16(i16::from(class) << 8)),
            Classes::PerSymbol(classes) => (Some(classes.as_ptr()), _mm256_setzero_si256()),
            // The caller leaves these to scalar code.
            Classes::Levels(_) => return,
        };
        let symbols = writer.symbols.as_ptr();
        let start = writer.buffer.as_mut_ptr();
        let mut at = start.add(writer.at);
        let mut first = writer.left;
        while first >= LANES {
            first -= LANES;
            for (i, x) in states.iter_mut().enumerate().rev() {
                let from = first + i * WIDTH;
                let s = _mm256_cvtepu8_epi16(_mm_loadu_si128(symbols.add(from).cast()));
                let c = classes.map_or(fixed, |c| {
                    let c = _mm256_cvtepu8_epi16(_mm_loadu_si128(c.add(from).cast()));
                    _mm256_slli_epi16::<8>(c)
                });
                let steps = S::at(tables.steps().as_ptr(), _mm256_or_si256(s, c));
                at = half(tables, steps, x, at);
            }
        }
        writer.left = first;
        writer.at = at.offset_from_unsigned(start);
        for (x, to) in states.iter().zip(writer.states.as_chunks_mut::<WIDTH>().0) {
            _mm512_storeu_si512(to.as_mut_ptr().cast(), *x);
        }
    }
}

/// How the steps of sixteen symbols come.
pub(crate) trait Steps {
    /// Those of even and of odd lanes.
    ///
    /// # Safety
    /// Needs AVX-512, and a step at each index.
    unsafe fn at(steps: *const u64, indices: __m256i) -> (__m512i, __m512i);
}

/// By gathers.
pub(crate) struct Gathers;

impl Steps for Gathers {
    #[inline(always)]
    unsafe fn at(steps: *const u64, indices: __m256i) -> (__m512i, __m512i) {
        // SAFETY: the gathers read the steps that the caller vouches for.
        unsafe {
            let indices = _mm512_cvtepu16_epi32(indices);
            let low = _mm512_and_si512(indices, _mm512_set1_epi64(0xffff_ffff));
            let even = _mm512_i64gather_epi64::<8>(low, steps.cast());
            let high = _mm512_srli_epi64::<32>(indices);
            (even, _mm512_i64gather_epi64::<8>(high, steps.cast()))
        }
    }
}

/// By loads one by one, where gathers are slow.
pub(crate) struct Loads;

impl Steps for Loads {
    #[inline(always)]
    unsafe fn at(steps: *const u64, indices: __m256i) -> (__m512i, __m512i) {
        // SAFETY: indices are stored to an array of as many; each load reads one step of those that the caller
        // vouches for.
        unsafe {
            let mut index = [0u16; WIDTH];
            _mm256_storeu_si256(index.as_mut_ptr().cast(), indices);
            let two = |a: usize| {
                let low = _mm_loadl_epi64(steps.add(usize::from(index[a])).cast());
                let high = steps.add(usize::from(index[a + 2])).cast();
                _mm_castpd_si128(_mm_loadh_pd(_mm_castsi128_pd(low), high))
            };
            let eight = |a: usize| {
                let low = _mm256_set_m128i(two(a + 4), two(a));
                let high = _mm256_set_m128i(two(a + 12), two(a + 8));
                _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
            };
            (eight(0), eight(1))
        }
    }
}

/// Sixteen symbols of a row with their steps, those of even and of odd lanes; where their words begin.
///
/// # Safety
/// There is room for 16 words before `at`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,avx2,bmi1,bmi2,popcnt")]
unsafe fn half(
    tables: &EncodeTables,
    (even, odd): (__m512i, __m512i),
    x: &mut __m512i,
    at: *mut u8,
) -> *mut u8 {
    // SAFETY: of a vector of words as many are written as lanes put out, in front of `at`.
    unsafe {
        let bits = _mm_cvtsi32_si128(tables.bits().cast_signed());
        let rest_bits = _mm_cvtsi32_si128(32 - tables.bits().cast_signed());
        let whole_less_1 = _mm512_set1_epi32((1 << tables.bits()) - 1);
        let mask14 = _mm512_set1_epi32(0x3fff);
        let packed = _mm512_mask_blend_epi32(ODD, _mm512_srli_epi64::<32>(even), odd);
        let less = _mm512_and_si512(_mm512_srli_epi32::<14>(packed), mask14);
        let before = _mm512_and_si512(packed, mask14);
        let full = _mm512_cmpgt_epu32_mask(_mm512_srl_epi32(*x, rest_bits), less);
        let words = _mm256_maskz_compress_epi16(full, _mm512_cvtepi32_epi16(*x));
        let count = full.count_ones();
        let at = at.sub(2 * count as usize);
        #[expect(clippy::cast_possible_truncation, reason = "at most 16 bits are set")]
        _mm256_mask_storeu_epi16(at.cast(), _bzhi_u32(0xffff, count) as __mmask16, words);
        let y = _mm512_mask_srli_epi32::<16>(*x, full, *x);
        let of_even = _mm512_srli_epi64::<32>(_mm512_mul_epu32(y, even));
        let of_odd = _mm512_mul_epu32(_mm512_srli_epi64::<32>(y), odd);
        let quotient = _mm512_mask_blend_epi32(ODD, of_even, of_odd);
        let quotient = _mm512_srlv_epi32(quotient, _mm512_srli_epi32::<28>(packed));
        let f = _mm512_sub_epi32(less, _mm512_set1_epi32(-1));
        let rest = _mm512_sub_epi32(y, _mm512_mullo_epi32(quotient, f));
        let short = _mm512_cmpgt_epu32_mask(rest, less);
        let sum = _mm512_add_epi32(rest, before);
        let sum = _mm512_mask_add_epi32(sum, short, sum, _mm512_sub_epi32(whole_less_1, less));
        *x = _mm512_add_epi32(_mm512_sll_epi32(quotient, bits), sum);
        at
    }
}
