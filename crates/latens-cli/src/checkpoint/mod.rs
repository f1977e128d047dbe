//! Checkpoints: `.safetensors` (one file, or shards and their index) and `.gguf` to `.wcodec`, and
//! back.

pub mod ablate;
pub mod base;
pub mod compress;
pub mod damage;
pub mod decompress;
pub mod extract;
pub mod flat;
pub mod hints;
pub mod inspect;
pub mod kind;
mod options;
pub mod origin;
mod report;
mod rescued;
mod salvage;
pub mod shards;
pub mod target;
mod through;
mod watch;

use latens::Limits;
use latens::wcodec::checkpoint::{Checkpoint, ReadAt};
use latens::wcodec::{LostEntries, Reader, Salvage};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::args;
use crate::format::Format;
use crate::io::section::SharedFile;
use crate::job::Input;
use crate::message::{Failure, Result};
use crate::render::units::noun;
use crate::report::Verified;
use crate::table::reading::{named, shared};
use crate::verb::thread_count;

use damage::Fault;
use origin::Origin;
use watch::Watched;

pub use report::{CheckpointReport, TensorReport};
pub use salvage::report::Wrong;

/// Whether a format is that of checkpoints, packed or not.
pub fn is_checkpoint(format: Format) -> bool {
    matches!(format, Format::Safetensors | Format::Gguf | Format::Wcodec)
}

/// Open a checkpoint as people ship it.
///
/// # Errors
/// Bad input, I/O.
pub fn open(input: &Input, format: Format) -> Result<Checkpoint> {
    Origin::of(input, format)?.open().map_err(|e| named(e, input))
}

/// The files that are read for a checkpoint and for the base of one: of shards their index and each of
/// them. What cannot be opened is said by whoever reads it.
pub fn sources(checkpoint: Option<&Input>, base: Option<&Path>) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let checkpoint = checkpoint.and_then(|input| match input {
        Input::File(path) => Some(path.as_path()),
        Input::Stdin => None,
    });
    for path in [checkpoint, base].into_iter().flatten() {
        all.push(path.to_path_buf());
        let is_index = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("json"));
        let shards = is_index.then(|| Origin::Path(path.to_path_buf()).open().ok()).flatten();
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
    reader_and_size(input, limits, threads).map(|(reader, _)| reader)
}

/// The same, and how large the file is, or what came of a stream.
///
/// # Errors
/// Bad input, I/O.
pub fn reader_and_size(
    input: &Input,
    limits: Limits,
    threads: usize,
) -> Result<(Reader<SharedFile>, u64)> {
    let file = shared(input)?;
    let opened = Reader::open(file.clone(), limits);
    let opened = opened.map_err(|e| damage::advised_of_ends(e, &file, input, limits))?;
    Ok((opened.threads(threads), file.len()))
}

/// A file that was opened in spite of damage to header, index or footer.
pub struct Salvaged {
    pub reader: Reader<SharedFile>,
    /// How large it is.
    pub bytes: u64,
    /// What was wrong.
    pub damage: Vec<Wrong>,
    lost: Option<LostEntries>,
    proved: bool,
}

/// The same of a file whose header, index or footer may be damaged, which is said unless it is to be `quiet`.
///
/// # Errors
/// Bad input of which nothing can be read, I/O.
pub fn salvaged(input: &Input, limits: Limits, threads: usize, quiet: bool) -> Result<Salvaged> {
    let file = shared(input)?;
    let opened = Reader::salvage(file.clone(), limits).map_err(|e| named(e.into(), input))?;
    let Salvage { reader, damage, lost, proved, .. } = opened;
    let damage: Vec<Wrong> = damage.into_iter().map(Wrong::from).collect();
    if !quiet {
        damage.iter().for_each(Wrong::tell);
    }
    Ok(Salvaged { reader: reader.threads(threads), bytes: file.len(), damage, lost, proved })
}

impl Salvaged {
    /// That names, types and shapes are right for certain, and none is lost.
    ///
    /// # Errors
    /// That is not known.
    pub fn sound(&self, input: &Input) -> Result<()> {
        let lost = self.lost.and_then(|lost| salvage::look::unnamed(&self.reader, lost));
        let what = match lost {
            Some(lost) => format!("lost: {}", lost.why),
            None if self.proved => return Ok(()),
            None => "names, types and shapes are from a damaged index and may be wrong".to_owned(),
        };
        Err(named(Failure::new(what), input))
    }
}

/// Decode everything and check every checksum. All that is found wrong with a `.wcodec` is added to `faults`.
///
/// # Errors
/// Bad input, I/O.
pub fn verify(
    input: &Input,
    format: Format,
    args: &args::Verify,
    faults: &mut Vec<Fault>,
) -> Result<Verified> {
    let (tensors, checksum) = match format {
        Format::Wcodec => {
            let limits = Limits::default();
            let reader = reader(input, limits, thread_count(args.common.threads()))?;
            // What needs no base is not compared with one.
            let base = args.base.as_deref().filter(|_| reader.base_name().is_some());
            let reader = base::with(reader, base, limits)?;
            let quiet = args.common.quiet || args.common.json;
            let verified = Watched::files("verify", &reader, quiet).reader.verify();
            if let Err(e) = verified {
                if damage::is_damage(&e) {
                    let watched = Watched::files("damage", &reader, quiet);
                    *faults = damage::faults(&watched.reader, &e).map_err(|e| named(e, input))?;
                }
                return Err(damage::advised(e, input));
            }
            (reader.tensors().count(), true)
        }
        _ => {
            let checkpoint = open(input, format)?;
            shards::complete(&checkpoint, input, faults)?;
            let quiet = args.common.quiet || args.common.json;
            through::read(&checkpoint, quiet).map_err(|e| named(e, input))?;
            (checkpoint.tensors.len(), false)
        }
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
