//! AVX-512 kernel of [`crate::strips`]: a byte has a bit for each of eight symbols, of which one is set, and bits at the
//! same place of many rows are added up by full adders, 512 at a time.

use crate::nibbles::Counts;
use crate::strips::Columns;
use std::arch::x86_64::*;
use std::sync::OnceLock;

/// Rows that are added up at a time, at most: what eight bits hold, in eights.
const ROWS: usize = 248;
const BITS: usize = 8;

/// Whether this processor has what is not in all that have AVX-512.
pub(crate) fn is_available() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| {
        is_x86_feature_detected!("gfni") && is_x86_feature_detected!("avx512vpopcntdq")
    })
}

/// Adds how often each symbol occurs.
///
/// # Safety
/// Needs AVX-512 and what [`is_available`] says; each of `starts` has `width` symbols, 64 at most.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vpopcntdq,gfni")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn count(
    symbols: &[u8],
    starts: &[u32],
    width: usize,
    columns: &[Columns],
    counts: &mut [Counts; 256],
) {
    let lanes = if width == 0 { 0 } else { u64::MAX >> (64 - width.min(64)) };
    for starts in starts.chunks(ROWS) {
        // SAFETY: as promised.
        let sums = unsafe { add_up(symbols, starts, lanes) };
        let bits = (usize::BITS - starts.len().leading_zeros()) as usize;
        let mut turned = [[_mm512_setzero_si512(); 2]; BITS];
        for (turned, sums) in turned.iter_mut().zip(&sums).take(bits) {
            *turned = sums.map(|sum| by_symbol(sum));
        }
        for columns in columns {
            // The bits of a byte are in reverse order.
            let mask = (columns.mask & lanes).reverse_bits().swap_bytes().cast_signed();
            let mask = _mm512_set1_epi64(mask);
            let mut all = [_mm512_setzero_si512(); 2];
            for turned in turned[..bits.min(BITS)].iter().rev() {
                for (all, &turned) in all.iter_mut().zip(turned) {
                    let more = _mm512_popcnt_epi64(_mm512_and_si512(turned, mask));
                    *all = _mm512_add_epi64(_mm512_add_epi64(*all, *all), more);
                }
            }
            let [low, high] = all.map(|all| _mm512_cvtepi64_epi32(all));
            let all = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high);
            let counts = counts[usize::from(columns.sum)].as_mut_ptr();
            // SAFETY: sixteen counts are loaded from as many, and stored there.
            unsafe {
                let before = _mm512_loadu_si512(counts.cast());
                _mm512_storeu_si512(counts.cast(), _mm512_add_epi32(before, all));
            }
        }
    }
}

/// Bit `i` of how often symbols occur in each column, for symbols below 8 and others: a byte a column, a bit a symbol.
///
/// # Safety
/// As [`count`], of the columns in `lanes`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn add_up(symbols: &[u8], starts: &[u32], lanes: u64) -> [[__m512i; 2]; BITS] {
    let bits = i64::from_le_bytes([1, 2, 4, 8, 16, 32, 64, 128]);
    let low = _mm512_broadcast_i32x4(_mm_set_epi64x(0, bits));
    let high = _mm512_broadcast_i32x4(_mm_set_epi64x(bits, 0));
    let mut sums = [[_mm512_setzero_si512(); 2]; BITS];
    for starts in starts.chunks(8) {
        // What is above 127 is no symbol.
        let mut rows = [_mm512_set1_epi8(-1); 8];
        for (row, &start) in rows.iter_mut().zip(starts) {
            // SAFETY: the lanes that are loaded are in `symbols`.
            *row = unsafe {
                _mm512_maskz_loadu_epi8(lanes, symbols.as_ptr().add(start as usize).cast())
            };
        }
        for (half, table) in [low, high].into_iter().enumerate() {
            let x = rows.map(|row| _mm512_shuffle_epi8(table, row));
            let mut sum = |bit: usize, a: __m512i, b: __m512i| {
                let sum = &mut sums[bit][half];
                let carry = _mm512_ternarylogic_epi64::<0xe8>(*sum, a, b);
                *sum = _mm512_ternarylogic_epi64::<0x96>(*sum, a, b);
                carry
            };
            let (a, b) = (sum(0, x[0], x[1]), sum(0, x[2], x[3]));
            let (c, d) = (sum(0, x[4], x[5]), sum(0, x[6], x[7]));
            let (a, b) = (sum(1, a, b), sum(1, c, d));
            let mut carry = sum(2, a, b);
            for sums in &mut sums[3..] {
                let sum = &mut sums[half];
                (*sum, carry) = (_mm512_xor_si512(*sum, carry), _mm512_and_si512(*sum, carry));
            }
        }
    }
    sums
}

/// The bits of each symbol in a number of its own, those of the columns of a byte in reverse order.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi,gfni")]
fn by_symbol(sum: __m512i) -> __m512i {
    // Byte i has bit i set: what it is multiplied with turns bits of columns into columns of bits.
    let diagonal = _mm512_set1_epi64(i64::from_le_bytes([1, 2, 4, 8, 16, 32, 64, 128]));
    let turned = _mm512_gf2p8affine_epi64_epi8::<0>(diagonal, sum);
    _mm512_permutexvar_epi8(transposed(), turned)
}

/// Places of bytes of eight words of eight, by byte and then by word.
#[inline]
#[target_feature(enable = "avx512f")]
fn transposed() -> __m512i {
    const PLACES: [u8; 64] = {
        let mut places = [0; 64];
        let mut i = 0u8;
        while i < 64 {
            places[i as usize] = i % 8 * 8 + i / 8;
            i += 1;
        }
        places
    };
    // SAFETY: 64 bytes are loaded from as many.
    unsafe { _mm512_loadu_si512(PLACES.as_ptr().cast()) }
}
