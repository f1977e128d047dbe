//! Bytes of planes by slot and by symbol.

use super::PAIRS;
use crate::tans::pages::{DEALT_AT, MOST_SLOTS, Plane};
use std::arch::x86_64::*;

/// Bytes of 64 places of each pair out of the first 128 times `PARTS`: registers of the plane are loaded once for both.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
#[inline]
pub(super) fn look_up<const PARTS: usize>(
    plane: &Plane,
    places: [__m512i; PAIRS],
    parts: [[__mmask64; 3]; PAIRS],
) -> [__m512i; PAIRS] {
    const { assert!(128 * PARTS <= MOST_SLOTS) };
    let at: *const __m512i = plane.0.as_ptr().cast();
    macro_rules! part {
        ($i:expr) => {{
            // SAFETY: `PARTS` times two registers, as just asserted, aligned as these are.
            let (low, high) = unsafe {
                (_mm512_load_si512(at.add(2 * $i)), _mm512_load_si512(at.add(2 * $i + 1)))
            };
            [
                _mm512_permutex2var_epi8(low, places[0], high),
                _mm512_permutex2var_epi8(low, places[1], high),
            ]
        }};
    }
    macro_rules! either {
        ($first:expr, $second:expr, $part:literal) => {{
            let ([a, b], [c, d]) = ($first, $second);
            [
                _mm512_mask_mov_epi8(a, parts[0][$part], c),
                _mm512_mask_mov_epi8(b, parts[1][$part], d),
            ]
        }};
    }
    macro_rules! two {
        ($i:expr) => {
            either!(part!($i), part!($i + 1), 0)
        };
    }
    macro_rules! four {
        ($i:expr) => {
            either!(two!($i), two!($i + 2), 1)
        };
    }
    match PARTS {
        1 => part!(0),
        2 => two!(0),
        _ => either!(four!(0), four!(4), 2),
    }
}

/// Which of each pair's bytes have their upper bit set.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(super) fn halves(bytes: [__m512i; PAIRS]) -> [[__mmask64; 3]; PAIRS] {
    let mut parts = [[0; 3]; PAIRS];
    for pair in 0..PAIRS {
        parts[pair][0] = _mm512_movepi8_mask(bytes[pair]);
    }
    parts
}

/// Symbols of slots as dealt: the first ones of the eights there, and as many further as begin up to the slot `within`.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512bitalg")]
#[inline]
pub(super) fn symbols_of(
    plane: &Plane,
    eights: [__m512i; PAIRS],
    within: [__m512i; PAIRS],
) -> [__m512i; PAIRS] {
    let (firsts, begins) = plane.0.split_at(128);
    let mut symbols = [_mm512_setzero_si512(); PAIRS];
    // SAFETY: as many bytes, aligned as the plane is.
    let at =
        |bytes: &[u8], i: usize| unsafe { _mm512_load_si512(bytes.as_ptr().add(64 * i).cast()) };
    let up_to = _mm512_set1_epi64(0xfe7e_3e1e_0e06_0200_u64.cast_signed());
    for pair in 0..PAIRS {
        let first = _mm512_permutex2var_epi8(at(firsts, 0), eights[pair], at(firsts, 1));
        let begin = _mm512_permutex2var_epi8(at(begins, 0), eights[pair], at(begins, 1));
        let up_to = _mm512_shuffle_epi8(up_to, _mm512_srli_epi16::<DEALT_AT>(within[pair]));
        let further = _mm512_popcnt_epi8(_mm512_and_si512(begin, up_to));
        symbols[pair] = _mm512_add_epi8(first, further);
    }
    symbols
}
