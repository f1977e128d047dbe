//! Tools of WCodec that `compress` may be told to use.

use clap::Args;
use latens::wcodec::predictor::Predictor;
use latens::wcodec::tile::TileSize;
use latens::wcodec::transform::Transform;
use latens::wcodec::{Coder, Tools};

use super::shared::parse;

/// What all symbols of a checkpoint are coded with, whether that pays or not.
#[derive(Debug, Args)]
#[command(
    next_help_heading = "Tools of .wcodec, for all quantised weights, whether they pay or not"
)]
pub struct ForcedTools {
    /// Size of tiles, 1 to 4096 rows and columns: 16x16, 8x32, 32x8, … [default: 16x16]
    #[arg(long, value_name = "RxC", value_parser = parse::<TileSize>)]
    pub tile: Option<TileSize>,
    /// One predictor for all tiles, or several for each tile's best: NONE LEFT TOP AVG PLANAR DC
    /// COLUMN REFERENCE (with --base), or LINEAR alone
    #[arg(long, value_name = "P,…", value_delimiter = ',', value_parser = parse::<Predictor>)]
    pub predictors: Vec<Predictor>,
    /// One transform for all blocks of 8×8, or several for each block's cheapest: NONE DCT ADST
    #[arg(long, value_name = "T,…", value_delimiter = ',', value_parser = parse::<Transform>)]
    pub transforms: Vec<Transform>,
    /// direct (static tables) or bitplane (adaptive; `extract --without-planes` reads its first planes)
    #[arg(long, value_name = "CODER", value_parser = parse::<Coder>)]
    pub coder: Option<Coder>,
    /// No classes: one table for all weights of a tensor
    #[arg(long)]
    pub no_contexts: bool,
}

impl ForcedTools {
    /// Names of options, and whether they are given.
    pub fn given(&self) -> [(&'static str, bool); 5] {
        [
            ("--tile", self.tile.is_some()),
            ("--predictors", !self.predictors.is_empty()),
            ("--transforms", !self.transforms.is_empty()),
            ("--coder", self.coder.is_some()),
            ("--no-contexts", self.no_contexts),
        ]
    }

    /// The tools, where any option is given; else the encoder chooses.
    pub fn tools(&self) -> Option<Tools> {
        if self.given().iter().all(|(_, given)| !given) {
            return None;
        }
        let plain = Tools::default();
        Some(Tools {
            tile: self.tile.unwrap_or(plain.tile),
            predictors: match self.predictors[..] {
                [] => plain.predictors,
                _ => self.predictors.clone(),
            },
            transforms: self.transforms.clone(),
            coder: self.coder.unwrap_or(plain.coder),
            contexts: !self.no_contexts,
        })
    }
}
