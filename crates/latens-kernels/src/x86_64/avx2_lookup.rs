//! AVX2 kernel of [`crate::lookup`]: a shuffle for each sixteenth of the table that occurs.

use std::arch::x86_64::*;

/// Replaces the bytes of whole vectors; how many those are.
///
/// # Safety
/// Needs AVX2.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn replace(table: &[u8; 256], bytes: &mut [u8]) -> usize {
    let (vectors, _) = bytes.as_chunks_mut::<32>();
    let (mut least, mut most) = (u8::MAX, 0);
    for byte in vectors.as_flattened() {
        (least, most) = (least.min(*byte), most.max(*byte));
    }
    let mut parts = [_mm256_setzero_si256(); 16];
    for (part, from) in parts.iter_mut().zip(table.as_chunks::<16>().0) {
        // SAFETY: 16 bytes are loaded from as many.
        *part = _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(from.as_ptr().cast()) });
    }
    let nibble = _mm256_set1_epi8(15);
    for vector in vectors.iter_mut() {
        // SAFETY: 32 bytes are loaded from as many.
        let x = unsafe { _mm256_loadu_si256(vector.as_ptr().cast()) };
        let high = _mm256_and_si256(_mm256_srli_epi16::<4>(x), nibble);
        let low = _mm256_and_si256(x, nibble);
        let mut out = _mm256_setzero_si256();
        for h in least >> 4..=most >> 4 {
            let here = _mm256_cmpeq_epi8(high, _mm256_set1_epi8(h.cast_signed()));
            let found = _mm256_shuffle_epi8(parts[usize::from(h)], low);
            out = _mm256_or_si256(out, _mm256_and_si256(here, found));
        }
        // SAFETY: 32 bytes are stored to as many.
        unsafe { _mm256_storeu_si256(vector.as_mut_ptr().cast(), out) };
    }
    vectors.len() * 32
}

/// For each 32 of `out` the bytes that the next 32 of `places`, which go round and are at most `highest`,
/// name in the window of `map` that begins at the next of `starts`; how many that are.
///
/// # Safety
/// Needs AVX2; places come in 32s and `highest` is below 64, and `map` has 64 bytes from each start on.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn in_windows(
    map: &[u8],
    starts: &[u16],
    (places, highest): (&[u8], u8),
    at: usize,
    out: &mut [u8],
) -> usize {
    // SAFETY: as the caller vouches.
    unsafe {
        match highest {
            ..16 => in_quarters::<1>(map, starts, places, at, out),
            16..32 => in_quarters::<2>(map, starts, places, at, out),
            _ => in_quarters::<4>(map, starts, places, at, out),
        }
    }
}

/// As [`in_windows`], with places in the first `N` quarters of the windows.
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn in_quarters<const N: usize>(
    map: &[u8],
    starts: &[u16],
    places: &[u8],
    mut at: usize,
    out: &mut [u8],
) -> usize {
    let mut done = 0;
    for (start, out) in starts.iter().zip(out.as_chunks_mut::<32>().0) {
        // SAFETY: 64 bytes of the map and 32 places are there, as the caller vouches.
        unsafe {
            let window = map.as_ptr().add(usize::from(*start));
            let quarter =
                |k: usize| _mm256_broadcastsi128_si256(_mm_loadu_si128(window.add(16 * k).cast()));
            let places = _mm256_loadu_si256(places.as_ptr().add(at).cast());
            // Bits 4 and 5 choose among the quarters: they become the highest of their bytes.
            let (bit_4, bit_5) = (_mm256_slli_epi16::<3>(places), _mm256_slli_epi16::<2>(places));
            let found = |k: usize| _mm256_shuffle_epi8(quarter(k), places);
            let mut all = found(0);
            if N > 1 {
                all = _mm256_blendv_epi8(all, found(1), bit_4);
            }
            if N > 2 {
                let high = _mm256_blendv_epi8(found(2), found(3), bit_4);
                all = _mm256_blendv_epi8(all, high, bit_5);
            }
            _mm256_storeu_si256(out.as_mut_ptr().cast(), all);
        }
        at = if at + 32 == places.len() { 0 } else { at + 32 };
        done += 32;
    }
    done
}
