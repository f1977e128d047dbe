//! Where the files of a checkpoint go.

use latens::wcodec::Reader;
use latens::wcodec::checkpoint::{self, ReadAt};
use std::path::{Path, PathBuf};

use crate::args;
use crate::format::Format;
use crate::job::{Input, Output};
use crate::message::{Failure, Result};
use crate::output::cleanup::NewFolders;
use crate::output::{MaxOutput, Need, OutputFile, Request};
use crate::table::reading::named;
use crate::verb::settle;

/// A file that a `.wcodec` was made from.
pub struct Stored {
    /// Its name, which comes from strangers.
    pub name: String,
    /// Its bytes.
    pub len: u64,
    /// What it is by its content, or where that cannot be read by its name.
    pub format: Option<Format>,
}

impl Stored {
    /// All of them, by number.
    pub fn all<S: ReadAt>(reader: &Reader<S>) -> Vec<Self> {
        let each = reader.files().enumerate().map(|(number, (name, len))| Stored {
            name: name.into(),
            len,
            format: match reader.format_of_file(number) {
                Some(checkpoint::Format::Gguf) => Some(Format::Gguf),
                Some(_) => Some(Format::Safetensors),
                None => Format::of_path(Path::new(name)),
            },
        });
        each.collect()
    }

    /// The extension of a file beside the input: its own where that is one of what it is.
    fn extension(&self) -> String {
        let path = Path::new(&self.name);
        let own = path.extension().filter(|_| match self.format {
            Some(format) => Format::of_path(path) == Some(format),
            None => plain(&self.name).is_ok(),
        });
        match (own, self.format) {
            (Some(own), _) => own.to_string_lossy().into_owned(),
            (None, format) => format.unwrap_or(Format::Safetensors).name().into(),
        }
    }

    /// The name of the only file in a folder: its own, or that of the input where it cannot be one.
    fn alone_in(&self, folder: &Path, input: &Input) -> Result<PathBuf> {
        match (plain(&self.name), input) {
            (Err(_), Input::File(path)) => {
                let beside = Format::beside(path, &self.extension());
                Ok(folder.join(beside.file_name().unwrap_or_default()))
            }
            (name, _) => Ok(folder.join(name?)),
        }
    }
}

/// A name that a file was stored under, if it can be one in a folder: names in a container come
/// from strangers and are never paths.
///
/// # Errors
/// A name with separators, or of a folder.
pub fn plain(name: &str) -> Result<&str> {
    let bad = name.is_empty()
        || name == "."
        || name == ".."
        || name.chars().any(|c| matches!(c, '/' | '\\' | ':' | '\0') || c.is_control());
    match bad {
        true => Err(Failure::new(format!("no file can have the name {name:?}"))
            .hint("name the output with -o")),
        false => Ok(name),
    }
}

/// One output a file: `given`, or beside the input, or a folder.
///
/// # Errors
/// Several files and no folder to put them into.
pub fn outputs(input: &Input, given: Option<&Path>, files: &[Stored]) -> Result<Vec<Output>> {
    match (files, given) {
        ([_], Some(path)) if Output::of(path) == Output::Stdout => Ok(vec![Output::Stdout]),
        ([file], Some(path)) if is_folder(path) => {
            Ok(vec![Output::File(file.alone_in(path, input)?)])
        }
        (_, Some(path)) if is_folder(path) => {
            files.iter().map(|file| Ok(Output::File(path.join(plain(&file.name)?)))).collect()
        }
        ([_], Some(path)) => Ok(vec![Output::File(path.to_path_buf())]),
        ([file], None) => Ok(vec![match input {
            Input::File(path) => Output::File(settle::beside(path, &file.extension())?),
            Input::Stdin => Output::Stdout,
        }]),
        _ => Err(Failure::usage(format!("the checkpoint has {} files", files.len()))
            .hint("name a folder for them: -o FOLDER/")),
    }
}

/// Whether a path names a folder, one that is there or, by its end, one to be made.
pub fn is_folder(path: &Path) -> bool {
    path.is_dir() || ends_with_separator(path)
}

/// Writes one output after the other; the first one gets its name when all are written.
///
/// # Errors
/// I/O; those of `each`, which writes the output of that number.
pub fn write(
    args: &args::Decompress,
    input: &Input,
    outputs: &[Output],
    mut each: impl FnMut(usize, &mut OutputFile) -> Result<()>,
) -> Result<u64> {
    let folder = new_folder(args.files.output.as_deref())?;
    let besides = super::sources(None, args.base.as_deref());
    let mut written: Vec<OutputFile> = Vec::new();
    for (number, output) in outputs.iter().enumerate() {
        let before = written.iter().map(OutputFile::written).sum();
        let mut out = OutputFile::open(&Request {
            input,
            besides: &besides,
            output,
            force: args.files.force,
            text: false,
            need: Need::Stream,
            max_output: args.max_output.map(|max| MaxOutput { max, before }),
        })?;
        let done = each(number, &mut out);
        done.map_err(|e| out.explain(named(e, input)))?;
        written.push(out);
    }
    let mut bytes = 0;
    for out in written {
        bytes += out.commit()?;
    }
    if let Some(folder) = folder {
        folder.keep();
    }
    Ok(bytes)
}

/// Wrong usage where `--to` names what no checkpoint comes out as.
///
/// # Errors
/// That one.
pub fn can_come_out(to: Option<Format>) -> Result<()> {
    let only = settle::only(to, &[Format::Safetensors, Format::Gguf]);
    only.map_err(|e| e.hint("leave --to out; `latens extract` writes a tensor as npy or raw"))
}

/// What comes out is what went in: a name or `--to` that says another format is wrong.
///
/// # Errors
/// Wrong usage.
pub fn same_format(files: &[Stored], outputs: &[Output], args: &args::Decompress) -> Result<()> {
    let is_named = args.files.output.as_deref().is_some_and(|path| !is_folder(path));
    for (Stored { format: held, .. }, output) in files.iter().zip(outputs) {
        let path = match output {
            Output::File(path) if is_named => Some(path),
            Output::File(_) | Output::Stdout => None,
        };
        let wanted = [path.and_then(|path| Format::of_path(path)), args.files.to];
        let other = wanted.into_iter().flatten().find(|format| held.is_some_and(|h| h != *format));
        if let (Some(held), Some(other)) = (held, other) {
            return Err(Failure::usage(format!("what comes out is {held}, not {other}"))
                .in_file(output.name())
                .hint(format!("name it .{held}; `latens extract` writes a tensor as npy")));
        }
    }
    Ok(())
}

/// Makes the folder that `given` names, if it names one.
fn new_folder(given: Option<&Path>) -> Result<Option<NewFolders>> {
    let path = given.filter(|path| ends_with_separator(path));
    let made = path.map(|p| NewFolders::make(p).map_err(|e| Failure::from(e).in_file(p)));
    made.transpose()
}

fn ends_with_separator(path: &Path) -> bool {
    PathBuf::from(path).to_string_lossy().ends_with(std::path::MAIN_SEPARATOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_paths() {
        assert!(plain("model-00001-of-00002.safetensors").is_ok());
        for name in ["", ".", "..", "a/b", "/etc/passwd", "..\\x", "c:x", "a\nb"] {
            assert!(plain(name).is_err(), "{name}");
        }
    }

    #[test]
    fn one_file_goes_beside_and_several_into_a_folder() {
        let input = Input::File("d/model.wcodec".into());
        let stored =
            |name: &str, format| Stored { name: name.into(), len: 1, format: Some(format) };
        let one = [stored("orig.gguf", Format::Gguf)];
        let two = ["a.safetensors", "b.json"].map(|name| stored(name, Format::Safetensors));
        assert_eq!(outputs(&input, None, &one).unwrap(), [Output::File("d/model.gguf".into())]);
        for misnamed in ["blob", "orig.safetensors", "orig.npy"].map(|n| stored(n, Format::Gguf)) {
            let beside = outputs(&input, None, &[misnamed]).unwrap();
            assert_eq!(beside, [Output::File("d/model.gguf".into())]);
        }
        assert!(outputs(&input, None, &two).is_err());
        let there = outputs(&input, Some(Path::new("out/")), &two).unwrap();
        assert_eq!(there[1], Output::File("out/b.json".into()));
    }
}
