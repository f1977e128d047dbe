//! Bytes through windows of 64 bytes, which are the tables of one shuffle.

use std::arch::aarch64::*;

/// Classes for as many whole rows of 32 symbols as `out` has, from place `at` on: what the places, `highest` at most,
/// name in the window of `map` that begins at the next of `starts`; how many that are.
///
/// # Safety
/// Places come in 32s and `highest` is below 64, and `map` has 64 bytes from each start on.
#[target_feature(enable = "neon")]
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
#[target_feature(enable = "neon")]
#[inline]
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
            let quarter = |k: usize| vld1q_u8(window.add(16 * k));
            for half in [0, 16] {
                let places = vld1q_u8(places.as_ptr().add(at + half));
                let found = match N {
                    1 => vqtbl1q_u8(quarter(0), places),
                    2 => vqtbl2q_u8(uint8x16x2_t(quarter(0), quarter(1)), places),
                    _ => {
                        let all = [quarter(0), quarter(1), quarter(2), quarter(3)];
                        vqtbl4q_u8(uint8x16x4_t(all[0], all[1], all[2], all[3]), places)
                    }
                };
                vst1q_u8(out.as_mut_ptr().add(half), found);
            }
        }
        at = if at + 32 == places.len() { 0 } else { at + 32 };
        done += 32;
    }
    done
}
