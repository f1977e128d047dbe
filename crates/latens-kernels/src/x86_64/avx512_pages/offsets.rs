//! Offsets of sixteen or eight codes, by their widths. Where they end is summed up within eights by one multiplication of
//! bytes, which takes none of the ports that permutations want.

#![expect(clippy::cast_possible_truncation, reason = "low bits, and places within 64 bytes")]

use crate::x86_64::avx512_tans::UP_TO;
use std::arch::x86_64::*;

/// The sum of bytes.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn total(widths: __m128i) -> usize {
    let sums = _mm_sad_epu8(widths, _mm_setzero_si128());
    let both = _mm_add_epi32(sums, _mm_srli_si128::<8>(sums));
    _mm_cvtsi128_si32(both) as usize
}

/// From memory numbers come to all lanes without a port that permutations want.
static WITHIN_A_BYTE: [i64; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

/// Sixteen offsets of 31 bits at most, by the widths there.
///
/// # Safety
/// There are sixteen widths; from the byte of bit `bit` on there are 64.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx2")]
#[inline]
pub(super) unsafe fn short_offsets(widths: *const u8, bytes: *const u8, bit: usize) -> __m512i {
    // SAFETY: the caller's promise.
    let (widths, words) =
        unsafe { (_mm_loadu_si128(widths.cast()), _mm512_loadu_si512(bytes.add(bit / 8).cast())) };
    let within = _mm_mullo_epi64(widths, _mm_set1_epi64x(0x0101_0101_0101_0101));
    let sums = _mm_sad_epu8(widths, _mm_setzero_si128());
    let ends = _mm512_add_epi32(
        _mm512_cvtepu8_epi32(within),
        _mm512_set1_epi32(WITHIN_A_BYTE[bit % 8] as i32),
    );
    let ends = _mm512_mask_add_epi32(ends, 0xff00, ends, _mm512_broadcastd_epi32(sums));
    let word = _mm512_srli_epi32::<5>(ends);
    let before = _mm512_add_epi32(word, _mm512_set1_epi32(-1));
    let top = _mm512_shrdv_epi32(
        _mm512_permutexvar_epi32(before, words),
        _mm512_permutexvar_epi32(word, words),
        ends,
    );
    _mm512_shldv_epi32(_mm512_setzero_si512(), top, _mm512_cvtepu8_epi32(widths))
}

/// Eight offsets of 63 bits at most, by the widths there.
///
/// # Safety
/// There are eight widths; from the byte of bit `bit` on there are 64.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
#[inline]
pub(super) unsafe fn wide_offsets(widths: *const u8, bytes: *const u8, bit: usize) -> __m512i {
    let zero = _mm512_setzero_si512();
    // SAFETY: the caller's promise.
    let (all, widths, words) = unsafe {
        (
            _mm512_set1_epi64(widths.cast::<i64>().read_unaligned()),
            _mm_loadl_epi64(widths.cast()),
            _mm512_loadu_si512(bytes.add(bit / 8).cast()),
        )
    };
    let ends = _mm512_sad_epu8(_mm512_maskz_mov_epi8(UP_TO, all), zero);
    let ends = _mm512_add_epi64(ends, _mm512_set1_epi64(WITHIN_A_BYTE[bit % 8]));
    let word = _mm512_srli_epi64::<6>(ends);
    let before = _mm512_add_epi64(word, _mm512_set1_epi64(-1));
    let top = _mm512_shrdv_epi64(
        _mm512_permutexvar_epi64(before, words),
        _mm512_permutexvar_epi64(word, words),
        ends,
    );
    _mm512_shldv_epi64(zero, top, _mm512_cvtepu8_epi64(widths))
}
