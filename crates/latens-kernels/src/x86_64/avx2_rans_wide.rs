//! AVX2 kernels of [`crate::rans`] for tables of up to 14 bits: as `avx2_rans`, with two loads a
//! symbol. The first one gives the symbol with its class, which is the place of the second.

use std::arch::x86_64::*;

use crate::rans::cursor::Cursor;
use crate::rans::tables::{NTH, WideTables};
use crate::x86_64::avx2_rans::{Row, rows_with};

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
    let (slots, steps) = (tables.slots().as_ptr(), tables.steps().as_ptr());
    // SAFETY: as the caller vouches; every slot is the number of a step.
    unsafe {
        match (tables.named(), tables.bits()) {
            // What tables of pairs have.
            (true, 13) => rows_with(13, cursors, Wide::<13> { slots, steps }),
            (true, bits) => rows_with(bits, cursors, Wide::<0> { slots, steps }),
            (false, bits) => rows_with(bits, cursors, Any { slots, steps }),
        }
    }
}

/// Slots of all tables, and the steps that they name, which name their symbols.
#[derive(Clone, Copy)]
struct Wide<const BITS: u32> {
    slots: *const u16,
    steps: *const u32,
}

/// The same, with symbols of any frequencies, which slots alone name.
#[derive(Clone, Copy)]
struct Any {
    slots: *const u16,
    steps: *const u32,
}

impl Any {
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
}

impl Row for Any {
    const BITS: u32 = 0;
    const WRITES: bool = true;

    #[inline(always)]
    unsafe fn four(self, a: u64, b: u64, out: *mut u8) -> __m128i {
        // SAFETY: as the caller vouches.
        unsafe {
            let (p, q) = (self.step(a, out), self.step(a >> 32, out.add(1)));
            let (r, s) = (self.step(b, out.add(2)), self.step(b >> 32, out.add(3)));
            _mm_unpacklo_epi64(_mm_unpacklo_epi32(p, q), _mm_unpacklo_epi32(r, s))
        }
    }

    #[inline(always)]
    unsafe fn next(self, step: __m256i, bits: __m128i, x: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let product =
                _mm256_mullo_epi32(_mm256_srli_epi32::<16>(step), _mm256_srl_epi32(x, bits));
            let before = _mm256_and_si256(step, _mm256_set1_epi32(0xffff));
            _mm256_sub_epi32(x, _mm256_add_epi32(product, before))
        }
    }
}

impl<const BITS: u32> Row for Wide<BITS> {
    const BITS: u32 = BITS;

    #[inline(always)]
    unsafe fn four(self, a: u64, b: u64, _: *mut u8) -> __m128i {
        // SAFETY: as the caller vouches.
        unsafe { four(self.slots, self.steps, a, b) }
    }

    #[inline(always)]
    unsafe fn next(self, step: __m256i, bits: __m128i, x: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let product =
                _mm256_mullo_epi32(_mm256_srli_epi32::<20>(step), _mm256_srl_epi32(x, bits));
            let nth = _mm256_set1_epi32(NTH.cast_signed());
            _mm256_add_epi32(product, _mm256_and_si256(_mm256_sub_epi32(x, step), nth))
        }
    }
}

/// The steps of four slots, whose numbers are the halves of `a` and `b`; in assembly as in `avx2_rans`.
///
/// # Safety
/// Needs AVX, and such slots.
#[inline(always)]
unsafe fn four(slots: *const u16, steps: *const u32, a: u64, b: u64) -> __m128i {
    let found;
    // SAFETY: four slots are loaded, which are there as the caller vouches, and the steps whose numbers they are.
    unsafe {
        std::arch::asm!(
            "mov {i:e}, {a:e}",
            "shr {a}, 32",
            "movzx {i:e}, word ptr [{slots} + 2 * {i}]",
            "movzx {a:e}, word ptr [{slots} + 2 * {a}]",
            "vmovd {found}, dword ptr [{steps} + 4 * {i}]",
            "mov {i:e}, {b:e}",
            "shr {b}, 32",
            "vpinsrd {found}, {found}, dword ptr [{steps} + 4 * {a}], 1",
            "movzx {i:e}, word ptr [{slots} + 2 * {i}]",
            "movzx {b:e}, word ptr [{slots} + 2 * {b}]",
            "vpinsrd {found}, {found}, dword ptr [{steps} + 4 * {i}], 2",
            "vpinsrd {found}, {found}, dword ptr [{steps} + 4 * {b}], 3",
            slots = in(reg) slots,
            steps = in(reg) steps,
            a = inout(reg) a => _,
            b = inout(reg) b => _,
            i = out(reg) _,
            found = out(xmm_reg) found,
            options(pure, readonly, nostack),
        );
    }
    found
}
