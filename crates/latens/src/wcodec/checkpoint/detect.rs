//! How the bytes of each tensor are packed: guessed from names, types, shapes, siblings and
//! metadata. A wrong guess costs size, never correctness: every view gives back the bytes.
//!
//! | module | packing | told by |
//! |---|---|---|
//! | `gptq` | GPTQ, AWQ | `.qweight` with `.scales`, `.qzeros`, `.g_idx` |
//! | `compressed_tensors` | compressed-tensors, NVFP4, MXFP4 | `.weight_packed`, `.weight_scale`; `_blocks`, `_scales` |
//! | `bitsandbytes` | NF4, FP4, INT8 | `.absmax`, `.quant_state…`; `.SCB` |
//! | `mlx` | MLX's of 2 to 6 and 8 bits | U32 `.weight` with `.scales`, `.biases` |

mod bitsandbytes;
mod compressed_tensors;
mod gptq;
mod mlx;
mod scales;

pub use scales::{Siblings, scale_block};

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::{Checkpoint, Quantization, TensorInfo};
use crate::wcodec::dtype::Dtype;
use crate::wcodec::view::{Axis, BitOrder, BlockKind, Packing, Sign, View, WordOrder};

/// The tensors among which one stands, by name: those of a checkpoint, or of a file that holds one.
pub(in crate::wcodec) trait Neighbours {
    /// What is known of a tensor.
    fn get(&self, name: &str) -> Option<Cow<'_, TensorInfo>>;

    /// The bytes of a tensor that has at most `most`.
    fn bytes(&self, name: &str, most: usize) -> Option<Vec<u8>>;

    /// What the metadata say.
    fn quantization(&self) -> &Quantization;

    /// Whether there is a tensor of that name.
    fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Shape of a tensor.
    fn shape(&self, name: &str) -> Option<Vec<u64>> {
        self.get(name).map(|t| t.shape.clone())
    }
}

/// The tensors of a checkpoint by name.
struct Names<'a> {
    checkpoint: &'a Checkpoint,
    by_name: HashMap<&'a str, usize>,
}

impl<'a> Names<'a> {
    fn of(checkpoint: &'a Checkpoint) -> Self {
        let each = checkpoint.tensors.iter().enumerate();
        Names { checkpoint, by_name: each.map(|(i, t)| (t.name.as_str(), i)).collect() }
    }

    fn index(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }
}

impl Neighbours for Names<'_> {
    fn get(&self, name: &str) -> Option<Cow<'_, TensorInfo>> {
        self.checkpoint.tensors.get(self.index(name)?).map(Cow::Borrowed)
    }

    fn bytes(&self, name: &str, most: usize) -> Option<Vec<u8>> {
        let index = self.index(name)?;
        let len = usize::try_from(self.checkpoint.tensors.get(index)?.len).ok()?;
        let mut bytes = vec![0; (len <= most).then_some(len)?];
        self.checkpoint.read_tensor(index, 0, &mut bytes).ok()?;
        Some(bytes)
    }

    fn quantization(&self) -> &Quantization {
        &self.checkpoint.quantization
    }
}

/// Fills in the views and siblings of all tensors.
pub(super) fn detect(checkpoint: &mut Checkpoint) {
    if checkpoint.quantization.method.is_none() {
        let told = gptq::by_whole_layers(&Names::of(checkpoint), &checkpoint.tensors);
        checkpoint.quantization.or(told.unwrap_or_default());
    }
    let names = Names::of(checkpoint);
    let found: Vec<(View, Siblings)> =
        checkpoint.tensors.iter().map(|t| (view(&names, t), scales::siblings(&names, t))).collect();
    let explains: HashSet<usize> = found.iter().flat_map(|(_, s)| s.each()).collect();
    for (i, (tensor, (view, siblings))) in checkpoint.tensors.iter_mut().zip(found).enumerate() {
        let alone = Siblings { explains: true, ..Siblings::default() };
        let siblings = if explains.contains(&i) { alone } else { siblings };
        (tensor.view, tensor.siblings) = (view, siblings);
    }
}

/// The view of a tensor that names, types, shapes and metadata tell of, and that fits it.
pub(in crate::wcodec) fn view(names: &dyn Neighbours, t: &TensorInfo) -> View {
    let view = [packing(names, t), Some(plain(t.dtype))].into_iter().flatten();
    let fits = |view: &View| view.layout(t.dtype, &t.shape, t.len).is_some();
    view.filter(|v| v != &View::Raw).find(fits).unwrap_or(View::Raw)
}

/// How many weights a row of a tensor has, where words hold more.
pub(in crate::wcodec) fn told_cols(names: &dyn Neighbours, t: &TensorInfo) -> Option<u64> {
    compressed_tensors::cols(names, t)
}

/// Whether any tensor of a type may be stored in `view` because it is smaller so: then the view does
/// not tell what the bytes mean.
pub(in crate::wcodec) fn tells_nothing(dtype: Dtype, view: View) -> bool {
    matches!(view, View::Raw | View::FloatBytes { .. })
        || alternatives(dtype, View::Raw).contains(&view)
        || wide(dtype).any(|wide| wide == view)
}

/// Views as words of several elements: what bytes are that repeat, whatever they mean.
pub(in crate::wcodec) fn wide(dtype: Dtype) -> impl Iterator<Item = View> {
    let element = dtype.width().unwrap_or(u8::MAX);
    let words = |width| View::Words { width, order: WordOrder::Unsigned };
    [8, 4].into_iter().filter(move |&width| width > element).map(words)
}

/// A packing that a convention tells of.
fn packing(names: &dyn Neighbours, t: &TensorInfo) -> Option<View> {
    gptq::view(names, t)
        .or_else(|| bitsandbytes::view(names, t))
        .or_else(|| compressed_tensors::view(names, t))
        .or_else(|| mlx::view(names, t))
}

/// The view of a type on its own.
pub(super) fn plain(dtype: Dtype) -> View {
    let words = |width, order| View::Words { width, order };
    match dtype {
        Dtype::I8 => View::Bytes(Sign::Signed),
        Dtype::U8 | Dtype::BOOL | Dtype::F8_E8M0 | Dtype::F6_E2M3 | Dtype::F6_E3M2 => {
            View::Bytes(Sign::Unsigned)
        }
        Dtype::F8_E4M3 | Dtype::F8_E5M2 | Dtype::F8_E4M3FNUZ | Dtype::F8_E5M2FNUZ => {
            words(1, WordOrder::SignMagnitude)
        }
        Dtype::F4 => View::Packed(Packing::nibbles(BitOrder::LowFirst, Sign::Unsigned)),
        Dtype::BF16 => words(2, WordOrder::SignMagnitude),
        Dtype::F16 => words(2, WordOrder::Float),
        Dtype::F32 | Dtype::C64 => words(4, WordOrder::Float),
        Dtype::F64 => words(8, WordOrder::Float),
        Dtype::I16 => words(2, WordOrder::Signed),
        Dtype::I32 => words(4, WordOrder::Signed),
        Dtype::I64 => words(8, WordOrder::Signed),
        Dtype::U16 => words(2, WordOrder::Unsigned),
        Dtype::U32 => words(4, WordOrder::Unsigned),
        Dtype::U64 => words(8, WordOrder::Unsigned),
        _ => BlockKind::of(dtype).map_or(View::Raw, View::Blocks),
    }
}

/// Other views of a tensor that may be smaller than `view`. Not all of them need fit.
pub(super) fn alternatives(dtype: Dtype, view: View) -> Vec<View> {
    let ordered = |width| View::Words { width, order: WordOrder::SignMagnitude };
    let nibbles = View::Packed(Packing::nibbles(BitOrder::LowFirst, Sign::Unsigned));
    let bytes = View::Bytes(Sign::Unsigned);
    let rows = View::Packed(Packing::words(BitOrder::LowFirst, Axis::Rows, Sign::Unsigned));
    let all = match dtype {
        Dtype::BF16 => vec![View::FloatBytes { width: 2 }, ordered(2)],
        Dtype::F16 => vec![View::FloatBytes { width: 2 }, plain(dtype), ordered(2)],
        Dtype::F32 | Dtype::C64 => vec![View::FloatBytes { width: 4 }, plain(dtype), ordered(4)],
        Dtype::F64 => vec![View::FloatBytes { width: 8 }, plain(dtype), ordered(8)],
        Dtype::U8 | Dtype::I8 => vec![plain(dtype), nibbles],
        Dtype::I32 | Dtype::U32 => vec![plain(dtype), nibbles, rows],
        Dtype::Unknown => Vec::new(),
        _ => vec![plain(dtype), bytes],
    };
    all.into_iter().filter(|v| *v != view).collect()
}
