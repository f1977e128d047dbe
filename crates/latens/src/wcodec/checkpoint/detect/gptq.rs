//! GPTQ and AWQ: `X.qweight`, `X.qzeros` in words of 32 bits, `X.scales`, and GPTQ's `X.g_idx`.
//!
//! | | `qweight` | `qzeros` | `scales` |
//! |---|---|---|---|
//! | GPTQ | `[in·bits/32, out]`, along rows | `[groups, out·bits/32]`, along columns | `[groups, out]` |
//! | AWQ, GEMM | `[in, out·bits/32]`, along columns, in AWQ's order | the same | the same |
//! | AWQ, GEMV | `[out, in·bits/32]`, along columns, the first lowest | `[out, groups·bits/32]`, the same | `[out, groups]` |
//!
//! GEMV fills groups up so that zero points are whole words. What GEMV-fast interleaves is I16, and none of these.

use super::{Axis, BitOrder, Dtype, Neighbours, Packing, Quantization, Sign, TensorInfo, View};

/// Which of them a layer is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Gptq,
    Gemm,
    Gemv,
}

impl Kind {
    /// By the shapes, which metadata of another checkpoint do not change; by the metadata where there are no scales.
    fn of(names: &dyn Neighbours, base: &str) -> Self {
        let shape = |name: &str| names.shape(&format!("{base}{name}"));
        let told = names.quantization();
        let is = |said: &Option<String>, what: &str| {
            said.as_ref().is_some_and(|said| said.eq_ignore_ascii_case(what))
        };
        let gemv = is(&told.format, "gemv");
        match (shape("qweight").as_deref(), shape("scales").as_deref()) {
            (Some(&[rows, columns]), Some(&[scale_rows, scale_columns])) => {
                // Both are the same where a word of weights has a scale of its own.
                match (rows == scale_rows, columns == scale_columns) {
                    (true, true) if gemv => Kind::Gemv,
                    (_, true) => Kind::Gptq,
                    (true, false) => Kind::Gemv,
                    (false, false) => Kind::Gemm,
                }
            }
            _ if !is(&told.method, "awq") => Kind::Gptq,
            _ if gemv => Kind::Gemv,
            _ => Kind::Gemm,
        }
    }

    fn packing(self, bits: u8, zeros: bool) -> Packing {
        let axis = if self == Kind::Gptq && !zeros { Axis::Rows } else { Axis::Columns };
        let awq = self == Kind::Gemm && bits == 4;
        let order = if awq { BitOrder::Awq } else { BitOrder::LowFirst };
        Packing { bits, ..Packing::words(order, axis, Sign::Unsigned) }
    }
}

pub(super) fn view(names: &dyn Neighbours, t: &TensorInfo) -> Option<View> {
    let (base, zeros) = match t.name.strip_suffix("qweight") {
        Some(base) => (base, false),
        None => (t.name.strip_suffix("qzeros")?, true),
    };
    is_words(t).then_some(())?;
    let kind = Kind::of(names, base);
    let packing = kind.packing(bits(names, base, t, kind, zeros), zeros);
    packing.is_valid().then_some(View::Packed(packing))
}

/// What layers with scales tell of those without, which stand in another shard: method and bits, where all of
/// them are alike. `None` where none is without. The index of a file keeps it as it does metadata, so that readers know.
pub(super) fn by_whole_layers(
    names: &dyn Neighbours,
    tensors: &[TensorInfo],
) -> Option<Quantization> {
    let weights = || {
        let words = tensors.iter().filter(|t| is_words(t));
        words.filter_map(|t| Some((t, t.name.strip_suffix("qweight")?)))
    };
    let whole = |base: &str| names.has(&format!("{base}scales"));
    weights().any(|(_, base)| !whole(base)).then_some(())?;
    let told = weights().filter(|(_, base)| whole(base)).map(|(t, base)| {
        let kind = Kind::of(names, base);
        let bits = bits(names, base, t, kind, false);
        kind.packing(bits, false).is_valid().then_some((kind, bits))
    });
    let mut told: Vec<Option<(Kind, u8)>> = told.collect();
    told.dedup();
    let [Some((kind, bits))] = told[..] else { return None };
    let method = if kind == Kind::Gptq { "gptq" } else { "awq" };
    let format = (kind == Kind::Gemv).then(|| "gemv".to_owned());
    let (method, bits) = (Some(method.to_owned()), Some(bits.into()));
    Some(Quantization { method, format, bits, ..Quantization::default() })
}

/// Bits a weight: from the columns that hold as many of them as there are scales, or `qzeros`' columns, or the length
/// of `g_idx`; what the metadata says where the shapes do not tell; 4.
fn bits(names: &dyn Neighbours, base: &str, t: &TensorInfo, kind: Kind, zeros: bool) -> u8 {
    let shape = |name: &str| names.shape(&format!("{base}{name}"));
    let out = shape("scales").as_deref().and_then(columns_of);
    let columns = t.shape.get(1).copied().filter(|_| zeros || kind == Kind::Gemm);
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
        (&[rows, _], &[input]) if kind == Kind::Gptq => of(rows, input),
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
