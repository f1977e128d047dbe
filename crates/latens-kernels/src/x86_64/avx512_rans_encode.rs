//! AVX-512 kernel of [`crate::rans::encode`]: two vectors of sixteen states.
//!
//! Steps come by gathers, or by single loads where gathers are slow (their places out of words of four, which takes
//! fewer loads than places written down), those of even lanes and of odd ones into vectors of their own, as the
//! multiplication of 32 by 32 bits wants them. The lanes that put out a word are a
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
        const { assert!(LANES == 2 * WIDTH) };
        let from = writer.states.as_ptr();
        let mut low = _mm512_loadu_si512(from.cast());
        let mut high = _mm512_loadu_si512(from.add(WIDTH).cast());
        let (classes, one) = match writer.classes {
            Classes::One(class) => (None, class),
            Classes::PerSymbol(classes) => (Some(classes.as_ptr()), 0),
            // The caller leaves these to scalar code.
            Classes::Levels(_) => return,
        };
        let steps = tables.steps().as_ptr();
        let symbols = writer.symbols.as_ptr();
        let start = writer.buffer.as_mut_ptr();
        let mut at = start.add(writer.at);
        let mut first = writer.left;
        while first >= LANES {
            first -= LANES;
            // Written out: as a loop the states would go through memory, and a closure would not be inlined.
            let coded = (symbols.add(first + WIDTH), classes.map(|c| c.add(first + WIDTH)), one);
            at = half(tables, S::at(steps, coded), &mut high, at);
            let coded = (symbols.add(first), classes.map(|c| c.add(first)), one);
            at = half(tables, S::at(steps, coded), &mut low, at);
        }
        writer.left = first;
        writer.at = at.offset_from_unsigned(start);
        let to = writer.states.as_mut_ptr();
        _mm512_storeu_si512(to.cast(), low);
        _mm512_storeu_si512(to.add(WIDTH).cast(), high);
    }
}

/// Where sixteen symbols are and their classes, or the one of all.
type Coded = (*const u8, Option<*const u8>, u8);

/// How the steps of sixteen symbols come.
pub(crate) trait Steps {
    /// Those of even and of odd lanes.
    ///
    /// # Safety
    /// Needs AVX-512, sixteen symbols with their classes, and a step for each symbol of each class.
    unsafe fn at(steps: *const u64, coded: Coded) -> (__m512i, __m512i);
}

/// By gathers.
pub(crate) struct Gathers;

impl Steps for Gathers {
    #[inline(always)]
    unsafe fn at(steps: *const u64, (symbols, classes, one): Coded) -> (__m512i, __m512i) {
        // SAFETY: the gathers read the steps that the caller vouches for.
        unsafe {
            let classes = match classes {
                Some(classes) => _mm_loadu_si128(classes.cast()),
                None => _mm_set1_epi8(one.cast_signed()),
            };
            let symbols = _mm_loadu_si128(symbols.cast());
            let (s, c) = (_mm512_cvtepu8_epi32(symbols), _mm512_cvtepu8_epi32(classes));
            let indices = _mm512_or_si512(s, _mm512_slli_epi32::<8>(c));
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
    unsafe fn at(steps: *const u64, (symbols, classes, one): Coded) -> (__m512i, __m512i) {
        // SAFETY: each load reads one step of those that the caller vouches for.
        unsafe {
            // Of vectors they would take as many steps of units that have the more to do.
            let four = |i: usize| {
                let symbols: u32 = symbols.add(4 * i).cast::<u32>().read_unaligned();
                let classes = match classes {
                    Some(classes) => classes.add(4 * i).cast::<u32>().read_unaligned(),
                    None => u32::from(one) * 0x0101_0101,
                };
                _pdep_u64(symbols.into(), 0x00ff_00ff_00ff_00ff)
                    | _pdep_u64(classes.into(), 0xff00_ff00_ff00_ff00)
            };
            let fours = [four(0), four(1), four(2), four(3)];
            let step = |a: usize| {
                let index = fours[a / 4] >> (16 * (a % 4)) & 0xffff;
                steps.add(index as usize)
            };
            let two = |a: usize| {
                let low = _mm_castsi128_pd(_mm_loadl_epi64(step(a).cast()));
                _mm_castpd_si128(_mm_loadh_pd(low, step(a + 2).cast()))
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
