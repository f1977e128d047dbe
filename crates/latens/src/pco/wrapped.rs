//! The wrapped format, for containers that store counts, types and places of pages themselves.
//!
//! A file has one header, a chunk its metadata, and each chunk one or more pages that can be
//! decoded independently, on several threads.
//!
//! Where the type of numbers is known only at run time, [`AnyChunkEncoder`] and [`AnyChunkDecoder`] do
//! what [`ChunkEncoder`] and [`ChunkDecoder`] do, which are these with a type that is known.

mod any_decoder;
mod decoder;
mod encoder;
mod page;
mod pages;
mod widths;

pub use any_decoder::AnyChunkDecoder;
pub use decoder::{ChunkDecoder, FileDecoder, PageDecoder};
pub use encoder::{AnyChunkEncoder, ChunkEncoder, FileEncoder};
