//! What `latens extract` takes.

use clap::{Args, ValueHint};
use std::path::PathBuf;

use super::shared::{Common, within};
use crate::format::Format;

/// `latens extract`
#[derive(Debug, Args)]
#[command(after_help = "\
Only what holds the slice is decoded. INT4 comes out one value per i8, as the packing means it;
BF16, which NumPy does not have, as f32 of the same value; complex numbers as pairs of f32.
Quantised weights (GPTQ, AWQ, NF4, blocks of GGUF, …) come as bare codes, without scale or zero
point; floats of 8 bits or fewer as their codes; blocks that are not taken apart as their bytes.
Rows are those of the first dimension (of a vector its numbers), and keep the dimensions behind it.
With --cols what lies behind the first dimension is one. Columns count elements, or bytes where
bytes come out.

Example:
  latens extract model.wcodec layers.0.q_proj.weight --rows 0:64 -o rows.npy")]
pub struct Extract {
    /// A .wcodec file; `-` for stdin
    #[arg(value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// The tensor's name
    #[arg(value_name = "TENSOR")]
    pub tensor: String,
    /// Its format, which can only be wcodec, whatever its name says
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    pub from: Option<Format>,
    /// Rows A to B, B not among them
    #[arg(long, value_name = "A:B", allow_hyphen_values = true)]
    pub rows: Option<String>,
    /// Columns C to D, D not among them
    #[arg(long, value_name = "C:D", allow_hyphen_values = true)]
    pub cols: Option<String>,
    /// Leave out the K lowest bitplanes of a tensor that is coded in such (`compress --coder bitplane`), nothing of
    /// others: weights to within less than 2^K where nothing is predicted or transformed
    #[arg(long, value_name = "K", allow_negative_numbers = true, default_value_t = 0,
          value_parser = |text: &str| within(text, 0, 16))]
    pub without_planes: u32,
    /// What to write: .npy, or .raw or .bin for bare little-endian numbers; `-` for stdout, as .npy. TENSOR.npy where it
    /// is not given
    #[arg(short, long, value_name = "OUT.npy", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// The checkpoint that the file was made against
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub base: Option<PathBuf>,
    /// Read a .wcodec whose header, index or footer is damaged, as far as that goes
    #[arg(long)]
    pub salvage: bool,
    /// Replace an existing output
    #[arg(short, long)]
    pub force: bool,
    #[command(flatten)]
    pub common: Common,
}
