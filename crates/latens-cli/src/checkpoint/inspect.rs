//! What is inside of a checkpoint, tensor by tensor, as `--json` shows it.

use latens::wcodec::checkpoint::ReadAt;
use latens::wcodec::{Reader, TensorInspection};
use serde::Serialize;
use std::collections::BTreeMap;

use super::watch::Watched;
use crate::message::Result;
use crate::parallel;

/// A `.wcodec` file.
#[derive(Clone, Debug, Serialize)]
pub struct CheckpointInspection {
    /// `wcodec`
    pub kind: &'static str,
    /// SHA-256 over names, types, shapes and bytes.
    pub model_hash: String,
    /// The checkpoint that it was made against.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Of the file.
    pub bytes: u64,
    /// Of the files that it holds.
    pub flat_bytes: u64,
    /// Names and sizes of the files that it holds.
    pub files: Vec<(String, u64)>,
    /// In the order of the checkpoint.
    pub tensors: Vec<Tensor>,
}

/// A tensor of a [`CheckpointInspection`].
#[derive(Clone, Debug, Serialize)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// As the checkpoint spells it.
    pub dtype: String,
    /// As the checkpoint has it.
    pub shape: Vec<u64>,
    /// How its weights are packed; the type of numbers that are not.
    pub packing: String,
    /// Codecs of its parts, the largest first.
    pub codec: String,
    /// In the file.
    pub bytes: u64,
    /// In the checkpoint.
    pub flat_bytes: u64,
    /// Weights that it holds.
    pub weights: u64,
    /// In the file.
    pub bits_per_weight: f64,
    /// Of symbols one by one, without any context; those of numbers by their bytes.
    pub order0_entropy: f64,
    /// Tiles by predictor.
    pub predictors: BTreeMap<String, u64>,
    /// Sub-blocks by transform.
    pub transforms: BTreeMap<String, u64>,
    /// What classes of symbols follow from.
    pub contexts: Vec<String>,
    /// Which two symbols are coded as one, where some are.
    pub pairs: Option<&'static str>,
    /// Nothing but its own bytes: no codec made it smaller.
    pub raw: bool,
    /// Of `bytes`, those of parts that no codec made smaller.
    pub raw_bytes: u64,
}

/// All tensors of a file, decoded for their entropy.
///
/// # Errors
/// Bad input, I/O.
pub fn tensors<S: ReadAt>(reader: &Reader<S>, quiet: bool) -> Result<Vec<TensorInspection>> {
    let numbers: Vec<usize> = reader.tensors().map(|(number, _)| number).collect();
    let watched = Watched::tensors("inspect", reader, quiet);
    parallel::map(numbers.len(), &|index| Ok(watched.reader.inspect(numbers[index])?))
}

/// Look into a file.
///
/// # Errors
/// Bad input, I/O.
pub fn read<S: ReadAt>(
    reader: &Reader<S>,
    bytes: u64,
    quiet: bool,
) -> Result<CheckpointInspection> {
    let files: Vec<(String, u64)> = reader.files().map(|(name, len)| (name.into(), len)).collect();
    let hash = reader.model_hash();
    Ok(CheckpointInspection {
        kind: "wcodec",
        model_hash: hash.iter().map(|byte| format!("{byte:02x}")).collect(),
        base: reader.base_name().map(|(name, _)| name.to_string()),
        bytes,
        flat_bytes: files.iter().map(|(_, len)| len).sum(),
        files,
        tensors: tensors(reader, quiet)?.iter().map(tensor).collect(),
    })
}

/// The codecs of a tensor's parts in a word.
pub fn codec(tensor: &TensorInspection) -> String {
    if tensor.copy_of.is_some() {
        return "copy".into();
    }
    let mut parts: Vec<_> = tensor.parts.iter().collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.bytes));
    let mut names: Vec<&str> = Vec::new();
    for part in parts {
        if !names.contains(&part.codec) {
            names.push(part.codec);
        }
    }
    names.join("+")
}

fn tensor(t: &TensorInspection) -> Tensor {
    let (mut predictors, mut transforms) = (BTreeMap::new(), BTreeMap::new());
    let mut contexts: Vec<String> = Vec::new();
    for part in &t.parts {
        for (predictor, tiles) in &part.predictors {
            *predictors.entry(predictor.name().to_string()).or_insert(0) += tiles;
        }
        for (transform, blocks) in &part.transforms {
            *transforms.entry(transform.name().to_string()).or_insert(0) += blocks;
        }
        for term in &part.terms {
            if !contexts.iter().any(|context| context == term) {
                contexts.push((*term).to_string());
            }
        }
    }
    let raw = t.parts.iter().filter(|part| part.codec == "raw");
    let raw_bytes = raw.map(|part| part.bytes as u64).sum();
    let codec = codec(t);
    Tensor {
        name: t.name.clone(),
        dtype: t.dtype.clone(),
        shape: t.shape.clone(),
        packing: t.packing.clone(),
        raw: codec == "raw",
        codec,
        bytes: t.bytes as u64,
        flat_bytes: t.flat_bytes as u64,
        weights: t.weights,
        bits_per_weight: t.bits_per_weight(),
        order0_entropy: t.order0_entropy,
        predictors,
        transforms,
        contexts,
        pairs: t.parts.iter().find_map(|part| part.pairs),
        raw_bytes,
    }
}
