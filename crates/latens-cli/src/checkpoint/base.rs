//! The checkpoint that another one is coded against.

use latens::Limits;
use latens::wcodec::{Base, BaseCheckpoint};
use std::path::Path;

use crate::format::Format;
use crate::job::Input;
use crate::message::{Failure, Result};

/// Open a base: a checkpoint as people ship it, or a `.wcodec` that needs no base itself.
///
/// # Errors
/// Bad input, I/O.
pub fn open(path: &Path) -> Result<Box<dyn Base>> {
    let input = Input::File(path.to_path_buf());
    match Format::of_path(path) {
        Some(Format::Wcodec) => Ok(Box::new(super::reader(&input, Limits::default(), 0)?)),
        Some(Format::Safetensors | Format::Gguf) => {
            let base = BaseCheckpoint::new(super::open(&input)?);
            Ok(Box::new(base.map_err(|e| Failure::from(e).in_file(path))?))
        }
        _ => Err(Failure::usage("the base is no checkpoint")
            .in_file(path)
            .hint("name a .safetensors, .safetensors.index.json, .gguf or .wcodec")),
    }
}

/// The name that a file keeps of its base: a hint for people, without folders.
pub fn name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
