//! Tables in registers: numbers of 32 or 64 bits, looked up by permutations of AVX-512.
//!
//! Two registers, a pair, have 32 numbers of 32 bits or 16 of 64, which the low bits of a place name; of
//! several pairs the bits above these name one.

use crate::latent::Latent;
use std::arch::x86_64::*;

/// 1, 2 or 4 pairs of registers.
#[derive(Clone, Copy)]
pub(super) struct Table<const PAIRS: usize>([[__m512i; 2]; PAIRS]);

/// By lane, which of up to four pairs a place is in.
#[derive(Clone, Copy)]
pub(super) struct Pairs {
    /// The second one or the fourth.
    pub(super) odd: u16,
    /// The third one or the fourth.
    pub(super) upper: u16,
}

impl<const PAIRS: usize> Table<PAIRS> {
    /// Numbers of a pair.
    pub(super) const fn in_pair<L: Latent>() -> usize {
        1024 / L::WIDTH as usize
    }

    /// Of numbers of 32 or 64 bits; the last one again and again where there are fewer than places.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn of<L: Latent>(numbers: &[L]) -> Self {
        let mut filled = [numbers.last().copied().unwrap_or_default(); 128];
        let n = numbers.len().min(filled.len());
        filled[..n].copy_from_slice(&numbers[..n]);
        // SAFETY: 128 numbers of 32 bits at least, which fill eight registers.
        Self::each(|i| unsafe {
            _mm512_loadu_si512(filled.as_ptr().cast::<u8>().add(64 * i).cast())
        })
    }

    /// Of low halves, of which there are as many as places.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn of_low_halves(numbers: &[u64]) -> Self {
        assert!(numbers.len() >= 32 * PAIRS, "as many as places");
        Self::each(|i| {
            // SAFETY: sixteen numbers, as just counted.
            let [low, high] = [0, 8].map(|by| unsafe {
                _mm512_cvtepi64_epi32(_mm512_loadu_si512(numbers.as_ptr().add(16 * i + by).cast()))
            });
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
        })
    }

    #[inline(always)]
    fn each(register: impl Fn(usize) -> __m512i) -> Self {
        Self(std::array::from_fn(|pair| [register(2 * pair), register(2 * pair + 1)]))
    }

    /// In which pairs places of 32 bits are.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn pairs_of_32(places: __m512i) -> Pairs {
        if PAIRS == 1 {
            return Pairs { odd: 0, upper: 0 };
        }
        Pairs {
            odd: _mm512_test_epi32_mask(places, _mm512_set1_epi32(32)),
            upper: _mm512_test_epi32_mask(places, _mm512_set1_epi32(64)),
        }
    }

    /// Sixteen numbers of 32 bits, by the low bits of places in these pairs.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn look_up_32(&self, places: __m512i, pairs: Pairs) -> __m512i {
        let pair = |i: usize| {
            let [low, high] = self.0[i % PAIRS];
            _mm512_permutex2var_epi32(low, places, high)
        };
        match PAIRS {
            1 => pair(0),
            2 => _mm512_mask_mov_epi32(pair(0), pairs.odd, pair(1)),
            _ => {
                let low = _mm512_mask_mov_epi32(pair(0), pairs.odd, pair(1));
                let high = _mm512_mask_mov_epi32(pair(2), pairs.odd, pair(3));
                _mm512_mask_mov_epi32(low, pairs.upper, high)
            }
        }
    }

    /// In which pairs places of 64 bits are.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn pairs_of_64(places: __m512i) -> Pairs {
        if PAIRS == 1 {
            return Pairs { odd: 0, upper: 0 };
        }
        Pairs {
            odd: _mm512_test_epi64_mask(places, _mm512_set1_epi64(16)).into(),
            upper: _mm512_test_epi64_mask(places, _mm512_set1_epi64(32)).into(),
        }
    }

    /// Eight numbers of 64 bits, by the low bits of places in these pairs.
    #[inline]
    #[target_feature(enable = "avx512f")]
    #[expect(clippy::cast_possible_truncation, reason = "eight lanes")]
    pub(super) fn look_up_64(&self, places: __m512i, pairs: Pairs) -> __m512i {
        let pair = |i: usize| {
            let [low, high] = self.0[i % PAIRS];
            _mm512_permutex2var_epi64(low, places, high)
        };
        let (odd, upper) = (pairs.odd as u8, pairs.upper as u8);
        match PAIRS {
            1 => pair(0),
            2 => _mm512_mask_mov_epi64(pair(0), odd, pair(1)),
            _ => {
                let low = _mm512_mask_mov_epi64(pair(0), odd, pair(1));
                let high = _mm512_mask_mov_epi64(pair(2), odd, pair(3));
                _mm512_mask_mov_epi64(low, upper, high)
            }
        }
    }
}
