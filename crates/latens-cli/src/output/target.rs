//! Where an output really goes: symbolic links followed, the input and existing files kept.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::{Request, cleanup};
use crate::job::{Input, Output};
use crate::message::{Failure, Result, shown};

/// An output that may be opened.
#[derive(Debug)]
pub enum Target {
    /// Standard output, a FIFO or a device: bytes go there as they come.
    Direct(File),
    /// A regular file, there already or not.
    Regular {
        /// Its path with every symbolic link followed: a link stays, what it names is replaced.
        path: PathBuf,
        /// Permissions of the file that is there.
        mode: Option<u32>,
    },
}

/// Find out where the output goes, without changing anything.
///
/// # Errors
/// An existing file without `force`; the same file as one that is read; a folder; a folder that is
/// missing.
pub fn settle(request: &Request<'_>) -> Result<Target> {
    let Request { input, besides, force, .. } = *request;
    let named = match request.output {
        Output::Stdout => {
            // Where standard output is closed, Rust's library has opened /dev/null for it before
            // main: by /proc that is no other than what Python's `subprocess.DEVNULL` hands over.
            // To tell them apart takes code that runs earlier, which cannot be had without unsafe.
            let file = File::from(io::stdout().as_fd().try_clone_to_owned()?);
            if same_file(&file.metadata()?, input) {
                return Err(Failure::new("the input and standard output are the same file"));
            }
            return Ok(Target::Direct(file));
        }
        Output::File(path) => path,
    };
    let path = follow(named).map_err(|e| Failure::from(e).in_file(named))?;
    match fs::metadata(&path) {
        Ok(there) if there.is_dir() => {
            Err(Failure::new("the output is a folder").in_file(named).hint("name a file in it"))
        }
        Ok(there) if same_file(&there, input) => {
            Err(Failure::new("the input and the output are the same file")
                .in_file(named)
                .hint("name another output with -o"))
        }
        Ok(there) if besides.iter().any(|path| is_file(&there, path)) => {
            Err(Failure::new("the output is a file that is read")
                .in_file(named)
                .hint("name another output with -o"))
        }
        Ok(there) if is_direct(&there) => {
            let file = File::options().write(true).open(&path);
            Ok(Target::Direct(file.map_err(|e| Failure::from(e).in_file(named))?))
        }
        Ok(_) if !force => Err(exists(named)),
        Ok(there) => Ok(Target::Regular { path, mode: Some(there.mode() & 0o7777) }),
        Err(e) if e.kind() == io::ErrorKind::NotFound => match folder_of(&path).is_dir() {
            true => Ok(Target::Regular { path, mode: None }),
            false => {
                let folder = shown(folder_of(&path));
                Err(Failure::new(format!("there is no folder {folder}")).in_file(named))
            }
        },
        Err(e) if e.kind() == io::ErrorKind::InvalidFilename => {
            Err(Failure::from(e).in_file(named).hint("name the output with -o, by a shorter name"))
        }
        Err(e) => Err(Failure::from(e).in_file(named)),
    }
}

/// The permissions of a file made from this one: no more than it has, nor than the umask gives.
pub fn mode_of(input: &Input) -> Option<u32> {
    let Input::File(path) = input else { return None };
    let there = fs::metadata(path).ok().filter(Metadata::is_file)?;
    Some(there.mode() & cleanup::mode_of_new_files())
}

/// What is said of an output that is there already.
pub fn exists(path: &Path) -> Failure {
    Failure::new("the output exists already")
        .in_file(path)
        .hint("use -f to replace it, or name another")
}

/// The folder that a path lies in; `.` for a bare name.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn is_direct(there: &Metadata) -> bool {
    let kind = there.file_type();
    kind.is_fifo() || kind.is_char_device() || kind.is_block_device() || kind.is_socket()
}

/// Whether `there` is the regular file that is read.
fn same_file(there: &Metadata, input: &Input) -> bool {
    match input {
        Input::Stdin => {
            let stdin = io::stdin().as_fd().try_clone_to_owned().map(File::from);
            stdin.and_then(|file| file.metadata()).is_ok_and(|read| same(there, &read))
        }
        Input::File(path) => is_file(there, path),
    }
}

fn is_file(there: &Metadata, path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|read| same(there, &read))
}

fn same(there: &Metadata, read: &Metadata) -> bool {
    there.is_file() && (read.dev(), read.ino()) == (there.dev(), there.ino())
}

/// Follow the last part of a path through symbolic links, to a name that may not exist yet.
fn follow(path: &Path) -> io::Result<PathBuf> {
    // Where all of it exists the system follows best (`/proc/self/fd/1` names no path).
    if fs::metadata(path).is_ok_and(|there| is_direct(&there)) {
        return Ok(path.to_path_buf());
    }
    let mut path = path.to_path_buf();
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(next) => path = folder_of(&path).join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}
