//! A base that is opened by its path: which kind of file it is, and whose its errors are.

use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::watch::Watch;
use crate::wcodec::base::{Access, Base, BaseCheckpoint, BaseTensor};
use crate::wcodec::checkpoint::{Checkpoint, Format, ReadAt, open_file};
use crate::wcodec::dtype::Dtype;
use crate::wcodec::layout::header::MAGIC;
use crate::wcodec::reader::Reader;
use std::path::Path;

/// How the place of an error begins that is of a base which [`open_base`] has opened; its path follows.
pub const OF_BASE: &str = "the base ";

/// A base whose errors say that they are its own, not those of what is read against it.
struct Named {
    base: Box<dyn Base>,
    place: String,
}

impl Base for Named {
    fn model_hash(&self) -> [u8; 32] {
        self.base.model_hash()
    }

    fn tensor(&self, name: &str) -> Result<(Dtype, Vec<u64>, Vec<u8>)> {
        self.base.tensor(name).map_err(|e| e.of_another(&self.place))
    }

    fn about(&self, name: &str) -> Option<BaseTensor> {
        self.base.about(name)
    }

    fn read(&self, name: &str, from: u64, out: &mut [u8]) -> Result<()> {
        self.base.read(name, from, out).map_err(|e| e.of_another(&self.place))
    }

    fn access(&self) -> Access {
        self.base.access()
    }
}

/// Opens the checkpoint at `path` as a base: a `.safetensors`, its index of several, a `.gguf`, all of which are read
/// once, for the model hash, asking `watch` before each tensor; or a `.wcodec` that needs no base itself, of which only
/// the index is. The first bytes tell which it is. `limits` hold for a `.wcodec`.
///
/// Its errors, those of its tensors too, have a place that begins with [`OF_BASE`], and no [`Error::at`], which
/// would be taken for a byte of what is read against it: that stands in the words.
///
/// # Errors
/// Those of [`Reader::open`], [`Checkpoint::open`] and of the watch; invalid argument where it is no checkpoint, or was
/// made against another one.
pub fn open_base(path: &Path, limits: Limits, watch: &Watch) -> Result<Box<dyn Base>> {
    let place = format!("{OF_BASE}{}", path.display());
    match open(path, limits, watch) {
        Ok(base) => Ok(Box::new(Named { base, place })),
        Err(e) => Err(e.of_another(&place)),
    }
}

fn open(path: &Path, limits: Limits, watch: &Watch) -> Result<Box<dyn Base>> {
    let file = open_file(path)?;
    let telling = usize::try_from(file.size()?).unwrap_or(usize::MAX).min(Format::TELLING);
    let mut start = vec![0; telling];
    file.read_exact_at(&mut start, 0)?;
    let called =
        |end: &str| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(end));
    let told = Format::of_start(&start);
    // What goes by the name of one is asked what is wrong with it.
    if start.starts_with(MAGIC) || (told.is_none() && called("wcodec")) {
        let reader = Reader::open(file, limits)?;
        return match reader.base_name() {
            Some((name, _)) => Err(Error::invalid(format!(
                "the base was itself made against {name}; decompress it, with its own base, and give the checkpoint"
            ))),
            None => Ok(Box::new(reader)),
        };
    }
    let is_plain = matches!(told, Some(Format::Gguf | Format::Safetensors));
    if !is_plain && !["safetensors", "json", "gguf"].into_iter().any(called) {
        return Err(Error::invalid(
            "the base is no checkpoint; name a .safetensors, .safetensors.index.json, .gguf or .wcodec",
        ));
    }
    Ok(Box::new(BaseCheckpoint::new_with(Checkpoint::open(path)?, watch)?))
}
