//! One file a verb.

pub mod advise;
pub mod bench;
pub mod completions;
pub mod compress;
pub mod decompress;
pub mod extract;
pub mod fitting;
pub mod inspect;
pub mod man;
pub mod settle;
pub mod verify;

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::job::{Input, Output};
use crate::message::{Failure, Result, one_line};
use crate::output::{Need, OutputFile, Request};

/// What messages call `-`, where something is written to it.
pub const STDOUT: &str = "standard output";

/// Run `work` in a pool of so many threads, 0 for all cores; of fewer where the system refuses some.
///
/// # Errors
/// Those of `work`.
pub fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads);
    let fewer = |&threads: &usize| (threads > 1).then_some(threads / 2);
    let all = std::iter::successors(Some(thread_count(threads)), fewer);
    let Some(pool) = all.flat_map(|threads| pool(threads).build()).next() else {
        // None but the one that there is, which stays in its pool from then on.
        if rayon::current_thread_index().is_none() {
            let alone = pool(1).use_current_thread().build();
            std::mem::forget(alone.map_err(|e| Failure::new(format!("no thread: {e}")))?);
        }
        return work();
    };
    pool.install(work)
}

/// The number that `-T 0` stands for.
pub fn thread_count(asked: usize) -> usize {
    match asked {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        n => n.min(1024),
    }
}

/// Print to stdout, all of it.
///
/// # Errors
/// I/O; a reader that has gone.
pub fn print_out(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|e| Failure::from(e).in_file(STDOUT))
}

/// A report beside the one that is printed, `-` for stdout: opened before the work, so that what
/// could not be written is known by then.
///
/// # Errors
/// A file that is there already, without `force`; I/O.
pub fn page(input: &Input, besides: &[PathBuf], path: &Path, force: bool) -> Result<OutputFile> {
    OutputFile::open(&Request {
        input,
        besides,
        output: &Output::of(path),
        force,
        text: true,
        need: Need::Stream,
        max_output: None,
    })
}

/// Print one JSON object and a line feed.
///
/// # Errors
/// As [`print_out`].
pub fn print_json(value: &impl serde::Serialize) -> Result<()> {
    let text = serde_json::to_string(value)
        .map_err(|e| Failure::new(format!("the report is no JSON: {e}")))?;
    print_out(&format!("{text}\n"))
}

/// Name the nested columns that were left out.
pub fn say_left_out(columns: &[String]) {
    if !columns.is_empty() {
        say(&format!("left out, for they are nested: {}\n", one_line(&columns.join(", "))));
    }
}

/// Say what is no fault, but should be known of a file.
pub fn say_note(file: &str, note: &str) {
    say(&format!("latens: {}: {note}\n", one_line(file)));
}

/// Print words to stderr; a closed stderr is ignored.
pub fn say(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
