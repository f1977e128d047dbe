//! Pco: columns and arrays of numbers, split into latents, predicted, binned and entropy coded.
pub(crate) mod binning;
mod config;
pub(crate) mod decode;
pub(crate) mod delta;
mod describe;
pub(crate) mod encode;
mod inspect;
pub(crate) mod layout;
pub(crate) mod mode;
mod simple;
pub mod standalone;
pub mod wrapped;
pub use config::{Config, DeltaSpec, Favor, MAX_LEVEL, ModeSpec};
pub use describe::{DeltaEncoding, Mode};
pub use inspect::{BinInspection, ChunkInspection, Inspection, LatentInspection, inspect};
pub use layout::header::FormatVersion;
pub use simple::{
    Decompressed, compress, decompress, decompress_any, decompress_into, decompress_with,
};
