//! Files that go through the tool, in this process: exit codes, messages, and what is left behind.

use super::{MAX_OUTPUT, Verdict};
use crate::measure::measured_with_threads;
use crate::random::digest;
use std::cell::{Cell, OnceCell};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder in memory where there is one, gone at the end.
pub struct Folder(PathBuf);

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

fn parent() -> PathBuf {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() }
}

/// Removes the folders of a process that has died.
pub fn forget(process: u32) {
    let prefix = format!("latens-robustness-{process}-");
    let Ok(entries) = fs::read_dir(parent()) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// What the tool says of a table that was to be an array, and of an array that was to be a table.
const OTHER_WANTED: [&str; 3] = ["a .npy holds", "the column holds nulls", "an array of shape"];

impl Folder {
    /// An empty one.
    pub fn new() -> Self {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = parent().join(format!("latens-robustness-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// A file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Runs the tool on `input` (a name with the right extension) of these bytes with `output` as
    /// its output: `Ok(None)` where it failed as it should.
    ///
    /// # Errors
    /// A rule that was broken.
    pub fn run(
        &self,
        input: &str,
        bytes: &[u8],
        output: &str,
        args: &[&str],
    ) -> Result<Option<Vec<u8>>, String> {
        let (from, to) = (self.0.join(input), self.0.join(output));
        fs::write(&from, bytes).map_err(|e| e.to_string())?;
        let mut line: Vec<OsString> = vec!["latens".into()];
        line.extend(args.iter().map(Into::into));
        line.extend([from.clone().into(), "-o".into(), to.clone().into(), "-T".into(), "1".into()]);
        let (code, message) = measured_with_threads(|| latens_cli::run_with(line));
        let there: Vec<_> =
            fs::read_dir(&self.0).unwrap().map(|e| e.unwrap().file_name()).collect();
        let expected = if code == 0 { 2 } else { 1 };
        if there.len() != expected {
            return Err(format!("exit {code} leaves {there:?}"));
        }
        fs::remove_file(&from).map_err(|e| e.to_string())?;
        SAID.set(message.contains("byte "));
        match code {
            0 => {
                let made = fs::read(&to).map_err(|e| e.to_string())?;
                fs::remove_file(&to).map_err(|e| e.to_string())?;
                Ok(Some(made))
            }
            1 if (1..=3).contains(&message.lines().count()) => Ok(None),
            // What was asked for does not go with what is inside: an archive became another one.
            2 if OTHER_WANTED.iter().any(|said| message.starts_with(said)) => Ok(None),
            _ => Err(format!("exit {code} saying {message:?}")),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

thread_local! {
    static SAID: Cell<bool> = const { Cell::new(false) };
    static FOLDER: OnceCell<Folder> = const { OnceCell::new() };
}

/// Whether the last message of the tool on this thread said at which byte.
pub fn said_where() -> bool {
    SAID.get()
}

fn body(input: &str, bytes: &[u8], output: &str, args: &[&str]) -> Verdict {
    let run =
        |folder: &OnceCell<Folder>| folder.get_or_init(Folder::new).run(input, bytes, output, args);
    match FOLDER.with(run) {
        Ok(Some(made)) => Verdict::Accepted { digest: digest(0, &made), bytes: made.len() },
        Ok(None) => Verdict::Refused,
        Err(rule) => panic!("{rule}"),
    }
}

fn decompress(input: &str, bytes: &[u8], output: &str) -> Verdict {
    let most = MAX_OUTPUT.to_string();
    body(input, bytes, output, &["decompress", "-q", "--max-output", &most])
}

/// A `.npy` file, to be compressed.
pub fn npy(_: u8, bytes: &[u8]) -> Verdict {
    body("in.npy", bytes, "out.pco.zip", &["compress", "-q", "-l", "1"])
}

/// A `.pco` file, to be decompressed.
pub fn pco(_: u8, bytes: &[u8]) -> Verdict {
    decompress("in.pco", bytes, "out.npy")
}

/// A `.pco.zip`: of an array (selector 0) or a table.
pub fn pco_zip(selector: u8, bytes: &[u8]) -> Verdict {
    decompress("in.pco.zip", bytes, if selector == 0 { "out.npy" } else { "out.csv" })
}

/// A Parquet file.
pub fn parquet(_: u8, bytes: &[u8]) -> Verdict {
    super::interop::quiet_peers();
    decompress("in.parquet", bytes, "out.csv")
}

/// A checkpoint, to be compressed.
pub fn safetensors(_: u8, bytes: &[u8]) -> Verdict {
    body("in.safetensors", bytes, "out.wcodec", &["compress", "-q", "-l", "1"])
}
