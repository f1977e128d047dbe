//! What `latens verify` takes.

use clap::{Args, ValueHint};
use std::path::PathBuf;

use super::shared::Common;
use crate::format::Format;

/// `latens verify`
#[derive(Debug, Args)]
#[command(after_help = "\
Prints a line a file, which says so where the file holds no checksum. Exit 1 if any of them fails.
Of a .wcodec with more damage than one, stderr lists what is damaged, and --json all of it.")]
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
