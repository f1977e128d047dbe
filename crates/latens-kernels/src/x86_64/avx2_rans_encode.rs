//! AVX2 kernel of [`crate::rans::encode`]: four vectors of eight states.
//!
//! Steps come by loads one by one, those of even lanes and of odd ones into vectors of their own, as
//! the multiplication of 32 by 32 bits wants them. The lanes that put out a word are the bits of a
//! mask, which leads to a byte shuffle that brings their low halves to the end of 16 bytes.

use std::arch::x86_64::*;

use crate::rans::classes::Classes;
use crate::rans::encode::tables::EncodeTables;
use crate::rans::encode::writer::Writer;
use crate::rans::state::LANES;

/// For each set of lanes the bytes of eight words that bring theirs to the end.
#[repr(C, align(16))]
struct Squeezes([[u8; 16]; 256]);

static SQUEEZES: Squeezes = {
    let mut all = [[0x80; 16]; 256];
    let mut set = 0;
    while set < 256 {
        let (mut lane, mut to) = (8, 16);
        while lane > 0 {
            lane -= 1;
            if set >> lane & 1 == 1 {
                to -= 2;
                all[set][to] = 2 * lane;
                all[set][to + 1] = 2 * lane + 1;
            }
        }
        set += 1;
    }
    Squeezes(all)
};

/// All rows that are left; they are whole.
///
/// # Safety
/// Each class has a table, there are as many classes as symbols, and `writer.buffer` has two bytes
/// for each symbol left, and 16 more, before `writer.at`.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn rows(tables: &EncodeTables, writer: &mut Writer<'_>) {
    // SAFETY: as the caller vouches; loads and stores of states are of whole arrays.
    unsafe {
        let mut states = [_mm256_setzero_si256(); LANES / 8];
        for (x, from) in states.iter_mut().zip(writer.states.as_chunks::<8>().0) {
            *x = _mm256_loadu_si256(from.as_ptr().cast());
        }
        let (classes, fixed) = match writer.classes {
            Classes::One(class) => (None, _mm256_set1_epi8(class.cast_signed())),
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
            let s = _mm256_loadu_si256(symbols.add(first).cast());
            let c = classes.map_or(fixed, |c| _mm256_loadu_si256(c.add(first).cast()));
            at = row(tables, s, c, &mut states, at);
        }
        writer.left = first;
        writer.at = at.offset_from_unsigned(start);
        for (x, to) in states.iter().zip(writer.states.as_chunks_mut::<8>().0) {
            _mm256_storeu_si256(to.as_mut_ptr().cast(), *x);
        }
    }
}

/// One row; where its words begin.
///
/// # Safety
/// Needs AVX2, a table for each class of `c`, and 80 bytes before `at`.
#[inline(always)]
unsafe fn row(
    tables: &EncodeTables,
    s: __m256i,
    c: __m256i,
    states: &mut [__m256i; LANES / 8],
    mut at: *mut u8,
) -> *mut u8 {
    // SAFETY: a table has 256 steps, so a class and a symbol make an index; each vector writes 16
    // bytes and moves on by those that are words.
    unsafe {
        let steps = tables.steps().as_ptr();
        let bits = _mm_cvtsi32_si128(tables.bits().cast_signed());
        let rest_bits = _mm_cvtsi32_si128(32 - tables.bits().cast_signed());
        let whole_less_1 = _mm256_set1_epi32((1 << tables.bits()) - 1);
        let mask14 = _mm256_set1_epi32(0x3fff);
        let mut indices = [0u16; LANES];
        let (low, high) = (_mm256_unpacklo_epi8(s, c), _mm256_unpackhi_epi8(s, c));
        let to: *mut __m256i = indices.as_mut_ptr().cast();
        _mm256_storeu_si256(to, _mm256_permute2x128_si256::<0x20>(low, high));
        _mm256_storeu_si256(to.add(1), _mm256_permute2x128_si256::<0x31>(low, high));
        for (x, index) in states.iter_mut().zip(indices.as_chunks::<8>().0).rev() {
            let two = |a: usize, b: usize| {
                let low = _mm_loadl_epi64(steps.add(usize::from(index[a])).cast());
                let high = steps.add(usize::from(index[b])).cast();
                _mm_castpd_si128(_mm_loadh_pd(_mm_castsi128_pd(low), high))
            };
            let even = _mm256_set_m128i(two(4, 6), two(0, 2));
            let odd = _mm256_set_m128i(two(5, 7), two(1, 3));
            let packed = _mm256_blend_epi32::<0xaa>(_mm256_srli_epi64::<32>(even), odd);
            let less = _mm256_and_si256(_mm256_srli_epi32::<14>(packed), mask14);
            let before = _mm256_and_si256(packed, mask14);
            let full = _mm256_cmpgt_epi32(_mm256_srl_epi32(*x, rest_bits), less);
            let set = _mm256_movemask_ps(_mm256_castsi256_ps(full)).cast_unsigned();
            let halves = _mm256_setr_epi8(
                0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1, //
                0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1,
            );
            let words = _mm256_permute4x64_epi64::<0b1000>(_mm256_shuffle_epi8(*x, halves));
            let squeeze = SQUEEZES.0.as_ptr().add(set as usize);
            let words =
                _mm_shuffle_epi8(_mm256_castsi256_si128(words), _mm_load_si128(squeeze.cast()));
            _mm_storeu_si128(at.sub(16).cast(), words);
            at = at.sub(2 * set.count_ones() as usize);
            let y = _mm256_srlv_epi32(*x, _mm256_and_si256(full, _mm256_set1_epi32(16)));
            let of_even = _mm256_srli_epi64::<32>(_mm256_mul_epu32(y, even));
            let of_odd = _mm256_mul_epu32(_mm256_srli_epi64::<32>(y), odd);
            let quotient = _mm256_blend_epi32::<0xaa>(of_even, of_odd);
            let quotient = _mm256_srlv_epi32(quotient, _mm256_srli_epi32::<28>(packed));
            let f = _mm256_sub_epi32(less, _mm256_set1_epi32(-1));
            let rest = _mm256_sub_epi32(y, _mm256_mullo_epi32(quotient, f));
            let more = _mm256_and_si256(
                _mm256_cmpgt_epi32(rest, less),
                _mm256_sub_epi32(whole_less_1, less),
            );
            let sum = _mm256_add_epi32(_mm256_add_epi32(rest, before), more);
            *x = _mm256_add_epi32(_mm256_sll_epi32(quotient, bits), sum);
        }
        at
    }
}
