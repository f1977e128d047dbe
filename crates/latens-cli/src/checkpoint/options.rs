//! Options that a checkpoint has no use for.

use crate::args;
use crate::message::{Failure, Result};
use crate::verb::fitting;

/// Those of `compress`.
///
/// # Errors
/// Wrong usage, where one was given.
pub fn of_compress(args: &args::Compress) -> Result<()> {
    none(&[
        ("--columns", !args.files.columns.is_empty()),
        ("--mode", args.mode != Default::default()),
        ("--delta", args.delta != Default::default()),
        ("--favor", args.favor != Default::default()),
        ("--chunk-n", args.chunk_n.is_some()),
        ("--type", args.number_type.is_some()),
        ("--encoding", args.encoding != Default::default()),
        ("--compression", args.compression != Default::default()),
        ("--skip-unsupported", args.skip_unsupported),
        ("--no-checksum", args.no_checksum),
    ])
}

/// Those of `decompress`.
///
/// # Errors
/// As [`of_compress`].
pub fn of_decompress(args: &args::Decompress) -> Result<()> {
    if args.limit.is_some() || !args.files.columns.is_empty() {
        return Err(Failure::usage("--limit and --columns are for columns and tables")
            .hint("`latens extract` gives a part of a tensor"));
    }
    none(&[("--type", args.number_type.is_some()), ("--allow-trailing", args.allow_trailing)])
}

fn none(options: &[(&str, bool)]) -> Result<()> {
    let outcome = fitting::refuse(options, "a checkpoint");
    outcome.map_err(|e| e.hint("leave it out: it is for columns and tables"))
}
