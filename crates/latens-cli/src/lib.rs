//! The tool `latens`, as a library with one function, and one for tests: in this form it is
//! compiled while the library `latens` still is, which a program would wait for.
#![forbid(unsafe_code)]
#![allow(unreachable_pub, reason = "`pub` means: for the rest of the tool")]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::cast_possible_truncation,
        reason = "tests"
    )
)]

mod args;
mod array;
mod bench;
mod checkpoint;
mod format;
mod io;
mod job;
mod message;
mod output;
mod parallel;
mod progress;
mod render;
mod report;
mod run;
mod table;
mod verb;
mod zstd_peer;

pub use run::{run, run_with};
