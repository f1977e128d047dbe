//! The lanes of a step: bytes of states, places, and the bits that lie there.

use super::STEPS;
use crate::tans::pages::TOGETHER;
use std::arch::asm;
use std::arch::x86_64::*;
use std::ptr;

/// Eight pages' numbers of 64 bits.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Eight(pub(super) [usize; 8]);

/// Where the low or the high bytes of two vectors' words are, eight of the first one's, then as many of the second one's, and
/// so on: in the order in which `vpunpcklbw` and `vpunpckhbw` make words of them.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn paired_bytes(which: usize) -> __m512i {
    let mut places = [0u8; 64];
    for (i, place) in places.iter_mut().enumerate() {
        #[expect(clippy::cast_possible_truncation, reason = "below 128")]
        let at = (64 * (i / 8 % 2) + 16 * (i / 16) + 2 * (i % 8) + which) as u8;
        *place = at;
    }
    // SAFETY: 64 bytes.
    unsafe { _mm512_loadu_si512(places.as_ptr().cast()) }
}

/// From the bytes of memory on that eight pages' places are in, eight bytes each.
///
/// By way of memory: compilers take lanes out of registers one by one where they can, for which there are fewer ports than
/// for loads. Loads that fill all lanes, and blends, take no port that permutations want, unlike what compilers
/// make of eight loads.
///
/// # Safety
/// There are as many bytes, of what has been exposed.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,bmi2")]
#[inline]
pub(super) unsafe fn words_at(places: __m512i, at: &mut Eight) -> __m512i {
    // SAFETY: 64 bytes, aligned.
    unsafe { ptr::write_volatile(ptr::from_mut(at).cast(), places) };
    macro_rules! half {
        ($lane:literal) => {{
            let (low, all): (__m256i, __m256i);
            // SAFETY: places are there, aligned, and eight bytes behind each by the caller's promise.
            unsafe {
                asm!(
                    "shrx {place}, [{at}], {three}",
                    "vmovq {low:x}, [{place}]",
                    "shrx {place}, [{at} + 8], {three}",
                    "vpbroadcastq {all}, [{place}]",
                    "vpblendd {low}, {low}, {all}, 0x0c",
                    "shrx {place}, [{at} + 16], {three}",
                    "vpbroadcastq {all}, [{place}]",
                    "vpblendd {low}, {low}, {all}, 0x30",
                    "shrx {place}, [{at} + 24], {three}",
                    "vpbroadcastq {all}, [{place}]",
                    "vpblendd {low}, {low}, {all}, 0xc0",
                    at = in(reg) ptr::from_ref(&at.0[$lane]),
                    three = in(reg) 3usize,
                    place = out(reg) _,
                    low = out(ymm_reg) low,
                    all = out(ymm_reg) all,
                    options(readonly, nostack, preserves_flags),
                );
            }
            let _ = all;
            low
        }};
    }
    let (low, high) = (half!(0), half!(4));
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
}

/// Four bytes of sixteen pages and four steps each, page by page.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn store_in_order(dst: &mut [[u8; TOGETHER]; 16], [a, b, c, d]: [__m512i; STEPS]) {
    let (ab, cd) = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
    let (upper_ab, upper_cd) = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
    let rows = [
        _mm512_unpacklo_epi64(ab, cd),
        _mm512_unpackhi_epi64(ab, cd),
        _mm512_unpacklo_epi64(upper_ab, upper_cd),
        _mm512_unpackhi_epi64(upper_ab, upper_cd),
    ];
    for (dst, row) in dst.as_chunks_mut::<4>().0.iter_mut().zip(rows) {
        // SAFETY: 64 bytes.
        unsafe { _mm512_storeu_si512(dst.as_mut_ptr().cast(), row) };
    }
}
