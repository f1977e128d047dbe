//! Output that is whole or not there at all.
//!
//! | the output is | bytes go |
//! |---|---|
//! | a regular file | to a temporary neighbour (`.latens-….tmp`, mode 0600); [`OutputFile::commit`] gives it the mode of the file it replaces, or of the input as far as the umask allows, syncs it, renames it, syncs the folder |
//! | a symbolic link | as above, in the folder of the file that it names: the link stays |
//! | standard output, a FIFO, a device | there, directly; where they must be read back or patched first, through a file without a name ([`Nameless`]) |
//!
//! Whatever is not committed is removed: by `Drop`, and on signals by [`cleanup`]. The neighbour stays where
//! nothing of ours runs any more: after KILL, or where an allocation fails, which aborts the process.

pub mod cleanup;
mod nameless;
pub mod patched;
mod target;

use std::fs::{File, Permissions};
use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::PathBuf;

use crate::io::section::SharedFile;
use crate::job::{Input, Output};
use crate::message::{Failure, Result};
use crate::verb::STDOUT;
use cleanup::Temporary;
pub use nameless::Nameless;
use nameless::on_the_way;
use target::Target;

/// What will be done with the bytes before they are committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing: they may go out as they come.
    Stream,
    /// They are read back or patched.
    ReadBack,
}

/// Everything that matters for opening an output.
#[derive(Debug)]
pub struct Request<'a> {
    /// What is read: never written to.
    pub input: &'a Input,
    /// What is read besides, a base or shards: not written to either.
    pub besides: &'a [PathBuf],
    /// What is written.
    pub output: &'a Output,
    /// Replace an existing file.
    pub force: bool,
    /// Whether the bytes may go to a terminal.
    pub text: bool,
    /// What is done with the bytes before they are committed.
    pub need: Need,
    /// Most bytes that may be written.
    pub max_output: Option<MaxOutput>,
}

/// `--max-output`, which bounds all outputs together.
#[derive(Clone, Copy, Debug)]
pub struct MaxOutput {
    /// As given.
    pub max: u64,
    /// Bytes of the outputs before this one.
    pub before: u64,
}

/// Small writes are gathered to so many bytes.
const BUFFER: usize = 1 << 18;

/// An output being written.
#[derive(Debug)]
pub struct OutputFile {
    file: File,
    /// Bytes on their way to `file`; never more than [`BUFFER`] unless one write brings them.
    buffer: Vec<u8>,
    end: End,
    /// As given, for messages.
    name: PathBuf,
    written: u64,
    max_output: Option<MaxOutput>,
    trouble: Option<Trouble>,
}

/// How the bytes get to their place.
#[derive(Debug)]
enum End {
    Rename { temporary: Temporary, target: PathBuf, mode: Option<u32>, force: bool },
    CopyTo(File),
    AlreadyThere,
}

/// Why writing stopped: remembered here, for libraries in between wrap errors beyond recognition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    /// What the system said, and its number.
    System(io::ErrorKind, Option<i32>),
    Limit(u64),
}

impl OutputFile {
    /// Open an output.
    ///
    /// # Errors
    /// See [`target::settle`]; binary bytes for a terminal.
    pub fn open(request: &Request<'_>) -> Result<Self> {
        let target = target::settle(request)?;
        let name = match request.output {
            Output::Stdout => PathBuf::from(STDOUT),
            Output::File(path) => path.clone(),
        };
        let named = |e: io::Error| Failure::from(e).in_file(&name);
        let (file, end) = match target {
            Target::Direct(file) if file.is_terminal() && !request.text => {
                return Err(not_for_terminals());
            }
            Target::Direct(file) if request.need == Need::ReadBack => {
                (Nameless::new()?.into_file(), End::CopyTo(file))
            }
            Target::Direct(file) => (file, End::AlreadyThere),
            Target::Regular { path, mode } => {
                let (temporary, file) =
                    Temporary::create(target::folder_of(&path)).map_err(named)?;
                let force = request.force;
                let mode = mode.or_else(|| target::mode_of(request.input));
                (file, End::Rename { temporary, target: path, mode, force })
            }
        };
        Ok(OutputFile {
            file,
            buffer: Vec::new(),
            end,
            name,
            written: 0,
            max_output: request.max_output,
            trouble: None,
        })
    }

    /// Whether somebody will see the bytes on a terminal.
    pub fn is_terminal(&self) -> bool {
        match &self.end {
            End::Rename { .. } => false,
            End::CopyTo(file) => file.is_terminal(),
            End::AlreadyThere => self.file.is_terminal(),
        }
    }

    /// Bytes written so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// What has been written, to be read at any position.
    ///
    /// # Errors
    /// I/O; an output that was opened with [`Need::Stream`] and goes to no file.
    pub fn read_back(&mut self) -> Result<SharedFile> {
        if matches!(self.end, End::AlreadyThere) {
            return Err(Failure::new("this output cannot be read back"));
        }
        self.flush()?;
        Ok(SharedFile::new(self.file.try_clone()?)?)
    }

    /// Replace bytes that have been written.
    ///
    /// # Errors
    /// As [`OutputFile::read_back`]; a place that has not been written yet.
    pub fn patch(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        let end = at.saturating_add(bytes.len() as u64);
        if matches!(self.end, End::AlreadyThere) || end > self.written {
            return Err(Failure::new("this output cannot be patched"));
        }
        self.flush()?;
        let outcome = self.file.write_all_at(bytes, at);
        Ok(outcome.inspect_err(|e| self.trouble = trouble_of(e))?)
    }

    /// Bring the bytes to their place; returns how many they are.
    ///
    /// # Errors
    /// I/O; a file that has appeared under the final name meanwhile.
    pub fn commit(mut self) -> Result<u64> {
        let outcome = self.commit_unnamed();
        outcome.map_err(|e| match self.trouble {
            None => e.in_file(&self.name),
            Some(_) => self.explain(e),
        })
    }

    fn commit_unnamed(&mut self) -> Result<u64> {
        self.flush()?;
        let file = &self.file;
        match std::mem::replace(&mut self.end, End::AlreadyThere) {
            End::AlreadyThere => {}
            End::CopyTo(mut out) => copy_all(file, &mut out)?,
            End::Rename { temporary, target, mode, force } => {
                let mode = mode.unwrap_or_else(cleanup::mode_of_new_files);
                file.set_permissions(Permissions::from_mode(mode))?;
                file.sync_all()?;
                temporary.rename(&target, force).map_err(|e| match e.kind() {
                    io::ErrorKind::AlreadyExists => target::exists(&target),
                    _ => Failure::from(e),
                })?;
                sync_folder(&target)?;
            }
        }
        Ok(self.written)
    }

    /// What made writing fail, where a library in between has wrapped it.
    pub fn explain(&self, failure: Failure) -> Failure {
        let error = match self.trouble {
            Some(Trouble::System(_, Some(code))) => io::Error::from_raw_os_error(code),
            Some(Trouble::System(kind, None)) => io::Error::from(kind),
            Some(Trouble::Limit(bytes)) => return past_limit(bytes).in_file(&self.name),
            None => return failure,
        };
        match self.end {
            End::CopyTo(_) => on_the_way(error),
            _ => Failure::from(error).in_file(&self.name),
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(MaxOutput { max, before }) = self.max_output
            && before.saturating_add(self.written).saturating_add(bytes.len() as u64) > max
        {
            self.trouble = Some(Trouble::Limit(max));
            return Err(io::Error::other(past_limit(max)));
        }
        self.buffer.extend_from_slice(bytes);
        self.written += bytes.len() as u64;
        if self.buffer.len() >= BUFFER {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let outcome = self.file.write_all(&self.buffer);
        self.buffer.clear();
        outcome.inspect_err(|e| self.trouble = trouble_of(e))
    }
}

fn trouble_of(e: &io::Error) -> Option<Trouble> {
    Some(Trouble::System(e.kind(), e.raw_os_error()))
}

/// What is said of bytes that are no text and would go to a terminal.
pub fn not_for_terminals() -> Failure {
    Failure::usage("binary data does not go to a terminal")
        .hint("name a file with -o, or send it through a pipe")
}

/// What is said of an output that `--max-output` refuses.
pub fn past_limit(max: u64) -> Failure {
    Failure::new(format!("the output is larger than --max-output {max}"))
        .hint("raise it if you trust this input")
}

fn copy_all(file: &File, out: &mut File) -> io::Result<()> {
    let mut from = SharedFile::new(file.try_clone()?)?.section(0, u64::MAX);
    let mut buffer = vec![0; 1 << 16];
    loop {
        match from.read(&mut buffer)? {
            0 => return out.flush(),
            n => out.write_all(&buffer[..n])?,
        }
    }
}

fn sync_folder(target: &std::path::Path) -> io::Result<()> {
    match File::open(target::folder_of(target)).and_then(|folder| folder.sync_all()) {
        // Some file systems cannot sync a folder; some folders may be written to but not read.
        Err(e)
            if matches!(
                e.kind(),
                io::ErrorKind::InvalidInput | io::ErrorKind::PermissionDenied
            ) =>
        {
            Ok(())
        }
        other => other,
    }
}
