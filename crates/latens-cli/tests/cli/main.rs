//! The tool as its users run it: real processes, real files, exit codes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    unreachable_pub,
    reason = "tests"
)]

mod arrays;
mod bases;
mod bench;
mod bombs;
mod checkpoints;
mod damage;
mod documents;
mod faults;
mod forced;
mod hurt;
mod json;
mod kills;
mod kinds;
mod levels;
mod losses;
mod outputs;
mod packings;
mod places;
mod salvage;
mod signals;
#[path = "../../../latens/tests/common/skipped.rs"]
mod skipped;
mod stdin;
mod streams;
mod tensors;
mod terminal;
mod threads;
mod tool;
mod usage;
mod verify;
