//! Temporary neighbours, new folders, and the signals that end the process: none is left behind.
//!
//! Every temporary file is entered in one list under one lock, in the same step as it is created,
//! and leaves the list in the same step as it is renamed or removed. A thread waits for INT, TERM,
//! HUP, QUIT and XCPU, removes what is listed, and lets the signal do what it does by default. A file
//! beyond its largest size is an error of writing, not a signal.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// Folders that were made for outputs of which none is there yet, the innermost first.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn folders() -> MutexGuard<'static, Vec<PathBuf>> {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn list() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Remove temporary files when the process is told to end. Call once, first thing.
pub fn on_signals() {
    // Where somebody listens to it, writing fails instead.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    let wanted = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU];
    let wanted: Vec<i32> = wanted.into_iter().filter(|&signal| !is_ignored(signal)).collect();
    let Ok(mut signals) = Signals::new(wanted) else { return };
    // Without the thread signals keep ending the process; only temporary files would stay.
    let _ = std::thread::Builder::new().name("signals".into()).spawn(move || {
        let Some(signal) = signals.forever().next() else { return };
        let list = list();
        for path in list.iter() {
            let _ = fs::remove_file(path);
        }
        remove_empty(&folders());
        // The lock is held on: nothing is created or renamed from here to the end.
        let _ = emulate_default_handler(signal);
        std::process::exit(128 + signal);
    });
}

/// End as one whose reader has gone: by SIGPIPE, as `cat` does.
pub fn end_by_broken_pipe() -> ! {
    let _ = emulate_default_handler(SIGPIPE);
    std::process::exit(128 + SIGPIPE)
}

/// Whether the process was started with the signal ignored (`nohup`, background jobs).
fn is_ignored(signal: i32) -> bool {
    let mask = status_field("SigIgn:").and_then(|hex| u64::from_str_radix(&hex, 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// The mode that a new file gets from the umask.
pub fn mode_of_new_files() -> u32 {
    let umask = status_field("Umask:").and_then(|octal| u32::from_str_radix(&octal, 8).ok());
    0o666 & !umask.unwrap_or(0o022)
}

fn status_field(name: &str) -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().to_string())
}

/// Remove folders, but for those that hold something.
fn remove_empty(folders: &[PathBuf]) {
    for folder in folders {
        let _ = fs::remove_dir(folder);
    }
}

/// Folders that were made for outputs, gone again where nothing comes of these.
#[derive(Debug)]
pub struct NewFolders(());

impl NewFolders {
    /// Make `path` and what it takes to get there. One at a time may be under way.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn make(path: &Path) -> io::Result<Self> {
        let missing = path.ancestors().take_while(|p| !p.as_os_str().is_empty() && !p.exists());
        let mut folders = folders();
        *folders = missing.map(Path::to_path_buf).collect();
        let made = NewFolders(());
        let done = fs::create_dir_all(path);
        drop(folders);
        done.map(|()| made)
    }

    /// They stay.
    pub fn keep(self) {
        folders().clear();
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        remove_empty(&std::mem::take(&mut *folders()));
    }
}

/// A temporary file that is removed unless it is renamed.
#[derive(Debug)]
pub struct Temporary {
    path: Option<PathBuf>,
}

impl Temporary {
    /// Create one in `folder`, readable by its owner only.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create(folder: &Path) -> io::Result<(Temporary, File)> {
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..16 {
            let random = RandomState::new().hash_one(std::process::id());
            let path = folder.join(format!(".latens-{random:016x}.tmp"));
            let mut list = list();
            match open_new(&path) {
                Ok(file) => {
                    list.push(path.clone());
                    return Ok((Temporary { path: Some(path) }, file));
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => last = e,
                Err(e) => return Err(e),
            }
        }
        Err(last)
    }

    /// Give it its final name. Without `replace` a file that has that name is kept, also where it
    /// appears at the last moment.
    ///
    /// # Errors
    /// `AlreadyExists` where a file is kept; those of the file system. The temporary file is gone
    /// then.
    pub fn rename(mut self, target: &Path, replace: bool) -> io::Result<()> {
        let mut list = list();
        let outcome = match &self.path {
            Some(path) if replace => fs::rename(path, target),
            Some(path) => rename_to_new(path, target),
            None => Ok(()),
        };
        if outcome.is_ok() {
            let path = self.path.take();
            list.retain(|listed| Some(listed) != path.as_ref());
        }
        drop(list);
        outcome
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = self.path.take() {
            let mut list = list();
            let _ = fs::remove_file(&path);
            list.retain(|listed| *listed != path);
        }
    }
}

/// `rename` replaces; a second name for the file does not. Where a file system has no second names,
/// a look at the target must do.
fn rename_to_new(path: &Path, target: &Path) -> io::Result<()> {
    match fs::hard_link(path, target) {
        Ok(()) => {
            // The output is there, whole, whatever becomes of its other name.
            let _ = fs::remove_file(path);
            Ok(())
        }
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Err(e),
        Err(_) if fs::symlink_metadata(target).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(path, target),
    }
}

fn open_new(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
