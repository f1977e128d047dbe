//! What is to be read, and how.

use std::fs::File;
use std::io;

use crate::array::source as bytes;
use crate::format::Format;
use crate::io::section::SharedFile;
use crate::job::Input;
use crate::message::{Failure, Result};
use crate::output::Nameless;
use crate::progress::Progress;

/// How an input is read.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// Where from.
    pub input: &'a Input,
    /// In which format.
    pub format: Format,
    /// Type of bare numbers.
    pub number_type: Option<latens::NumberType>,
    /// Leave nested columns out in place of refusing them.
    pub skip_nested: bool,
    /// Told of bytes where a file is read in full before anything else happens.
    pub progress: &'a Progress,
}

/// A file that can be read at any position: a pipe is put into a temporary file first.
///
/// # Errors
/// I/O, with the input's name.
pub fn shared(input: &Input) -> Result<SharedFile> {
    at_any_position(input).map_err(|failure| named(failure, input))
}

fn at_any_position(input: &Input) -> Result<SharedFile> {
    let mut stream = match input {
        Input::Stdin => bytes::open(input)?,
        Input::File(path) => {
            let file = File::open(path)?;
            let meta = file.metadata()?;
            if meta.is_dir() {
                return Err(Failure::folder());
            }
            if meta.is_file() {
                return Ok(SharedFile::new(file)?);
            }
            // Opened a second time, a pipe would wait for another writer.
            Box::new(file)
        }
    };
    let mut file = Nameless::new()?;
    io::copy(&mut stream, &mut file)?;
    file.read_back()
}

/// The same failure with the input's name, unless it names a file already.
pub fn named(failure: Failure, input: &Input) -> Failure {
    match input {
        Input::Stdin => failure.in_file("standard input"),
        Input::File(path) => failure.in_file(path),
    }
}
