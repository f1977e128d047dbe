//! Parquet files as tables, through the `parquet` crate's pages and column chunks.
//!
//! Reading goes file → row group → [`pages::open`] → the crate's column reader; writing goes
//! column → [`chunk::encode`] (one column chunk in memory) → the crate's row group writer. A codec
//! of our own takes over single pages at these two places.

mod checksums;
mod chunk;
mod convert;
mod delta_pages;
mod footer;
mod inspect;
mod measure;
mod nested;
mod options;
mod page_writer;
mod pages;
mod read;
mod schema;
mod write;

pub(crate) use convert::join;

pub use inspect::{ColumnInspection, ParquetInspection, inspect};
pub use measure::{SPLIT, measure};
pub use options::{Compression, Encoding, Options, ZSTD_LEVEL};
pub use read::ParquetTable;
pub use write::{Written, write};
