//! Bits and bytes: the lowest layer, which knows no format.

pub(crate) mod varint;
pub(crate) mod zigzag;
