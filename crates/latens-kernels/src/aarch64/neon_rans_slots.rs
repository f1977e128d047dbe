//! What slots of [`crate::rans`] say, four at a time: for each kind of table.

use crate::rans::tables::NTH;
use std::arch::aarch64::*;
use std::arch::asm;

/// How symbols are decoded. Functions that are always inlined: what they hold has to stay in registers.
pub(super) trait Row: Copy {
    /// With slots from so many on.
    ///
    /// # Safety
    /// There are as many.
    unsafe fn from(self, slot: usize) -> Self;

    /// Of slots, whose numbers are the halves of `a` and `b`, in each lane what it says, and its symbol in bits 12 to 19.
    ///
    /// # Safety
    /// Needs NEON; such slots.
    unsafe fn four(self, a: u64, b: u64) -> (uint32x4_t, uint32x4_t);

    /// The states that follow, before words are taken. `bits` are those of a table, to shift down by.
    ///
    /// # Safety
    /// Needs NEON.
    unsafe fn next(self, found: uint32x4_t, bits: int32x4_t, x: uint32x4_t) -> uint32x4_t;
}

/// Slots of all tables.
#[derive(Clone, Copy)]
pub(super) struct Narrow(pub(super) *const u32);

impl Row for Narrow {
    #[inline(always)]
    unsafe fn from(self, slot: usize) -> Self {
        // SAFETY: as the caller vouches.
        Self(unsafe { self.0.add(slot) })
    }

    #[inline(always)]
    unsafe fn four(self, a: u64, b: u64) -> (uint32x4_t, uint32x4_t) {
        // SAFETY: as the caller vouches.
        let found = unsafe { four_words(self.0, [a, a >> 32, b, b >> 32]) };
        (found, found)
    }

    #[inline(always)]
    unsafe fn next(self, found: uint32x4_t, bits: int32x4_t, x: uint32x4_t) -> uint32x4_t {
        // SAFETY: the caller vouches for NEON.
        unsafe {
            let nth = vandq_u32(found, vdupq_n_u32(NTH));
            vmlaq_u32(nth, vshrq_n_u32::<20>(found), vshlq_u32(x, bits))
        }
    }
}

/// Slots of all tables, and the steps that they name, which name their symbols.
#[derive(Clone, Copy)]
pub(super) struct Named {
    pub(super) slots: *const u16,
    pub(super) steps: *const u32,
}

impl Row for Named {
    #[inline(always)]
    unsafe fn from(self, slot: usize) -> Self {
        // SAFETY: as the caller vouches.
        Self { slots: unsafe { self.slots.add(slot) }, ..self }
    }

    #[inline(always)]
    unsafe fn four(self, a: u64, b: u64) -> (uint32x4_t, uint32x4_t) {
        // SAFETY: as the caller vouches.
        let found = unsafe { four_words(self.steps, four_slots(self.slots, a, b)) };
        (found, found)
    }

    #[inline(always)]
    unsafe fn next(self, found: uint32x4_t, bits: int32x4_t, x: uint32x4_t) -> uint32x4_t {
        // SAFETY: the caller vouches for NEON.
        unsafe {
            let nth = vandq_u32(vsubq_u32(x, found), vdupq_n_u32(NTH));
            vmlaq_u32(nth, vshrq_n_u32::<20>(found), vshlq_u32(x, bits))
        }
    }
}

/// The same, with symbols of any frequencies, which slots alone name.
#[derive(Clone, Copy)]
pub(super) struct Any {
    pub(super) slots: *const u16,
    pub(super) steps: *const u32,
}

impl Row for Any {
    #[inline(always)]
    unsafe fn from(self, slot: usize) -> Self {
        // SAFETY: as the caller vouches.
        Self { slots: unsafe { self.slots.add(slot) }, ..self }
    }

    #[inline(always)]
    unsafe fn four(self, a: u64, b: u64) -> (uint32x4_t, uint32x4_t) {
        // SAFETY: as the caller vouches.
        unsafe {
            let slots = four_slots(self.slots, a, b);
            let [p, q, r, s] = slots;
            let two = |p: u64, q: u64| vcreate_u32((p | q << 32) << 12);
            (four_words(self.steps, slots), vcombine_u32(two(p, q), two(r, s)))
        }
    }

    #[inline(always)]
    unsafe fn next(self, found: uint32x4_t, bits: int32x4_t, x: uint32x4_t) -> uint32x4_t {
        // SAFETY: the caller vouches for NEON.
        unsafe {
            let before = vsubq_u32(x, vandq_u32(found, vdupq_n_u32(0xffff)));
            vmlsq_u32(before, vshrq_n_u32::<16>(found), vshlq_u32(x, bits))
        }
    }
}

/// The slots whose numbers are the halves of `a` and `b`.
///
/// # Safety
/// There are such.
#[inline(always)]
unsafe fn four_slots(slots: *const u16, a: u64, b: u64) -> [u64; 4] {
    // SAFETY: as the caller vouches.
    let slot = |i: u64| unsafe { u64::from(*slots.add((i & 0xffff_ffff) as usize)) };
    [slot(a), slot(a >> 32), slot(b), slot(b >> 32)]
}

/// The words of a table whose numbers are the lower halves of these. In assembly, as compilers load all but the first by an instruction that takes an address of
/// its own, and joins by itself.
///
/// # Safety
/// Needs NEON; there are such words.
#[inline(always)]
unsafe fn four_words(words: *const u32, [a, b, c, d]: [u64; 4]) -> uint32x4_t {
    let found;
    // SAFETY: four words are loaded, which are there as the caller vouches.
    unsafe {
        asm!(
            "ldr {p:s}, [{words}, {a:w}, uxtw #2]",
            "ldr {q:s}, [{words}, {b:w}, uxtw #2]",
            "ldr {r:s}, [{words}, {c:w}, uxtw #2]",
            "ldr {s:s}, [{words}, {d:w}, uxtw #2]",
            "zip1 {p:v}.4s, {p:v}.4s, {q:v}.4s",
            "zip1 {r:v}.4s, {r:v}.4s, {s:v}.4s",
            "zip1 {p:v}.2d, {p:v}.2d, {r:v}.2d",
            words = in(reg) words,
            a = in(reg) a,
            b = in(reg) b,
            c = in(reg) c,
            d = in(reg) d,
            p = out(vreg) found,
            q = out(vreg) _,
            r = out(vreg) _,
            s = out(vreg) _,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    found
}
