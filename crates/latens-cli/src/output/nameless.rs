//! Files without names, for bytes on their way: gone with the process, whatever ends it.

use std::fs::File;
use std::io::{self, Write};

use crate::io::section::SharedFile;
use crate::message::{Failure, Result};

/// One being written. What goes wrong names the folder that it is in, not the input or output at
/// hand.
#[derive(Debug)]
pub struct Nameless(File);

impl Nameless {
    /// Make one.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn new() -> Result<Self> {
        tempfile::tempfile().map(Nameless).map_err(on_the_way)
    }

    /// What has been written, to be read at any position.
    ///
    /// # Errors
    /// When its length cannot be found out.
    pub fn read_back(self) -> Result<SharedFile> {
        SharedFile::new(self.0).map_err(on_the_way)
    }

    /// The file itself.
    pub fn into_file(self) -> File {
        self.0
    }
}

impl Write for Nameless {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(|e| match e.kind() {
            io::ErrorKind::Interrupted => e,
            _ => io::Error::other(on_the_way(e)),
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What is said of a file on the way.
pub fn on_the_way(e: io::Error) -> Failure {
    let bounded = e.kind() == io::ErrorKind::FileTooLarge;
    let failure = Failure::from(e).in_file(std::env::temp_dir());
    match bounded {
        true => failure,
        false => failure.hint_instead("TMPDIR names another folder for temporary files"),
    }
}
