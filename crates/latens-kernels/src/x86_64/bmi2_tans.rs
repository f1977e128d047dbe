//! Walking and unpacking with BMI2, whose shifts and masks by a register take one step, and look
//! at the low bits of that register only.
//!
//! Processors run two such instructions in a cycle, Zen 3 among them, so that they are saved where
//! possible: the next slot comes by a load of its own and not out of the node, and one load and
//! shift of the stream serve four codes, or as many offsets as fit into it.

use crate::tans::{LANES, Latent, NARROW, Node, Stream, Table};
use std::arch::asm;
use std::arch::x86_64::_bzhi_u64;

/// Keeps the vectoriser of superwords from packing the four states into a vector: it sees four
/// like operations and not that their inputs and outputs are addresses.
#[inline(always)]
fn scalar(mut x: u64) -> u64 {
    // SAFETY: no instruction.
    unsafe {
        asm!("/* {0} */", inout(reg) x, options(pure, nomem, nostack, preserves_flags));
    }
    x
}

/// The bits of the stream from bit `at` on, 57 of them or more.
///
/// # Safety
/// Eight bytes from `at / 8` on belong to the stream.
#[inline(always)]
unsafe fn word(bytes: *const u8, at: u64) -> u64 {
    #[expect(clippy::cast_possible_truncation, reason = "usize has 64 bits on x86-64")]
    let byte = (at >> 3) as usize;
    // SAFETY: the caller's promise.
    let word = unsafe { bytes.add(byte).cast::<u64>().read_unaligned() };
    word >> (at & 7)
}

/// The low bits of `x`, as many as the low byte of `count` says.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the low byte is looked at alone")]
fn low(x: u64, count: u64) -> u64 {
    // SAFETY: callers in this file are compiled with BMI2.
    unsafe { _bzhi_u64(x, count as u32) }
}

struct Walker {
    nodes: *const Node,
    states: [u64; LANES],
    bytes: *const u8,
    at: u64,
}

impl Walker {
    /// The node of a state.
    ///
    /// # Safety
    /// The state is a slot of the table.
    #[inline(always)]
    unsafe fn node(&self, state: u64) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { u64::from((*self.nodes.add(state as usize)).0) }
    }

    /// The upper half of a state's node.
    ///
    /// # Safety
    /// The state is a slot of the table.
    #[inline(always)]
    unsafe fn base(&self, state: u64) -> u64 {
        // SAFETY: the caller's promise; a node has two halves.
        unsafe { u64::from(*self.nodes.cast::<u16>().add(2 * state as usize + 1)) }
    }

    /// A code of each lane.
    ///
    /// # Safety
    /// The states are slots of the table, which is closed; `slots` has room for four; the stream
    /// goes on for eight bytes.
    #[expect(clippy::cast_possible_truncation, reason = "states are below 2^14")]
    #[inline(always)]
    unsafe fn four(&mut self, slots: *mut u16) {
        let [s0, s1, s2, s3] = self.states;
        // SAFETY: the caller's promise; four codes have 56 bits at most.
        unsafe {
            let word = word(self.bytes, self.at);
            let (n0, n1, n2, n3) = (self.node(s0), self.node(s1), self.node(s2), self.node(s3));
            *slots = s0 as u16;
            *slots.add(1) = s1 as u16;
            *slots.add(2) = s2 as u16;
            *slots.add(3) = s3 as u16;
            // Only the low byte of these sums counts here.
            let n01 = n0 + n1;
            let n012 = n01 + n2;
            self.states = [
                scalar(self.base(s0) + low(word, n0)),
                scalar(self.base(s1) + low(word >> (n0 & 63), n1)),
                scalar(self.base(s2) + low(word >> (n01 & 63), n2)),
                scalar(self.base(s3) + low(word >> (n012 & 63), n3)),
            ];
            self.at += (n012 + n3) & 0xff;
        }
    }

    /// One code of lane `lane`, for what is left at the end.
    ///
    /// # Safety
    /// As [`Walker::four`], for one.
    #[expect(clippy::cast_possible_truncation, reason = "states are below 2^14")]
    #[inline(always)]
    unsafe fn one(&mut self, lane: usize, slot: &mut u16) {
        let state = self.states[lane];
        // SAFETY: the caller's promise.
        unsafe {
            let node = self.node(state);
            *slot = state as u16;
            self.states[lane] = self.base(state) + low(word(self.bytes, self.at), node);
            self.at += node & 0xff;
        }
    }
}

/// Returns the bits that were read.
///
/// # Safety
/// The states are slots of the table, which is closed; the stream is as long as the table's
/// window for as many codes as `slots` has room for.
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(crate) unsafe fn walk(
    nodes: &[Node],
    states: &mut [u32; LANES],
    stream: Stream<'_>,
    slots: &mut [u16],
) -> usize {
    let mut walker = Walker {
        nodes: nodes.as_ptr(),
        states: states.map(u64::from),
        bytes: stream.bytes.as_ptr(),
        at: stream.bit as u64,
    };
    let mut groups = slots.chunks_exact_mut(LANES);
    for group in &mut groups {
        // SAFETY: the caller's promise, which every step keeps, as the table is closed.
        unsafe { walker.four(group.as_mut_ptr()) };
    }
    for (lane, slot) in groups.into_remainder().iter_mut().enumerate() {
        // SAFETY: likewise.
        unsafe { walker.one(lane, slot) };
    }
    #[expect(clippy::cast_possible_truncation, reason = "states are below 2^14")]
    let after = walker.states.map(|s| s as u32);
    *states = after;
    walker.at as usize - stream.bit
}

struct Unpacker<L> {
    nodes: *const Node,
    lowers: *const L,
    bytes: *const u8,
    at: u64,
}

impl<L: Latent> Unpacker<L> {
    #[inline(always)]
    fn new(table: &Table<L>, stream: Stream<'_>) -> Self {
        Self {
            nodes: table.nodes.as_ptr(),
            lowers: table.lowers.as_ptr(),
            bytes: stream.bytes.as_ptr(),
            at: stream.bit as u64,
        }
    }

    /// `N` latents out of one load of the stream.
    ///
    /// # Safety
    /// The slots are of the table; there are `N` of them and room for as many latents; `N` of the
    /// table's offsets have 57 bits at most; the stream goes on for eight bytes.
    #[inline(always)]
    unsafe fn some<const N: usize>(&mut self, slots: *const u16, dst: *mut L) {
        // SAFETY: the caller's promise.
        unsafe {
            let mut rest = word(self.bytes, self.at);
            for i in 0..N {
                let slot = usize::from(*slots.add(i));
                let width = u64::from(*self.nodes.add(slot).cast::<u8>().add(1));
                *dst.add(i) = (*self.lowers.add(slot)).plus_low(scalar(low(rest, width)));
                rest >>= width & 63;
                self.at += width;
            }
        }
    }

    /// One latent of up to 64 offset bits.
    ///
    /// # Safety
    /// As [`Unpacker::some`], but the stream goes on for sixteen bytes.
    #[inline(always)]
    unsafe fn wide(&mut self, slot: u16, dst: &mut L) {
        let slot = usize::from(slot);
        // SAFETY: the caller's promise.
        unsafe {
            let width = u64::from(*self.nodes.add(slot).cast::<u8>().add(1));
            // In two shifts, so that one by 64 comes out as zero.
            let above = (word(self.bytes, (self.at & !7) + 64) << 1) << (63 - (self.at & 7));
            *dst = (*self.lowers.add(slot)).plus_low(low(word(self.bytes, self.at) | above, width));
            self.at += width;
        }
    }
}

/// From slots to latents; returns the bits that were read.
///
/// # Safety
/// The slots are of the table; there are as many as latents; the stream is as long as the table's
/// window for so many.
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(crate) unsafe fn unpack<L: Latent>(
    table: &Table<L>,
    slots: &[u16],
    stream: Stream<'_>,
    dst: &mut [L],
) -> usize {
    // SAFETY: the caller's promise in all arms; products with the table's most offset bits are
    // 57 at most.
    unsafe {
        match table.max_offset_bits {
            0 => {
                for (x, &slot) in dst.iter_mut().zip(slots) {
                    *x = *table.lowers.get_unchecked(usize::from(slot));
                }
                0
            }
            1..=14 => unpack_by::<L, 4, 1>(table, slots, stream, dst),
            15..=28 => unpack_by::<L, 2, 2>(table, slots, stream, dst),
            29..=NARROW => unpack_by::<L, 1, 4>(table, slots, stream, dst),
            _ => {
                let mut unpacker = Unpacker::new(table, stream);
                for (x, &slot) in dst.iter_mut().zip(slots) {
                    unpacker.wide(slot, x);
                }
                unpacker.at as usize - stream.bit
            }
        }
    }
}

/// `N` latents out of each load of the stream, `TIMES` of them in one turn.
///
/// # Safety
/// As [`unpack`], and `N` of the table's offsets have 57 bits at most.
#[inline(always)]
unsafe fn unpack_by<L: Latent, const N: usize, const TIMES: usize>(
    table: &Table<L>,
    slots: &[u16],
    stream: Stream<'_>,
    dst: &mut [L],
) -> usize {
    let mut unpacker = Unpacker::new(table, stream);
    let mut groups = dst.chunks_exact_mut(N * TIMES);
    let mut slots = slots.chunks_exact(N * TIMES);
    for (xs, slots) in (&mut groups).zip(&mut slots) {
        for i in 0..TIMES {
            // SAFETY: the caller's promise.
            unsafe { unpacker.some::<N>(slots.as_ptr().add(N * i), xs.as_mut_ptr().add(N * i)) };
        }
    }
    for (x, slot) in groups.into_remainder().iter_mut().zip(slots.remainder()) {
        // SAFETY: likewise.
        unsafe { unpacker.some::<1>(slot, x) };
    }
    unpacker.at as usize - stream.bit
}

/// Fields of one width.
///
/// # Safety
/// The stream is as long as the fields and eight bytes more.
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(crate) unsafe fn unpack_single<L: Latent>(
    lower: L,
    width: u8,
    stream: Stream<'_>,
    dst: &mut [L],
) {
    let bytes = stream.bytes.as_ptr();
    let (mut at, step) = (stream.bit as u64, u64::from(width));
    if width <= NARROW {
        for x in dst {
            // SAFETY: the caller's promise.
            *x = lower.plus_low(low(unsafe { word(bytes, at) }, step));
            at += step;
        }
    } else {
        let shift = |at: u64| 63 - (at & 7);
        for x in dst {
            // SAFETY: the caller's promise, and `SLACK`.
            let (below, above) = unsafe { (word(bytes, at), word(bytes, (at & !7) + 64)) };
            *x = lower.plus_low(low(below | (above << 1) << shift(at), step));
            at += step;
        }
    }
}
