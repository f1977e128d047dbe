//! Where the fields of a group of eight lie, by width: what the kernels shuffle and shift by.

use super::group::{GROUP, QUADS, SHORT, SINGLE};

/// How fields of one width lie in the windows of a group, in their order.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Places<const VECTORS: usize> {
    /// For each lane the bytes it takes from its window.
    pub(super) shuffle: [[u8; 32]; VECTORS],
    /// For each lane the one byte more, where it is needed (0x80: not).
    pub(super) ninth: [[u8; 32]; VECTORS],
    /// For each lane, as 4 or 8 bytes: shift right by this.
    pub(super) right: [[u8; 32]; VECTORS],
    /// For each lane: shift the one byte more left by this.
    pub(super) left: [[u8; 32]; VECTORS],
    /// Where the windows begin, in bytes from the start of the group.
    pub(super) window: [[usize; 2]; VECTORS],
    /// Whether any field needs a byte more than its lane.
    pub(super) wide: bool,
}

#[expect(clippy::cast_possible_truncation, reason = "all below 256, and no `try_into` in a const")]
const fn places<const VECTORS: usize>(width: usize, lane: usize) -> Places<VECTORS> {
    let zero = [[0u8; 32]; VECTORS];
    let mut p = Places {
        shuffle: zero,
        ninth: [[0x80; 32]; VECTORS],
        right: zero,
        left: zero,
        window: [[0; 2]; VECTORS],
        wide: false,
    };
    let per_half = 16 / lane;
    let mut field = 0;
    while field < GROUP {
        let (half, k) = (field / per_half, field % per_half);
        let first = match lane {
            // What fits into one window has its upper half there as well.
            4 if width <= SINGLE as usize => 0,
            8 if width <= QUADS as usize => field / 4 * 4,
            _ => field - k,
        };
        let (vector, half) = (half / 2, half % 2);
        let start = first * width / 8;
        let bit = field * width - 8 * start;
        p.window[vector][half] = start;
        let at = 16 * half + k * lane;
        let mut byte = 0;
        while byte < lane {
            let from = bit / 8 + byte;
            p.shuffle[vector][at + byte] = if from < 16 { from as u8 } else { 0x80 };
            byte += 1;
        }
        let shift = bit % 8;
        p.right[vector][at] = shift as u8;
        p.left[vector][at] = (8 * lane - shift) as u8;
        if shift + width > 8 * lane {
            // The windows of ninth bytes begin one lane further on, so the index is that of the
            // field's first byte.
            p.ninth[vector][at] = (bit / 8) as u8;
            p.wide = true;
        }
        field += 1;
    }
    p
}

/// Lanes of 32 bits: all eight fields in one vector. Widths 0 to 32.
pub(super) static PLACES_32: [Places<1>; 33] = {
    let mut table = [places::<1>(0, 4); 33];
    let mut width = 0;
    while width <= 32 {
        table[width] = places::<1>(width, 4);
        width += 1;
    }
    table
};

/// Lanes of 64 bits: eight fields in two vectors. Widths 0 to 64.
pub(super) static PLACES_64: [Places<2>; 65] = {
    let mut table = [places::<2>(0, 8); 65];
    let mut width = 0;
    while width <= 64 {
        table[width] = places::<2>(width, 8);
        width += 1;
    }
    table
};

/// How eight fields of up to [`SHORT`] bits lie in lanes of 16 bits, in both halves.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Short {
    /// For each lane the bytes it takes from its half.
    pub(super) shuffle: [u8; 32],
    /// For each lane, as 2 bytes: multiply by this, so that the field begins with the upper byte.
    pub(super) left: [u8; 32],
}

#[expect(clippy::cast_possible_truncation, reason = "all below 256, and no `try_into` in a const")]
const fn short(width: usize) -> Short {
    let mut p = Short { shuffle: [0; 32], left: [0; 32] };
    let mut lane = 0;
    while lane < 2 * GROUP {
        let bit = lane % GROUP * width;
        p.shuffle[2 * lane] = (bit / 8) as u8;
        // Another field's where this one ends before.
        p.shuffle[2 * lane + 1] = (bit / 8 + 1) as u8;
        let [low, high] = (1u16 << (8 - bit % 8)).to_le_bytes();
        p.left[2 * lane] = low;
        p.left[2 * lane + 1] = high;
        lane += 1;
    }
    p
}

/// Widths 1 to [`SHORT`].
pub(super) static SHORTS: [Short; SHORT as usize + 1] = {
    let mut table = [short(1); SHORT as usize + 1];
    let mut width = 1;
    while width <= SHORT as usize {
        table[width] = short(width);
        width += 1;
    }
    table
};

/// How eight fields of up to [`SINGLE`] bits lie in lanes of 32 bits for [`super::lanes64`].
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Pairs {
    /// For each lane the bytes it takes from the window.
    pub(super) shuffle: [u8; 32],
    /// For each lane, as 4 bytes: shift right by this.
    pub(super) right: [u8; 32],
}

#[expect(clippy::cast_possible_truncation, reason = "all below 256, and no `try_into` in a const")]
const fn pairs(width: usize) -> Pairs {
    let mut p = Pairs { shuffle: [0; 32], right: [0; 32] };
    let mut field = 0;
    while field < GROUP {
        // Fields 0 1 2 3 in the even lanes, 4 5 6 7 in the odd ones.
        let lane = field % 4 * 2 + field / 4;
        let bit = field * width;
        let mut byte = 0;
        while byte < 4 {
            let from = bit / 8 + byte;
            p.shuffle[4 * lane + byte] = if from < 16 { from as u8 } else { 0x80 };
            byte += 1;
        }
        p.right[4 * lane] = (bit % 8) as u8;
        field += 1;
    }
    p
}

/// Widths 0 to [`SINGLE`].
pub(super) static PAIRS: [Pairs; SINGLE as usize + 1] = {
    let mut table = [pairs(0); SINGLE as usize + 1];
    let mut width = 0;
    while width <= SINGLE as usize {
        table[width] = pairs(width);
        width += 1;
    }
    table
};
