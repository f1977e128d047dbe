//! The wrapped format, for containers that store counts, types and places of pages themselves.
//!
//! A file has one header, a chunk its metadata, and each chunk one or more pages that can be
//! decoded independently, on several threads.

mod decoder;
mod encoder;

pub use decoder::{ChunkDecoder, FileDecoder, PageDecoder};
pub use encoder::{ChunkEncoder, FileEncoder};
