//! AVX-512 kernel of [`crate::trellis`]: all states in one vector.

use crate::trellis::{Costs, STATE, STATES, parts};
use std::arch::x86_64::*;

/// See [`crate::trellis::ways`].
///
/// # Safety
/// Needs AVX-512 F.
#[target_feature(enable = "avx512f")]
pub(crate) unsafe fn ways(
    costs: &Costs,
    places: &[u8],
    sums: &mut [u32; STATES],
    from: &mut [[u8; STATES]],
) {
    let (states, rows) = parts(costs, places);
    let load = |of: *const u32| {
        // SAFETY: sixteen numbers are loaded from as many, or from within a row; see where it is called.
        unsafe { _mm512_loadu_si512(of.cast()) }
    };
    let states = load(states.as_ptr());
    let state = _mm512_set1_epi32(STATE.cast_signed());
    let mut each = [_mm512_setzero_si512(); STATES];
    for (j, each) in (0..).zip(&mut each) {
        *each = _mm512_set1_epi32(j);
    }
    let mut sum = load(sums.as_ptr());
    for (row, from) in rows.zip(from) {
        // Two at a time, which do not wait for each other.
        let mut best = [_mm512_set1_epi32(-1); 2];
        for (j, each) in each.iter().enumerate() {
            let way = _mm512_permutexvar_epi32(*each, sum);
            // SAFETY: rows have 31 numbers, of which these are sixteen.
            let step = load(unsafe { row.as_ptr().add(STATES - 1 - j) });
            best[j % 2] = _mm512_min_epu32(best[j % 2], _mm512_add_epi32(way, step));
        }
        let best = _mm512_min_epu32(best[0], best[1]);
        let of = _mm512_cvtepi32_epi8(_mm512_and_si512(best, state));
        // SAFETY: sixteen bytes are stored to as many.
        unsafe { _mm_storeu_si128(from.as_mut_ptr().cast(), of) };
        sum = _mm512_add_epi32(_mm512_andnot_si512(state, best), states);
    }
    // SAFETY: sixteen numbers are stored to as many.
    unsafe { _mm512_storeu_si512(sums.as_mut_ptr().cast(), sum) };
}
