//! What `latens bench` takes.

use clap::{Args, ValueHint};
use latens::NumberType;
use std::path::PathBuf;

use super::shared::{Common, number_type};
use crate::format::Format;

/// `latens bench`
#[derive(Debug, Args)]
#[command(after_help = "\
In memory, codecs by turns, medians; every result is compared with what went in. On one thread, but
for -T: then so many columns at a time, by every codec; if there are fewer columns than threads, the
codecs of latens share what is left of them.
Codecs: latens-0 to latens-12, dbp, zstd-1 to zstd-22, lz4, parquet-zstd (of each column the
smallest encoding, which takes time to find).

Example:
  latens bench flights.parquet --codecs latens-8,zstd-3 --csv speeds.csv")]
pub struct Bench {
    /// A table, a column or a checkpoint, of several files their index; of a .wcodec what is in it
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
