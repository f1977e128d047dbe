//! What each tool of WCodec gains or costs on a checkpoint: the draft's hypothesis, measured.

use latens::wcodec::checkpoint::Checkpoint;
use latens::wcodec::predictor::Predictor;
use latens::wcodec::tile::TileSize;
use latens::wcodec::transform::Transform;
use latens::wcodec::{BaseFile, Coder, Config, Tools, compress_checkpoint};
use serde::Serialize;

use crate::message::Result;
use crate::zstd_peer::Count;

/// One tool, forced on every plane of symbols.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its name.
    pub tool: &'static str,
    /// What is forced, in words.
    pub what: String,
    /// Of the whole file; none where the tool lacks what it needs.
    pub bytes: Option<u64>,
    /// Above (or below) the row that it is compared with, in bits a quantised weight.
    pub bits_per_weight: Option<f64>,
}

/// All tools.
#[derive(Clone, Debug, Serialize)]
pub struct Ablation {
    /// Bytes of the checkpoint.
    pub flat_bytes: u64,
    /// Weights that are symbols.
    pub weights: u64,
    /// What the encoder writes when it chooses for itself.
    pub chosen_bytes: u64,
    /// No prediction, no transform, classes, direct coder: what each row is compared with.
    pub plain_bytes: u64,
    /// In the order of the draft.
    pub rows: Vec<Row>,
}

/// Compresses the checkpoint once for each tool.
///
/// # Errors
/// Those of the encoder.
pub fn ablate(
    checkpoint: &Checkpoint,
    base: Option<BaseFile<'_>>,
    config: &Config,
    progress: &dyn Fn(&str),
) -> Result<Ablation> {
    let size = |tools: Option<Tools>, base: Option<BaseFile<'_>>| -> Result<u64> {
        let config = config.clone().tools(tools);
        Ok(compress_checkpoint(checkpoint, base, &config, Count::default())?.bytes())
    };
    let layouts = checkpoint.tensors.iter().filter_map(|tensor| tensor.layout());
    let quantised = layouts.filter(|layout| layout.meaning().is_some());
    let weights: u64 = quantised.map(|layout| layout.rows * layout.cols).sum();
    progress("the default encoder");
    let chosen_bytes = size(None, base)?;
    let plain = Tools::default();
    let plain_bytes = size(Some(plain.clone()), None)?;
    let spatial = || {
        use Predictor::{Avg, Dc, Left, None, Planar, Top};
        vec![None, Left, Top, Avg, Planar, Dc]
    };
    let forced = |tool, what: &str, tools: Tools| (tool, what.to_string(), tools, None);
    let mut all: Vec<(&'static str, String, Tools, Option<BaseFile<'_>>)> = Vec::new();
    for predictor in [
        Predictor::None,
        Predictor::Left,
        Predictor::Top,
        Predictor::Avg,
        Predictor::Planar,
        Predictor::Dc,
        Predictor::Column,
    ] {
        let tools = Tools { predictors: vec![predictor], ..plain.clone() };
        all.push(forced(predictor.name(), "on every tile", tools));
    }
    let tools = Tools { predictors: vec![Predictor::Reference], ..plain.clone() };
    let what = if base.is_some() { "on every tile, of the base" } else { "needs --base" };
    all.push((Predictor::Reference.name(), what.into(), tools, base));
    for transform in [Transform::Dct, Transform::Adst] {
        let tools = Tools { transforms: vec![transform], ..plain.clone() };
        all.push(forced(transform.name(), "on every 8×8 block", tools));
    }
    let tools = Tools { coder: Coder::Bitplane, ..plain.clone() };
    all.push(forced("bitplane", "in place of the direct coder", tools));
    let tools = Tools { contexts: false, ..plain.clone() };
    all.push(forced("context", "one table a tensor: what leaving classes out costs", tools));
    for (tool, rows, cols) in [("16x16", 16, 16), ("8x32", 8, 32), ("32x8", 32, 8)] {
        let tile = TileSize::new(rows, cols)?;
        let tools = Tools { tile, predictors: spatial(), ..plain.clone() };
        all.push(forced(tool, "the best spatial predictor for each tile of this size", tools));
    }
    let mut rows = Vec::new();
    for (tool, what, tools, base) in all {
        progress(tool);
        let lacks_base = base.is_none() && tools.predictors == [Predictor::Reference];
        let bytes = if lacks_base { None } else { Some(size(Some(tools), base)?) };
        let bits_per_weight = bytes.map(|bytes| match weights {
            0 => 0.0,
            _ => (bytes as f64 - plain_bytes as f64) * 8.0 / weights as f64,
        });
        rows.push(Row { tool, what, bytes, bits_per_weight });
    }
    let flat_bytes = checkpoint.files.iter().map(|file| file.len).sum();
    Ok(Ablation { flat_bytes, weights, chosen_bytes, plain_bytes, rows })
}
