//! Writing a stream.

use latens_kernels::delta::{DeltaLane, Kernel, deltas, pack, subtract};
use latens_kernels::dispatch::simd;

use super::{Element, Header, Layout};
use crate::bits::{varint, zigzag};

/// The stream of `values` in blocks of `layout`. With [`Layout::default_for`] the bytes are those
/// of the `parquet` crate's encoder.
///
/// No field is wider than the type: 33-bit differences of 32-bit numbers wrap around, as the
/// format asks of writers since 2024.
///
/// ```
/// use latens::delta_binary_packed::{Layout, encode};
/// let bytes = encode(&[1i32, 2, 3, 4, 5], Layout::default_for::<i32>());
/// //                block   mini  count first  min delta  widths
/// assert_eq!(bytes, [0x80, 1, 4,    5,    2,     2,         0, 0, 0, 0]);
/// ```
#[must_use]
pub fn encode<T: Element>(values: &[T], layout: Layout) -> Vec<u8> {
    let mut out = Vec::new();
    encode_into(values, layout, &mut out);
    out
}

/// Appends the stream of `values` to `out`; see [`encode`].
pub fn encode_into<T: Element>(values: &[T], layout: Layout, out: &mut Vec<u8>) {
    encode_lanes(T::as_lanes(values), layout, Kernel::new(simd()), out);
}

fn encode_lanes<L: DeltaLane>(values: &[L], layout: Layout, kernel: Kernel, out: &mut Vec<u8>) {
    let first = values.first().copied().unwrap_or_default();
    let total_count = values.len() as u64;
    Header { layout, total_count, first_value: first.to_signed(), size: 0 }.write(out);
    let rest = values.get(1..).unwrap_or_default();
    let mut fields = vec![L::default(); rest.len().min(layout.block_size())];
    let mut previous = first;
    for block in rest.chunks(layout.block_size()) {
        let fields = &mut fields[..block.len()];
        let min_delta = deltas(kernel, previous, block, fields);
        previous = block.last().copied().unwrap_or_default();
        encode_block(fields, min_delta, layout, kernel, out);
    }
}

fn encode_block<L: DeltaLane>(
    deltas: &mut [L],
    min_delta: L,
    layout: Layout,
    kernel: Kernel,
    out: &mut Vec<u8>,
) {
    varint::write(zigzag::encode(min_delta.to_signed()), out);
    let widths = out.len();
    out.resize(widths + layout.miniblocks(), 0);
    let step = layout.values_per_miniblock();
    for (i, miniblock) in deltas.chunks_mut(step).enumerate() {
        let width = subtract(kernel, min_delta, miniblock);
        out[widths + i] = width;
        let body = out.len();
        pack(miniblock, width, out);
        out.resize(body + step / 8 * usize::from(width), 0);
    }
}
