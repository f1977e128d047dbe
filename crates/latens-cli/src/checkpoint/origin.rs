//! Where a checkpoint is read from: files as people ship it, standard input, or a `.wcodec` that was
//! unpacked. What has no name goes through files without one: they are gone with the process.

use latens::Limits;
use latens::wcodec::checkpoint::{Checkpoint, Format as Kind, Quantization};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{base, kind};
use crate::format::Format;
use crate::io::section::SharedFile;
use crate::job::Input;
use crate::message::{Failure, Result};
use crate::output::Nameless;
use crate::table::reading::shared;

/// Files of a checkpoint, which can be opened again and again.
pub enum Origin {
    /// A file, or the index of several beside it.
    Path(PathBuf),
    /// Names and bytes, the one to open first.
    Spooled(Vec<(String, SharedFile)>),
}

impl Origin {
    /// That of an input in this format; standard input and pipes are read to their ends.
    ///
    /// # Errors
    /// I/O.
    pub fn of(input: &Input, format: Format) -> Result<Self> {
        // What is missing, or a folder, is said to be that when it is opened.
        let is_stream = |path: &Path| path.metadata().is_ok_and(|m| !m.is_file() && !m.is_dir());
        Ok(match input {
            Input::File(path) if !is_stream(path) => Origin::Path(path.clone()),
            _ => {
                let file = shared(input)?;
                if format == Format::Safetensors && is_index(&file) {
                    return Err(Failure::new(
                        "an index of shards names the files beside it, and a stream has none",
                    )
                    .in_file(input.name())
                    .hint("give the path of the .safetensors.index.json"));
                }
                Origin::Spooled(vec![(name_of_stream(format), file)])
            }
        })
    }

    /// The files that a `.wcodec` was made from.
    ///
    /// # Errors
    /// Bad input, I/O.
    pub fn unpacked(input: &Input, base: Option<&Path>) -> Result<Self> {
        let limits = Limits::default();
        let reader = base::with(super::reader(input, limits, 0)?, base, limits)?;
        let names: Vec<String> = reader.files().map(|(name, _)| name.to_string()).collect();
        let mut files = Vec::new();
        for (number, name) in names.into_iter().enumerate() {
            let mut file = Nameless::new()?;
            let written = reader.write_file(number, &mut file);
            written.map_err(|e| super::damage::advised(e, input))?;
            files.push((name, file.read_back()?));
        }
        let is_index = |&file: &usize| reader.format_of_file(file) == Some(Kind::Sharded);
        let index = (0..files.len()).find(is_index);
        match files.is_empty() {
            true => return Err(Failure::new("the file holds no checkpoint")),
            false => files.swap(0, index.unwrap_or(0)),
        }
        Ok(Origin::Spooled(files))
    }

    /// The checkpoint.
    ///
    /// # Errors
    /// Bad input, I/O.
    pub fn open(&self) -> Result<Checkpoint> {
        match self {
            Origin::Path(path) => {
                let there = std::fs::metadata(path).map_err(|e| Failure::from(e).in_file(path))?;
                if !there.is_file() {
                    return Err(Failure::new("a checkpoint is a regular file").in_file(path));
                }
                Checkpoint::open(path).map_err(|e| explained(e, path))
            }
            Origin::Spooled(files) => {
                let (name, file) = files.first().ok_or_else(|| Failure::new("no checkpoint"))?;
                let shard = |name: &str| match files.iter().find(|(known, _)| known == name) {
                    Some((_, file)) => Ok(Box::new(file.clone()) as _),
                    None => Err(latens::Error::invalid("there is no such file")),
                };
                let quantization = Quantization::default();
                let read =
                    Checkpoint::read(name.clone(), Box::new(file.clone()), quantization, &shard);
                read.map_err(|e| {
                    of_another_kind(
                        e.into(),
                        Some(file.clone()),
                        (name.as_ref(), "say --from safetensors"),
                    )
                })
            }
        }
    }
}

/// What is said of a file that is there, but cannot be opened as a checkpoint.
pub(super) fn explained(e: latens::Error, path: &Path) -> Failure {
    let source = std::error::Error::source(&e).and_then(|source| source.downcast_ref());
    let is_missing = source.is_some_and(|e: &io::Error| e.kind() == io::ErrorKind::NotFound);
    let failure = Failure::from(e).in_file(path);
    match is_missing {
        true => failure.hint("get the file that the index names, and put it beside the index"),
        false => {
            let file = File::open(path).and_then(SharedFile::new).ok();
            of_another_kind(failure, file, (path, "rename it, to end in .safetensors"))
        }
    }
}

/// The failure to read a file as a checkpoint, which says where it is what PyTorch writes, or packed: such files go by
/// any name. `rename` is what to do where the name alone is wrong.
fn of_another_kind(
    failure: Failure,
    file: Option<SharedFile>,
    (name, rename): (&Path, &str),
) -> Failure {
    let mut start = Vec::new();
    // Where it cannot be read, that is what has been said.
    let _ = file.map(|file| file.section(0, Kind::TELLING as u64).read_to_end(&mut start));
    if start.starts_with(kind::MAGIC) {
        let by_from = "decompress, verify and inspect take it with --from wcodec";
        return failure.hint_on_damage(format!("it begins as a .wcodec: {by_from}"));
    }
    let called_gguf = Format::of_path(name) == Some(Format::Gguf);
    if called_gguf && Kind::of_start(&start) == Some(Kind::Safetensors) {
        return failure.hint_on_damage(rename);
    }
    let what = match start[..] {
        [b'P', b'K', 3, 4, ..] => "it begins as a ZIP archive, which PyTorch writes (.pt, .bin)",
        [0x80, 2..=5, ..] => "it begins as a pickle, which PyTorch wrote (.pt, .bin)",
        _ => return failure,
    };
    failure.hint_on_damage(format!("{what}: save its tensors as safetensors first"))
}

/// Whether a file begins as JSON text. The length that a safetensors file begins with has zeros in its upper half.
fn is_index(file: &SharedFile) -> bool {
    let mut start = [0; 8];
    let is_there = file.section(0, 8).read_exact(&mut start).is_ok();
    is_there && start.trim_ascii_start().starts_with(b"{") && !start.contains(&0)
}

/// What a checkpoint from a stream is called within a `.wcodec`.
pub fn name_of_stream(format: Format) -> String {
    format!("model.{format}")
}
