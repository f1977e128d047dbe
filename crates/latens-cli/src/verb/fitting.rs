//! Options that do nothing for the formats at hand are refused: whoever gave them meant something.

use crate::args;
use crate::format::Format;
use crate::message::{Failure, Result};
use latens::pco::{DeltaSpec, Favor, ModeSpec};

/// Wrong usage where one of these options was given: name, and whether it was, in vain.
fn refuse(options: &[(&str, bool)], of: &str) -> Result<()> {
    match options.iter().find(|(_, in_vain)| *in_vain) {
        Some((option, _)) => Err(Failure::usage(format!("{option} does nothing for {of}"))),
        None => Ok(()),
    }
}

fn has_columns(format: Format) -> bool {
    format.is_table()
}

/// Whether numbers of this format have a type that only `--type` tells.
fn needs_type(format: Format) -> bool {
    matches!(format, Format::Raw | Format::Dbp)
}

/// `compress` of what is no checkpoint.
///
/// # Errors
/// The first option that does nothing.
pub fn compress(args: &args::Compress, from: Format, to: Format) -> Result<()> {
    let is_pco = matches!(to, Format::Pco | Format::PcoZip);
    let is_parquet = to == Format::Parquet;
    let options = [
        ("--columns", args.files.columns.is_some() && !has_columns(from)),
        ("--type", args.number_type.is_some() && !needs_type(from)),
        ("--skip-unsupported", args.skip_unsupported && from != Format::Parquet),
        ("--base", args.base.is_some()),
        ("--encoding", args.encoding.is_some() && !is_parquet),
        ("--compression", args.compression.is_some() && !is_parquet),
        ("--level", args.level != args::LEVEL && !is_pco),
        ("--mode", args.mode != ModeSpec::default() && !is_pco),
        ("--delta", args.delta != DeltaSpec::default() && !is_pco),
        ("--favor", args.favor != Favor::default() && !is_pco),
        ("--chunk-n", args.chunk_n.is_some() && !is_pco),
        ("--no-checksum", args.no_checksum && !is_pco),
    ];
    refuse(&options, &format!("{from} to {to}"))
}

/// `decompress` of what is no checkpoint.
///
/// # Errors
/// The first option that does nothing.
pub fn decompress(args: &args::Decompress, from: Format) -> Result<()> {
    let options = [
        ("--columns", args.files.columns.is_some() && !has_columns(from)),
        ("--type", args.number_type.is_some() && from != Format::Dbp),
        ("--allow-trailing", args.allow_trailing && from != Format::Pco),
        ("--base", args.base.is_some()),
        ("--salvage", args.salvage),
    ];
    refuse(&options, &format!("a .{from}"))
}

/// `inspect`.
///
/// # Errors
/// The first option that does nothing.
pub fn inspect(args: &args::Inspect, format: Format) -> Result<()> {
    let options = [
        ("--ablate", args.ablate && !crate::checkpoint::is_checkpoint(format)),
        ("--base", args.base.is_some() && !crate::checkpoint::is_checkpoint(format)),
        ("--type", args.number_type.is_some() && format != Format::Dbp),
    ];
    refuse(&options, &format!("a .{format}"))?;
    refuse(&[("--html", args.html.is_some() && args.ablate)], "--ablate")
}

/// `advise`.
///
/// # Errors
/// The first option that does nothing.
pub fn advise(args: &args::Advise, format: Format) -> Result<()> {
    let options = [
        ("--columns", args.columns.is_some() && !has_columns(format)),
        ("--type", args.number_type.is_some() && !needs_type(format)),
    ];
    refuse(&options, &format!("a .{format}"))
}
