//! How a Parquet file is written.

use parquet::basic::{Compression as Codec, ZstdLevel};

/// The level of [`Compression::Zstd`].
pub const ZSTD_LEVEL: i32 = 3;

/// `--compression`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Compression {
    /// Pages as they are.
    None,
    /// Fast.
    Snappy,
    /// Small.
    #[default]
    Zstd,
}

impl Compression {
    /// As the `parquet` crate names it.
    pub(super) fn codec(self) -> Codec {
        match self {
            Compression::None => Codec::UNCOMPRESSED,
            Compression::Snappy => Codec::SNAPPY,
            Compression::Zstd => Codec::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL).unwrap_or_default()),
        }
    }
}

/// `--encoding`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Encoding {
    /// For each column the smallest: PLAIN, a dictionary, DELTA_BINARY_PACKED for integers, or
    /// BYTE_STREAM_SPLIT for f32 and f64.
    #[default]
    Auto,
    /// DELTA_BINARY_PACKED for integers, PLAIN for the rest.
    Delta,
    /// PLAIN for all.
    Plain,
}

/// How a Parquet file is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Codec of the pages.
    pub compression: Compression,
    /// Encoding of the values.
    pub encoding: Encoding,
}
