//! AVX-512 kernel of [`crate::taps`]: two products and what they are added to are one instruction.

use crate::taps::column::{Column, LANES};
use std::arch::x86_64::*;

const VECTORS: usize = LANES / 16;
/// Sums kept apart, so that one does not wait for the one before.
const APART: usize = 4;

/// See [`crate::taps::sums`].
///
/// # Safety
/// Needs AVX-512 F and VNNI.
#[target_feature(enable = "avx512f,avx512vnni,avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn sums(weights: &[[i16; 2]], columns: &[Column]) -> [i32; LANES] {
    let count = weights.len().min(columns.len());
    let (weights, rest) = weights[..count].as_chunks::<APART>();
    let (columns, rest_columns) = columns[..count].as_chunks::<APART>();
    let mut sums = [[_mm512_setzero_si512(); VECTORS]; APART];
    for (weights, columns) in weights.iter().zip(columns) {
        for ((sums, weight), column) in sums.iter_mut().zip(weights).zip(columns) {
            add(sums, *weight, column);
        }
    }
    for (weight, column) in rest.iter().zip(rest_columns) {
        add(&mut sums[0], *weight, column);
    }
    let mut out = [0; LANES];
    for (i, to) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let sum = sums.iter().fold(_mm512_setzero_si512(), |a, b| _mm512_add_epi32(a, b[i]));
        // SAFETY: 64 bytes are stored to sixteen numbers of four bytes.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), sum) };
    }
    out
}

#[inline]
#[target_feature(enable = "avx512f,avx512vnni")]
fn add(sums: &mut [__m512i; VECTORS], [w, x]: [i16; 2], column: &Column) {
    let weight = _mm512_set1_epi32(i32::from(w.cast_unsigned()) | i32::from(x) << 16);
    for (sum, lanes) in sums.iter_mut().zip(column.0.as_chunks::<16>().0) {
        // SAFETY: 64 bytes are loaded from sixteen pairs of two bytes each.
        let lanes = unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) };
        *sum = _mm512_dpwssd_epi32(*sum, lanes, weight);
    }
}
