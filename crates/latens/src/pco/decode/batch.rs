//! One batch of one latent variable: its tANS codes, then its offsets.

use crate::bits::low_mask;
use crate::error::{Error, Result};
use crate::number::Latent;
use crate::pco::decode::table::{Node, Table};
use crate::pco::layout::{BATCH_N, LANES};

/// Most bytes that a batch of one variable touches: 14 bits of code and 64 of offset for each of
/// 256 latents, and what the last loads read beyond.
const WINDOW: usize = BATCH_N * (14 + 64) / 8 + 32;
/// So many bytes ahead make sure that a batch of three variables is whole.
pub(crate) const LOOKAHEAD: usize = 3 * WINDOW;

/// The eight bytes from `byte` on, little endian.
#[inline(always)]
fn load(window: &[u8], byte: usize) -> u64 {
    match window.get(byte..byte + 8) {
        Some(bytes) => bytes.try_into().map_or(0, u64::from_le_bytes),
        None => 0,
    }
}

/// Reads `dst.len()` latents (at most [`BATCH_N`]) from bit `bit` of `src` on, without undoing
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
    if table.is_empty {
        return Err(Error::corrupt(*bit as u64 / 8, "latents of a variable that has no bins"));
    }
    let start = *bit / 8;
    let rest = src.get(start..).unwrap_or(&[]);
    let mut in_window = *bit % 8;
    if let Some(window) = rest.get(..WINDOW) {
        read_window(table, slots, window, &mut in_window, dst);
    } else {
        let mut window = [0u8; WINDOW];
        window[..rest.len()].copy_from_slice(rest);
        read_window(table, slots, &window, &mut in_window, dst);
        if in_window > rest.len() * 8 {
            return Err(Error::truncated(src.len() as u64, "the input ends inside of a page"));
        }
    }
    *bit = start * 8 + in_window;
    Ok(())
}

/// [`read`] where all bytes that could be touched are there.
fn read_window<L: Latent>(
    table: &Table<L>,
    slots: &mut [u32; LANES],
    window: &[u8],
    bit: &mut usize,
    dst: &mut [L],
) {
    let mut offset_bits = [0u8; BATCH_N];
    let n = dst.len();
    if table.log == 0 {
        dst.fill(table.lowers[0]);
        offset_bits[..n].fill(table.nodes[0].offset_bits);
    } else {
        walk(table, slots, window, bit, dst, &mut offset_bits[..n]);
    }
    match table.max_offset_bits {
        0 => {}
        // A load at any of 8 bit positions has 57 bits of use.
        1..=57 => add_offsets::<L, false>(window, bit, dst, &offset_bits[..n]),
        _ => add_offsets::<L, true>(window, bit, dst, &offset_bits[..n]),
    }
}

/// Walks the four states: lower bounds to `dst`, offset bits beside them.
#[inline]
fn walk<L: Latent>(
    table: &Table<L>,
    slots: &mut [u32; LANES],
    window: &[u8],
    bit: &mut usize,
    dst: &mut [L],
    offset_bits: &mut [u8],
) {
    let (nodes, lowers) = (&table.nodes[..], &table.lowers[..]);
    let step = |slot: &mut u32, word: &mut u64, bit: &mut usize, x: &mut L, width: &mut u8| {
        let Node { base, bits, offset_bits } = nodes[*slot as usize];
        *x = lowers[*slot as usize];
        *width = offset_bits;
        let bits = u32::from(bits);
        #[expect(clippy::cast_possible_truncation, reason = "at most 14 bits")]
        let low = (*word & low_mask(bits)) as u32;
        *slot = u32::from(base) + low;
        *word >>= bits;
        *bit += bits as usize;
    };
    let [mut s0, mut s1, mut s2, mut s3] = *slots;
    let mut at = *bit;
    let mut lanes = dst.chunks_exact_mut(LANES);
    let mut widths = offset_bits.chunks_exact_mut(LANES);
    for (x, width) in (&mut lanes).zip(&mut widths) {
        // Four codes of 14 bits at most: one load serves them all.
        let mut word = load(window, at / 8) >> (at % 8);
        step(&mut s0, &mut word, &mut at, &mut x[0], &mut width[0]);
        step(&mut s1, &mut word, &mut at, &mut x[1], &mut width[1]);
        step(&mut s2, &mut word, &mut at, &mut x[2], &mut width[2]);
        step(&mut s3, &mut word, &mut at, &mut x[3], &mut width[3]);
    }
    *slots = [s0, s1, s2, s3];
    let mut word = load(window, at / 8) >> (at % 8);
    let rest = lanes.into_remainder().iter_mut().zip(widths.into_remainder());
    for ((x, width), slot) in rest.zip(slots.iter_mut()) {
        step(slot, &mut word, &mut at, x, width);
    }
    *bit = at;
}

/// Adds to each lower bound the offset that follows in the stream.
#[inline]
fn add_offsets<L: Latent, const WIDE: bool>(
    window: &[u8],
    bit: &mut usize,
    dst: &mut [L],
    offset_bits: &[u8],
) {
    let mut at = *bit;
    for (x, &width) in dst.iter_mut().zip(offset_bits) {
        let shift = at % 8;
        let mut word = load(window, at / 8) >> shift;
        if WIDE && shift > 0 {
            word |= load(window, at / 8 + 8) << (64 - shift);
        }
        *x = x.add(L::truncate(word & low_mask(u32::from(width))));
        at += usize::from(width);
    }
    *bit = at;
}
