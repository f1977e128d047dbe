//! Standalone files: a `.pco` that says itself what type and how many its numbers are.
//!
//! [`Decoder`] streams from any reader with memory that does not grow with the file. [`Encoder`]
//! streams to any writer. Chunks can be encoded on several threads by [`encode_chunk`] and are
//! then written in order.

mod chunk_table;
mod decoder;
mod encoder;
mod engine;
pub(crate) mod info;
mod open_chunk;
mod source;
mod start;

pub(crate) use encoder::encode_any_chunk;
pub(crate) use engine::Engine;
pub(crate) use open_chunk::len as chunk_len;
pub(crate) use source::Slice;

pub use chunk_table::ChunkTable;
pub use decoder::Decoder;
pub use encoder::{ChunkSummary, EncodedChunk, Encoder, encode_chunk};
pub use info::{Checksum, ChunkInfo, Ending};
pub use start::check_start;
