//! The checkpoint that another one is coded against.

use latens::Limits;
use latens::wcodec::checkpoint::{self, ReadAt};
use latens::wcodec::dtype::Dtype;
use latens::wcodec::{Base, BaseCheckpoint, BaseTensor, Reader};
use std::fs::File;
use std::path::{Path, PathBuf};

use super::damage::{Kind, OF_BASE};
use crate::format::Format;
use crate::io::section::SharedFile;
use crate::job::Input;
use crate::message::{Failure, Result, shown};

/// A base whose errors say that they are its own, not those of what is read against it.
struct Named<B> {
    base: B,
    path: PathBuf,
}

impl<B: Base> Base for Named<B> {
    fn model_hash(&self) -> [u8; 32] {
        self.base.model_hash()
    }

    fn tensor(&self, name: &str) -> latens::Result<(Dtype, Vec<u64>, Vec<u8>)> {
        let place = || format!("{OF_BASE}{}", shown(&self.path));
        self.base.tensor(name).map_err(|e| e.within(place()))
    }

    fn about(&self, name: &str) -> Option<BaseTensor> {
        self.base.about(name)
    }
}

/// Open a base: a checkpoint as people ship it, or a `.wcodec` that needs no base itself. The limits
/// are those of the file that is read against it.
///
/// # Errors
/// Bad input, I/O.
pub fn open(path: &Path, limits: Limits) -> Result<Box<dyn Base>> {
    let input = Input::File(path.to_path_buf());
    match Format::of_path(path).filter(|&format| super::is_checkpoint(format)).or(by_start(path)) {
        Some(Format::Wcodec) => {
            let reader = super::reader(&input, limits, 0)?;
            if let Some((name, _)) = reader.base_name() {
                let what = format!("the base was itself made against {name}");
                return Err(Failure::new(what)
                    .in_file(path)
                    .hint("decompress it, with its own base, and give the checkpoint"));
            }
            Ok(Box::new(Named { base: reader, path: path.to_path_buf() }))
        }
        Some(format @ (Format::Safetensors | Format::Gguf)) => {
            let base = BaseCheckpoint::new(super::open(&input, format)?);
            let base = base.map_err(|e| Failure::from(e).in_file(path))?;
            Ok(Box::new(Named { base, path: path.to_path_buf() }))
        }
        _ => {
            // What is not there has no kind.
            std::fs::metadata(path).map_err(|e| Failure::from(e).in_file(path))?;
            Err(Failure::usage("the base is no checkpoint")
                .in_file(path)
                .hint("name a .safetensors, .safetensors.index.json, .gguf or .wcodec"))
        }
    }
}

/// What a file is by its first bytes, where its name does not say it: of a base there is no `--from`. What can be
/// read only once is not looked into.
fn by_start(path: &Path) -> Option<Format> {
    let file = path.is_file().then(|| File::open(path).ok())??;
    match Kind::of(&SharedFile::new(file).ok()?)? {
        Kind::Wcodec => Some(Format::Wcodec),
        Kind::Plain(checkpoint::Format::Gguf) => Some(Format::Gguf),
        Kind::Plain(checkpoint::Format::Safetensors) => Some(Format::Safetensors),
        Kind::Plain(_) => None,
    }
}

/// The reader with its base, where one is given.
///
/// # Errors
/// Those of [`open`]; a base that is not the one that the file was made against.
pub fn with<S: ReadAt>(
    reader: Reader<S>,
    base: Option<&Path>,
    limits: Limits,
) -> Result<Reader<S>> {
    match base {
        None => Ok(reader),
        Some(path) => {
            let opened = open(path, limits)?;
            reader.with_base(opened).map_err(|e| Failure::from(e).in_file(path))
        }
    }
}

/// The name that a file keeps of its base: a hint for people, without folders.
pub fn name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use latens::wcodec::{Config, compress_checkpoint};

    #[test]
    fn the_limits_hold_for_the_base() {
        let folder = tempfile::tempdir().unwrap();
        let header = br#"{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}"#;
        let file = [&(header.len() as u64).to_le_bytes()[..], header, &[1, 2]].concat();
        let (from, to) = (folder.path().join("b.safetensors"), folder.path().join("b.wcodec"));
        std::fs::write(&from, file).unwrap();
        let checkpoint = super::super::open(&Input::File(from), Format::Safetensors).unwrap();
        let made = compress_checkpoint(&checkpoint, None, &Config::default(), Vec::new()).unwrap();
        std::fs::write(&to, made).unwrap();
        assert!(open(&to, Limits::default().max_output(2)).unwrap().tensor("a").is_ok());
        let refused = open(&to, Limits::default().max_output(1)).unwrap().tensor("a");
        assert!(refused.unwrap_err().is_limit());
        assert!(open(&to, Limits::default().max_alloc(9)).is_err());
    }
}
