//! GPTQ and AWQ: `X.qweight`, `X.qzeros` in words of 32 bits, `X.scales`, and GPTQ's `X.g_idx`.
//!
//! | | `qweight` | `qzeros` | `scales` |
//! |---|---|---|---|
//! | GPTQ | `[in·bits/32, out]`, along rows | `[groups, out·bits/32]`, along columns | `[groups, out]` |
//! | AWQ | `[in, out·bits/32]`, along columns, in AWQ's order | the same | the same |

use super::{Axis, BitOrder, Dtype, Neighbours, Packing, Quantization, Sign, TensorInfo, View};

pub(super) fn view(names: &dyn Neighbours, t: &TensorInfo) -> Option<View> {
    let (base, zeros) = match t.name.strip_suffix("qweight") {
        Some(base) => (base, false),
        None => (t.name.strip_suffix("qzeros")?, true),
    };
    is_words(t).then_some(())?;
    let shape = |name: &str| names.shape(&format!("{base}{name}"));
    let weight = shape("qweight");
    let out = shape("scales").as_deref().and_then(columns_of);
    // AWQ packs the columns of the weights, GPTQ does not; without scales the metadata decides.
    let along_rows = match (weight.as_deref().and_then(columns_of), out) {
        (Some(columns), Some(out)) => columns == out,
        _ => names.quantization().method.as_deref() != Some("awq"),
    };
    let (axis, columns) = match (zeros, along_rows) {
        (false, true) => (Axis::Rows, None),
        (_, _) => (Axis::Columns, t.shape.get(1).copied()),
    };
    let awq = !along_rows;
    let bits = bits(names, base, columns, out, along_rows);
    let order = if awq && bits == 4 { BitOrder::Awq } else { BitOrder::LowFirst };
    let packing = Packing { bits, ..Packing::words(order, axis, Sign::Unsigned) };
    packing.is_valid().then_some(View::Packed(packing))
}

/// What layers with scales tell of those without, which stand in another shard: method and bits, where all of
/// them are alike. `None` where none is without. The index of a file keeps it as it does metadata, so that readers know.
pub(super) fn by_whole_layers(
    names: &dyn Neighbours,
    tensors: &[TensorInfo],
) -> Option<Quantization> {
    let weights = || tensors.iter().filter(|t| t.name.ends_with(".qweight") && is_words(t));
    let scales = |t: &&TensorInfo| {
        t.name.strip_suffix("qweight").is_some_and(|base| names.has(&format!("{base}scales")))
    };
    weights().any(|t| !scales(&t)).then_some(())?;
    let told = weights().filter(scales).map(|t| match view(names, t) {
        Some(View::Packed(packing)) => Some((packing.axis, packing.bits)),
        _ => None,
    });
    let mut told: Vec<Option<(Axis, u8)>> = told.collect();
    told.dedup();
    let [Some((axis, bits))] = told[..] else { return None };
    let method = if axis == Axis::Rows { "gptq" } else { "awq" };
    let bits = Some(bits.into());
    Some(Quantization { method: Some(method.to_owned()), bits, ..Quantization::default() })
}

/// Bits a weight: from the columns that hold `out` of them, or `qzeros`' columns, or the length of
/// `g_idx`; what the metadata says where the shapes do not tell; 4.
fn bits(
    names: &dyn Neighbours,
    base: &str,
    columns: Option<u64>,
    out: Option<u64>,
    along_rows: bool,
) -> u8 {
    let shape = |name: &str| names.shape(&format!("{base}{name}"));
    let of = |packed: u64, all: u64| {
        let bits = packed.checked_mul(32)?.checked_div(all)?;
        (bits.checked_mul(all)? == packed * 32).then_some(bits)
    };
    let from_columns = columns.zip(out).and_then(|(columns, out)| of(columns, out));
    let from_zeros = || {
        let zeros = names.get(&format!("{base}qzeros")).filter(|t| is_words(t))?;
        of(columns_of(&zeros.shape)?, out?)
    };
    let from_index = || match (shape("qweight")?.as_slice(), shape("g_idx")?.as_slice()) {
        (&[rows, _], &[input]) if along_rows => of(rows, input),
        _ => None,
    };
    from_columns
        .or_else(from_zeros)
        .or_else(from_index)
        .or_else(|| names.quantization().bits)
        .and_then(|bits| u8::try_from(bits).ok())
        .unwrap_or(4)
}

/// Whether a tensor is of words, which alone pack weights and zero points.
fn is_words(t: &TensorInfo) -> bool {
    matches!(t.dtype, Dtype::I32 | Dtype::U32)
}

/// Columns of a matrix.
fn columns_of(shape: &[u64]) -> Option<u64> {
    match *shape {
        [_, columns] => Some(columns),
        _ => None,
    }
}
