//! What `latens compress` takes.

use clap::{Args, ValueHint};
use latens::NumberType;
use latens::pco::{DeltaSpec, Favor, ModeSpec};
use std::path::PathBuf;

use super::packings::Packings;
use super::shared::{Common, Files, number_type, parse, within};
use super::tools::ForcedTools;
use crate::io::parquet::{Compression, Encoding};

/// `--level` where it is not given.
pub const LEVEL: u32 = 8;

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
  latens compress int4.safetensors --packing '*.weight=int4-high'
  cat prices.npy | latens compress - --from npy > prices.pco")]
pub struct Compress {
    #[command(flatten)]
    pub files: Files,
    /// 0 (fastest) to 12 (smallest). For checkpoints 0 to 8 hardly differ; 11 and 12 take some hundred times as long as 8
    #[arg(short, long, value_name = "0..12", default_value_t = LEVEL, allow_negative_numbers = true,
          value_parser = |text: &str| within(text, 0, 12))]
    pub level: u32,
    /// auto, classic, int-mult@B, trend@C, float-mult@B, float-quant@K or dict
    #[arg(long, default_value = "auto", value_parser = parse::<ModeSpec>)]
    pub mode: ModeSpec,
    /// auto, none, consecutive@N, lookback or conv1@N
    #[arg(long, default_value = "auto", value_parser = parse::<DeltaSpec>)]
    pub delta: DeltaSpec,
    /// What counts most: speed, balanced or size
    #[arg(long, default_value = "balanced", value_parser = parse::<Favor>)]
    pub favor: Favor,
    /// Numbers in a chunk, 1 to 2^24 [default: 2^18; with `size` at levels 10 to 12 up to 2^20]
    #[arg(long, value_name = "N", value_parser = |text: &str| within(text, 1, 1 << 24),
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
    #[command(flatten)]
    pub packings: Packings,
    #[command(flatten)]
    pub tools: ForcedTools,
}
