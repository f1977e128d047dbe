//! What vectors compute with: a number for each of the sums that are begun together.

/// Sums that are begun together.
pub(crate) const BLOCK: usize = 8;

/// A number for each sum of a block, within a line of the cache.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Row(pub(crate) [i64; BLOCK]);
