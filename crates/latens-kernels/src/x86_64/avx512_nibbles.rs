//! AVX-512 kernel of [`crate::nibbles`]: each bit of 64 symbols is a mask, and what is in four of these, or not, is one
//! symbol.

use crate::nibbles::Counts;
use std::arch::x86_64::*;

/// Symbols of a vector.
pub(crate) const WIDTH: usize = 64;

/// Adds how often each symbol occurs.
///
/// # Safety
/// Needs AVX-512.
#[target_feature(enable = "avx512f,avx512bw,avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn count(vectors: &[[u8; WIDTH]], counts: &mut Counts) {
    for vector in vectors {
        // SAFETY: 64 bytes are loaded from as many.
        let x = unsafe { _mm512_loadu_si512(vector.as_ptr().cast()) };
        let bit = |mask: i8| _mm512_test_epi8_mask(x, _mm512_set1_epi8(mask));
        let (a, b, c, d) = (bit(1), bit(2), bit(4), bit(8));
        let low = [!(a | b), a & !b, b & !a, a & b];
        let high = [!(c | d), c & !d, d & !c, c & d];
        for (counts, high) in counts.as_chunks_mut::<4>().0.iter_mut().zip(high) {
            for (count, low) in counts.iter_mut().zip(low) {
                *count += (low & high).count_ones();
            }
        }
    }
}
