//! Where the fields of a group lie, by width: what the kernels permute and shift by.

use crate::lane::Lane;

/// Bytes in a vector.
pub(super) const SIZE: usize = 64;

/// How fields of one width lie in a group.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Places {
    /// For each lane the bytes its field begins in. In [`SUMS`], the bits of each byte that count.
    pub(super) bytes: [u8; SIZE],
    /// For each lane, in its lowest byte, the one byte after these.
    pub(super) over: [u8; SIZE],
    /// For each lane: shift right by this. In [`PAIRS`] and [`SUMS`], for each byte the bit of its 64 bits that
    /// it begins with.
    pub(super) right: [u8; SIZE],
    /// For each lane: shift the one byte more left by this, out of the lane where it is 0 bits.
    pub(super) left: [u8; SIZE],
    /// Whether a field needs the one byte more.
    pub(super) wide: bool,
}

const NOTHING: Places =
    Places { bytes: [0; SIZE], over: [0; SIZE], right: [0; SIZE], left: [0; SIZE], wide: false };

/// A field to a lane of `lane` bytes: in their order, or (`halves`) the first half of the fields in
/// the even lanes and the second in the odd ones.
#[expect(clippy::cast_possible_truncation, reason = "all below 256, and no `try_into` in a const")]
const fn places(width: usize, lane: usize, halves: bool) -> Places {
    let mut p = NOTHING;
    let lanes = SIZE / lane;
    let mut i = 0;
    while i < lanes {
        let field = if halves { i / 2 + i % 2 * (lanes / 2) } else { i };
        let (bit, at) = (field * width, i * lane);
        let mut byte = 0;
        while byte < lane {
            // The permutation takes indices mod 64; what lies above is not of this field.
            p.bytes[at + byte] = ((bit / 8 + byte) % SIZE) as u8;
            byte += 1;
        }
        p.over[at] = ((bit / 8 + lane) % SIZE) as u8;
        p.right[at] = (bit % 8) as u8;
        p.left[at] = (8 * lane - bit % 8) as u8;
        p.wide |= bit % 8 + width > 8 * lane;
        i += 1;
    }
    p
}

/// Thirty-two fields: field i in the lower and field 16 + i in the upper half of lane i of 32 bits.
/// Each 64 bits hold four bytes from the first of two neighbours on and four of the two neighbours
/// sixteen fields further.
#[expect(clippy::cast_possible_truncation, reason = "all below 256, and no `try_into` in a const")]
const fn pairs(width: usize) -> Places {
    let mut p = NOTHING;
    let mut i = 0;
    while i < SIZE / 2 {
        // Of lane i / 2 the lower (0) or upper (1) half.
        let (lane, half) = (i / 2, i % 2);
        let first = (lane / 2 * 2 + 16 * half) * width;
        let bit = 32 * half + first % 8 + lane % 2 * width;
        p.right[2 * i] = bit as u8;
        p.right[2 * i + 1] = ((bit + 8) % 64) as u8;
        if lane.is_multiple_of(2) {
            let mut byte = 0;
            while byte < 4 {
                p.bytes[lane / 2 * 8 + half * 4 + byte] = (first / 8 + byte) as u8;
                byte += 1;
            }
        }
        i += 1;
    }
    p
}

/// Bytes of 64 bits, each from the bit that its field begins with, and which of them the sum of a
/// lane is of: its own field and those before.
#[expect(clippy::cast_possible_truncation, reason = "all below 256, and no `try_into` in a const")]
const fn sums(width: usize) -> Places {
    let mut p = NOTHING;
    let mut i = 0;
    while i < SIZE {
        p.right[i] = (i % 8 * width) as u8;
        p.bytes[i] = if i % 8 <= i / 8 { ((1 << width) - 1) as u8 } else { 0 };
        i += 1;
    }
    p
}

macro_rules! table {
    ($most:expr, $width:ident => $places:expr) => {{
        let mut table = [NOTHING; $most + 1];
        let mut $width = 0;
        while $width <= $most {
            table[$width] = $places;
            $width += 1;
        }
        table
    }};
}

/// Most bits in [`HALVES`]: a field lies in the four bytes that it begins in.
const HALVES_MOST: usize = 25;
/// Most bits in [`PAIRS`]: sixteen fields add up to less than 2^16.
const PAIRS_MOST: usize = 12;
/// Most bits in [`SUMS`].
pub(super) const SUMS_MOST: usize = 8;

/// Sixteen fields in lanes of 32 bits.
static SINGLES_32: [Places; 33] = table!(32, width => places(width, 4, false));
/// Eight fields in lanes of 64 bits.
static SINGLES_64: [Places; 65] = table!(64, width => places(width, 8, false));
/// Sixteen fields, two to a lane of 64 bits.
static HALVES: [Places; HALVES_MOST + 1] = table!(HALVES_MOST, width => places(width, 4, true));
/// Thirty-two fields, two to a lane of 32 bits.
static PAIRS: [Places; PAIRS_MOST + 1] = table!(PAIRS_MOST, width => pairs(width));
/// Eight fields, as many of them as needed in each lane of 64 bits.
pub(super) static SUMS: [Places; SUMS_MOST + 1] = table!(SUMS_MOST, width => sums(width));

/// A lane with the places of its fields.
pub(super) trait Forms: Lane {
    /// Lanes in a vector.
    const LANES: usize = SIZE * 8 / Self::BITS as usize;

    /// One field to a lane, by width.
    fn singles() -> &'static [Places];

    /// Two fields to a lane, by width, as far as there are any.
    fn halves() -> &'static [Places];
}

impl Forms for u32 {
    fn singles() -> &'static [Places] {
        &SINGLES_32
    }

    fn halves() -> &'static [Places] {
        &PAIRS
    }
}

impl Forms for u64 {
    fn singles() -> &'static [Places] {
        &SINGLES_64
    }

    fn halves() -> &'static [Places] {
        &HALVES
    }
}

/// 1, 2, 3, … in lanes of 32 and of 64 bits.
pub(super) static COUNTED: [[u8; SIZE]; 2] = [counted(4), counted(8)];

const fn counted(lane: usize) -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    let mut i = 0;
    while i < SIZE / lane {
        bytes[i * lane] = i.to_le_bytes()[0] + 1;
        i += 1;
    }
    bytes
}
