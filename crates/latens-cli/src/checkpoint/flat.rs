//! What is inside of a checkpoint as people ship it: its tensors before anything is made of them.

use latens::wcodec::checkpoint::{Checkpoint, Format, TensorInfo};
use latens::wcodec::{Content, Role};
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
    /// Of symbols, with everything beside them as it is; null for weights that are numbers.
    pub order0_entropy: Option<f64>,
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
        dtype: t.dtype.name().to_string(),
        shape: t.shape.clone(),
        packing: t.view.name(),
        bytes: t.len,
        weights,
        bits_per_weight: crate::report::bits_per_value(t.len, weights),
        order0_entropy: entropy.map(|bits| bits / weights.max(1) as f64),
    })
}

/// Bits of all symbols at order 0, and of what stands beside them.
fn entropy(checkpoint: &Checkpoint, number: usize, t: &TensorInfo) -> Result<Option<f64>> {
    let Some(layout) = t.layout() else { return Ok(None) };
    let mut counts = vec![[0u64; 256]; layout.parts().len()];
    let mut beside = 0u64;
    let step = (STRETCH / layout.unit_bytes.max(1)).max(1).saturating_mul(layout.unit_bytes);
    let mut at = 0;
    while at < t.len {
        let length = step.min(t.len - at);
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        checkpoint.read_tensor(number, at, &mut bytes)?;
        let parts = layout.split(&bytes).unwrap_or_default();
        for (part, counts) in parts.iter().zip(&mut counts) {
            let symbols = match &part.content {
                Content::Words { .. } if part.role == Role::Weights => return Ok(None),
                Content::Words { data, .. } => {
                    beside += data.len() as u64;
                    continue;
                }
                Content::Symbols(plane) => &plane.data,
                Content::Raw(bytes) => bytes,
            };
            symbols.iter().for_each(|&symbol| counts[usize::from(symbol)] += 1);
        }
        at += length;
    }
    let of_part = |counts: &[u64; 256]| {
        let n = counts.iter().sum::<u64>() as f64;
        let term = |&c: &u64| if c == 0 { 0.0 } else { c as f64 * (n / c as f64).log2() };
        counts.iter().map(term).sum::<f64>()
    };
    Ok(Some(counts.iter().map(of_part).sum::<f64>() + 8.0 * beside as f64))
}
