//! Pco: columns and arrays of numbers, split into latents, predicted, binned and entropy coded.
//!
//! ```
//! use latens::pco::{self, Config, DeltaSpec, ModeSpec};
//!
//! let seconds: Vec<i64> = (0..5000).map(|i| 1_700_000_000 + 60 * i).collect();
//! let file = pco::compress(&seconds, &Config::default())?; // everything chosen by measured size
//! assert_eq!(pco::decompress::<i64>(&file)?, seconds);
//!
//! let forced = Config::default()
//!     .level(12)
//!     .mode(ModeSpec::IntMult(60))
//!     .delta(DeltaSpec::Consecutive { order: 1, secondary: false });
//! let file = pco::compress(&seconds, &forced)?;
//! assert_eq!(pco::inspect(&file[..], latens::Limits::default())?.n, 5000);
//! # Ok::<(), latens::Error>(())
//! ```
//!
//! [`compress`] and [`decompress`] are for whole files in memory, [`standalone`] streams them,
//! [`wrapped`] is for containers that keep counts and types themselves, [`inspect()`] shows where
//! the bits of a file go.
//!
//! Encoding a chunk takes up to three times the chunk's memory and 16 MiB (lookbacks in millions of
//! numbers of 32 bits up to five times). Of that up to 16 MiB stay with the process for its next chunks.
//!
//! # The format
//!
//! `specs/pco.md` in the repository is the whole of it, with worked byte examples. In short:
//!
//! ```text
//! file    "pco!" · versions · uniform type · n_hint · chunk … · 0 · [checksum trailer, ours]
//! chunk   type · n − 1 · metadata · page            up to 2^24 numbers, one plan for all of them
//! meta    mode · delta encoding · bins of each latent variable
//! page    head: states and four tANS lanes of each variable
//!         body: batches of 256 numbers; in each, for each variable, its codes, then its offsets
//! ```
//!
//! Fields are packed bit by bit, least significant bit first. A number of `k` bits goes through:
//!
//! **1. The ordered latent**, an unsigned integer that keeps the order of the numbers: unsigned
//! integers as they are, signed ones plus MID = 2^(k−1), floats by their bits, turned round where
//! negative.
//!
//! **2. The mode** splits it into one or two latents:
//!
//! | mode | primary | secondary | for |
//! |---|---|---|---|
//! | Classic | the ordered latent | – | everything |
//! | IntMult(b) | quotient by b | remainder | multiples, clocks |
//! | FloatMult(b) | nearest multiple of b | distance in ULPs | decimals, grids |
//! | FloatQuant(q) | all but the low q bits | the low q bits | floats widened from fewer bits |
//! | Dict | index into a dictionary | – | few distinct values, in no order |
//!
//! **3. The delta encoding** replaces latents by what was not to be foreseen; residuals are stored
//! plus MID, so that small ones of either sign lie together:
//!
//! | delta encoding | prediction | stored first in each page |
//! |---|---|---|
//! | None | nothing | – |
//! | Consecutive(1…7) | a polynomial through the last latents | that many moments |
//! | Lookback | the latent L before, L being a latent variable of its own | 1 to 2^15 latents |
//! | Conv1(1…32) | bias and weights over the last latents, then a shift | that many latents |
//!
//! **4. Bins.** Each variable has up to 2^14 ranges `lower … lower + 2^offset_bits − 1`. A latent
//! becomes the bin it lies in and its offset from `lower`.
//!
//! **5. Bits.** Offsets are plain. Bins are coded by tANS: their weights sum to a table size T, bin
//! `b` owns `weight(b)` of the T slots, the slot a lane is in says the bin, and a few bits say the
//! next slot. Four lanes take turns, so that a processor can follow four chains at once.
//!
//! Nothing in the format tells a damaged file from another one. The checksum trailer, which stands
//! where other readers have stopped reading, does.

pub(crate) mod binning;
mod bound;
mod config;
pub(crate) mod decode;
pub(crate) mod delta;
mod dense;
mod describe;
pub(crate) mod encode;
mod inspect;
pub(crate) mod layout;
pub(crate) mod logarithm;
pub(crate) mod mode;
#[cfg(test)]
mod noise;
mod parallel;
mod simple;
pub mod standalone;
pub mod wrapped;
pub use bound::compress_bound;
pub use config::{Config, DeltaSpec, Favor, MAX_LEVEL, ModeSpec};
pub use describe::{DeltaEncoding, Mode};
pub use inspect::{
    BinInspection, ChunkInspection, Inspection, LatentInspection, inspect, inspect_with,
};
pub use layout::header::FormatVersion;
pub use parallel::{
    compress_any_to, compress_any_with, compress_to, compress_with, decompress_any_into_with,
    decompress_any_with, decompress_into_with, decompress_with,
};
pub use simple::{
    Decompressed, Head, compress, compress_any, decompress, decompress_any, decompress_into, peek,
};
