//! The checkpoint that another one is coded against.

use latens::wcodec::checkpoint::ReadAt;
use latens::wcodec::{Base, OF_BASE, Reader, open_base};
use latens::{ErrorKind, Limits, Watch};
use std::path::Path;

use super::damage::OTHER_COPY;
use super::origin::explained;
use crate::message::{Failure, Result};

/// Open a base: a checkpoint as people ship it, or a `.wcodec` that needs no base itself. The limits
/// are those of the file that is read against it.
///
/// # Errors
/// Bad input, I/O.
pub fn open(path: &Path, limits: Limits) -> Result<Box<dyn Base>> {
    if path == Path::new("-") {
        return Err(Failure::usage(
            "a base must be a file, not standard input: it is read in many places",
        )
        .hint("write it to a file and name that with --base"));
    }
    let there = std::fs::metadata(path).map_err(|e| Failure::from(e).in_file(path))?;
    open_base(path, limits, &Watch::NONE).map_err(|e| {
        if e.kind() == ErrorKind::InvalidArgument && !e.is_limit() {
            // Behind the last semicolon is what to do.
            let (what, hint) = e
                .what()
                .rsplit_once("; ")
                .map_or((e.what(), None), |(what, hint)| (what, Some(hint)));
            let failure = Failure::usage(what).in_file(path);
            return hint.map_or(failure.clone(), |hint| failure.hint(hint));
        }
        let failure = match there.is_file() {
            true => explained(e, path),
            false => Failure::from(e).in_file(path),
        };
        // The file is named.
        failure.not_within(|place| place.starts_with(OF_BASE)).hint_on_damage(OTHER_COPY)
    })
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
    use crate::format::Format;
    use crate::job::Input;
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
