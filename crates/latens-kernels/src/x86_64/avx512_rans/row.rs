//! A row of a group: its slots are found, then its symbols and words taken.

use crate::rans::state::{LANES, ROW_BYTES};
use crate::x86_64::lanes512::{Lanes, WIDTH};

/// Vectors to a group.
pub(super) const VECTORS: usize = LANES / WIDTH;

/// Which [`Classes`](crate::rans::classes::Classes) all groups have.
pub(super) const ONE: u8 = 0;
pub(super) const PER_SYMBOL: u8 = 1;
pub(super) const LEVELS: u8 = 2;
/// Levels of which all columns have the same.
pub(super) const PER_ROW: u8 = 3;

/// Where a group's next row comes from and goes to.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) words: *const u8,
    pub(super) out: *mut u8,
    /// Of a row's symbols, for [`PER_SYMBOL`].
    pub(super) classes: *const u8,
    /// Of a row, for [`LEVELS`] and [`PER_ROW`].
    pub(super) start: *const u16,
}

/// What is the same in all rows.
#[derive(Clone, Copy)]
pub(super) struct Constants<V> {
    pub(super) slots: *const u32,
    pub(super) map: *const u8,
    pub(super) table_bits: u32,
    /// Bytes from a row of symbols to the next one.
    pub(super) step: usize,
    pub(super) bits: V,
    pub(super) mask: V,
    pub(super) lower: V,
    pub(super) nth: V,
    pub(super) second: u64,
}

/// The table of a class.
///
/// # Safety
/// There is one.
#[inline(always)]
pub(super) unsafe fn table<V>(constants: &Constants<V>, class: u8) -> *const u32 {
    // SAFETY: as the caller vouches.
    unsafe { constants.slots.add(usize::from(class) << constants.table_bits) }
}

/// Where the tables of the symbols of row `row` from `place` on begin: in slots, from some of them on.
///
/// # Safety
/// As [`Lanes`] says; there are classes of that row.
#[inline(always)]
pub(super) unsafe fn bases<V: Lanes, const KIND: u8>(
    constants: &Constants<V>,
    fixed: *const u32,
    levels: [V; VECTORS],
    place: &Place,
    row: usize,
) -> (*const u32, [V; VECTORS]) {
    // SAFETY: as the caller vouches; starts leave a window of the map, whose classes all have a table.
    unsafe {
        match KIND {
            PER_SYMBOL => {
                let classes = place.classes.add(row * LANES);
                let each = [0, WIDTH].map(|v| {
                    V::widen_bytes(&*classes.add(v).cast()).shift_left(constants.bits).settled()
                });
                (constants.slots, each)
            }
            LEVELS => {
                let window = &*constants.map.add(usize::from(*place.start.add(row))).cast();
                (
                    constants.slots,
                    levels.map(|levels| levels.look_up(window, constants.second).settled()),
                )
            }
            PER_ROW => {
                // A number and not a vector: nothing of it is done lane by lane.
                let class = *constants.map.add(usize::from(*place.start.add(row)));
                (table(constants, class), [V::splat(0); VECTORS])
            }
            _ => (fixed, [V::splat(0); VECTORS]),
        }
    }
}

/// The numbers of the slots of a row.
///
/// # Safety
/// As [`Lanes`] says.
#[inline(always)]
pub(super) unsafe fn numbers<V: Lanes>(
    constants: &Constants<V>,
    bases: [V; VECTORS],
    states: &[V; VECTORS],
) -> [V; VECTORS] {
    let mut numbers = bases;
    for (x, number) in states.iter().zip(&mut numbers) {
        // SAFETY: as the caller vouches.
        *number = unsafe { x.within_or(constants.mask, *number) };
    }
    numbers
}

/// Puts out the symbols of a row whose slots say `entries`, and goes on to the states of the next one.
///
/// # Safety
/// As [`Lanes`] says; 64 bytes to read from `place.words` on, 32 to write from `place.out` on.
#[inline(always)]
pub(super) unsafe fn take<V: Lanes>(
    constants: &Constants<V>,
    entries: [V; VECTORS],
    states: &mut [V; VECTORS],
    place: &mut Place,
) {
    // SAFETY: as the caller vouches; each vector takes 32 bytes of words at most.
    unsafe {
        for (x, entry) in states.iter_mut().zip(&entries) {
            let product = entry.down::<20>().mul(x.shift_right(constants.bits));
            *x = product.add(entry.and(constants.nth));
        }
        entries[0].store_symbols(entries[1], &mut *place.out.cast());
        // None may follow.
        place.out = place.out.wrapping_add(constants.step);
        for x in states.iter_mut() {
            let to = x.below(constants.lower);
            *x = x.take_words(to, &*place.words.cast()).settled();
            place.words = place.words.add(2 * to.count_ones() as usize);
        }
    }
    const { assert!(ROW_BYTES == 2 * LANES && VECTORS == 2) };
}
