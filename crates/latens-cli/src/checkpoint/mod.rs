//! Checkpoints: `.safetensors` (one file, or shards and their index) and `.gguf` to `.wcodec`, and
//! back.

pub mod ablate;
pub mod base;
pub mod compress;
pub mod decompress;
pub mod extract;
pub mod flat;
pub mod inspect;
mod options;
mod report;
mod rescued;
mod salvage;
pub mod target;
mod watch;

use latens::Limits;
use latens::wcodec::Reader;
use latens::wcodec::checkpoint::{Checkpoint, ReadAt};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::args;
use crate::format::Format;
use crate::io::section::SharedFile;
use crate::job::Input;
use crate::message::{Failure, Result};
use crate::render::units::noun;
use crate::report::Verified;
use crate::verb::thread_count;

use watch::Watched;

pub use report::{CheckpointReport, TensorReport};

/// Whether a format is that of checkpoints, packed or not.
pub fn is_checkpoint(format: Format) -> bool {
    matches!(format, Format::Safetensors | Format::Gguf | Format::Wcodec)
}

/// The file of an input: checkpoints are read by position.
///
/// # Errors
/// Wrong usage where it is standard input.
pub fn path(input: &Input) -> Result<&Path> {
    match input {
        Input::File(path) => Ok(path),
        Input::Stdin => Err(Failure::usage("a checkpoint is read by position, not from a stream")
            .hint("save it to a file and name that")),
    }
}

/// Open a checkpoint as people ship it.
///
/// # Errors
/// Bad input, I/O.
pub fn open(input: &Input) -> Result<Checkpoint> {
    let path = path(input)?;
    // What is no file (a folder, a FIFO) is said so before anything reads it.
    let there = std::fs::metadata(path).map_err(|e| Failure::from(e).in_file(path))?;
    if !there.is_file() {
        return Err(Failure::new("a checkpoint is a regular file").in_file(path));
    }
    Checkpoint::open(path).map_err(|e| Failure::from(e).in_file(path))
}

/// The files that are read for a checkpoint and for the base of one: of shards their index and each of
/// them. What cannot be opened is said by whoever reads it.
pub fn sources(checkpoint: Option<&Path>, base: Option<&Path>) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for path in [checkpoint, base].into_iter().flatten() {
        all.push(path.to_path_buf());
        let is_index = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("json"));
        let shards = is_index.then(|| open(&Input::File(path.to_path_buf())).ok()).flatten();
        let shards = shards.iter().flat_map(|index| &index.files);
        all.extend(shards.map(|file| path.with_file_name(&file.name)));
    }
    all
}

/// Open a `.wcodec` file.
///
/// # Errors
/// Bad input, I/O.
pub fn reader(input: &Input, limits: Limits, threads: usize) -> Result<Reader<SharedFile>> {
    let path = path(input)?;
    let file = crate::table::reading::shared(input)?;
    let reader = Reader::open(file, limits).map_err(|e| Failure::from(e).in_file(path))?;
    Ok(reader.threads(threads))
}

/// The checkpoint of a `.wcodec`, as files in a folder; returns the one to open.
///
/// # Errors
/// Bad input, I/O.
pub fn unpack(input: &Input, base: Option<&Path>, folder: &Path) -> Result<PathBuf> {
    let limits = Limits::default();
    let reader = base::with(reader(input, limits, 0)?, base, limits)?;
    let files: Vec<String> = reader.files().map(|(name, _)| name.to_string()).collect();
    for (number, name) in files.iter().enumerate() {
        let mut file = File::create_new(folder.join(target::plain(name)?))?;
        reader.write_file(number, &mut file).map_err(|e| Failure::from(e).in_file(input.name()))?;
    }
    let index = files.iter().find(|name| name.ends_with(".index.json")).or(files.first());
    let index = index.ok_or_else(|| Failure::new("the file holds no checkpoint"))?;
    Ok(folder.join(index))
}

/// Decode everything and check every checksum.
///
/// # Errors
/// Bad input, I/O.
pub fn verify(input: &Input, format: Format, args: &args::Verify) -> Result<Verified> {
    let (tensors, checksum) = match format {
        Format::Wcodec => {
            let limits = Limits::default();
            let reader = reader(input, limits, thread_count(args.common.threads))?;
            // What needs no base is not compared with one.
            let base = args.base.as_deref().filter(|_| reader.base_name().is_some());
            let reader = base::with(reader, base, limits)?;
            let quiet = args.common.quiet || args.common.json;
            let watched = Watched::files("verify", &reader, quiet);
            watched.reader.verify().map_err(|e| Failure::from(e).in_file(input.name()))?;
            (reader.tensors().count(), true)
        }
        _ => (open(input)?.tensors.len(), false),
    };
    Ok(Verified {
        what: format!("{tensors} {}", noun(tensors as u64, "tensor")),
        n: tensors as u64,
        number_type: None,
        checksum,
        trailing_bytes: 0,
    })
}

impl ReadAt for SharedFile {
    fn size(&self) -> io::Result<u64> {
        Ok(SharedFile::len(self))
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.section(offset, buf.len() as u64).read_exact(buf)
    }
}
