//! What is inside of a checkpoint as people ship it: its tensors before anything is made of them.

use latens::wcodec::Order0;
use latens::wcodec::checkpoint::{Checkpoint, Format, TensorInfo};
use serde::Serialize;

use crate::message::Result;
use crate::parallel;
use crate::progress::Progress;

/// A `.safetensors`, its shards, or a `.gguf`.
#[derive(Clone, Debug, Serialize)]
pub struct FlatInspection {
    /// `safetensors` or `gguf`.
    pub kind: &'static str,
    /// Of all files.
    pub bytes: u64,
    /// Names and sizes of the files.
    pub files: Vec<(String, u64)>,
    /// What should be known: where an index and its shards differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// By file and place.
    pub tensors: Vec<FlatTensor>,
}

/// A tensor of a [`FlatInspection`].
#[derive(Clone, Debug, Serialize)]
pub struct FlatTensor {
    /// Its name.
    pub name: String,
    /// As the checkpoint spells it.
    pub dtype: String,
    /// As the checkpoint has it.
    pub shape: Vec<u64>,
    /// How its bytes are packed, as far as names and types tell.
    pub packing: String,
    /// Its bytes.
    pub bytes: u64,
    /// Weights that it holds.
    pub weights: u64,
    /// `8 × bytes / weights`.
    pub bits_per_weight: f64,
    /// Of symbols one by one, those of numbers by their bytes.
    pub order0_entropy: f64,
}

/// Bytes that are read at a time, about.
const STRETCH: u64 = 1 << 23;

/// Look into a checkpoint.
///
/// # Errors
/// I/O.
pub fn read(checkpoint: &Checkpoint, quiet: bool) -> Result<FlatInspection> {
    let total = checkpoint.tensors.iter().fold(0u64, |sum, t| sum.saturating_add(t.len));
    let progress = Progress::new("inspect", Some(total), quiet);
    let tensors = parallel::map(checkpoint.tensors.len(), &|number| {
        let t = &checkpoint.tensors[number];
        progress.say(&t.name);
        let found = tensor(checkpoint, number, t)?;
        progress.add(t.len);
        Ok(found)
    });
    progress.finish();
    Ok(FlatInspection {
        kind: if checkpoint.format == Format::Gguf { "gguf" } else { "safetensors" },
        bytes: checkpoint.files.iter().map(|file| file.len).sum(),
        files: checkpoint.files.iter().map(|file| (file.name.clone(), file.len)).collect(),
        notes: super::shards::notes(checkpoint),
        tensors: tensors?,
    })
}

fn tensor(checkpoint: &Checkpoint, number: usize, t: &TensorInfo) -> Result<FlatTensor> {
    let weights = t.layout().map_or(0, |layout| layout.weights(&t.shape));
    let entropy = entropy(checkpoint, number, t)?;
    Ok(FlatTensor {
        name: t.name.clone(),
        dtype: t.type_name().to_string(),
        shape: t.shape.clone(),
        packing: t.view.packing(t.type_name()),
        bytes: t.len,
        weights,
        bits_per_weight: crate::report::bits_per_value(t.len, weights),
        order0_entropy: entropy / weights.max(1) as f64,
    })
}

/// Bits of all symbols at order 0.
fn entropy(checkpoint: &Checkpoint, number: usize, t: &TensorInfo) -> Result<f64> {
    let Some(layout) = t.layout() else { return Ok(0.0) };
    let mut order0 = Order0::new(&layout);
    let mut at = 0;
    while at < t.len {
        let length = STRETCH.min(t.len - at);
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        checkpoint.read_tensor(number, at, &mut bytes)?;
        order0.add(&bytes);
        at += length;
    }
    Ok(order0.bits())
}
