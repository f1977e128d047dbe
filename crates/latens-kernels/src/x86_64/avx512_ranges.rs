//! AVX-512 kernels of [`crate::ranges`] where there are many: the table and the steps by gathers.

use crate::latent::Latent;
use crate::ranges::Ranges;
use std::arch::x86_64::*;

/// Finds the ranges of whole vectors of 32 or 64 bits; how many numbers that are.
///
/// # Safety
/// Needs AVX-512 F, CD and what goes with [`crate::dispatch::Simd::Avx512`].
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
pub(crate) unsafe fn find<L: Latent>(
    ranges: &Ranges<L>,
    numbers: &[L],
    found: &mut [u16],
) -> usize {
    // SAFETY: as the caller vouches.
    unsafe {
        match ranges.cells.steps {
            0 => of_width::<L, 0>(ranges, numbers, found),
            1 => of_width::<L, 1>(ranges, numbers, found),
            2 => of_width::<L, 2>(ranges, numbers, found),
            3 => of_width::<L, 3>(ranges, numbers, found),
            4 => of_width::<L, 4>(ranges, numbers, found),
            5 => of_width::<L, 5>(ranges, numbers, found),
            6 => of_width::<L, 6>(ranges, numbers, found),
            7 => of_width::<L, 7>(ranges, numbers, found),
            // Scattered so unevenly that caches hold few of the bounds.
            _ => 0,
        }
    }
}

/// # Safety
/// As [`find`].
#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
unsafe fn of_width<L: Latent, const STEPS: u32>(
    ranges: &Ranges<L>,
    numbers: &[L],
    found: &mut [u16],
) -> usize {
    // SAFETY: as the caller vouches.
    unsafe {
        match L::WIDTH {
            32 => find32::<L, STEPS>(ranges, numbers, found),
            64 => find64::<L, STEPS>(ranges, numbers, found),
            _ => 0,
        }
    }
}

/// # Safety
/// As [`find`], `L` of 32 bits.
#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "bits, and small numbers"
)]
unsafe fn find32<L: Latent, const STEPS: u32>(
    ranges: &Ranges<L>,
    numbers: &[L],
    found: &mut [u16],
) -> usize {
    let middle = _mm512_set1_epi32(ranges.cells.middle.widen() as u32 as i32);
    let (side, least) =
        (_mm512_set1_epi32(ranges.cells.side as i32), _mm512_set1_epi32(1 << ranges.cells.fine));
    let highest = _mm512_set1_epi32(31 - ranges.cells.fine as i32);
    let last = _mm512_set1_epi32(ranges.last.into());
    let (fine, ones) = (_mm_cvtsi32_si128(ranges.cells.fine as i32), _mm512_set1_epi32(-1));
    let (vectors, places) = (numbers.as_chunks::<16>().0, found.as_chunks_mut::<16>().0);
    for (x, place) in vectors.iter().zip(places) {
        // SAFETY: sixteen numbers of 32 bits are 64 bytes.
        let x = unsafe { _mm512_loadu_si512(x.as_ptr().cast()) };
        let left = _mm512_cmplt_epu32_mask(x, middle);
        let distance = _mm512_sub_epi32(x, middle);
        let distance = _mm512_mask_xor_epi32(distance, left, distance, ones);
        let shift = _mm512_sub_epi32(highest, _mm512_lzcnt_epi32(_mm512_or_si512(distance, least)));
        let cell =
            _mm512_add_epi32(_mm512_sll_epi32(shift, fine), _mm512_srlv_epi32(distance, shift));
        let cell = _mm512_mask_xor_epi32(cell, left, cell, ones);
        let cell = _mm512_add_epi32(cell, side);
        // SAFETY: cells of distances are below `side`, so that these lie in twice as many, each with four bytes from
        // there on.
        let first =
            unsafe { _mm512_i32gather_epi32::<2>(cell, ranges.cells.first.as_ptr().cast()) };
        let mut at = _mm512_and_si512(first, _mm512_set1_epi32(0xffff));
        for step in (0..STEPS).rev() {
            let next = _mm512_add_epi32(at, _mm512_set1_epi32(1 << step));
            // SAFETY: steps lead less than `2^STEPS` behind a range, and the bounds go on for as many.
            let lower = unsafe { _mm512_i32gather_epi32::<4>(next, ranges.lowers.as_ptr().cast()) };
            at = _mm512_mask_mov_epi32(at, _mm512_cmple_epu32_mask(lower, x), next);
        }
        let at = _mm512_cvtepi32_epi16(_mm512_min_epu32(at, last));
        // SAFETY: sixteen numbers of 16 bits are 32 bytes.
        unsafe { _mm256_storeu_si256(place.as_mut_ptr().cast(), at) };
    }
    vectors.len() * 16
}

/// # Safety
/// As [`find`], `L` of 64 bits.
#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
#[expect(clippy::cast_possible_wrap, reason = "bits, and small numbers")]
unsafe fn find64<L: Latent, const STEPS: u32>(
    ranges: &Ranges<L>,
    numbers: &[L],
    found: &mut [u16],
) -> usize {
    let middle = _mm512_set1_epi64(ranges.cells.middle.widen() as i64);
    let (side, least) =
        (_mm512_set1_epi64(ranges.cells.side as i64), _mm512_set1_epi64(1 << ranges.cells.fine));
    let highest = _mm512_set1_epi64(63 - i64::from(ranges.cells.fine));
    let last = _mm256_set1_epi32(ranges.last.into());
    let (fine, ones) = (_mm_cvtsi32_si128(ranges.cells.fine as i32), _mm512_set1_epi64(-1));
    let (vectors, places) = (numbers.as_chunks::<8>().0, found.as_chunks_mut::<8>().0);
    for (x, place) in vectors.iter().zip(places) {
        // SAFETY: eight numbers of 64 bits are 64 bytes.
        let x = unsafe { _mm512_loadu_si512(x.as_ptr().cast()) };
        let left = _mm512_cmplt_epu64_mask(x, middle);
        let distance = _mm512_sub_epi64(x, middle);
        let distance = _mm512_mask_xor_epi64(distance, left, distance, ones);
        let shift = _mm512_sub_epi64(highest, _mm512_lzcnt_epi64(_mm512_or_si512(distance, least)));
        let cell =
            _mm512_add_epi64(_mm512_sll_epi64(shift, fine), _mm512_srlv_epi64(distance, shift));
        let cell = _mm512_mask_xor_epi64(cell, left, cell, ones);
        let cell = _mm512_cvtepi64_epi32(_mm512_add_epi64(cell, side));
        // SAFETY: cells of distances are below `side`, so that these lie in twice as many, each with four bytes from
        // there on.
        let first =
            unsafe { _mm256_i32gather_epi32::<2>(ranges.cells.first.as_ptr().cast(), cell) };
        let mut at = _mm256_and_si256(first, _mm256_set1_epi32(0xffff));
        for step in (0..STEPS).rev() {
            let next = _mm256_add_epi32(at, _mm256_set1_epi32(1 << step));
            // SAFETY: steps lead less than `2^STEPS` behind a range, and the bounds go on for as many.
            let lower = unsafe { _mm512_i32gather_epi64::<8>(next, ranges.lowers.as_ptr().cast()) };
            at = _mm256_mask_mov_epi32(at, _mm512_cmple_epu64_mask(lower, x), next);
        }
        let at = _mm256_cvtepi32_epi16(_mm256_min_epu32(at, last));
        // SAFETY: eight numbers of 16 bits are 16 bytes.
        unsafe { _mm_storeu_si128(place.as_mut_ptr().cast(), at) };
    }
    vectors.len() * 8
}

/// Whether one of whole vectors of 32 or 64 bits lies beyond the limit of its range, and how many numbers those are.
///
/// # Safety
/// As [`find`], and limits of ranges up to `last`.
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
pub(crate) unsafe fn exceed<L: Latent>(
    limits: &[L],
    last: u16,
    numbers: &[L],
    found: &[u16],
) -> (usize, bool) {
    debug_assert!(usize::from(last) < limits.len());
    let mut beyond = 0u16;
    match L::WIDTH {
        32 => {
            let last = _mm512_set1_epi32(last.into());
            let (vectors, places) = (numbers.as_chunks::<16>().0, found.as_chunks::<16>().0);
            for (x, place) in vectors.iter().zip(places) {
                // SAFETY: sixteen numbers of 32 and of 16 bits are 64 and 32 bytes, and there is a limit for each
                // range up to the last.
                unsafe {
                    let x = _mm512_loadu_si512(x.as_ptr().cast());
                    let at = _mm512_cvtepu16_epi32(_mm256_loadu_si256(place.as_ptr().cast()));
                    let at = _mm512_min_epu32(at, last);
                    let limit = _mm512_i32gather_epi32::<4>(at, limits.as_ptr().cast());
                    beyond |= _mm512_cmpgt_epu32_mask(x, limit);
                }
            }
            (vectors.len() * 16, beyond != 0)
        }
        64 => {
            let last = _mm256_set1_epi32(last.into());
            let (vectors, places) = (numbers.as_chunks::<8>().0, found.as_chunks::<8>().0);
            for (x, place) in vectors.iter().zip(places) {
                // SAFETY: eight numbers of 64 and of 16 bits are 64 and 16 bytes, and there is a limit for each range
                // up to the last.
                unsafe {
                    let x = _mm512_loadu_si512(x.as_ptr().cast());
                    let at = _mm256_cvtepu16_epi32(_mm_loadu_si128(place.as_ptr().cast()));
                    let at = _mm256_min_epu32(at, last);
                    let limit = _mm512_i32gather_epi64::<8>(at, limits.as_ptr().cast());
                    beyond |= u16::from(_mm512_cmpgt_epu64_mask(x, limit));
                }
            }
            (vectors.len() * 8, beyond != 0)
        }
        _ => (0, false),
    }
}
