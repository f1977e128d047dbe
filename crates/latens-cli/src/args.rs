//! The command line, as clap reads it.

mod columns;

use clap::{Args, Parser, Subcommand, ValueHint};
use latens::NumberType;
use latens::pco::{DeltaSpec, Favor, ModeSpec};
use std::path::PathBuf;

pub use columns::{Columns, column_names, quoted_name};

use crate::format::Format;
use crate::io::parquet::{Compression, Encoding};

/// `--level` where it is not given.
pub const LEVEL: u32 = 8;

/// Lossless compression for numbers.
#[derive(Debug, Parser)]
#[command(name = "latens", version, about = "Lossless compression for numbers")]
#[command(max_term_width = 100)]
#[command(after_help = "Exit codes: 0 done, 1 it failed, 2 wrong usage.\n\
    `latens VERB --help` says more; `latens man` prints the manual.")]
#[command(subcommand_required = true, arg_required_else_help = true, infer_subcommands = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

// Each verb has a variant here and a file in verb/.
/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Compress a column, an array, a table or a checkpoint
    Compress(Compress),
    /// Bring back what was compressed
    Decompress(Decompress),
    /// Decode everything, check every checksum
    Verify(Verify),
    /// Show what is inside, and where the bytes go
    Inspect(Inspect),
    /// One tensor of a .wcodec, or a slice of one, as .npy
    Extract(Extract),
    /// Say what each encoding would cost for each column of a table
    Advise(Advise),
    /// Measure sizes and speeds of codecs on a file
    Bench(Bench),
    /// Print the completions of a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

/// What every verb that works on data takes.
#[derive(Debug, Args)]
pub struct Common {
    /// Threads; 0 for all cores. The output does not depend on it
    #[arg(short = 'T', long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub threads: usize,
    /// No words but errors
    #[arg(short, long)]
    pub quiet: bool,
    /// Print one JSON object on stdout in place of words
    #[arg(long)]
    pub json: bool,
}

/// Input, output, and their formats.
#[derive(Debug, Args)]
pub struct Files {
    /// What to read; `-` for stdin
    #[arg(value_name = "INPUT", value_hint = ValueHint::FilePath)]
    pub input: PathBuf,
    /// What to write; `-` for stdout. Its extension picks the format
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Format of the input, where its extension does not say
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    pub from: Option<Format>,
    /// Format of the output, where its extension does not say
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    pub to: Option<Format>,
    /// Replace an existing output
    #[arg(short, long)]
    pub force: bool,
    /// Only these columns of a table; `a.b` is field b of structure a; names as in CSV: `a,"b,c"`
    #[arg(long, value_name = "A,B,…")]
    pub columns: Vec<Columns>,
}

/// `latens compress`
#[derive(Debug, Args)]
#[command(after_help = "\
Formats, by extension or by --from and --to: npy raw csv parquet safetensors gguf;
pco pco.zip dbp wcodec.
Without -o: a column becomes .pco beside the input, a table or n-dimensional array .pco.zip,
a checkpoint (safetensors, its shards by their index, gguf) .wcodec.

Examples:
  latens compress flights.parquet             flights.pco.zip, read back and compared
  latens compress prices.npy -l 12            prices.pco, smallest
  latens compress log.bin --type i64 -o log.pco
  latens compress model.safetensors           model.wcodec
  cat prices.npy | latens compress - --from npy > prices.pco")]
pub struct Compress {
    #[command(flatten)]
    pub files: Files,
    /// 0 (fastest) to 12 (smallest)
    #[arg(short, long, value_name = "0..12", default_value_t = LEVEL, allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(0..=12))]
    pub level: u32,
    /// auto, classic, int-mult@B, float-mult@B, float-quant@K or dict
    #[arg(long, default_value = "auto", value_parser = parse::<ModeSpec>)]
    pub mode: ModeSpec,
    /// auto, none, consecutive@N, lookback or conv1@N
    #[arg(long, default_value = "auto", value_parser = parse::<DeltaSpec>)]
    pub delta: DeltaSpec,
    /// What counts most: speed, balanced or size
    #[arg(long, default_value = "balanced", value_parser = parse::<Favor>)]
    pub favor: Favor,
    /// Numbers in a chunk, 1 to 2^24 [default: 2^18; with `size` at levels 10 to 12 up to 2^20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 24),
          allow_negative_numbers = true)]
    pub chunk_n: Option<u32>,
    /// Type of bare numbers: u8 u16 u32 u64 i8 i16 i32 i64 f16 f32 f64
    #[arg(long = "type", value_name = "T", value_parser = number_type)]
    pub number_type: Option<NumberType>,
    /// Encoding of values, for Parquet [default: auto]
    #[arg(long, value_enum)]
    pub encoding: Option<Encoding>,
    /// Compression of pages, for Parquet [default: zstd]
    #[arg(long, value_enum)]
    pub compression: Option<Compression>,
    /// Leave out nested columns, naming them, in place of an error
    #[arg(long)]
    pub skip_unsupported: bool,
    /// Code a checkpoint against this one; it is needed again to decompress
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub base: Option<PathBuf>,
    /// No checksums behind the data
    #[arg(long)]
    pub no_checksum: bool,
    /// Do not read the output back and compare
    #[arg(long)]
    pub no_verify: bool,
    #[command(flatten)]
    pub common: Common,
}

/// `latens decompress`
#[derive(Debug, Args)]
#[command(after_help = "\
Without -o: .pco and .dbp become .npy beside the input, .pco.zip .parquet (.npy where it holds
one array), .wcodec the safetensors or gguf files that it was made from.
`-o -` writes bare little-endian numbers for one column, CSV for a table.

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
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub limit: Option<u64>,
    /// Refuse to write more than so many bytes
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true)]
    pub max_output: Option<u64>,
    /// Bytes after the end of a .pco are no error
    #[arg(long)]
    pub allow_trailing: bool,
    /// The checkpoint that a .wcodec was made against
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub base: Option<PathBuf>,
    /// Write the tensors of a damaged .wcodec that are whole, and name the others
    #[arg(long)]
    pub salvage: bool,
    #[command(flatten)]
    pub common: Common,
}

/// `latens verify`
#[derive(Debug, Args)]
#[command(after_help = "\
Prints a line a file, which says so where the file holds no checksum. Exit 1 if any of them fails.")]
pub struct Verify {
    /// Files to check; `-` for stdin
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// Format of the files, where the extension does not say
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    pub from: Option<Format>,
    /// Bytes after the end of a .pco are no error
    #[arg(long)]
    pub allow_trailing: bool,
    /// The checkpoint that .wcodec files were made against
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub base: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common,
}

/// `latens inspect`
#[derive(Debug, Args)]
pub struct Inspect {
    /// What to look into; `-` for stdin
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Its format, where the extension does not say
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    pub from: Option<Format>,
    /// Type of the numbers of a .dbp, for the report
    #[arg(long = "type", value_name = "T", value_parser = number_type)]
    pub number_type: Option<NumberType>,
    /// What each tool of WCodec gains or costs on a checkpoint
    #[arg(long)]
    pub ablate: bool,
    /// The checkpoint that a .wcodec was made against
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub base: Option<PathBuf>,
    /// Also write one self-contained page with pictures
    #[arg(long, value_name = "OUT.html", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Replace an existing page
    #[arg(short, long)]
    pub force: bool,
    #[command(flatten)]
    pub common: Common,
}

/// `latens extract`
#[derive(Debug, Args)]
#[command(after_help = "\
Only what holds the slice is decoded. INT4 comes out one value per i8, as the packing means it;
BF16, which NumPy does not have, as f32 of the same value; complex numbers as pairs of f32.
Rows are those of the first dimension (of a vector its numbers), and keep the dimensions behind it.
With --cols what lies behind the first dimension is one.

Example:
  latens extract model.wcodec layers.0.q_proj.weight --rows 0:64 -o rows.npy")]
pub struct Extract {
    /// A .wcodec file; `-` for stdin
    #[arg(value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// The tensor's name
    #[arg(value_name = "TENSOR")]
    pub tensor: String,
    /// Rows A to B, B not among them
    #[arg(long, value_name = "A:B")]
    pub rows: Option<String>,
    /// Columns C to D, D not among them
    #[arg(long, value_name = "C:D")]
    pub cols: Option<String>,
    /// What to write, .npy or .raw; `-` for stdout. TENSOR.npy where it is not given
    #[arg(short, long, value_name = "OUT.npy", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// The checkpoint that the file was made against
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub base: Option<PathBuf>,
    /// Replace an existing output
    #[arg(short, long)]
    pub force: bool,
    #[command(flatten)]
    pub common: Common,
}

/// `latens advise`
#[derive(Debug, Args)]
#[command(after_help = "\
Sizes are measured, not estimated: every column is encoded in every way.

Example:
  latens advise flights.parquet          a table, and what to tell pyarrow")]
pub struct Advise {
    /// A table: parquet, csv, pco.zip, or an array; `-` for stdin
    #[arg(value_name = "TABLE", value_hint = ValueHint::FilePath)]
    pub table: PathBuf,
    /// Its format, where the extension does not say
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    pub from: Option<Format>,
    /// Type of bare numbers, or of those of a .dbp
    #[arg(long = "type", value_name = "T", value_parser = number_type)]
    pub number_type: Option<NumberType>,
    /// Only these columns; names as in CSV: `a,"b,c"`
    #[arg(long, value_name = "A,B,…")]
    pub columns: Vec<Columns>,
    #[command(flatten)]
    pub common: Common,
}

/// `latens bench`
#[derive(Debug, Args)]
#[command(after_help = "\
In memory, on one thread, codecs by turns, medians; every result is compared with what went in.
Codecs: latens-0 to latens-12, dbp, zstd-1 to zstd-22, lz4, parquet-zstd.

Example:
  latens bench flights.parquet --codecs latens-8,zstd-3 --csv speeds.csv")]
pub struct Bench {
    /// A table, a column or a checkpoint
    #[arg(value_name = "INPUT", value_hint = ValueHint::FilePath)]
    pub input: PathBuf,
    /// Its format, where the extension does not say
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    pub from: Option<Format>,
    /// Type of bare numbers, or of those of a .dbp
    #[arg(long = "type", value_name = "T", value_parser = number_type)]
    pub number_type: Option<NumberType>,
    /// These codecs and no others
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub codecs: Option<Vec<String>>,
    /// Also write the figures
    #[arg(long, value_name = "OUT.csv", value_hint = ValueHint::FilePath)]
    pub csv: Option<PathBuf>,
    /// Also write one self-contained page with a picture
    #[arg(long, value_name = "OUT.html", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Replace existing outputs
    #[arg(short, long)]
    pub force: bool,
    #[command(flatten)]
    pub common: Common,
}

fn parse<T: std::str::FromStr<Err = latens::Error>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|e: latens::Error| e.what().to_string())
}

fn number_type(name: &str) -> Result<NumberType, String> {
    NumberType::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = NumberType::ALL.iter().map(|ty| ty.name()).collect();
        format!("the types are {}", names.join(" "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn clap_finds_no_fault() {
        Cli::command().debug_assert();
    }

    #[test]
    fn lines_of_help_are_not_broken_again() {
        for verb in Cli::command().get_subcommands() {
            let after = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(after.lines().all(|line| line.chars().count() <= 100), "{after}");
        }
    }
}
