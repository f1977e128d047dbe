//! Options that a checkpoint has no use for.

use crate::args;
use crate::message::{Failure, Result};
use crate::verb::fitting;
use latens::wcodec::Config;
use latens::wcodec::checkpoint::Checkpoint;
use latens::wcodec::predictor::Predictor;
use latens::wcodec::transform::Transform;

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
    ])?;
    tools(args)
}

/// Settings of the encoder, whose packings fit the checkpoint.
///
/// # Errors
/// Wrong usage, where they do not, or a pattern is no tensor's.
pub fn config(args: &args::Compress, checkpoint: &Checkpoint) -> Result<Config> {
    let config = Config::default().level(args.level).tools(args.tools.tools());
    let config = args.packings.config(config);
    config.fits(checkpoint).map_err(|e| {
        let failure = Failure::usage(e.what());
        let failure = e.places().iter().rev().fold(failure, |f, place| f.within(place.clone()));
        failure.hint("latens inspect names all tensors, with their types and shapes")
    })?;
    Ok(config)
}

/// Tools that would do nothing.
fn tools(args: &args::Compress) -> Result<()> {
    let tools = &args.tools;
    if tools.predictors.contains(&Predictor::Reference) && args.base.is_none() {
        return Err(Failure::usage("REFERENCE predicts weights by those of another checkpoint")
            .hint("give that one as --base"));
    }
    if tools.predictors.contains(&Predictor::Linear) && tools.predictors.len() > 1 {
        return Err(Failure::usage("LINEAR predicts all tiles or none")
            .hint("give it alone, or leave it out"));
    }
    if tools.tile.is_some() && tools.predictors.is_empty() && tools.transforms.is_empty() {
        return Err(Failure::usage(
            "--tile does nothing where nothing is predicted or transformed",
        )
        .hint("give --predictors or --transforms with it"));
    }
    let transforms = tools.transforms.iter().any(|&transform| transform != Transform::None);
    if let Some(tile) = tools.tile.filter(|t| transforms && t.rows().min(t.cols()) < 8) {
        let what = format!("no block of 8x8 fits a tile of {}x{}", tile.rows(), tile.cols());
        return Err(Failure::usage(format!("--transforms does nothing: {what}"))
            .hint("give a --tile of 8x8 or more, or leave it out"));
    }
    Ok(())
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
