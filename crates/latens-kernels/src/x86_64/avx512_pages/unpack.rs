//! A page's latents out of its symbols and the widths of its offsets.
//!
//! Sixteen codes at a time; from sixteen to sixteen only a general register's sum of widths is waited for.

#![expect(clippy::cast_possible_truncation, reason = "low bits, and halves")]

use crate::latent::Latent;
use crate::tans::pages::{Bounds, Kind, PageCodes, PageTable, SHORT_BITS, TOGETHER};
use crate::tans::stream::Stream;
use crate::x86_64::avx512_pages::offsets::{short_offsets, total, wide_offsets};
use crate::x86_64::avx512_pages::words;
use crate::x86_64::avx512_tans::lanes;
use std::arch::x86_64::*;

/// See [`PageTable::unpack`].
///
/// # Safety
/// For all offsets there are bytes, and 64 more.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vnni")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn unpack<L: Latent>(
    table: &PageTable<L>,
    codes: &PageCodes,
    page: usize,
    stream: Stream<'_>,
    least: L,
    dst: &mut [L],
) {
    macro_rules! run {
        ($kind:ident) => {{
            const KIND: u8 = Kind::$kind as u8;
            match table.slots.symbol_count {
                ..=32 => sixteens::<L, KIND, 1>(table, codes, page, stream, least, dst),
                33..=64 => sixteens::<L, KIND, 2>(table, codes, page, stream, least, dst),
                65..=128 => sixteens::<L, KIND, 4>(table, codes, page, stream, least, dst),
                _ => sixteens::<L, KIND, 8>(table, codes, page, stream, least, dst),
            }
        }};
    }
    // SAFETY: the caller's promise.
    unsafe {
        match (table.kind, L::WIDTH) {
            (Kind::Words, _) => match table.slots.symbol_count {
                ..=64 => words::unpack::<L, 1>(table, codes, page, stream, least, dst),
                65..=128 => words::unpack::<L, 2>(table, codes, page, stream, least, dst),
                _ => words::unpack::<L, 4>(table, codes, page, stream, least, dst),
            },
            (Kind::Bounds, 32 | 64) => run!(Bounds),
            (Kind::Short, 32 | 64) => run!(Short),
            (Kind::Near, 32 | 64) => run!(Near),
            (Kind::Far, 64) => run!(Far),
            _ => unreachable!("no such latents"),
        }
    }
}

/// # Safety
/// As [`unpack`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vnni")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
#[inline(never)]
unsafe fn sixteens<L: Latent, const KIND: u8, const PAIRS: usize>(
    table: &PageTable<L>,
    codes: &PageCodes,
    page: usize,
    stream: Stream<'_>,
    least: L,
    dst: &mut [L],
) {
    const BOUNDS: u8 = Kind::Bounds as u8;
    const SHORT: u8 = Kind::Short as u8;
    let least = match L::WIDTH {
        64 => _mm512_set1_epi64(least.widen().cast_signed()),
        _ => _mm512_set1_epi32(least.widen() as i32),
    };
    let is_short = codes.max_offset_bits <= SHORT_BITS;
    let mut bit = stream.bit;
    let n = dst.len();
    for (i, dst) in dst.chunks_mut(TOGETHER).enumerate() {
        let (symbols, widths) = (&codes.symbols[i][page], &codes.widths[i][page]);
        let width_bytes = widths.as_ptr();
        // SAFETY: sixteen bytes each.
        let (symbols, widths) = unsafe {
            (_mm_loadu_si128(symbols.as_ptr().cast()), _mm_loadu_si128(width_bytes.cast()))
        };
        let places = _mm512_cvtepu8_epi32(symbols);
        let low = look_up::<PAIRS>(&table.lowers[0], places);
        let are = if n - TOGETHER * i >= TOGETHER { 0xffff } else { lanes(n % TOGETHER) };
        if KIND == BOUNDS || KIND == SHORT {
            let mut sum = low;
            if KIND != BOUNDS {
                // SAFETY: the caller's promise.
                let offsets = unsafe { short_offsets(width_bytes, stream.bytes.as_ptr(), bit) };
                sum = _mm512_add_epi32(low, offsets);
                bit += total(widths);
            }
            if L::WIDTH == 64 {
                let [low, high] = widened(sum);
                let (low, high) = (_mm512_add_epi64(low, least), _mm512_add_epi64(high, least));
                // SAFETY: as many latents as the mask says.
                unsafe { store_wide(dst, [low, high], are) };
            } else {
                // SAFETY: as many latents as the mask says.
                unsafe { store(dst, _mm512_add_epi32(sum, least), are) };
            }
            continue;
        }
        let lowers = if KIND == Kind::Far as u8 {
            let high = look_up::<PAIRS>(&table.lowers[1], places);
            let first = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
            let second = _mm512_add_epi32(first, _mm512_set1_epi32(8));
            [
                _mm512_permutex2var_epi32(low, first, high),
                _mm512_permutex2var_epi32(low, second, high),
            ]
        } else {
            widened(low)
        };
        let offsets = if is_short {
            // SAFETY: the caller's promise.
            let offsets = unsafe { short_offsets(width_bytes, stream.bytes.as_ptr(), bit) };
            bit += total(widths);
            widened(offsets)
        } else {
            let sums = _mm_sad_epu8(widths, _mm_setzero_si128());
            let begin = bit + _mm_cvtsi128_si64(sums) as usize;
            // SAFETY: the caller's promise.
            let offsets = unsafe {
                [
                    wide_offsets(width_bytes, stream.bytes.as_ptr(), bit),
                    wide_offsets(width_bytes.wrapping_add(8), stream.bytes.as_ptr(), begin),
                ]
            };
            bit = begin + _mm_extract_epi64::<1>(sums) as usize;
            offsets
        };
        // By hand: what is handed to a function of the standard library is not always inlined.
        let first = _mm512_add_epi64(lowers[0], offsets[0]);
        let second = _mm512_add_epi64(lowers[1], offsets[1]);
        if L::WIDTH == 64 {
            let wide = [_mm512_add_epi64(first, least), _mm512_add_epi64(second, least)];
            // SAFETY: as many latents as the mask says.
            unsafe { store_wide(dst, wide, are) };
        } else {
            let (low, high) = (_mm512_cvtepi64_epi32(first), _mm512_cvtepi64_epi32(second));
            let both = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high);
            // SAFETY: as many latents as the mask says.
            unsafe { store(dst, _mm512_add_epi32(both, least), are) };
        }
    }
}

/// The numbers in sixteen places of the first 32 times `PAIRS`.
#[target_feature(enable = "avx512f")]
#[inline]
fn look_up<const PAIRS: usize>(bounds: &Bounds, places: __m512i) -> __m512i {
    let at: *const __m512i = bounds.0.as_ptr().cast();
    macro_rules! pair {
        ($i:expr) => {
            // SAFETY: eight pairs of registers, aligned as these are.
            unsafe {
                let (low, high) = (at.add(2 * ($i % 8)), at.add(2 * ($i % 8) + 1));
                _mm512_permutex2var_epi32(_mm512_load_si512(low), places, _mm512_load_si512(high))
            }
        };
    }
    let bit = |bit: i32| _mm512_test_epi32_mask(places, _mm512_set1_epi32(bit));
    macro_rules! two {
        ($i:expr) => {
            _mm512_mask_mov_epi32(pair!($i), bit(32), pair!($i + 1))
        };
    }
    macro_rules! four {
        ($i:expr) => {
            _mm512_mask_mov_epi32(two!($i), bit(64), two!($i + 2))
        };
    }
    match PAIRS {
        1 => pair!(0),
        2 => two!(0),
        4 => four!(0),
        _ => _mm512_mask_mov_epi32(four!(0), bit(128), four!(4)),
    }
}

/// In lanes of 64 bits.
#[target_feature(enable = "avx512f")]
#[inline]
fn widened(x: __m512i) -> [__m512i; 2] {
    let high = _mm512_extracti64x4_epi64::<1>(x);
    [_mm512_cvtepu32_epi64(_mm512_castsi512_si256(x)), _mm512_cvtepu32_epi64(high)]
}

/// Latents of 64 bits.
///
/// # Safety
/// There are as many as the mask says, the first ones.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn store_wide<L: Latent>(dst: &mut [L], [low, high]: [__m512i; 2], are: __mmask16) {
    let at = dst.as_mut_ptr().cast::<i64>();
    let [first, second] = are.to_le_bytes();
    // SAFETY: the caller's promise.
    unsafe {
        _mm512_mask_storeu_epi64(at, first, low);
        _mm512_mask_storeu_epi64(at.wrapping_add(8), second, high);
    }
}

/// Latents of 32 bits.
///
/// # Safety
/// There are as many as the mask says, the first ones.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn store<L: Latent>(dst: &mut [L], x: __m512i, are: __mmask16) {
    // SAFETY: the caller's promise.
    unsafe { _mm512_mask_storeu_epi32(dst.as_mut_ptr().cast(), are, x) };
}
