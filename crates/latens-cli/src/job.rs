//! What a verb was asked to do, after the command line is parsed and before any format is opened.

use latens::NumberType;
use latens::pco::Config;
use std::path::PathBuf;

use crate::format::Format;

/// Where bytes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// `-`
    Stdin,
    /// A file of the user's, never changed.
    File(PathBuf),
}

/// Where bytes go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// `-o -`
    Stdout,
    /// A file that is replaced only with `--force`.
    File(PathBuf),
}

/// `latens compress`, settled.
#[derive(Clone, Debug)]
pub struct CompressJob {
    /// What to read.
    pub input: Input,
    /// Its format.
    pub from: Format,
    /// What to write.
    pub output: Output,
    /// Its format.
    pub to: Format,
    /// Level, mode, delta, chunk size, checksum.
    pub config: Config,
    /// `--columns`: these and no others.
    pub columns: Option<Vec<String>>,
    /// `--type`, for raw input.
    pub number_type: Option<NumberType>,
    /// `--skip-unsupported`: leave out nested columns, naming them.
    pub skip_unsupported: bool,
    /// `--force`: replace an existing output.
    pub force: bool,
    /// Read the output back and compare.
    pub verify: bool,
    /// Threads; at least 1.
    pub threads: usize,
}

/// `latens decompress`, settled.
#[derive(Clone, Debug)]
pub struct DecompressJob {
    /// What to read.
    pub input: Input,
    /// Its format.
    pub from: Format,
    /// What to write.
    pub output: Output,
    /// Its format.
    pub to: Format,
    /// `--limit`: stop after so many numbers (rows of a table).
    pub limit: Option<u64>,
    /// `--max-output`: refuse to write more bytes.
    pub max_output: Option<u64>,
    /// Bytes after the end of the file are no error.
    pub allow_trailing: bool,
    /// `--force`: replace an existing output.
    pub force: bool,
    /// `--columns`: these and no others.
    pub columns: Option<Vec<String>>,
    /// Threads; at least 1.
    pub threads: usize,
}
