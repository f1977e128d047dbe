//! Where the bits of a batch lie.

use super::slot::MAX_OFFSET_BITS;

/// Latents of a batch, at most.
pub const BATCH: usize = 256;
/// States that share the stream.
pub const LANES: usize = 4;
/// Bytes that loads may read beyond the last bit in use, and one as the first bit need not be the
/// first of its byte.
pub(super) const SLACK: usize = 17;
/// The same of vectors: bytes that their loads may read beyond the last bit in use, and one more.
pub const WIDE_SLACK: usize = 65;
/// The codes of a batch, or its offsets, touch no more bytes than so many, whatever the table.
pub const WINDOW: usize = (BATCH * MAX_OFFSET_BITS as usize).div_ceil(8) + WIDE_SLACK;

/// Bits of a stream, from a byte on.
#[derive(Clone, Copy, Debug)]
pub struct Stream<'a> {
    /// From the byte of the first bit on, as many as the table's window says or more.
    pub bytes: &'a [u8],
    /// The first bit, below 8.
    pub bit: usize,
}

impl Stream<'_> {
    #[inline(always)]
    pub(super) fn check(&self, window: usize) {
        assert!(self.bit < 8 && self.bytes.len() >= window, "too few bytes");
    }
}
