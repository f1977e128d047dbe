//! What is said of a checkpoint that was compressed.

use latens::wcodec::TensorInspection;
use serde::Serialize;

/// `latens compress` of a checkpoint, done.
#[derive(Clone, Debug, Serialize)]
pub struct CheckpointReport {
    /// Path as given.
    pub input: String,
    /// Path as given, `-` for stdout.
    pub output: String,
    /// Size of the checkpoint: all of its files.
    pub input_bytes: u64,
    /// Size of the output file.
    pub output_bytes: u64,
    /// Wall time.
    pub seconds: f64,
    /// Whether the output was read back and compared.
    pub verified: bool,
    /// One entry a tensor, in the checkpoint's order.
    pub tensors: Vec<TensorReport>,
    /// Tensors that are kept as bytes of their file alone: their names are too long, or they
    /// have too many dimensions.
    pub unnamed: usize,
    /// What else should be known: where an index and its shards differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One tensor of a [`CheckpointReport`].
#[derive(Clone, Debug, Serialize)]
pub struct TensorReport {
    /// Name in the checkpoint.
    pub name: String,
    /// As the checkpoint spells it.
    pub dtype: String,
    /// As the checkpoint has it.
    pub shape: Vec<u64>,
    /// How its bytes are read: `int8`, `gptq`, `q4_k`, …
    pub packing: String,
    /// `direct`, `bitplane`, `pco`, `raw`, `copy`, …
    pub codec: String,
    /// Bytes in the output.
    pub bytes: u64,
    /// `8 × bytes / weights`.
    pub bits_per_weight: f64,
    /// Bytes in the checkpoint, for the ratio; not in `--json`.
    #[serde(skip)]
    pub raw_bytes: u64,
}

impl TensorReport {
    /// Of a tensor that was written.
    pub fn of(tensor: &TensorInspection) -> Self {
        TensorReport {
            name: tensor.name.clone(),
            dtype: tensor.dtype.clone(),
            shape: tensor.shape.clone(),
            packing: tensor.packing.clone(),
            codec: tensor.summary().codec,
            bytes: tensor.bytes as u64,
            bits_per_weight: tensor.bits_per_weight(),
            raw_bytes: tensor.flat_bytes as u64,
        }
    }
}
