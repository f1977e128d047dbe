//! bitsandbytes.
//!
//! 4 bits: `X` is U8 `[n/2, 1]`, flattened, the first weight in the upper nibble; beside it
//! `X.absmax` (one for 64 weights), `X.quant_map` and `X.quant_state.bitsandbytes__nf4` (or `__fp4`), which is
//! JSON as a U8 tensor and tells the shape. The same bytes may be elements of another type (`quant_storage`: BF16,
//! F16, F32), of the same two dimensions: then only that tells. INT8: `X.weight` I8 and `X.SCB`; nothing is packed.

use super::super::members::{Json, Numbers};
use super::{BitOrder, Dtype, Neighbours, Packing, Sign, TensorInfo, View};
use crate::wcodec::dtype::elements;

/// Longest description of a quantised tensor.
const LONGEST_STATE: usize = 1 << 16;

pub(super) fn view(names: &dyn Neighbours, t: &TensorInfo) -> Option<View> {
    let width = t.dtype.width()?;
    let is_bytes = t.dtype == Dtype::U8;
    let may_hold_bytes = matches!(t.dtype, Dtype::BF16 | Dtype::F16 | Dtype::F32 | Dtype::F64);
    // Others need no more than their type to be told, which is all that a damaged index may be good for.
    if !(is_bytes || may_hold_bytes && t.shape.len() == 2 && is_flat(t)) {
        return None;
    }
    let state = ["nf4", "fp4"].iter().find_map(|kind| {
        let state = format!("{}.quant_state.bitsandbytes__{kind}", t.name);
        names.has(&state).then_some(state)
    });
    if state.is_none() && !(is_bytes && names.has(&format!("{}.absmax", t.name)) && is_flat(t)) {
        return None;
    }
    let shape = state.and_then(|state| shape(&names.bytes(&state, LONGEST_STATE)?));
    if !is_bytes {
        let weights = shape.as_deref().and_then(elements)?;
        let bytes = weights.div_ceil(2).checked_next_multiple_of(width.into())?;
        (bytes == t.len).then_some(())?;
    }
    let packing = Packing::nibbles(BitOrder::HighFirst, Sign::Unsigned);
    let cols = shape.and_then(|shape| u32::try_from(*shape.last()?).ok()).unwrap_or(0);
    let shaped = View::Packed(Packing { cols, ..packing });
    let fits = shaped.layout(t.dtype, &t.shape, t.len).is_some();
    Some(if fits { shaped } else { View::Packed(packing) })
}

fn is_flat(t: &TensorInfo) -> bool {
    matches!(*t.shape.as_slice(), [_, 1] | [1, _] | [_])
}

/// The `shape` in the description.
fn shape(state: &[u8]) -> Option<Vec<u64>> {
    let mut shape = None;
    let read = Json::new(state).members(|key, value| {
        if key == "shape" {
            shape = Some(value.parse::<Numbers<64>>()?.0);
        }
        Ok(())
    });
    read.ok()?;
    shape
}
