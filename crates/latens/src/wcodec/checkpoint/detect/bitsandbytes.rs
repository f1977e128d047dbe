//! bitsandbytes.
//!
//! 4 bits: `X` is U8 `[n/2, 1]`, flattened, the first weight in the upper nibble; beside it
//! `X.absmax` (one for 64 weights), `X.quant_map` and `X.quant_state.bitsandbytes__nf4` (or `__fp4`), which is
//! JSON as a U8 tensor and tells the shape. INT8: `X.weight` I8 and `X.SCB`; nothing is packed.

use super::super::members::{Json, Numbers};
use super::{BitOrder, Dtype, Neighbours, Packing, Sign, TensorInfo, View};

/// Longest description of a quantised tensor.
const LONGEST_STATE: usize = 1 << 16;

pub(super) fn view(names: &dyn Neighbours, t: &TensorInfo) -> Option<View> {
    if t.dtype != Dtype::U8 {
        return None;
    }
    let state = ["nf4", "fp4"].iter().find_map(|kind| {
        let state = format!("{}.quant_state.bitsandbytes__{kind}", t.name);
        names.has(&state).then_some(state)
    });
    if state.is_none() && (!names.has(&format!("{}.absmax", t.name)) || !is_flat(t)) {
        return None;
    }
    let packing = Packing::nibbles(BitOrder::HighFirst, Sign::Unsigned);
    let cols = state.and_then(|state| columns(&names.bytes(&state, LONGEST_STATE)?)).unwrap_or(0);
    let shaped = View::Packed(Packing { cols, ..packing });
    let fits = shaped.layout(t.dtype, &t.shape, t.len).is_some();
    Some(if fits { shaped } else { View::Packed(packing) })
}

fn is_flat(t: &TensorInfo) -> bool {
    matches!(*t.shape.as_slice(), [_, 1] | [1, _] | [_])
}

/// The last dimension of the `shape` in the description.
fn columns(state: &[u8]) -> Option<u32> {
    let mut last = None;
    let read = Json::new(state).members(|key, value| {
        if key == "shape" {
            last = value.parse::<Numbers<64>>()?.0.last().copied();
        }
        Ok(())
    });
    read.ok()?;
    u32::try_from(last?).ok()
}
