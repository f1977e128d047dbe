//! Walking four states with as few instructions as there can be.
//!
//! Cores that run three to eight instructions in a cycle walk as fast as they get through these. Hence:
//!
//! * All of four codes lie in one load: 56 bits at most, behind up to seven of their byte.
//! * Shifts by a register look at its low six bits only, so that whole nodes are their counts. The codes'
//!   places are sums of whole nodes, whose low byte counts bits, and whose second one those of offsets:
//!   nobody adds them up behind the walk.
//! * It is in assembly, as compilers mask what the shifts do not look at, extend each count for a sum,
//!   which takes two cycles on the one port that can, and see four like operations for a vector.

#![expect(
    clippy::cast_possible_truncation,
    reason = "usize has 64 bits on aarch64, states and counts have few"
)]

use crate::tans::slot::Node;
use crate::tans::stream::{LANES, Stream};
use std::arch::asm;

/// Codes of a step.
pub(super) const STEP: usize = 2 * LANES;

/// Most offset bits of a node for which [`Walker::offset_bits`] holds: four stay below 2^8.
const MOST_SUMMED: u8 = 63;

pub(super) struct Walker {
    nodes: *const Node,
    states: [u64; LANES],
    /// The byte of the next bit.
    bytes: *const u8,
    /// Which one of that byte it is.
    bit: u64,
    /// What four nodes' offsets take, times 256, summed up.
    offset_bits: u64,
}

impl Walker {
    #[inline(always)]
    pub(super) fn new(nodes: &[Node], states: &[u32; LANES], stream: Stream<'_>) -> Self {
        Self {
            nodes: nodes.as_ptr(),
            states: states.map(u64::from),
            bytes: stream.bytes.as_ptr(),
            bit: stream.bit as u64,
            offset_bits: 0,
        }
    }

    /// [`STEP`] codes.
    ///
    /// # Safety
    /// The states are slots of the table, which is closed; `first` has room for the nodes; the stream
    /// goes on for eight bytes from where either four codes begin.
    #[inline(always)]
    pub(super) unsafe fn step(&mut self, first: *mut Node) {
        // SAFETY: the caller's promise.
        unsafe {
            self.four::<0>(first);
            self.four::<{ LANES * size_of::<Node>() }>(first);
        }
    }

    /// Four codes, whose nodes go to so many bytes behind `first`.
    ///
    /// # Safety
    /// As [`Walker::step`], for these.
    #[inline(always)]
    unsafe fn four<const AT: usize>(&mut self, first: *mut Node) {
        let [s0, s1, s2, s3] = &mut self.states;
        let mut place = self.bit;
        // SAFETY: the caller's promise: nodes are read where states say, eight bytes of the stream, and four
        // nodes are written. Flags stay.
        unsafe {
            asm!(
                "ldr {word}, [{bytes}]",
                "ldr {n0}, [{nodes}, {s0}, lsl #3]",
                "ldr {n1}, [{nodes}, {s1}, lsl #3]",
                "ldr {n2}, [{nodes}, {s2}, lsl #3]",
                "ldr {n3}, [{nodes}, {s3}, lsl #3]",
                "stp {n0}, {n1}, [{first}, #{at}]",
                "stp {n2}, {n3}, [{first}, #{at} + 16]",
                "lsr {t0}, {word}, {place}",
                "add {place}, {place}, {n0}",
                "lsl {s0}, {ones}, {n0}",
                "lsr {t1}, {word}, {place}",
                "add {place}, {place}, {n1}",
                "lsl {s1}, {ones}, {n1}",
                "bic {s0}, {t0}, {s0}",
                "lsr {t0}, {word}, {place}",
                "add {place}, {place}, {n2}",
                "lsl {s2}, {ones}, {n2}",
                "bic {s1}, {t1}, {s1}",
                "add {s0:w}, {s0:w}, {n0:w}, lsr #16",
                "lsr {word}, {word}, {place}",
                "add {place}, {place}, {n3}",
                "lsl {s3}, {ones}, {n3}",
                "bic {s2}, {t0}, {s2}",
                "add {s1:w}, {s1:w}, {n1:w}, lsr #16",
                "bic {s3}, {word}, {s3}",
                "add {s2:w}, {s2:w}, {n2:w}, lsr #16",
                "add {s3:w}, {s3:w}, {n3:w}, lsr #16",
                nodes = in(reg) self.nodes,
                bytes = in(reg) self.bytes,
                first = in(reg) first,
                at = const AT,
                ones = in(reg) u64::MAX,
                place = inout(reg) place,
                s0 = inout(reg) *s0,
                s1 = inout(reg) *s1,
                s2 = inout(reg) *s2,
                s3 = inout(reg) *s3,
                word = out(reg) _,
                n0 = out(reg) _,
                n1 = out(reg) _,
                n2 = out(reg) _,
                n3 = out(reg) _,
                t0 = out(reg) _,
                t1 = out(reg) _,
                options(nostack, preserves_flags),
            );
            // At most 7 + 56 bits from the byte that the four codes begin in.
            self.bytes = self.bytes.add((place >> 3 & 7) as usize);
        }
        self.bit = place & 7;
        self.offset_bits += place & 0xff00;
    }

    /// One code of lane `lane`, for what is left at the end.
    ///
    /// # Safety
    /// As [`Walker::step`], for one.
    #[inline(always)]
    unsafe fn one(&mut self, lane: usize, visited: &mut Node) {
        // SAFETY: the caller's promise.
        unsafe {
            let node = *self.nodes.add(self.states[lane] as usize);
            *visited = node;
            let at = self.bytes.add((self.bit / 8) as usize);
            let word = at.cast::<u64>().read_unaligned() >> (self.bit % 8);
            self.states[lane] = u64::from(node.base()) + (word & ((1 << node.bits()) - 1));
            self.bit += u64::from(node.bits());
            self.offset_bits += u64::from(node.offset_bits()) << 8;
        }
    }

    /// Bits that the offsets of all visited nodes take, none of which has more than `most`.
    #[inline(always)]
    pub(super) fn offset_bits(&self, most: u8) -> Option<u32> {
        (most <= MOST_SUMMED).then_some((self.offset_bits >> 8) as u32)
    }

    /// Gives the states back; returns how many bits of the stream there were.
    #[inline(always)]
    pub(super) fn finish(self, states: &mut [u32; LANES], stream: Stream<'_>) -> usize {
        *states = self.states.map(|s| s as u32);
        let bytes = self.bytes.addr() - stream.bytes.as_ptr().addr();
        bytes * 8 + self.bit as usize - stream.bit
    }
}

/// Reads the codes of nodes with up to `most` offset bits; returns how many bits there are in all, and what the
/// offsets take where that is known.
///
/// # Safety
/// The states are slots of the table, which is closed; the stream is as long as the table's
/// window for as many codes as `visited` has room for.
#[inline(never)]
pub(crate) unsafe fn walk(
    nodes: &[Node],
    most: u8,
    states: &mut [u32; LANES],
    stream: Stream<'_>,
    visited: &mut [Node],
) -> (usize, Option<u32>) {
    let mut walker = Walker::new(nodes, states, stream);
    let (steps, rest) = visited.as_chunks_mut::<STEP>();
    for step in steps {
        // SAFETY: the caller's promise, which every step keeps, as the table is closed; the window goes on for
        // seventeen bytes behind the last code.
        unsafe { walker.step(step.as_mut_ptr()) };
    }
    for (i, node) in rest.iter_mut().enumerate() {
        // SAFETY: likewise.
        unsafe { walker.one(i % LANES, node) };
    }
    let offset_bits = walker.offset_bits(most);
    (walker.finish(states, stream), offset_bits)
}
