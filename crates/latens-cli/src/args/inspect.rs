//! What `latens inspect` takes.

use clap::{Args, ValueHint};
use latens::NumberType;
use std::path::PathBuf;

use super::shared::{Common, number_type};
use crate::format::Format;

/// `latens inspect`
#[derive(Debug, Args)]
#[command(after_help = "\
Entropies are those of all tensors of a checkpoint, packed or not: all of it is read for them.")]
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
    /// The checkpoint that a .wcodec was made against; with --ablate also what REFERENCE predicts by
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub base: Option<PathBuf>,
    /// Read a .wcodec whose header, index or footer is damaged, as far as that goes
    #[arg(long)]
    pub salvage: bool,
    /// Also write one self-contained page with pictures
    #[arg(long, value_name = "OUT.html", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Replace an existing page
    #[arg(short, long)]
    pub force: bool,
    #[command(flatten)]
    pub common: Common,
}
