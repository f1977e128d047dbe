//! One batch of one latent variable: its tANS codes, then its offsets.

use crate::error::{Error, Result};
use crate::number::Latent;
use crate::pco::decode::table::Table;
use crate::pco::layout::LANES;
use latens_kernels::dispatch::Present;
use latens_kernels::tans::{self, Codes, Stream, Unpack, WINDOW, Walk};

/// So many bytes ahead make sure that a batch of three variables is whole, and read in place.
pub(crate) const LOOKAHEAD: usize = 6 * WINDOW;

/// Reads `dst.len()` latents (at most a batch) from bit `bit` of `src` on, without undoing
/// deltas. `src` may end anywhere: an input that is too short is an error.
pub(crate) fn read<L: Latent>(
    table: &Table<L>,
    slots: &mut [u32; LANES],
    src: &[u8],
    bit: &mut usize,
    codes: &mut Codes,
    dst: &mut [L],
) -> Result<()> {
    let n = dst.len();
    if n == 0 {
        return Ok(());
    }
    let Some(table) = table.kernel() else { return Err(no_bins(*bit)) };
    let present = Present::in_use();
    let mut at = *bit;
    if let Some((lower, width)) = table.single() {
        with_stream(src, at, table.offsets_window(n), |stream| {
            tans::unpack_single(present, lower, width, stream, dst);
        });
        at += n * usize::from(width);
    } else {
        at += with_stream(src, at, table.codes_window(n), |stream| {
            tans::walk(present, Walk { table, states: slots, stream, n, codes })
        });
        at += with_stream(src, at, table.offsets_window(n), |stream| {
            tans::unpack(present, Unpack { table, codes, stream, dst })
        });
    }
    move_to(at, src, bit)
}

/// Moves past `n` latents (at most a batch) from bit `bit` of `src` on: [`read`] without them.
pub(crate) fn skip<L: Latent>(
    table: &Table<L>,
    slots: &mut [u32; LANES],
    src: &[u8],
    bit: &mut usize,
    codes: &mut Codes,
    n: usize,
) -> Result<()> {
    if n == 0 {
        return Ok(());
    }
    let Some(table) = table.kernel() else { return Err(no_bins(*bit)) };
    let present = Present::in_use();
    let mut at = *bit;
    if let Some((_, width)) = table.single() {
        at += n * usize::from(width);
    } else {
        at += with_stream(src, at, table.codes_window(n), |stream| {
            tans::walk(present, Walk { table, states: slots, stream, n, codes })
        });
        at += codes.offset_bits(present);
    }
    move_to(at, src, bit)
}

#[cold]
fn no_bins(bit: usize) -> Error {
    Error::corrupt(bit as u64 / 8, "latents of a variable that has no bins")
}

/// Moves on to bit `at`, which may be the end of `src` but not behind it.
#[inline]
fn move_to(at: usize, src: &[u8], bit: &mut usize) -> Result<()> {
    if at > src.len() * 8 {
        return Err(Error::truncated(src.len() as u64, "the input ends inside of a page"));
    }
    *bit = at;
    Ok(())
}

/// Hands over `src` from bit `at` on, `window` bytes or more: at the end of the input zeros
/// follow, and whoever has read them is too far.
#[inline]
fn with_stream<R>(src: &[u8], at: usize, window: usize, read: impl FnOnce(Stream<'_>) -> R) -> R {
    let (rest, bit) = (src.get(at / 8..).unwrap_or_default(), at % 8);
    if rest.len() >= window {
        return read(Stream { bytes: rest, bit });
    }
    let mut padded = [0; WINDOW];
    padded[..rest.len()].copy_from_slice(rest);
    read(Stream { bytes: &padded, bit })
}
