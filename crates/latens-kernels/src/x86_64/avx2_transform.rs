//! AVX2 kernel of [`crate::transform`]: a lane is a vector.

use crate::transform::{Block, Kind, Lane, SIDE, forward_of, inverse_of};
use std::arch::x86_64::*;

/// See [`crate::transform::forward`].
///
/// # Safety
/// Needs AVX2.
#[target_feature(enable = "avx2")]
pub(crate) unsafe fn forward(kind: Kind, block: &mut Block) {
    // SAFETY: the caller's promise.
    unsafe { forward_of::<__m256i>(kind, block) }
}

/// See [`crate::transform::inverse`].
///
/// # Safety
/// Needs AVX2.
#[target_feature(enable = "avx2")]
pub(crate) unsafe fn inverse(kind: Kind, block: &mut Block) {
    // SAFETY: the caller's promise.
    unsafe { inverse_of::<__m256i>(kind, block) }
}

/// Where the lower bytes of each number are, in halves of a vector.
const LOW: [u8; 16] = [0, 1, 4, 5, 8, 9, 12, 13, 128, 128, 128, 128, 128, 128, 128, 128];

impl Lane for __m256i {
    #[inline(always)]
    unsafe fn of(row: &[i16; SIDE]) -> Self {
        // SAFETY: the caller's promise; 16 bytes are loaded from eight numbers of two.
        unsafe { _mm256_cvtepi16_epi32(_mm_loadu_si128(row.as_ptr().cast())) }
    }

    #[inline(always)]
    unsafe fn put(self, row: &mut [i16; SIDE]) {
        // SAFETY: the caller's promise; 16 bytes are loaded from a constant of as many, and stored to eight numbers
        // of two.
        unsafe {
            let low = _mm256_broadcastsi128_si256(_mm_loadu_si128(LOW.as_ptr().cast()));
            let halves = _mm256_shuffle_epi8(self, low);
            let both = _mm256_permute4x64_epi64::<0b10_00>(halves);
            _mm_storeu_si128(row.as_mut_ptr().cast(), _mm256_castsi256_si128(both));
        }
    }

    #[inline(always)]
    unsafe fn scaled(self, k: i32) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let product = _mm256_mullo_epi32(self, _mm256_set1_epi32(k));
            _mm256_srai_epi32::<10>(_mm256_add_epi32(product, _mm256_set1_epi32(512)))
        }
    }

    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm256_add_epi32(self, other) }
    }

    #[inline(always)]
    unsafe fn minus(self, other: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm256_sub_epi32(self, other) }
    }

    #[inline(always)]
    unsafe fn negated(self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { _mm256_sub_epi32(_mm256_setzero_si256(), self) }
    }

    #[inline(always)]
    unsafe fn transposed(x: [Self; SIDE]) -> [Self; SIDE] {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b, c, d, e, f, g, h] = x;
            // Pairs, then fours of each half, then the halves.
            let (ab, cd) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
            let (ef, gh) = (_mm256_unpacklo_epi32(e, f), _mm256_unpacklo_epi32(g, h));
            let (ij, kl) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
            let (mn, op) = (_mm256_unpackhi_epi32(e, f), _mm256_unpackhi_epi32(g, h));
            let first = [
                _mm256_unpacklo_epi64(ab, cd),
                _mm256_unpackhi_epi64(ab, cd),
                _mm256_unpacklo_epi64(ij, kl),
                _mm256_unpackhi_epi64(ij, kl),
            ];
            let second = [
                _mm256_unpacklo_epi64(ef, gh),
                _mm256_unpackhi_epi64(ef, gh),
                _mm256_unpacklo_epi64(mn, op),
                _mm256_unpackhi_epi64(mn, op),
            ];
            let low = |i: usize| _mm256_permute2x128_si256::<0x20>(first[i], second[i]);
            let high = |i: usize| _mm256_permute2x128_si256::<0x31>(first[i], second[i]);
            [low(0), low(1), low(2), low(3), high(0), high(1), high(2), high(3)]
        }
    }
}
