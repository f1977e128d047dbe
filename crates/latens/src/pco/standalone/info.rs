//! What a file says beside its numbers.

use crate::number::NumberType;
use crate::pco::{DeltaEncoding, Mode};

/// Whether a file carries checksums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Checksum {
    /// It ends with its terminator.
    Absent,
    /// Its checksum trailer agrees with all bytes and all numbers.
    Verified,
}

/// What stands behind the last chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ending {
    /// The checksum trailer.
    pub checksum: Checksum,
    /// Bytes of the file, its trailer included.
    pub consumed: u64,
    /// Whether other bytes follow.
    pub trailing: bool,
    /// How many, to the end of the input.
    pub trailing_bytes: u64,
}

/// What a chunk says before its numbers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChunkInfo {
    /// The type of its numbers.
    pub number_type: NumberType,
    /// Numbers in the chunk, 1 to 2^24.
    pub n: usize,
    /// How numbers split into latents.
    pub mode: Mode,
    /// How latents are predicted.
    pub delta: DeltaEncoding,
}
