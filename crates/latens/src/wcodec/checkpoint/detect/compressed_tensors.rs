//! compressed-tensors, and other formats that pack two small numbers a byte.
//!
//! * pack-quantized: `X.weight_packed` I32 `[out, in·bits/32]`, the first lowest, half of the range
//!   added; `X.weight_scale` `[out, groups]`; `X.weight_zero_point`, packed along rows;
//!   `X.weight_shape`.
//! * int-quantized: `X.weight` I8 and `X.weight_scale`; nothing is packed.
//! * NVFP4: `X.weight_packed` or `X.weight` U8 `[out, in/2]`, the first lower, with
//!   `X.weight_scale` F8_E4M3 `[out, in/16]`.
//! * MXFP4: `X_blocks` U8 with `X_scales` U8, one for 16 bytes.
//! * bytes of nibbles with `X.weight_scale` that names twice as many columns as there are bytes.

use super::{Axis, BitOrder, Dtype, Neighbours, Packing, Sign, TensorInfo, View};

pub(super) fn view(names: &dyn Neighbours, t: &TensorInfo) -> Option<View> {
    let words = matches!(t.dtype, Dtype::I32 | Dtype::U32);
    let bytes = matches!(t.dtype, Dtype::U8 | Dtype::I8);
    let has = |suffix: &str| names.has(&format!("{}{suffix}", t.name));
    if let Some(base) = t.name.strip_suffix("weight_packed") {
        let bits = bits(names, base, t)?;
        if bytes {
            return Some(nibbles(t.dtype, Sign::Unsigned));
        }
        let packing =
            Packing { bits, ..Packing::words(BitOrder::LowFirst, Axis::Columns, Sign::Offset) };
        return (words && packing.is_valid()).then_some(View::Packed(packing));
    }
    if let (Some(base), true) = (t.name.strip_suffix("weight_zero_point"), words) {
        // Packed along the rows: [out·bits/32, groups].
        let weight = names.get(&format!("{base}weight_packed"))?;
        let bits = bits(names, base, &weight)?;
        let packing =
            Packing { bits, ..Packing::words(BitOrder::LowFirst, Axis::Rows, Sign::Offset) };
        return packing.is_valid().then_some(View::Packed(packing));
    }
    if !bytes {
        return None;
    }
    if let Some(base) = t.name.strip_suffix("_blocks") {
        let scales = names.get(&format!("{base}_scales"))?;
        return (scales.len.checked_mul(16)? == t.len).then(|| nibbles(t.dtype, Sign::Unsigned));
    }
    let (rows, columns) = matrix(&t.shape)?;
    let scale = names.get(&format!("{}_scale", t.name))?;
    let (scale_rows, groups) = matrix(&scale.shape)?;
    let group = columns.checked_mul(2)?.checked_div(groups)?;
    let nvfp4 = scale.dtype == Dtype::F8_E4M3 && group == 16;
    // One scale a row says nothing of groups, and the metadata need not be asked.
    let said = groups > 1
        && scale_rows == rows
        && names.quantization().bits == Some(4)
        && names.quantization().group_size == Some(group);
    let unsigned = t.dtype == Dtype::U8 && (nvfp4 || has("_zero_point"));
    let sign = match (unsigned, t.dtype) {
        (true, _) => Sign::Unsigned,
        (false, Dtype::I8) => Sign::Signed,
        (false, _) => Sign::Offset,
    };
    (nvfp4 || said).then(|| nibbles(t.dtype, sign))
}

fn nibbles(dtype: Dtype, sign: Sign) -> View {
    let sign = if dtype == Dtype::I8 { Sign::Signed } else { sign };
    View::Packed(Packing::nibbles(BitOrder::LowFirst, sign))
}

fn matrix(shape: &[u64]) -> Option<(u64, u64)> {
    match *shape {
        [rows, columns] => Some((rows, columns)),
        _ => None,
    }
}

/// Weights a row of packed ones, as `weight_shape` tells.
pub(super) fn cols(names: &dyn Neighbours, t: &TensorInfo) -> Option<u64> {
    let base = t.name.strip_suffix("weight_packed")?;
    let (rows, cols) = shape(names, base)?;
    (t.shape.first() == Some(&rows)).then_some(cols)
}

/// Bits a weight: the words of a row by the columns that `weight_shape` tells, four where nothing does; `None` where
/// words hold weights of 3, 5, 6 or 7 bits.
fn bits(names: &dyn Neighbours, base: &str, t: &TensorInfo) -> Option<u8> {
    let said = names.quantization().bits;
    if said.is_some_and(|bits| !matches!(bits, 2 | 4 | 8)) {
        return None;
    }
    let bits = shape(names, base).and_then(|(_, columns)| {
        let words = *t.shape.get(1)?;
        // The last word of a row may not be full: of a word a row, several may be meant.
        let fits = |b: &u64| columns.div_ceil(32 / b) == words;
        said.filter(fits).or_else(|| [4, 8, 2].into_iter().find(fits))
    });
    u8::try_from(bits.or(said).unwrap_or(4)).ok()
}

/// The two numbers of `weight_shape`, I64 or I32.
fn shape(names: &dyn Neighbours, base: &str) -> Option<(u64, u64)> {
    let bytes = names.bytes(&format!("{base}weight_shape"), 16)?;
    let number = |bytes: &[u8]| -> Option<u64> {
        let mut wide = [0; 8];
        wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(u64::from_le_bytes(wide))
    };
    let (rows, columns) = bytes.split_at_checked(bytes.len() / 2)?;
    matches!(bytes.len(), 8 | 16).then_some(())?;
    Some((number(rows)?, number(columns)?))
}
