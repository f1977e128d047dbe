//! A page's latents where, less the least bound, they fit words: thirty-two at a time.
//!
//! Widths are summed up within eights by one multiplication, and the eights' sums by distances of one and two.

#![expect(clippy::cast_possible_truncation, reason = "low bits, and halves")]

use crate::latent::Latent;
use crate::tans::pages::{Bounds, PAGES, PageCodes, PageTable, TOGETHER};
use crate::tans::stream::{BATCH, Stream};
use std::arch::x86_64::*;

/// Words of a vector.
const LANES: usize = 32;

/// See [`PageTable::unpack`].
///
/// # Safety
/// As [`unpack`](super::unpack); the table's latents are words, of at most 64 times `PAIRS` symbols.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vnni")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
#[inline(never)]
pub(super) unsafe fn unpack<L: Latent, const PAIRS: usize>(
    table: &PageTable<L>,
    codes: &PageCodes,
    page: usize,
    stream: Stream<'_>,
    least: L,
    dst: &mut [L],
) {
    let (bytes, mut bit) = (stream.bytes.as_ptr(), stream.bit);
    let n = dst.len();
    for (i, dst) in dst.chunks_mut(LANES).enumerate() {
        let two = |of: &[[[u8; TOGETHER]; PAGES]; BATCH / TOGETHER]| {
            let [low, high] = [0, 1].map(|at| of[2 * i + at][page].as_ptr());
            // SAFETY: sixteen bytes each.
            unsafe { _mm256_loadu2_m128i(high.cast(), low.cast()) }
        };
        let mut sum = look_up::<PAIRS>(&table.lowers[0], _mm512_cvtepu8_epi16(two(&codes.symbols)));
        if codes.max_offset_bits > 0 {
            // SAFETY: the caller's promise.
            let offsets = unsafe { offsets(two(&codes.widths), bytes, &mut bit) };
            sum = _mm512_add_epi16(sum, offsets);
        }
        let left = n - LANES * i;
        let are = if left < LANES { (1 << left) - 1 } else { u32::MAX };
        // SAFETY: as many latents as the mask says.
        unsafe { store(dst, sum, least, are) };
    }
}

/// Offsets of 15 bits at most, by their widths.
///
/// # Safety
/// From the byte of bit `bit` on there are 64.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx2")]
#[inline]
unsafe fn offsets(widths: __m256i, bytes: *const u8, bit: &mut usize) -> __m512i {
    const EIGHTS: [u16; LANES] = {
        let mut eights = [0; LANES];
        let mut i = 0;
        while i < LANES {
            eights[i] = (i / 8 * 4) as u16;
            i += 1;
        }
        eights
    };
    let zero = _mm256_setzero_si256();
    let within = _mm256_mullo_epi64(widths, _mm256_set1_epi64x(0x0101_0101_0101_0101));
    let sums = _mm256_sad_epu8(widths, zero);
    let two = _mm256_add_epi64(sums, _mm256_alignr_epi64::<3>(sums, zero));
    let all = _mm256_add_epi64(two, _mm256_alignr_epi64::<2>(two, zero));
    let before = _mm512_castsi256_si512(_mm256_alignr_epi64::<3>(all, zero));
    // SAFETY: 64 bytes.
    let eights = unsafe { _mm512_loadu_si512(EIGHTS.as_ptr().cast()) };
    let ends = _mm512_add_epi16(
        _mm512_add_epi16(_mm512_cvtepu8_epi16(within), _mm512_set1_epi16((*bit % 8) as i16)),
        _mm512_permutexvar_epi16(eights, before),
    );
    // SAFETY: the caller's promise.
    let words = unsafe { _mm512_loadu_si512(bytes.add(*bit / 8).cast()) };
    *bit += _mm_extract_epi64::<1>(_mm256_extracti128_si256::<1>(all)) as usize;
    let word = _mm512_srli_epi16::<4>(ends);
    let top = _mm512_shrdv_epi16(
        _mm512_permutexvar_epi16(_mm512_add_epi16(word, _mm512_set1_epi16(-1)), words),
        _mm512_permutexvar_epi16(word, words),
        ends,
    );
    _mm512_shldv_epi16(_mm512_setzero_si512(), top, _mm512_cvtepu8_epi16(widths))
}

/// The words in places of the first 64 times `PAIRS`.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn look_up<const PAIRS: usize>(bounds: &Bounds, places: __m512i) -> __m512i {
    let at: *const __m512i = bounds.0.as_ptr().cast();
    macro_rules! pair {
        ($i:expr) => {
            // SAFETY: four pairs of registers, aligned as these are.
            unsafe {
                let (low, high) = (at.add(2 * $i), at.add(2 * $i + 1));
                _mm512_permutex2var_epi16(_mm512_load_si512(low), places, _mm512_load_si512(high))
            }
        };
    }
    let bit = |bit: i16| _mm512_test_epi16_mask(places, _mm512_set1_epi16(bit));
    macro_rules! two {
        ($i:expr) => {
            _mm512_mask_mov_epi16(pair!($i), bit(64), pair!($i + 1))
        };
    }
    match PAIRS {
        1 => pair!(0),
        2 => two!(0),
        _ => _mm512_mask_mov_epi16(two!(0), bit(128), two!(2)),
    }
}

/// The words, with `least` added to each.
///
/// # Safety
/// There are as many latents as the mask says, the first ones.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
#[inline]
unsafe fn store<L: Latent>(dst: &mut [L], words: __m512i, least: L, are: __mmask32) {
    let at = dst.as_mut_ptr();
    let low = least.widen();
    macro_rules! quarter {
        ($i:literal) => {
            let wide = _mm512_cvtepu16_epi64(_mm512_extracti32x4_epi32::<$i>(words));
            let wide = _mm512_add_epi64(wide, _mm512_set1_epi64(low.cast_signed()));
            _mm512_mask_storeu_epi64(at.wrapping_add(8 * $i).cast(), (are >> (8 * $i)) as u8, wide);
        };
    }
    macro_rules! half {
        ($i:literal) => {
            let wide = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64::<$i>(words));
            let wide = _mm512_add_epi32(wide, _mm512_set1_epi32(low as i32));
            let are = (are >> (16 * $i)) as u16;
            _mm512_mask_storeu_epi32(at.wrapping_add(16 * $i).cast(), are, wide);
        };
    }
    let narrow = _mm512_add_epi16(words, _mm512_set1_epi16(low as i16));
    // SAFETY: the caller's promise.
    unsafe {
        match L::WIDTH {
            64 => {
                quarter!(0);
                quarter!(1);
                quarter!(2);
                quarter!(3);
            }
            32 => {
                half!(0);
                half!(1);
            }
            // Which of all bytes or words are stored takes longer than all of them.
            16 if are == u32::MAX => _mm512_storeu_si512(at.cast(), narrow),
            16 => _mm512_mask_storeu_epi16(at.cast(), are, narrow),
            _ if are == u32::MAX => _mm256_storeu_si256(at.cast(), _mm512_cvtepi16_epi8(narrow)),
            _ => _mm256_mask_storeu_epi8(at.cast(), are, _mm512_cvtepi16_epi8(narrow)),
        }
    }
}
