//! AVX-512 kernels of [`crate::ranges`] where lower bounds fit in registers: a halving search by permutations.

use crate::latent::Latent;
use crate::x86_64::registers512::{Pairs, Table};
use std::arch::x86_64::*;

/// Most ranges of numbers of 32 or 64 bits.
pub(crate) const fn most<L: Latent>() -> usize {
    4 * Table::<4>::in_pair::<L>()
}

/// `$body` for the vectors' length of numbers and as many pairs of registers as `$table` takes.
macro_rules! by_pairs {
    ($table:expr, $body:ident($($argument:expr),*)) => {
        match (L::WIDTH, $table.len().div_ceil(Table::<1>::in_pair::<L>())) {
            (32, 0..=1) => $body::<L, 16, 1>($($argument),*),
            (32, 2) => $body::<L, 16, 2>($($argument),*),
            (32, 3..=4) => $body::<L, 16, 4>($($argument),*),
            (64, 0..=1) => $body::<L, 8, 1>($($argument),*),
            (64, 2) => $body::<L, 8, 2>($($argument),*),
            (64, 3..=4) => $body::<L, 8, 4>($($argument),*),
            _ => panic!("few ranges of 32 or 64 bits"),
        }
    };
}

/// Finds the ranges of numbers of 32 or 64 bits, as [`crate::ranges::Ranges::find`].
///
/// # Panics
/// Where there are more than [`most`] ranges, or numbers of fewer bits.
///
/// # Safety
/// Needs AVX-512 as [`crate::dispatch::Simd::Avx512`] has it.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn find<L: Latent>(lowers: &[L], numbers: &[L], found: &mut [u16]) {
    by_pairs!(lowers, find_by(lowers, numbers, found));
}

/// Whether a number lies beyond the limit of its range, as [`crate::ranges::Ranges::exceed`].
///
/// # Panics
/// As [`find`].
///
/// # Safety
/// As [`find`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn exceed<L: Latent>(limits: &[L], numbers: &[L], found: &[u16]) -> bool {
    by_pairs!(limits, exceed_by(limits, numbers, found))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,bmi2,popcnt")]
fn find_by<L: Latent, const N: usize, const PAIRS: usize>(
    lowers: &[L],
    numbers: &[L],
    found: &mut [u16],
) {
    let search = Search::<PAIRS>::of(lowers);
    let (vectors, last) = numbers.as_chunks::<N>();
    let (places, last_places) = found.as_chunks_mut::<N>();
    for (x, places) in vectors.iter().zip(places) {
        search.find(x, places);
    }
    if !last.is_empty() {
        let (mut x, mut places) = ([L::default(); N], [0; N]);
        x[..last.len()].copy_from_slice(last);
        search.find(&x, &mut places);
        last_places.copy_from_slice(&places[..last.len()]);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,bmi2,popcnt")]
fn exceed_by<L: Latent, const N: usize, const PAIRS: usize>(
    limits: &[L],
    numbers: &[L],
    found: &[u16],
) -> bool {
    let table = Table::<PAIRS>::of(limits);
    let (vectors, last) = numbers.as_chunks::<N>();
    let (places, last_places) = found.as_chunks::<N>();
    let mut beyond = 0;
    for (x, places) in vectors.iter().zip(places) {
        // SAFETY: sixteen numbers of 32 bits or eight of 64, and as many of 16.
        beyond |= unsafe {
            let x = _mm512_loadu_si512(x.as_ptr().cast());
            if N == 16 {
                let at = _mm512_cvtepu16_epi32(_mm256_loadu_si256(places.as_ptr().cast()));
                let limit = table.look_up_32(at, Table::<PAIRS>::pairs_of_32(at));
                _mm512_cmpgt_epu32_mask(x, limit)
            } else {
                let at = _mm512_cvtepu16_epi64(_mm_loadu_si128(places.as_ptr().cast()));
                let limit = table.look_up_64(at, Table::<PAIRS>::pairs_of_64(at));
                _mm512_cmpgt_epu64_mask(x, limit).into()
            }
        };
    }
    let is_beyond = |(&x, &at): (&L, &u16)| x > limits[usize::from(at)];
    beyond != 0 || last.iter().zip(last_places).any(is_beyond)
}

/// Lower bounds, and those that the second pair of registers begins with, the third, the fourth.
struct Search<const PAIRS: usize> {
    lowers: Table<PAIRS>,
    firsts: [__m512i; 3],
    last: __m512i,
}

impl<const PAIRS: usize> Search<PAIRS> {
    #[inline]
    #[target_feature(enable = "avx512f")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "bits")]
    fn of<L: Latent>(lowers: &[L]) -> Self {
        let splat = |x: u64| {
            if L::WIDTH == 64 { _mm512_set1_epi64(x as i64) } else { _mm512_set1_epi32(x as i32) }
        };
        // Places behind the last range hold its bound, or are led to by the greatest of all numbers: what is
        // found there is in the last range.
        let first = |pair: usize| {
            let lower = lowers.get(pair * Table::<1>::in_pair::<L>());
            splat(lower.map_or(u64::MAX, |lower| lower.widen()))
        };
        Self {
            lowers: Table::of(lowers),
            firsts: [first(1), first(2), first(3)],
            last: splat(lowers.len().saturating_sub(1) as u64),
        }
    }

    /// The ranges of sixteen numbers of 32 bits or eight of 64.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn find<L: Latent, const N: usize>(&self, x: &[L; N], places: &mut [u16; N]) {
        // SAFETY: 64 bytes are loaded, and `N` numbers of 16 bits stored.
        unsafe {
            let x = _mm512_loadu_si512(x.as_ptr().cast());
            if N == 16 {
                let at = _mm512_min_epu32(self.find_32(x), self.last);
                _mm256_storeu_si256(places.as_mut_ptr().cast(), _mm512_cvtepi32_epi16(at));
            } else {
                let at = _mm512_min_epu64(self.find_64(x), self.last);
                _mm_storeu_si128(places.as_mut_ptr().cast(), _mm512_cvtepi64_epi16(at));
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn find_32(&self, x: __m512i) -> __m512i {
        let [second, third, fourth] = self.firsts;
        let upper = if PAIRS == 4 { _mm512_cmple_epu32_mask(third, x) } else { 0 };
        let odd = match PAIRS {
            1 => 0,
            2 => _mm512_cmple_epu32_mask(second, x),
            _ => _mm512_cmple_epu32_mask(_mm512_mask_mov_epi32(second, upper, fourth), x),
        };
        let mut at = _mm512_maskz_set1_epi32(upper, 64);
        at = _mm512_mask_or_epi32(at, odd, at, _mm512_set1_epi32(32));
        for step in [16, 8, 4, 2, 1] {
            let next = _mm512_or_si512(at, _mm512_set1_epi32(step));
            let lower = self.lowers.look_up_32(next, Pairs { odd, upper });
            at = _mm512_mask_mov_epi32(at, _mm512_cmple_epu32_mask(lower, x), next);
        }
        at
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn find_64(&self, x: __m512i) -> __m512i {
        let [second, third, fourth] = self.firsts;
        let upper = if PAIRS == 4 { _mm512_cmple_epu64_mask(third, x) } else { 0 };
        let odd = match PAIRS {
            1 => 0,
            2 => _mm512_cmple_epu64_mask(second, x),
            _ => _mm512_cmple_epu64_mask(_mm512_mask_mov_epi64(second, upper, fourth), x),
        };
        let mut at = _mm512_maskz_set1_epi64(upper, 32);
        at = _mm512_mask_or_epi64(at, odd, at, _mm512_set1_epi64(16));
        for step in [8, 4, 2, 1] {
            let next = _mm512_or_si512(at, _mm512_set1_epi64(step));
            let pairs = Pairs { odd: odd.into(), upper: upper.into() };
            let lower = self.lowers.look_up_64(next, pairs);
            at = _mm512_mask_mov_epi64(at, _mm512_cmple_epu64_mask(lower, x), next);
        }
        at
    }
}
