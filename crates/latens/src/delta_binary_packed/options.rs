//! How a stream is read.

/// How to read a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Refuse what a writer must not do though its values are plain: fields of more than 32 bits,
    /// or a first value or minimum beyond 32 bits, in a stream of 32-bit numbers (DuckDB writes
    /// these; lenient reading takes all mod 2^32), and a last miniblock that is not padded.
    pub strict: bool,
    /// The number of values that the stream must announce, where it is known from elsewhere (from
    /// the page header, in Parquet). `None`: any.
    pub expect_count: Option<u64>,
}

impl Options {
    /// Refuses what a writer must not do.
    pub const STRICT: Self = Self { strict: true, expect_count: None };

    /// The same options for a stream that must announce `count` values.
    #[must_use]
    pub fn expect_count(self, count: u64) -> Self {
        Self { expect_count: Some(count), ..self }
    }
}
