//! Where the fields of a group of eight lie, by width: what the kernels of [`super::neon_delta`] shuffle and
//! shift by.

use super::neon_delta::{NARROW, SINGLE};

/// How fields of one width lie in the windows of a group.
#[derive(Clone, Copy)]
pub(super) struct Places {
    /// For each lane the bytes that it takes from its window: even fields, then odd ones, where there is one window;
    /// four fields and four fields where there are two.
    pub(super) shuffle: [[u8; 16]; 2],
    /// For each lane: shift left by this, which is to the right.
    pub(super) right: [[i32; 4]; 2],
    /// The bits of a field.
    pub(super) mask: u32,
    /// Where the second window begins, in bytes from the start of the group.
    pub(super) second: usize,
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "all below 256, and no `try_into` in a const"
)]
const fn places(width: usize) -> Places {
    let second = if width <= SINGLE { 0 } else { 4 * width / 8 };
    let mask = (1 << width) - 1;
    let mut p = Places { shuffle: [[0; 16]; 2], right: [[0; 4]; 2], mask, second };
    let mut field = 0;
    while field < 8 {
        let (vector, lane) =
            if width <= SINGLE { (field % 2, field / 2) } else { (field / 4, field % 4) };
        let bit = field * width - 8 * second * vector;
        let mut byte = 0;
        while byte < 4 {
            // Beyond the window there are zeros, and no bits of the field.
            p.shuffle[vector][4 * lane + byte] = (bit / 8 + byte) as u8;
            byte += 1;
        }
        p.right[vector][lane] = -((bit % 8) as i32);
        field += 1;
    }
    p
}

/// Widths 0 to [`NARROW`].
pub(super) static PLACES: [Places; NARROW + 1] = {
    let mut table = [places(0); NARROW + 1];
    let mut width = 0;
    while width <= NARROW {
        table[width] = places(width);
        width += 1;
    }
    table
};
