//! NEON kernels of [`crate::rans`]: eight vectors of four states to a group.
//!
//! There is no gather: slots come by loads one by one, and are zipped. Which of eight states take a word makes a
//! mask of eight bits; it leads to a shuffle that brings the next words of the stream, from one load of 16 bytes, to
//! the lanes that take them, and zeros to the others. Portable code becomes a branch on each state's word here,
//! which is as good as random.

use super::neon_rans_slots::{Any, Named, Narrow, Row};
use crate::rans::classes::Classes;
use crate::rans::cursor::Cursor;
use crate::rans::state::{LANES, LOWER, ROW_BYTES};
use crate::rans::tables::{Tables, WideTables};
use std::arch::aarch64::*;

/// Vectors to a group, and pairs of them.
const VECTORS: usize = LANES / 4;
const PAIRS: usize = VECTORS / 2;

/// For each set of eight lanes the bytes of the words that they take, the lowest lane the first word, and how many
/// bytes those are.
struct Deals {
    shuffles: [[u8; 16]; 256],
    bytes: [u8; 256],
}

static DEALS: Deals = {
    let mut all = Deals { shuffles: [[0xff; 16]; 256], bytes: [0; 256] };
    let mut set = 0;
    while set < 256 {
        let mut lane = 0;
        while lane < 8 {
            if set >> lane & 1 == 1 {
                let next = all.bytes[set];
                all.shuffles[set][2 * lane] = next;
                all.shuffles[set][2 * lane + 1] = next + 1;
                all.bytes[set] += 2;
            }
            lane += 1;
        }
        set += 1;
    }
    all
};

/// Whole rows of one group, as long as its words do not run out.
///
/// # Safety
/// Each class of the group has a table, and there are as many classes as symbols.
#[target_feature(enable = "neon")]
pub(crate) unsafe fn rows(tables: Tables<'_>, cursor: &mut Cursor<'_>) {
    let row = Narrow(tables.slots().as_ptr());
    // SAFETY: as the caller vouches.
    unsafe { rows_with(tables.bits(), cursor, row) }
}

/// The same with wide tables.
///
/// # Safety
/// As [`rows`].
#[target_feature(enable = "neon")]
pub(crate) unsafe fn wide_rows(tables: &WideTables, cursor: &mut Cursor<'_>) {
    let (slots, steps) = (tables.slots().as_ptr(), tables.steps().as_ptr());
    // SAFETY: as the caller vouches; every slot is the number of a step.
    unsafe {
        if tables.named() {
            rows_with(tables.bits(), cursor, Named { slots, steps });
        } else {
            rows_with(tables.bits(), cursor, Any { slots, steps });
        }
    }
}

/// Whole rows by `row`; none where classes are by levels, which are written down first: the caller goes on.
///
/// # Safety
/// Needs NEON; as many classes as symbols, each with a table.
#[inline(always)]
unsafe fn rows_with<R: Row>(bits: u32, cursor: &mut Cursor<'_>, row: R) {
    // SAFETY: as the caller vouches.
    unsafe {
        match cursor.classes {
            Classes::One(class) => {
                rows_by(bits, cursor, row.from(usize::from(class) << bits), None);
            }
            Classes::PerSymbol(classes) => rows_by(bits, cursor, row, Some(classes)),
            Classes::Levels(_) => {}
        }
    }
}

/// Whole rows of symbols of one class, whose table `row` begins with, or of those in `classes`.
///
/// # Safety
/// As [`rows_with`].
#[inline(always)]
unsafe fn rows_by<R: Row>(bits: u32, cursor: &mut Cursor<'_>, row: R, classes: Option<&[u8]>) {
    // SAFETY: the caller vouches for NEON and slots. Loads and stores of states are of whole arrays; `safe_rows` has
    // found 64 bytes of words a row, and 32 symbols; there are as many classes.
    unsafe {
        let by = By {
            mask: vdupq_n_u32((1 << bits) - 1),
            up: vdupq_n_s32(bits.cast_signed()),
            down: vdupq_n_s32(-bits.cast_signed()),
        };
        let mut x = [vdupq_n_u32(0); VECTORS];
        for (x, from) in x.iter_mut().zip(cursor.states.as_chunks::<4>().0) {
            *x = vld1q_u32(from.as_ptr());
        }
        loop {
            let rows = cursor.safe_rows();
            if rows == 0 {
                break;
            }
            let start = cursor.words[cursor.read..].as_ptr();
            let mut words = start;
            let (step, out) = (cursor.spacing.step(), cursor.rest().as_mut_ptr());
            for i in 0..rows {
                let classes =
                    classes.map(|classes| classes.as_ptr().add(cursor.written + i * LANES));
                by.row(row, &mut x, &mut words, classes, out.add(i * step));
            }
            cursor.read += words.offset_from_unsigned(start);
            cursor.written += rows * LANES;
        }
        for (x, to) in x.iter().zip(cursor.states.as_chunks_mut::<4>().0) {
            vst1q_u32(to.as_mut_ptr(), *x);
        }
    }
}

/// What all rows are decoded by.
#[derive(Clone, Copy)]
struct By {
    /// The lowest bits of a state.
    mask: uint32x4_t,
    /// How many those are, to shift by.
    up: int32x4_t,
    down: int32x4_t,
}

impl By {
    /// A row.
    ///
    /// # Safety
    /// Needs NEON; 64 bytes to read from words on, 32 to write from `out` on and of classes where there are such, and
    /// slots for all states of the classes of the row.
    #[inline(always)]
    unsafe fn row<R: Row>(
        self,
        row: R,
        x: &mut [uint32x4_t; VECTORS],
        words: &mut *const u8,
        classes: Option<*const u8>,
        out: *mut u8,
    ) {
        // SAFETY: as the caller vouches; each pair moves `words` on by 16 bytes at most.
        unsafe {
            // Written out, as the compiler leaves a loop with states in memory.
            macro_rules! pair {
                ($i:literal) => {{
                    let mut slots = [x[2 * $i], x[2 * $i + 1]].map(|x| vandq_u32(x, self.mask));
                    if let Some(classes) = classes {
                        let eight = vmovl_u8(vld1_u8(classes.add(8 * $i)));
                        let low = vshlq_u32(vmovl_u16(vget_low_u16(eight)), self.up);
                        let high = vshlq_u32(vmovl_high_u16(eight), self.up);
                        slots = [vorrq_u32(slots[0], low), vorrq_u32(slots[1], high)];
                    }
                    let (a, low) = self.four(row, x[2 * $i], slots[0]);
                    let (b, high) = self.four(row, x[2 * $i + 1], slots[1]);
                    [x[2 * $i], x[2 * $i + 1]] = refill(a, b, words);
                    vreinterpretq_u8_u16(vshrn_high_n_u32::<12>(vshrn_n_u32::<12>(low), high))
                }};
            }
            let (a, b) = (pair!(0), pair!(1));
            vst1q_u8(out, vuzp1q_u8(a, b));
            let (a, b) = (pair!(2), pair!(3));
            vst1q_u8(out.add(16), vuzp1q_u8(a, b));
        }
    }

    /// The states that follow four, and the symbols of their slots, in bits 12 to 19.
    ///
    /// # Safety
    /// Needs NEON; such slots.
    #[inline(always)]
    unsafe fn four<R: Row>(
        self,
        row: R,
        x: uint32x4_t,
        slots: uint32x4_t,
    ) -> (uint32x4_t, uint32x4_t) {
        // SAFETY: as the caller vouches.
        unsafe {
            let slots = vreinterpretq_u64_u32(slots);
            let (a, b) = (vgetq_lane_u64::<0>(slots), vgetq_lane_u64::<1>(slots));
            let (found, symbols) = row.four(a, b);
            (row.next(found, self.down, x), symbols)
        }
    }
}

/// Gives words to the states that take one.
///
/// # Safety
/// Needs NEON, and 16 bytes to read from `words` on.
#[inline(always)]
unsafe fn refill(a: uint32x4_t, b: uint32x4_t, words: &mut *const u8) -> [uint32x4_t; 2] {
    const LANE_BITS: [u16; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
    // SAFETY: 16 bytes are there, of which at most those are taken; tables have a line for each set.
    unsafe {
        let lower = vdupq_n_u32(LOWER);
        let (takes_a, takes_b) = (vcltq_u32(a, lower), vcltq_u32(b, lower));
        let takes = vuzp1q_u16(vreinterpretq_u16_u32(takes_a), vreinterpretq_u16_u32(takes_b));
        let set = vaddvq_u16(vandq_u16(takes, vld1q_u16(LANE_BITS.as_ptr())));
        let set = usize::from(set);
        let deal = vld1q_u8(DEALS.shuffles.as_ptr().add(set).cast());
        let dealt = vreinterpretq_u16_u8(vqtbl1q_u8(vld1q_u8(*words), deal));
        *words = words.add((*DEALS.bytes.as_ptr().add(set)).into());
        let sixteen = vdupq_n_u32(16);
        let up = |x: uint32x4_t, takes: uint32x4_t| {
            vshlq_u32(x, vreinterpretq_s32_u32(vandq_u32(takes, sixteen)))
        };
        [vaddw_u16(up(a, takes_a), vget_low_u16(dealt)), vaddw_high_u16(up(b, takes_b), dealt)]
    }
}
const _: () = assert!(ROW_BYTES == 16 * PAIRS);
