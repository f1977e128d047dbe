//! What a verb was asked to do, after the command line is parsed and before any format is opened.

use latens::NumberType;
use latens::pco::Config;
use std::path::{Path, PathBuf};

use crate::format::Format;
use crate::message::shown;
use crate::progress::Progress;

/// Where bytes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// `-`
    Stdin,
    /// A file of the user's, never changed.
    File(PathBuf),
}

impl Input {
    /// `-` or a path.
    pub fn of(path: &Path) -> Self {
        match path.as_os_str() == "-" {
            true => Input::Stdin,
            false => Input::File(path.to_path_buf()),
        }
    }

    /// As it stands in messages and reports.
    pub fn name(&self) -> String {
        match self {
            Input::Stdin => "-".into(),
            Input::File(path) => shown(path),
        }
    }

    /// Size of the file, where it is one.
    pub fn size(&self) -> Option<u64> {
        match self {
            Input::Stdin => None,
            Input::File(path) => std::fs::metadata(path)
                .ok()
                .filter(|there| there.is_file())
                .map(|there| there.len()),
        }
    }
}

/// Where bytes go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// `-o -`
    Stdout,
    /// A file that is replaced only with `--force`.
    File(PathBuf),
}

impl Output {
    /// `-` or a path.
    pub fn of(path: &Path) -> Self {
        match path.as_os_str() == "-" {
            true => Output::Stdout,
            false => Output::File(path.to_path_buf()),
        }
    }

    /// As it stands in messages and reports.
    pub fn name(&self) -> String {
        match self {
            Output::Stdout => "-".into(),
            Output::File(path) => shown(path),
        }
    }
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
    /// Codec and encoding, for Parquet.
    pub parquet: crate::io::parquet::Options,
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
    /// Measure what zstd and others make of the same data, for the screen.
    pub peers: bool,
    /// Threads; at least 1. The work runs in a rayon pool of that many.
    pub threads: usize,
    /// To be told of input bytes as they are done.
    pub progress: Progress,
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
    /// Threads; at least 1. The work runs in a rayon pool of that many.
    pub threads: usize,
    /// To be told of input bytes as they are done.
    pub progress: Progress,
}
