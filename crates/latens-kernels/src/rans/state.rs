//! The states that a stream is shared by.

/// Symbols decoded side by side.
pub const LANES: usize = 32;
/// Bytes that a row of symbols reads at most: a word a lane.
pub(crate) const ROW_BYTES: usize = 2 * LANES;
/// States below this take a word.
pub const LOWER: u32 = 1 << 16;
