//! What each tool of WCodec gains or costs on a checkpoint: the draft's hypothesis, measured.

use latens::wcodec::checkpoint::Checkpoint;
use latens::wcodec::predictor::Predictor;
use latens::wcodec::tile::TileSize;
use latens::wcodec::transform::Transform;
use latens::wcodec::{BaseFile, Coder, Config, Tools, compress_checkpoint};
use serde::Serialize;

use crate::message::Result;
use crate::progress::Progress;
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
    /// Above (or below) the row that it is compared with, in bits a weight of all weights: tools that are forced
    /// act on planes of floats and of other types as well as on quantised weights.
    pub bits_per_weight: Option<f64>,
}

/// All tools.
#[derive(Clone, Debug, Serialize)]
pub struct Ablation {
    /// `ablation`.
    pub kind: &'static str,
    /// Bytes of the checkpoint.
    pub flat_bytes: u64,
    /// Weights of all tensors.
    pub weights: u64,
    /// Those of them that are symbols.
    pub quantised: u64,
    /// What the encoder writes when it chooses for itself.
    pub chosen_bytes: u64,
    /// No prediction, no transform, classes, direct coder: what each row is compared with.
    pub plain_bytes: u64,
    /// In the order of the draft.
    pub rows: Vec<Row>,
}

/// A tool, what it does in words, and what forces it.
type Forced<'b> = (&'static str, &'static str, Tools, Option<BaseFile<'b>>);

/// Compresses the checkpoint once for each tool, with a bar that is shown unless it is to be `quiet`.
///
/// # Errors
/// Those of the encoder.
pub fn ablate(
    checkpoint: &Checkpoint,
    base: Option<BaseFile<'_>>,
    config: &Config,
    quiet: bool,
) -> Result<Ablation> {
    let (mut weights, mut quantised) = (0u64, 0u64);
    for tensor in &checkpoint.tensors {
        let Some(layout) = tensor.layout() else { continue };
        let count = layout.weights(&tensor.shape);
        weights = weights.saturating_add(count);
        quantised += if layout.meaning().is_some() { count } else { 0 };
    }
    let flat_bytes: u64 = checkpoint.files.iter().map(|file| file.len).sum();
    let plain = Tools::default();
    let all = forced(&plain, base);
    let tensors: u64 = checkpoint.tensors.iter().map(|tensor| tensor.len).sum();
    // The two that the others are compared with are among the runs.
    let total =
        tensors.saturating_mul(2 + all.iter().filter(|row| !lacks_base(row)).count() as u64);
    let progress = Progress::new("ablate", Some(total), quiet);
    let size =
        |what: &'static str, tools: Option<Tools>, base: Option<BaseFile<'_>>| -> Result<u64> {
            let config = config.clone().tools(tools).watch(progress.watch_of(what));
            Ok(compress_checkpoint(checkpoint, base, &config, Count::default())?.bytes())
        };
    let measured = || -> Result<Ablation> {
        let chosen_bytes = size("the default encoder", None, base)?;
        let plain_bytes = size("no tool", Some(plain.clone()), None)?;
        let mut rows = Vec::new();
        for row in &all {
            let (tool, what, tools, base) = row;
            let bytes = match lacks_base(row) {
                true => None,
                false => Some(size(tool, Some(tools.clone()), *base)?),
            };
            let more = bytes.filter(|_| weights > 0).map(|bytes| bytes as f64 - plain_bytes as f64);
            let bits_per_weight = more.map(|more| more * 8.0 / weights as f64);
            rows.push(Row { tool, what: (*what).to_string(), bytes, bits_per_weight });
        }
        let kind = "ablation";
        Ok(Ablation { kind, flat_bytes, weights, quantised, chosen_bytes, plain_bytes, rows })
    };
    let found = measured();
    progress.finish();
    found
}

/// Whether a tool needs a base and has none.
fn lacks_base((_, _, tools, base): &Forced<'_>) -> bool {
    base.is_none() && tools.predictors == [Predictor::Reference]
}

/// All tools, in the order of the draft.
fn forced<'b>(plain: &Tools, base: Option<BaseFile<'b>>) -> Vec<Forced<'b>> {
    let mut all: Vec<Forced<'b>> = Vec::new();
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
        all.push((predictor.name(), "on every tile", tools, None));
    }
    let tools = Tools { predictors: vec![Predictor::Reference], ..plain.clone() };
    let what = if base.is_some() { "on every tile, of the base" } else { "needs --base" };
    all.push((Predictor::Reference.name(), what, tools, base));
    for transform in [Transform::Dct, Transform::Adst] {
        let tools = Tools { transforms: vec![transform], ..plain.clone() };
        all.push((transform.name(), "on every 8×8 block", tools, None));
    }
    let tools = Tools { transforms: Transform::ALL.to_vec(), ..plain.clone() };
    all.push(("DCT+ADST", "or neither, by cost, for each 8×8 block", tools, None));
    let tools = Tools { coder: Coder::Bitplane, ..plain.clone() };
    all.push(("bitplane", "in place of the direct coder", tools, None));
    let tools = Tools { contexts: false, ..plain.clone() };
    all.push(("context", "one table a tensor: what leaving classes out costs", tools, None));
    use Predictor::{Avg, Dc, Left, None as Nothing, Planar, Top};
    for (tool, tile) in
        [("16x16", TileSize::SQUARE), ("8x32", TileSize::WIDE), ("32x8", TileSize::TALL)]
    {
        let predictors = vec![Nothing, Left, Top, Avg, Planar, Dc];
        let tools = Tools { tile, predictors, ..plain.clone() };
        all.push((tool, "the best spatial predictor for each tile of this size", tools, None));
    }
    all
}
