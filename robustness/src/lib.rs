//! Damaged input for every decoder, and what became of it.
//!
//! | module | what |
//! |---|---|
//! | [`random`] | numbers that are the same in every run |
//! | [`strategy`] | how bytes are damaged: a pure function of seed, ground and index |
//! | [`ground`] | sound files, made here by our own encoders |
//! | [`target`] | what is done with the bytes: one decoder each, ours and peers' |
//! | [`case`] | which damage case number `i` of a target is |
//! | [`measure`] | memory and time of one call |
//! | [`heavy`] | small inputs that stand for much: time for each 128 MiB of output |
//! | [`worker`] | runs cases in this process, measures memory and time |
//! | [`mod@fuzz`] | the targets for libFuzzer |
//! | [`supervisor`] | runs workers as child processes: they may die, and may hang |
//! | [`tally`], [`table`] | counts, and how they are printed |
//!
//! The program `robustness` runs all of it; the fuzz targets in `fuzz/` call the same targets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "this is a test, and says what it finds by panicking"
)]

pub mod case;
pub mod fuzz;
pub mod ground;
pub mod heavy;
pub mod measure;
pub mod random;
pub mod strategy;
pub mod supervisor;
pub mod table;
pub mod tally;
pub mod target;
pub mod worker;

/// What the library's own tests share: shapes of numbers, a counting allocator, fields bit by bit.
#[path = "../../crates/latens/tests/common/mod.rs"]
#[allow(missing_docs, reason = "documented for who tests the library")]
pub mod common;
/// Small checkpoints, and containers taken apart.
#[path = "../../crates/latens/tests/wcodec_common/mod.rs"]
pub(crate) mod wcodec_common;
