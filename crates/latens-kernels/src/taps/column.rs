//! Columns of several rows.

/// Rows that go together.
pub const LANES: usize = 32;

/// What the rows have in a pair of neighbouring columns, in two lines of the cache: a vector that lay in
/// two of them would take twice as long to load.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Column(pub [[i16; 2]; LANES]);
