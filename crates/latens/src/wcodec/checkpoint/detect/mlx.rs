//! MLX: `X.weight` U32 `[…, out, in·bits/32]`, the first weight lowest, with `X.scales` `[…, out, groups]`.
//!
//! * affine: a weight is its code times the scale and a bias, `X.biases`, of the scales' shape; 2, 4 or 8 bits (of 3, 5 and
//!   6 bits weights go over the words' ends), groups of 32, 64 or 128.
//! * `mxfp4`, `nvfp4`, `mxfp8`: scales are U8, of 32, 16 and 32 codes of floats.

use super::{Axis, BitOrder, Dtype, Neighbours, Packing, Sign, TensorInfo, View};

/// Weights that share a scale, the usual number first.
const GROUPS: [u64; 3] = [64, 32, 128];

pub(super) fn view(names: &dyn Neighbours, t: &TensorInfo) -> Option<View> {
    let base = t.name.strip_suffix("weight").filter(|_| t.dtype == Dtype::U32)?;
    let (&words, rows) = t.shape.split_last()?;
    let scales = names.get(&format!("{base}scales"))?;
    let (&groups, of) = scales.shape.split_last()?;
    let bits_of_group = words.checked_mul(32)?.checked_div(groups)?;
    if of != rows || bits_of_group.checked_mul(groups) != words.checked_mul(32) {
        return None;
    }
    let bits = match names.shape(&format!("{base}biases")) {
        Some(biases) => affine(names, bits_of_group).filter(|_| biases == scales.shape),
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

/// Bits a weight, of which a group has so many: as the metadata say how many weights that is, as layers of other bits
/// have it too; or how many bits a weight has; or by the usual groups.
fn affine(names: &dyn Neighbours, bits_of_group: u64) -> Option<u64> {
    let said = names.quantization();
    let by_group = |group: u64| {
        let bits = bits_of_group.checked_div(group)?;
        (bits * group == bits_of_group && matches!(bits, 2..=6 | 8)).then_some(bits)
    };
    let by_bits = |bits: u64| {
        let group = bits_of_group.checked_div(bits)?;
        GROUPS.contains(&group).then(|| by_group(group))?
    };
    let by_metadata = said.group_size.and_then(by_group).or_else(|| said.bits.and_then(by_bits));
    by_metadata.or_else(|| GROUPS.into_iter().find_map(by_group))
}
