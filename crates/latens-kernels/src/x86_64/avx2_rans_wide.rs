//! AVX2 kernels of [`crate::rans`] for tables of up to 14 bits: as `avx2_rans`, with two loads a
//! symbol. The first one gives the symbol with its class, which is the place of the second.

use std::arch::x86_64::*;

use crate::rans::cursor::Cursor;
use crate::rans::state::LANES;
use crate::rans::tables::WideTables;
use crate::x86_64::avx2_rans::{Place, Row, VECTORS, refill, rows_with};

/// Whole rows of one group, as long as its words do not run out.
///
/// # Safety
/// Each class of the group has a table, and there are as many classes as symbols.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn rows_1(tables: &WideTables, cursors: &mut [Cursor<'_>; 1]) {
    // SAFETY: as the caller vouches.
    unsafe { rows(tables, cursors) }
}

/// Whole rows of two groups, as long as neither's words or symbols run out.
///
/// # Safety
/// Each class of the groups has a table, and there are as many classes as symbols.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn rows_2(tables: &WideTables, cursors: &mut [Cursor<'_>; 2]) {
    // SAFETY: as the caller vouches.
    unsafe { rows(tables, cursors) }
}

/// # Safety
/// Needs AVX2; classes as above.
#[inline(always)]
unsafe fn rows<const G: usize>(tables: &WideTables, cursors: &mut [Cursor<'_>; G]) {
    let row = Wide { slots: tables.slots().as_ptr(), steps: tables.steps().as_ptr() };
    // SAFETY: as the caller vouches; every slot is the number of a step.
    unsafe { rows_with(tables.bits(), cursors, row) }
}

/// Slots of all tables, and the steps that they name.
#[derive(Clone, Copy)]
struct Wide {
    slots: *const u16,
    steps: *const u32,
}

impl Wide {
    /// The step of a slot, whose symbol goes to `out`.
    ///
    /// # Safety
    /// Needs AVX2; there is such a slot, and a byte to write to.
    #[inline(always)]
    unsafe fn step(self, slot: u64, out: *mut u8) -> __m128i {
        // SAFETY: the caller vouches for slot and byte; every slot is the number of a step.
        unsafe {
            let slot = *self.slots.add((slot & 0xffff_ffff) as usize);
            *out = slot.to_le_bytes()[0];
            _mm_loadu_si32(self.steps.add(usize::from(slot)).cast())
        }
    }

    /// The steps of four slots, whose symbols go to `out`.
    ///
    /// # Safety
    /// Needs AVX2; there are such slots, and four bytes to write to.
    #[inline(always)]
    unsafe fn four(self, slots: __m128i, out: *mut u8) -> __m128i {
        // SAFETY: as the caller vouches.
        unsafe {
            let low = _mm_cvtsi128_si64(slots).cast_unsigned();
            let high = _mm_extract_epi64::<1>(slots).cast_unsigned();
            let (a, b) = (self.step(low, out), self.step(low >> 32, out.add(1)));
            let (c, d) = (self.step(high, out.add(2)), self.step(high >> 32, out.add(3)));
            _mm_unpacklo_epi64(_mm_unpacklo_epi32(a, b), _mm_unpacklo_epi32(c, d))
        }
    }
}

impl Row for Wide {
    #[inline(always)]
    unsafe fn decode(
        self,
        mask: __m256i,
        bits: __m128i,
        base: [__m256i; VECTORS],
        states: &mut [__m256i; VECTORS],
        place: &mut Place,
    ) {
        // SAFETY: slots, steps, words and room for symbols are there as the caller vouches.
        unsafe {
            for (v, (x, base)) in states.iter_mut().zip(base).enumerate() {
                let index = _mm256_or_si256(_mm256_and_si256(*x, mask), base);
                let out = place.out.add(8 * v);
                let low = self.four(_mm256_castsi256_si128(index), out);
                let high = self.four(_mm256_extracti128_si256::<1>(index), out.add(4));
                let found = _mm256_set_m128i(high, low);
                let product =
                    _mm256_mullo_epi32(_mm256_srli_epi32::<16>(found), _mm256_srl_epi32(*x, bits));
                let cumulative = _mm256_and_si256(found, _mm256_set1_epi32(0xffff));
                *x = _mm256_sub_epi32(*x, _mm256_add_epi32(product, cumulative));
            }
            refill(states, place);
            place.out = place.out.add(LANES);
        }
    }
}
