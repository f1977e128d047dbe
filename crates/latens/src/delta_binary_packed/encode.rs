//! Writing a stream.

use latens_kernels::delta::{DeltaLane, Kernel, deltas, pack, subtract};
use latens_kernels::dispatch::simd;

use super::{Element, Header, Layout};
use crate::bits::{varint, zigzag};
use crate::error::{Error, Result};
use crate::watch::Watch;
use std::convert::Infallible;
use std::io::Write;

/// Bytes that [`encode_to`] collects before it writes.
const PIECE: usize = 1 << 16;
/// Values between two steps that it tells of.
const STEP: usize = 1 << 18;

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
    let keep = |_: &mut Vec<u8>| Ok::<(), Infallible>(());
    let Ok(()) = encode_lanes(T::as_lanes(values), layout, Kernel::new(simd()), out, keep);
}

/// Writes the stream of `values` piece by piece, telling `watch` between them; returns its bytes.
/// See [`encode`].
///
/// # Errors
/// Those of `writer` and of `watch`.
pub fn encode_to<T: Element, W: Write>(
    values: &[T],
    layout: Layout,
    mut writer: W,
    watch: &Watch,
) -> Result<u64> {
    let (mut held, mut written) = (Vec::new(), 0);
    // Values of which nothing was told yet; the first one stands in no block.
    let (mut untold, mut left) = (values.len().min(1), values.len().saturating_sub(1));
    let pass = |held: &mut Vec<u8>| {
        let block = left.min(layout.block_size());
        (untold, left) = (untold + block, left - block);
        if untold >= STEP || left == 0 {
            watch.done(std::mem::take(&mut untold) as u64)?;
        }
        if held.len() >= PIECE {
            writer.write_all(held)?;
            written += held.len() as u64;
            held.clear();
        }
        Ok::<(), Error>(())
    };
    encode_lanes(T::as_lanes(values), layout, Kernel::new(simd()), &mut held, pass)?;
    if values.len() == 1 {
        watch.done(1)?;
    }
    writer.write_all(&held)?;
    Ok(written + held.len() as u64)
}

/// The most bytes that the stream of `n` values takes: every field as wide as the type. `None`
/// where 64 bits do not hold it.
///
/// ```
/// use latens::delta_binary_packed::{Layout, encode, encoded_bound};
/// let layout = Layout::default_for::<u32>();
/// let numbers: Vec<u32> = (0..1000u32).map(|i| i.wrapping_mul(i).wrapping_mul(0x9e37_79b9)).collect();
/// let len = encode(&numbers, layout).len() as u64;
/// assert!(encoded_bound::<u32>(1000, layout).is_some_and(|most| len <= most && most < len + 200));
/// ```
pub fn encoded_bound<T: Element>(n: u64, layout: Layout) -> Option<u64> {
    /// A varint of 64 bits.
    const VARINT: u64 = 10;
    let in_blocks = n.saturating_sub(1);
    let blocks = in_blocks.div_ceil(layout.block_size() as u64);
    let step = layout.values_per_miniblock() as u64;
    let fields = in_blocks.div_ceil(step).checked_mul(step * size_of::<T>() as u64)?;
    let heads = blocks.checked_mul(VARINT + layout.miniblocks() as u64)?;
    fields.checked_add(heads)?.checked_add(4 * VARINT)
}

/// Encodes to `out`, which `pass` may empty after each block.
fn encode_lanes<L: DeltaLane, E>(
    values: &[L],
    layout: Layout,
    kernel: Kernel,
    out: &mut Vec<u8>,
    pass: impl FnMut(&mut Vec<u8>) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let first = values.first().copied().unwrap_or_default();
    let total_count = values.len() as u64;
    Header { layout, total_count, first_value: first.to_signed(), size: 0 }.write(out);
    let rest = values.get(1..).unwrap_or_default();
    encode_blocks(first, rest, layout, kernel, out, pass)
}

/// Encodes the blocks of `values`, behind `previous`, to `out`, which `pass` may empty after each.
pub(super) fn encode_blocks<L: DeltaLane, E>(
    mut previous: L,
    values: &[L],
    layout: Layout,
    kernel: Kernel,
    out: &mut Vec<u8>,
    mut pass: impl FnMut(&mut Vec<u8>) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let mut fields = vec![L::default(); values.len().min(layout.block_size())];
    for block in values.chunks(layout.block_size()) {
        let fields = &mut fields[..block.len()];
        let min_delta = deltas(kernel, previous, block, fields);
        previous = block.last().copied().unwrap_or_default();
        encode_block(fields, min_delta, layout, kernel, out);
        pass(out)?;
    }
    Ok(())
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Worst cases: full widths in every miniblock, and one value in the last block.
    #[test]
    fn pieces_and_bounds() {
        for n in [0u64, 1, 2, 129, 130, 257, 40_000] {
            let numbers: Vec<u64> = (0..n).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
            for layout in [Layout::default_for::<u64>(), Layout::new(128, 1).unwrap()] {
                let whole = encode(&numbers, layout);
                let mut pieces = Vec::new();
                let told = Arc::new(AtomicU64::new(0));
                let own = Arc::clone(&told);
                let watch = Watch::new(move |step| {
                    own.fetch_add(step.done, Ordering::Relaxed);
                    Ok(())
                });
                let written = encode_to(&numbers, layout, &mut pieces, &watch).unwrap();
                assert_eq!(told.load(Ordering::Relaxed), n);
                assert!(whole == pieces && written == whole.len() as u64, "{n}");
                assert!(written <= encoded_bound::<u64>(n, layout).unwrap(), "{n}");
            }
        }
        assert_eq!(encoded_bound::<u64>(u64::MAX, Layout::default_for::<u64>()), None);
        let some = [1u32, u32::MAX, 7, 1 << 30];
        let full: &mut [u8] = &mut [0; 40];
        assert!(encode_to(&some, Layout::default_for::<u32>(), full, &Watch::NONE).is_err());
        let stop = Watch::new(|_| Err(Error::stopped()));
        let ended = encode_to(&some, Layout::default_for::<u32>(), Vec::new(), &stop);
        assert!(ended.unwrap_err().is_stopped());
    }
}
