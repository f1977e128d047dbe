//! What a table is made of: symbols, and the slots that lead from one to the next.

/// log2 of the largest table.
pub const MAX_LOG: u32 = 14;
/// Most bits of an offset.
pub const MAX_OFFSET_BITS: u8 = 64;

/// What is emitted on leaving some slots of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Symbol<L> {
    /// How many slots have it.
    pub weight: u32,
    /// Bits of the stream that are added to the lower bound, at most [`MAX_OFFSET_BITS`].
    pub offset_bits: u8,
    /// The smallest latent.
    pub lower: L,
}

/// A slot of a table: a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot<L> {
    /// The next slot if all bits read are zero.
    pub base: u16,
    /// Bits of the stream that lead to the next slot, at most [`MAX_LOG`].
    pub bits: u8,
    /// Bits of the stream that are added to the lower bound.
    pub offset_bits: u8,
    /// The smallest latent.
    pub lower: L,
}

/// A slot in eight bytes: bits 0 to 7 say how many bits of the stream lead to the next slot, 8 to
/// 15 how many the offset has, 16 to 31 the next slot if all bits are zero, and 32 to 63 which
/// [`Lowers`] says the lower bound is.
/// Shifts and masks by a register look at its low bits only, so that they take the whole node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Node(pub(crate) u64);

#[expect(clippy::cast_possible_truncation, reason = "fields of 8 to 32 bits")]
impl Node {
    #[inline(always)]
    pub(crate) fn bits(self) -> u32 {
        self.0 as u32 & 0xff
    }
    #[inline(always)]
    pub(crate) fn offset_bits(self) -> u32 {
        self.0 as u32 >> 8 & 0xff
    }
    #[inline(always)]
    pub(crate) fn base(self) -> u32 {
        self.0 as u32 >> 16
    }
    #[inline(always)]
    pub(crate) fn payload(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// Lower bounds, by the upper half of a node.
#[derive(Clone, Debug)]
pub(crate) enum Lowers<L> {
    /// It is added to this one, the smallest of all.
    Near(L),
    /// They are too far from each other for that: it says which of these.
    Far(Vec<L>),
}
