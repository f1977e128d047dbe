//! Bits and bytes: the lowest layer, which knows no format.
//!
//! All fields of Pco are packed least significant bit first into bytes in file order.

pub(crate) mod checksum;
pub(crate) mod reader;
pub(crate) mod varint;
pub(crate) mod writer;
pub(crate) mod zigzag;

/// The `count` lowest bits set; `count` is 0 to 64.
#[inline]
pub(crate) fn low_mask(count: u32) -> u64 {
    debug_assert!(count <= 64);
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}
