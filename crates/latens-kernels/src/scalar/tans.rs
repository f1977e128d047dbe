//! Walking and unpacking in portable code.

use crate::latent::Latent;
use crate::tans::offsets::{NARROW, Offsets};
use crate::tans::slot::{Lowers, Node};
use crate::tans::stream::{LANES, Stream};

/// The eight bytes from `byte` on, little endian; zeros where there are none.
#[inline(always)]
fn load(bytes: &[u8], byte: usize) -> u64 {
    bytes.get(byte..byte + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
}

/// `width` bits from bit `at` on; at most 57 unless `WIDE`.
#[inline(always)]
fn field<const WIDE: bool>(bytes: &[u8], at: usize, width: u32) -> u64 {
    let shift = at % 8;
    let mut word = load(bytes, at / 8) >> shift;
    if WIDE {
        // In two shifts, so that a shift by 64 comes out as zero.
        word |= (load(bytes, at / 8 + 8) << 1) << (63 - shift);
        if width >= 64 {
            return word;
        }
    }
    word & ((1 << (width & 63)) - 1)
}

/// The lower bound that a node stands for.
#[inline(always)]
fn lower<L: Latent>(lowers: &Lowers<L>, node: Node) -> L {
    match lowers {
        Lowers::Near(least) => least.plus_low(node.payload().into()),
        Lowers::Far(lowers) => lowers[node.payload() as usize],
    }
}

/// Returns the bits that were read.
pub(crate) fn walk(
    nodes: &[Node],
    states: &mut [u32; LANES],
    stream: Stream<'_>,
    visited: &mut [Node],
) -> usize {
    let mut at = stream.bit;
    let [mut s0, mut s1, mut s2, mut s3] = *states;
    let step = |state: &mut u32, word: &mut u64, here: &mut Node| {
        let node = nodes[*state as usize];
        *here = node;
        #[expect(clippy::cast_possible_truncation, reason = "at most 14 bits")]
        let low = (*word & ((1 << node.bits()) - 1)) as u32;
        *state = node.base() + low;
        *word >>= node.bits();
        node.bits() as usize
    };
    let mut groups = visited.chunks_exact_mut(LANES);
    for group in &mut groups {
        let mut word = load(stream.bytes, at / 8) >> (at % 8);
        let [p0, p1, p2, p3] = group else { break };
        at += step(&mut s0, &mut word, p0);
        at += step(&mut s1, &mut word, p1);
        at += step(&mut s2, &mut word, p2);
        at += step(&mut s3, &mut word, p3);
    }
    *states = [s0, s1, s2, s3];
    let mut word = load(stream.bytes, at / 8) >> (at % 8);
    for (here, state) in groups.into_remainder().iter_mut().zip(states) {
        at += step(state, &mut word, here);
    }
    at - stream.bit
}

/// From nodes to latents; returns the bits that were read.
pub(crate) fn unpack<L: Latent>(
    lowers: &Lowers<L>,
    offsets: Offsets,
    visited: &[Node],
    stream: Stream<'_>,
    dst: &mut [L],
) -> usize {
    match offsets {
        Offsets::None => {
            for (x, &node) in dst.iter_mut().zip(visited) {
                *x = lower(lowers, node);
            }
            0
        }
        Offsets::Wide => add_offsets::<L, true>(lowers, visited, stream, dst),
        _ => add_offsets::<L, false>(lowers, visited, stream, dst),
    }
}

#[inline(always)]
fn add_offsets<L: Latent, const WIDE: bool>(
    lowers: &Lowers<L>,
    visited: &[Node],
    stream: Stream<'_>,
    dst: &mut [L],
) -> usize {
    let mut at = stream.bit;
    for (x, &node) in dst.iter_mut().zip(visited) {
        let offset = field::<WIDE>(stream.bytes, at, node.offset_bits());
        *x = lower(lowers, node).plus_low(offset);
        at += node.offset_bits() as usize;
    }
    at - stream.bit
}

/// The same where all slots are one.
pub(crate) fn unpack_single<L: Latent>(lower: L, width: u8, stream: Stream<'_>, dst: &mut [L]) {
    // Two loops: one with a choice calls what it has chosen by its address.
    if width <= NARROW {
        add_fields::<L, false>(lower, width, stream, dst);
    } else {
        add_fields::<L, true>(lower, width, stream, dst);
    }
}

#[inline(always)]
fn add_fields<L: Latent, const WIDE: bool>(lower: L, width: u8, stream: Stream<'_>, dst: &mut [L]) {
    let mut at = stream.bit;
    for x in dst {
        *x = lower.plus_low(field::<WIDE>(stream.bytes, at, width.into()));
        at += usize::from(width);
    }
}
