//! Tables through the tool, as processes: Parquet, CSV, `.pco.zip`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "tests"
)]

mod archive;
mod arrays;
mod csv_files;
mod logical_types;
mod nested;
mod one_column;
mod parquet_files;
#[path = "../../../latens/tests/common/skipped.rs"]
mod skipped;
mod split_pages;
mod support;
mod wide_and_odd;
