//! What was done, as numbers: the source of the first screen and of `--json`.

use serde::Serialize;

/// `latens compress`, done.
#[derive(Clone, Debug, Serialize)]
pub struct CompressReport {
    /// Path as given, `-` for stdin.
    pub input: String,
    /// Path as given, `-` for stdout.
    pub output: String,
    /// Size of the input file.
    pub input_bytes: u64,
    /// Size of the output file.
    pub output_bytes: u64,
    /// Wall time.
    pub seconds: f64,
    /// Whether the output was read back and compared.
    pub verified: bool,
    /// One entry a column, in the table's order.
    pub columns: Vec<ColumnReport>,
    /// Nested columns that were left out, as asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Sizes of the same data by other means, for the total line; not in `--json`.
    #[serde(skip)]
    pub peers: Vec<(String, u64)>,
}

/// One column of a [`CompressReport`].
#[derive(Clone, Debug, Serialize)]
pub struct ColumnReport {
    /// Name in the table; the file's stem for an array.
    pub name: String,
    /// `i32`, `f64`, `timestamp[us, UTC]`, `text`, …
    #[serde(rename = "type")]
    pub logical_type: String,
    /// Rows, nulls among them.
    pub n: u64,
    /// Rows that are null.
    pub nulls: u64,
    /// `pco`, `zstd`, `delta`, `dictionary`, `plain`, …
    pub encoding: String,
    /// Pco mode of the largest chunk, `-` where there is none.
    pub mode: String,
    /// Pco delta encoding of the largest chunk, `-` where there is none.
    pub delta: String,
    /// Bytes in the output.
    pub bytes: u64,
    /// `8 × bytes / n`.
    pub bits_per_value: f64,
    /// Bytes of the values as they lie in memory, for the ratio; not in `--json`.
    #[serde(skip)]
    pub raw_bytes: u64,
}

/// `8 × bytes / n`, and 0 for no values.
pub fn bits_per_value(bytes: u64, n: u64) -> f64 {
    if n == 0 { 0.0 } else { bytes as f64 * 8.0 / n as f64 }
}

/// `latens decompress`, done.
#[derive(Clone, Debug, Serialize)]
pub struct DecompressReport {
    /// Path as given, `-` for stdin.
    pub input: String,
    /// Path as given, `-` for stdout.
    pub output: String,
    /// Size of the input file; 0 where it cannot be asked for.
    pub input_bytes: u64,
    /// Bytes written.
    pub output_bytes: u64,
    /// Wall time.
    pub seconds: f64,
    /// `1000000 f64`, `336776 rows of 19 columns`.
    pub what: String,
    /// `verified`, `partly`, `absent`, or `not checked` where only a part was read.
    pub checksum: String,
    /// Bytes behind the end of a `.pco` that were skipped, as `--allow-trailing` asks for.
    pub trailing_bytes: u64,
}

/// One file of `latens verify` that is whole.
#[derive(Clone, Debug, Serialize)]
pub struct Verified {
    /// `1000000 f64`, `336776 rows of 19 columns`.
    pub what: String,
    /// Numbers, or rows of a table.
    pub n: u64,
    /// The type of one column; none for a table.
    #[serde(rename = "type")]
    pub number_type: Option<String>,
    /// Whether a checksum stood behind every number.
    pub checksum: bool,
    /// Bytes behind the end of a `.pco` that were skipped, as `--allow-trailing` asks for.
    pub trailing_bytes: u64,
}

/// What stands behind the numbers of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksums {
    /// A checksum behind every one of them.
    All,
    /// Behind some of them.
    Some,
    /// None at all.
    None,
}

impl Checksums {
    /// Of a file in which so many of so many parts have one.
    pub fn of(with: u64, parts: u64) -> Self {
        match with {
            0 => Checksums::None,
            _ if with == parts => Checksums::All,
            _ => Checksums::Some,
        }
    }
}
