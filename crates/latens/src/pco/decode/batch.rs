//! One batch of one latent variable: its tANS codes, then its offsets.

use crate::error::{Error, Result};
use crate::number::Latent;
use crate::pco::decode::table::Table;
use crate::pco::layout::{BATCH_N, LANES};
use latens_kernels::dispatch::Present;
use latens_kernels::tans::{self as kernel, Codes, Finish, Stream, Unpack, WINDOW, Walk, Ways};

/// So many bytes ahead make sure that a batch of three variables is whole, and read in place.
pub(crate) const LOOKAHEAD: usize = 6 * WINDOW;

/// Reads `n` codes (at most a batch) from bit `bit` of `src` on, if the table has such. `src` may
/// end anywhere: an input that is too short is an error.
pub(crate) fn walk<L: Latent>(
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
    if table.single().is_some() {
        return Ok(());
    }
    let present = Present::in_use();
    let bits = with_stream(src, *bit, table.codes_window(n), |stream| {
        kernel::walk(present, Walk { ways: table.ways(), states: slots, stream, n, codes })
    });
    move_to(*bit + bits, src, bit)
}

/// Moves past the offsets of `n` codes that [`walk`] has read.
pub(crate) fn skip<L: Latent>(
    table: &Table<L>,
    src: &[u8],
    bit: &mut usize,
    codes: &Codes,
    n: usize,
) -> Result<()> {
    if n == 0 {
        return Ok(());
    }
    let Some(table) = table.kernel() else { return Err(no_bins(*bit)) };
    let bits = match table.single() {
        Some((_, width)) => n * usize::from(width),
        None => codes.offset_bits(Present::in_use()),
    };
    move_to(*bit + bits, src, bit)
}

/// A batch of codes that follows offsets.
pub(crate) struct Next<'a, L> {
    /// None where there are no codes to be read.
    pub(crate) ways: Option<Ways<'a>>,
    pub(crate) slots: &'a mut [u32; LANES],
    /// How many are stored.
    pub(crate) n: usize,
    /// What becomes of the latents that are unpacked beside.
    pub(crate) finish: Finish<'a, L>,
}

/// Codes fewer than a batch that a walk may go too far: as many as Consecutive does not store at
/// the end of a page.
const TOO_FAR: usize = 8;

/// How many batches of `stored` latents have a whole batch of codes behind them that can be read beside.
pub(crate) fn followed(stored: usize) -> usize {
    if stored < BATCH_N { 0 } else { (stored + TOO_FAR - 1) / BATCH_N - 1 }
}

/// Reads the offsets of as many codes as `dst` has room for, which [`walk`] has read. Deltas are not
/// undone. Where it costs less than later, finishes the latents and reads the next codes too, and
/// returns how many bits these take; `bit` is before them.
pub(crate) fn unpack<L: Latent>(
    table: &Table<L>,
    src: &[u8],
    bit: &mut usize,
    codes: &Codes,
    dst: &mut [L],
    next: Option<(Next<'_, L>, &mut Codes)>,
) -> Result<Option<usize>> {
    let n = dst.len();
    if n == 0 {
        return Ok(None);
    }
    let Some(table) = table.kernel() else { return Err(no_bins(*bit)) };
    let present = Present::in_use();
    let at = *bit;
    if let Some((lower, width)) = table.single() {
        with_stream(src, at, table.offsets_window(n), |stream| {
            kernel::unpack_single(present, lower, width, stream, dst);
        });
        move_to(at + n * usize::from(width), src, bit)?;
        return Ok(None);
    }
    if let Some(next) = next
        && let Some(bits) = unpack_beside(table, src, bit, usize::MAX, codes, dst, next)
    {
        return Ok(Some(bits));
    }
    let bits = with_stream(src, at, table.offsets_window(n), |stream| {
        kernel::unpack(present, Unpack { table, codes, stream, dst })
    });
    move_to(at + bits, src, bit)?;
    Ok(None)
}

/// Reads a whole batch of codes where [`unpack_beside`] or a row may follow; how many bits these take. `None` where
/// it does not, or the bytes might be too few: then nothing has changed.
#[inline]
pub(crate) fn walk_whole<L: Latent>(
    table: &kernel::Table<L>,
    ways: Option<Ways<'_>>,
    slots: &mut [u32; LANES],
    src: &[u8],
    bit: usize,
    codes: &mut Codes,
) -> Option<usize> {
    let (present, ways) = (Present::in_use(), ways?);
    if !table.is_fast_at_once(present) && !table.is_fast_in_row(present) {
        return None;
    }
    let stream = whole_stream(src, bit, ways.codes_window(BATCH_N))?;
    Some(kernel::walk(present, Walk { ways, states: slots, stream, n: BATCH_N, codes }))
}

/// [`unpack`] beside the walk over the next codes, and how many bits these take; `None` where that is not
/// faster or something may be wrong, such as offsets that go on behind bit `end`: then nothing has
/// changed.
#[inline]
pub(crate) fn unpack_beside<L: Latent>(
    table: &kernel::Table<L>,
    src: &[u8],
    bit: &mut usize,
    end: usize,
    codes: &Codes,
    dst: &mut [L],
    (next, next_codes): (Next<'_, L>, &mut Codes),
) -> Option<usize> {
    let present = Present::in_use();
    let Next { ways, slots, n: next_n, finish } = next;
    if next_n <= BATCH_N - TOO_FAR || !table.is_fast_at_once(present) {
        return None;
    }
    let ways = ways?;
    let stream = whole_stream(src, *bit, table.offsets_window(dst.len()))?;
    let behind = *bit + codes.offset_bits(present);
    let next_stream = whole_stream(src, behind, ways.codes_window(BATCH_N))?;
    if behind > end {
        return None;
    }
    let now = Unpack { table, codes, stream, dst };
    let walk = Walk { ways, states: slots, stream: next_stream, n: BATCH_N, codes: next_codes };
    let bits = kernel::walk_and_unpack(present, walk, now, finish);
    *bit = behind;
    // Slots are of no use behind the end of a page.
    Some(bits - next_codes.cut_to(next_n))
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

/// `src` from bit `at` on, if that is `window` bytes or more.
#[inline]
fn whole_stream(src: &[u8], at: usize, window: usize) -> Option<Stream<'_>> {
    let bytes = src.get(at / 8..)?;
    (bytes.len() >= window).then_some(Stream { bytes, bit: at % 8 })
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
