//! The structures of the format as they lie in the file, one file each, read and written there.
//!
//! ```text
//! standalone file   preamble | wrapped header | chunk… | 00 | checksum trailer?
//! chunk             type byte, n − 1 (24 bits) | chunk metadata | page
//! chunk metadata    mode | delta encoding | variable… | padding
//! page              (states | lane slots)… | padding | batch… | padding
//! ```

pub(crate) mod chunk_head;
pub(crate) mod chunk_meta;
pub(crate) mod delta;
pub(crate) mod header;
pub(crate) mod mode;
pub(crate) mod page_meta;
pub(crate) mod preamble;
pub(crate) mod trailer;
pub(crate) mod variable;

/// Numbers in a batch, the last one of a page aside.
pub(crate) const BATCH_N: usize = 256;
/// Most numbers in a chunk of a standalone file (its count has 24 bits).
pub(crate) const MAX_CHUNK_N: usize = 1 << 24;
/// Interleaved tANS states.
pub(crate) const LANES: usize = 4;
