//! What `latens decompress` takes.

use clap::{Args, ValueHint};
use latens::NumberType;
use std::path::PathBuf;

use super::shared::{Common, Files, count, number_type};

/// `latens decompress`
#[derive(Debug, Args)]
#[command(after_help = "\
Without -o: .pco and .dbp become .npy beside the input, .pco.zip .parquet (.npy where it holds
one array), .wcodec the safetensors or gguf files that it was made from, several of them in the
folder that -o FOLDER/ names. With -o or --to: npy, raw (bare little-endian numbers), csv, parquet.
`-o -` writes raw for one column, csv for a table.

Examples:
  latens decompress prices.pco
  latens decompress flights.pco.zip -o flights.csv
  latens decompress prices.pco --limit 1000 -o - | od -t f8")]
pub struct Decompress {
    #[command(flatten)]
    pub files: Files,
    /// Type of the numbers of a .dbp: i32 i64 u32 u64
    #[arg(long = "type", value_name = "T", value_parser = number_type)]
    pub number_type: Option<NumberType>,
    /// Stop after so many numbers (rows of a table)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    pub limit: Option<u64>,
    /// Refuse to write more than so many bytes
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true, value_parser = count)]
    pub max_output: Option<u64>,
    /// Bytes after the end of a .pco are no error
    #[arg(long)]
    pub allow_trailing: bool,
    /// The checkpoint that a .wcodec was made against
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub base: Option<PathBuf>,
    /// Write the tensors of a damaged .wcodec that are whole, and name the others. A file that is not whole becomes
    /// .safetensors; what that has no type for is kept as U8
    #[arg(long)]
    pub salvage: bool,
    #[command(flatten)]
    pub common: Common,
}
