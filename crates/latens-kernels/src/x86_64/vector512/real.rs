//! The operations as instructions.

use std::arch::x86_64::*;

use super::Vector;
use crate::lane::Lane;

/// An instruction for lanes of 32 bits, or the one for 64.
macro_rules! by_lane {
    ($l:ty, $for32:expr, $for64:expr) => {
        // SAFETY: the caller vouches for the instructions; they touch no memory.
        unsafe { if <$l>::BITS == 32 { $for32 } else { $for64 } }
    };
}

/// The lowest `count` bits, all for 64 and more.
#[inline(always)]
fn lowest(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

impl Vector for __m512i {
    #[inline(always)]
    unsafe fn load(bytes: &[u8; 64]) -> Self {
        // SAFETY: the caller vouches for the instruction; 64 bytes are there.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    }
    #[inline(always)]
    unsafe fn load_part(bytes: &[u8]) -> Self {
        let mask = lowest(bytes.len());
        // SAFETY: the caller vouches for the instruction; it reads the bytes of the mask
        // alone, and these are there.
        unsafe { _mm512_maskz_loadu_epi8(mask, bytes.as_ptr().cast()) }
    }
    #[inline(always)]
    unsafe fn store<L: Lane>(self, out: &mut [L]) {
        let size = size_of_val(out);
        if size >= 64 {
            // SAFETY: the caller vouches for the instruction; `out` has the 64 bytes.
            return unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), self) };
        }
        // SAFETY: the caller vouches for the instruction; it writes the bytes of the mask
        // alone, and these are within `out`.
        unsafe { _mm512_mask_storeu_epi8(out.as_mut_ptr().cast(), lowest(size), self) }
    }
    #[inline(always)]
    unsafe fn splat<L: Lane>(x: L) -> Self {
        let x = x.to_signed();
        #[expect(clippy::cast_possible_truncation, reason = "a lane of 32 bits, widened before")]
        let low = x as i32;
        by_lane!(L, _mm512_set1_epi32(low), _mm512_set1_epi64(x))
    }
    #[inline(always)]
    unsafe fn permute_bytes(self, index: Self) -> Self {
        // SAFETY: the caller vouches for the instruction.
        unsafe { _mm512_permutexvar_epi8(index, self) }
    }
    #[inline(always)]
    unsafe fn shift_right<L: Lane>(self, by: Self) -> Self {
        by_lane!(L, _mm512_srlv_epi32(self, by), _mm512_srlv_epi64(self, by))
    }
    #[inline(always)]
    unsafe fn shift_left<L: Lane>(self, by: Self) -> Self {
        by_lane!(L, _mm512_sllv_epi32(self, by), _mm512_sllv_epi64(self, by))
    }
    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        // SAFETY: the caller vouches for the instruction.
        unsafe { _mm512_and_si512(self, other) }
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: the caller vouches for the instruction.
        unsafe { _mm512_or_si512(self, other) }
    }
    #[inline(always)]
    unsafe fn add<L: Lane>(self, other: Self) -> Self {
        by_lane!(L, _mm512_add_epi32(self, other), _mm512_add_epi64(self, other))
    }
    #[inline(always)]
    unsafe fn multiply<L: Lane>(self, other: Self) -> Self {
        by_lane!(L, _mm512_mullo_epi32(self, other), _mm512_mullo_epi64(self, other))
    }
    #[inline(always)]
    unsafe fn take_bits(self, begin: Self) -> Self {
        // SAFETY: the caller vouches for the instruction.
        unsafe { _mm512_multishift_epi64_epi8(begin, self) }
    }
    #[inline(always)]
    unsafe fn sum_bytes(self) -> Self {
        // SAFETY: the caller vouches for the instruction.
        unsafe { _mm512_sad_epu8(self, _mm512_setzero_si512()) }
    }
    #[inline(always)]
    unsafe fn below<L: Lane, const N: usize>(self) -> Self {
        // SAFETY: the caller vouches for the instructions; they touch no memory.
        unsafe {
            match (L::BITS, N) {
                (32, 1) => _mm512_slli_epi64::<32>(self),
                (32, 2) => _mm512_maskz_shuffle_epi32::<0x55>(0xcccc, self),
                (32, 4) => {
                    let third =
                        _mm512_setr_epi32(3, 3, 3, 3, 3, 3, 3, 3, 11, 11, 11, 11, 11, 11, 11, 11);
                    _mm512_maskz_permutexvar_epi32(0xf0f0, third, self)
                }
                (32, _) => _mm512_maskz_permutexvar_epi32(0xff00, _mm512_set1_epi32(7), self),
                (_, 1) => _mm512_bslli_epi128::<8>(self),
                (_, 2) => _mm512_maskz_permutex_epi64::<0x55>(0xcc, self),
                (_, _) => _mm512_maskz_permutexvar_epi64(0xf0, _mm512_set1_epi64(3), self),
            }
        }
    }
    #[inline(always)]
    unsafe fn first<L: Lane>(self) -> L {
        // SAFETY: the caller vouches for the instructions; they touch no memory.
        let low = unsafe { _mm_cvtsi128_si64(_mm512_castsi512_si128(self)) };
        L::truncate(low.cast_unsigned())
    }
    #[inline(always)]
    unsafe fn broadcast_last<L: Lane>(self) -> Self {
        by_lane!(
            L,
            _mm512_permutexvar_epi32(_mm512_set1_epi32(15), self),
            _mm512_permutexvar_epi64(_mm512_set1_epi64(7), self)
        )
    }
}
