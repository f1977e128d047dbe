//! What the files on the command line mean: formats and default names.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::checkpoint::is_checkpoint;
use crate::format::Format;
use crate::job::{Input, Output};
use crate::message::{Failure, Result, shown};

/// The format of an input: named, or by extension.
///
/// # Errors
/// Neither says it.
pub fn input_format(input: &Input, named: Option<Format>) -> Result<Format> {
    let format = named.or_else(|| match input {
        Input::Stdin => None,
        Input::File(path) => Format::of_path(path),
    });
    match (format, input) {
        (Some(format), _) => Ok(format),
        (None, Input::Stdin) => Err(Failure::usage("standard input has no extension to go by")
            .hint("name its format: --from npy|raw|csv|parquet|pco|pco.zip|dbp|safetensors|gguf|wcodec")),
        // A file that is not there needs no format, a folder has none.
        (None, Input::File(path)) => {
            let there = fs::metadata(path).map_err(|e| Failure::from(e).in_file(path))?;
            if there.is_dir() {
                return Err(folder(path));
            }
            Err(Failure::usage("the input's extension names no format")
                .in_file(path)
                .hint("name it: --from npy|raw|csv|parquet|pco|pco.zip|dbp|safetensors|gguf|wcodec"))
        }
    }
}

/// What is said of an input that is a folder: which file in it is meant, where that can be told.
fn folder(path: &Path) -> Failure {
    let files = fs::read_dir(path).into_iter().flatten().filter_map(|file| Some(file.ok()?.path()));
    let mut files: Vec<PathBuf> =
        files.filter(|file| Format::of_path(file).is_some() && file.is_file()).collect();
    files.sort();
    let checkpoints = |file: &&PathBuf| Format::of_path(file).is_some_and(is_checkpoint);
    let only = |files: &[&PathBuf]| match files {
        [one] => Some(one.to_path_buf()),
        _ => None,
    };
    // Shards are several, and their index is what names them all.
    let index = files.iter().find(|file| Format::is_index(file)).cloned();
    let only_checkpoint = || only(&files.iter().filter(checkpoints).collect::<Vec<_>>());
    let meant = index.or_else(only_checkpoint).or_else(|| only(&files.iter().collect::<Vec<_>>()));
    let failure = Failure::folder().in_file(path);
    match meant {
        Some(file) => failure.hint_instead(format!("name a file in it: {}", shown(&file))),
        None => failure,
    }
}

/// Whether output goes to standard output.
pub fn is_stdout(input: &Input, given: Option<&Path>) -> bool {
    match given {
        Some(path) => Output::of(path) == Output::Stdout,
        None => *input == Input::Stdin,
    }
}

/// Wrong usage where more than one thing goes to standard output: what, and whether it does.
///
/// # Errors
/// Two of them.
pub fn one_on_stdout(wanted: &[(&str, bool)]) -> Result<()> {
    let wanting: Vec<&str> = wanted.iter().filter(|(_, it)| *it).map(|(name, _)| *name).collect();
    match wanting[..] {
        [one, other, ..] => {
            Err(Failure::usage(format!("{one} and {other} both want standard output"))
                .hint("name a file for one of them"))
        }
        _ => Ok(()),
    }
}

/// Where output goes and in which format, given what it would be by default and what could be `written`.
///
/// # Errors
/// An extension that names no format.
pub fn output(
    input: &Input,
    given: Option<PathBuf>,
    named: Option<Format>,
    default: Format,
    default_on_stdout: Format,
    written: &str,
) -> Result<(Output, Format)> {
    match (given, input) {
        (Some(path), _) if Output::of(&path) == Output::Stdout => {
            Ok((Output::Stdout, named.unwrap_or(default_on_stdout)))
        }
        (Some(path), Input::File(from)) if path.is_dir() => {
            let beside = Format::beside(from, named.unwrap_or(default).name());
            let file = path.join(beside.file_name().unwrap_or_default());
            let failure = Failure::new("the output is a folder").in_file(&path);
            Err(failure.hint(format!("name a file in it: -o {}", shown(&file))))
        }
        (Some(path), _) => {
            let format = named.or_else(|| Format::of_path(&path));
            // `-o /dev/null`, a FIFO, `-o out`: nothing that could name another format.
            let silent = path.extension().is_none() || is_special(&path);
            match format.or_else(|| silent.then_some(default)) {
                Some(format) => Ok((Output::File(path), format)),
                None => Err(Failure::usage("the output's extension names no format")
                    .in_file(path)
                    .hint(format!("name it: --to {written}"))),
            }
        }
        (None, Input::Stdin) => Ok((Output::Stdout, named.unwrap_or(default_on_stdout))),
        (None, Input::File(path)) => {
            let format = named.unwrap_or(default);
            Ok((Output::File(beside(path, format.name())?), format))
        }
    }
}

/// The output beside an input, where none is named.
///
/// # Errors
/// An input that lies nowhere: a pipe or device with a name that is not of a file.
pub fn beside(input: &Path, extension: &str) -> Result<PathBuf> {
    match Format::of_path(input).is_none() && is_special(input) {
        true => Err(Failure::usage("nothing can be written beside a pipe or a device")
            .in_file(input)
            .hint("name the output with -o")),
        false => Ok(Format::beside(input, extension)),
    }
}

/// Wrong usage where the format named by `--to` is none of these.
///
/// # Errors
/// That one.
pub fn only(named: Option<Format>, formats: &[Format]) -> Result<()> {
    match named {
        Some(format) if !formats.contains(&format) => {
            Err(Failure::usage(format!("what comes out is not {format}")))
        }
        _ => Ok(()),
    }
}

fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|there| {
        let kind = there.file_type();
        kind.is_fifo() || kind.is_char_device() || kind.is_block_device()
    })
}
