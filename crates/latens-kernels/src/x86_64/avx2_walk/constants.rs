//! What shuffles and masks take. Macros know the places, as assembly reads them there.

/// What shuffles and masks take, 32 bytes each.
#[repr(C, align(32))]
pub(super) struct Constants {
    /// 0: the widths of nodes, whose lower halves are in lanes of 32 bits.
    widths: [u8; 32],
    /// 32: the same in lanes of 64 bits.
    wide_widths: [u8; 32],
    /// 64: the bits of a place within a byte.
    sevens: [u32; 8],
    /// 96: the lowest byte of a lane of 32 bits in all of its bytes.
    first: [u8; 32],
    /// 128: the numbers of these bytes.
    number: [u8; 32],
    /// 160: the lowest byte of a lane of 64 bits.
    wide_first: [u8; 32],
    /// 192: the numbers of its bytes.
    wide_number: [u8; 32],
    /// 224: the lower 16 bits of lanes of 32 bits.
    lower: [u8; 32],
    /// 256: the lower eight.
    lowest: [u8; 32],
}

/// Bytes by their number in half a vector.
const fn twice(half: [u8; 16]) -> [u8; 32] {
    let mut all = [0; 32];
    let mut i = 0;
    while i < 32 {
        all[i] = half[i % 16];
        i += 1;
    }
    all
}

/// A byte of zeros.
const Z: u8 = 0x80;

pub(super) static CONSTANTS: Constants = Constants {
    widths: twice([1, Z, Z, Z, 5, Z, Z, Z, 9, Z, Z, Z, 13, Z, Z, Z]),
    wide_widths: twice([1, Z, Z, Z, Z, Z, Z, Z, 9, Z, Z, Z, Z, Z, Z, Z]),
    sevens: [7; 8],
    first: twice([0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12]),
    number: twice([0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]),
    wide_first: twice([0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8]),
    wide_number: twice([0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7]),
    lower: twice([0, 1, 4, 5, 8, 9, 12, 13, Z, Z, Z, Z, Z, Z, Z, Z]),
    lowest: twice([0, 4, 8, 12, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z]),
};
