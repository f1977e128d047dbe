//! How long the offsets of a table are, which says how they are best read.

/// An offset of so many bits lies in the eight bytes that begin with the byte of its first bit.
pub(crate) const NARROW: u8 = 57;
/// Four offsets of so many bits lie in the eight bytes that begin with the byte of the first bit.
pub(crate) const SHORT: u8 = NARROW / 4;
/// Two of so many.
pub(crate) const MEDIUM: u8 = NARROW / 2;

/// How offsets are best read, by what the slots of a table say of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offsets {
    /// There are none.
    None,
    /// Four at a time: none has more than [`SHORT`] bits, or hardly any.
    Short { all: bool },
    /// Two at a time: none has more than [`MEDIUM`], or hardly any.
    Medium { all: bool },
    /// One at a time.
    Long,
    /// Some have more bits than one load gives.
    Wide,
}
