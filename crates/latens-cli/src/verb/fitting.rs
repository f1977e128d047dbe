//! Options that do nothing for the formats at hand are refused: whoever gave them meant something.

use crate::args;
use crate::format::Format;
use crate::message::{Failure, Result};
use latens::pco::{DeltaSpec, Favor, ModeSpec};

/// Wrong usage where some of these options were given: names, and whether they were, in vain.
pub fn refuse(options: &[(&str, bool)], of: &str) -> Result<()> {
    let in_vain = options.iter().filter(|(_, in_vain)| *in_vain).map(|(name, _)| *name);
    let in_vain: Vec<&str> = in_vain.collect();
    match in_vain[..] {
        [] => Ok(()),
        [one] => Err(Failure::usage(format!("{one} does nothing for {of}"))),
        _ => Err(Failure::usage(format!("{} do nothing for {of}", in_vain.join(", ")))),
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
/// Options that do nothing.
pub fn compress(args: &args::Compress, from: Format, to: Format) -> Result<()> {
    let is_pco = matches!(to, Format::Pco | Format::PcoZip);
    let is_parquet = to == Format::Parquet;
    let options = [
        ("--columns", !args.files.columns.is_empty() && !has_columns(from)),
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
    let options = [&options[..], &args.packings.given(), &args.tools.given()].concat();
    refuse(&options, &format!("{from} to {to}"))
}

/// `decompress` of what is no checkpoint.
///
/// # Errors
/// Options that do nothing.
pub fn decompress(args: &args::Decompress, from: Format) -> Result<()> {
    let options = [
        ("--columns", !args.files.columns.is_empty() && !has_columns(from)),
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
/// Options that do nothing.
pub fn inspect(args: &args::Inspect, format: Format) -> Result<()> {
    let options = [
        ("--ablate", args.ablate && !crate::checkpoint::is_checkpoint(format)),
        ("--base", args.base.is_some() && !crate::checkpoint::is_checkpoint(format)),
        ("--salvage", args.salvage && format != Format::Wcodec),
        ("--type", args.number_type.is_some() && format != Format::Dbp),
    ];
    refuse(&options, &format!("a .{format}"))?;
    // What is not packed needs no base, unless tools are tried on it.
    let in_vain = [("--base", args.base.is_some() && !args.ablate && format != Format::Wcodec)];
    refuse(&in_vain, &format!("a .{format} without --ablate"))?;
    let in_vain = [
        ("--html", args.html.is_some() && args.ablate),
        ("--salvage", args.salvage && args.ablate),
    ];
    refuse(&in_vain, "--ablate")
}

/// `advise`.
///
/// # Errors
/// Options that do nothing.
pub fn advise(args: &args::Advise, format: Format) -> Result<()> {
    let options = [
        ("--columns", !args.columns.is_empty() && !has_columns(format)),
        ("--type", args.number_type.is_some() && !needs_type(format)),
    ];
    refuse(&options, &format!("a .{format}"))
}

/// `bench`.
///
/// # Errors
/// Options that do nothing.
pub fn bench(args: &args::Bench, format: Format) -> Result<()> {
    let options = [("--type", args.number_type.is_some() && !needs_type(format))];
    refuse(&options, &format!("a .{format}"))
}

/// `verify` of files in these formats.
///
/// # Errors
/// Options that do nothing for any of them.
pub fn verify(args: &args::Verify, formats: &[Format]) -> Result<()> {
    let options = [
        ("--base", Format::Wcodec, args.base.is_some()),
        ("--allow-trailing", Format::Pco, args.allow_trailing),
    ];
    let in_vain = options.into_iter().find(|(_, of, given)| *given && !formats.contains(of));
    match in_vain {
        Some((option, of, _)) => {
            Err(Failure::usage(format!("{option} is for .{of} files, and there is none")))
        }
        None => Ok(()),
    }
}
