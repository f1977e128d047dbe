//! One batch of one latent variable: its tANS codes, then its offsets.

use crate::error::{Error, Result};
use crate::number::Latent;
use crate::pco::decode::table::Table;
use crate::pco::layout::LANES;
use latens_kernels::dispatch::simd;
use latens_kernels::tans::{Stream, WINDOW, read_batch};

/// So many bytes ahead make sure that a batch of three variables is whole.
pub(crate) const LOOKAHEAD: usize = 3 * WINDOW;

/// Reads `dst.len()` latents (at most a batch) from bit `bit` of `src` on, without undoing
/// deltas. `src` may end anywhere: an input that is too short is an error.
pub(crate) fn read<L: Latent>(
    table: &Table<L>,
    slots: &mut [u32; LANES],
    src: &[u8],
    bit: &mut usize,
    dst: &mut [L],
) -> Result<()> {
    if dst.is_empty() {
        return Ok(());
    }
    if table.is_empty() {
        return Err(Error::corrupt(*bit as u64 / 8, "latents of a variable that has no bins"));
    }
    let start = *bit / 8;
    let rest = src.get(start..).unwrap_or(&[]);
    let mut read = |window: &[u8; WINDOW]| {
        let mut stream = Stream { window, bit: *bit % 8 };
        read_batch(simd(), table.view(), slots, &mut stream, dst);
        stream.bit
    };
    let used = if let Some(window) = rest.first_chunk() {
        read(window)
    } else {
        // The end of the input: zeros follow, and whoever has read them is too far.
        let mut window = [0u8; WINDOW];
        window[..rest.len()].copy_from_slice(rest);
        read(&window)
    };
    if used > rest.len() * 8 {
        return Err(Error::truncated(src.len() as u64, "the input ends inside of a page"));
    }
    *bit = start * 8 + used;
    Ok(())
}
