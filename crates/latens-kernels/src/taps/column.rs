//! Columns of several rows.

/// Rows that go together.
pub const LANES: usize = 32;

/// What the rows have in a pair of neighbouring columns.
pub type Column = [[i16; 2]; LANES];
