//! What a test needs that may not be there, for the tests of all crates.

#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]

use std::io::Write;
use std::path::{Path, PathBuf};

/// Says that something is not tested here, and why: `what: why`. `.ci/run` lists these lines at its
/// end. They are written to stderr itself, as the test harness keeps what `println!` and `eprintln!`
/// of a passing test say; in one piece, as other tests run beside.
pub fn skipped(what: &str) {
    let line = format!("SKIPPED: {}\n", what.split_whitespace().collect::<Vec<_>>().join(" "));
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// A folder of third-party vectors: in `LATENS_VECTORS`, or in `../shared/vectors` beside the
/// repository. `None`, and a word about it, where it is not there.
pub fn vectors(folder: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors");
    let root = std::env::var_os("LATENS_VECTORS").map_or(beside, PathBuf::from);
    let path = root.join(folder);
    if path.is_dir() {
        return Some(path);
    }
    skipped(&format!("third-party files: no vectors/{folder}; LATENS_VECTORS names their folder"));
    None
}
