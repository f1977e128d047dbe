//! `latens`: the command line.
#![forbid(unsafe_code)]
#![allow(unreachable_pub, reason = "in a binary, `pub` means: for the rest of the tool")]

mod array;
mod format;
mod job;
mod message;
mod report;

fn main() {}
