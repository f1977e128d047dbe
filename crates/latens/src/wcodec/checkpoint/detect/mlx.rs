//! MLX: `X.weight` U32 `[…, out, in·bits/32]`, the first weight lowest, with `X.scales` `[…, out, groups]`.
//!
//! * affine: a weight is its code times the scale and a bias, `X.biases`, of the scales' shape; 2, 4 or 8 bits, or 3, 5 or 6,
//!   which straddle the ends of words. Shapes tell the bits of a group, not of a weight: that is what `quantization`
//!   says in `config.json`, of all layers or of one by its name.
//! * `mxfp4`, `nvfp4`, `mxfp8`: scales are U8, of 32, 16 and 32 codes of floats.

use super::{Axis, BitOrder, Dtype, Neighbours, Packing, Sign, TensorInfo, View};

pub(super) fn view(names: &dyn Neighbours, t: &TensorInfo) -> Option<View> {
    let base = t.name.strip_suffix(".weight").filter(|_| t.dtype == Dtype::U32)?;
    let (&words, rows) = t.shape.split_last()?;
    let scales = names.get(&format!("{base}.scales"))?;
    let (&groups, of) = scales.shape.split_last()?;
    let bits_of_group = words.checked_mul(32)?.checked_div(groups)?;
    if of != rows || bits_of_group.checked_mul(groups) != words.checked_mul(32) {
        return None;
    }
    let bits = match names.shape(&format!("{base}.biases")) {
        Some(biases) => {
            let told = names.quantization().of_layer(base);
            let (bits, group) = (told.bits?, told.group_size?);
            (biases == scales.shape && bits.checked_mul(group) == Some(bits_of_group))
                .then_some(bits)
        }
        None if scales.dtype == Dtype::U8 => match bits_of_group {
            64 | 128 => Some(4),
            256 => Some(8),
            _ => None,
        },
        None => None,
    };
    let bits = u8::try_from(bits?).ok()?;
    let words = Packing::words(BitOrder::LowFirst, Axis::Columns, Sign::Unsigned);
    let packing = Packing { bits, ..words };
    packing.is_valid().then_some(View::Packed(packing))
}
