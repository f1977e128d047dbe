//! Walking with BMI2, whose shifts and masks by a register take one step, and look at the low bits
//! of that register only, so that whole nodes are their counts.
//!
//! A walk waits for itself on two ways: from a node to the next one of its lane, and from the
//! counts of four nodes to the place of the bits that follow. Processors run but two shifts or
//! masks in a cycle, Zen 3 among them. Hence:
//!
//! * The next slot comes by a load of its own and not out of the node.
//! * No load lies on the second way: the stream is loaded from the place before those four codes
//!   whose bits are still to be counted, and shifted once they are.
//! * The loop is written out: it needs fourteen registers, all but stack and frame pointer, and
//!   compilers see four like operations and pack the states into a vector, or spill.

#![expect(
    clippy::cast_possible_truncation,
    reason = "usize has 64 bits on x86-64, states and counts have few"
)]

use crate::tans::slot::Node;
use crate::tans::stream::{LANES, Stream};
use crate::x86_64::bmi2_tans::{low, wide_word, word};
use std::arch::asm;

/// Four codes of so many bits leave as many in eight bytes behind them, wherever the first begins
/// in its byte.
pub(super) const FEW: u8 = 7;

/// Four codes. `left` is moved on, and the flags say whether it has come to 0.
macro_rules! four_codes {
    (few) => {
        $crate::x86_64::bmi2_walk::four_codes!(
            "",
            "add {n0}, {x}
            shrx {word}, [{bytes}], {n0}"
        )
    };
    // Sixteen bytes shifted right by the count. The upper eight are shifted left by one, and by 63
    // less the count, so that none is by 64.
    (many) => {
        $crate::x86_64::bmi2_walk::four_codes!(
            "mov {n1}, [{bytes} + 8]",
            "add {n1}, {n1}
            mov {n2}, {n0}
            not {n2}
            sub {n2}, {x}
            add {n0}, {x}
            shrx {word}, [{bytes}], {n0}
            shlx {n1}, {n1}, {n2}
            or {word}, {n1}"
        )
    };
    // The word of the next group is its `$tail`.
    ($above:literal, $tail:literal) => {
        concat!(
            "mov {n0}, [{nodes} + {s0} * 8]
            mov {n1}, [{nodes} + {s1} * 8]
            mov {n2}, [{nodes} + {s2} * 8]
            mov [{end} + {left}], {n0}
            mov [{end} + {left} + 8], {n1}
            mov [{end} + {left} + 16], {n2}
            bzhi {x}, {word}, {n0}
            movzx {s0:e}, word ptr [{nodes} + {s0} * 8 + 2]
            add {s0}, {x}
            shrx {x}, {word}, {n0}
            # The low byte of these sums counts bits.
            add {n0}, {n1}
            bzhi {x}, {x}, {n1}
            movzx {s1:e}, word ptr [{nodes} + {s1} * 8 + 2]
            add {s1}, {x}
            shrx {x}, {word}, {n0}
            add {n0}, {n2}
            bzhi {x}, {x}, {n2}
            movzx {s2:e}, word ptr [{nodes} + {s2} * 8 + 2]
            add {s2}, {x}
            # From here on `x` is the fourth node.
            mov {x}, [{nodes} + {s3} * 8]
            mov [{end} + {left} + 24], {x}\n",
            $above,
            "\nshrx {word}, {word}, {n0}
            add {n0}, {bit}
            bzhi {word}, {word}, {x}
            movzx {s3:e}, word ptr [{nodes} + {s3} * 8 + 2]
            add {s3}, {word}\n",
            $tail,
            "\n# At most 7 + 56 bits from the byte that the four codes begin in.
            movzx {n0:e}, {n0:l}
            mov {bit}, {n0}
            and {bit:e}, 7
            shr {n0:e}, 3
            add {bytes}, {n0}
            add {left}, 32"
        )
    };
}
pub(super) use four_codes;

/// Groups of four codes, all of a [`Walker`]'s; `$before` each `$group`, and what that needs.
macro_rules! walk_groups {
    ($walker:ident, $end:expr, $n:expr, [$($text:expr,)*], $($operand:tt)*) => {
        asm!(
            // Wherever it happened to lie, it took up to 5 % longer.
            ".p2align 6",
            "2:",
            $($text,)*
            "jne 2b",
            nodes = in(reg) $walker.nodes,
            bytes = inout(reg) $walker.bytes,
            bit = inout(reg) $walker.bit,
            end = in(reg) $end,
            left = inout(reg) -8 * $n as isize => _,
            s0 = inout(reg) $walker.states[0],
            s1 = inout(reg) $walker.states[1],
            s2 = inout(reg) $walker.states[2],
            s3 = inout(reg) $walker.states[3],
            word = inout(reg) wide_word($walker.bytes, $walker.bit) => _,
            n0 = out(reg) _,
            n1 = out(reg) _,
            n2 = out(reg) _,
            x = out(reg) _,
            $($operand)*
            options(nostack),
        )
    };
}
pub(super) use walk_groups;

pub(super) struct Walker {
    pub(super) nodes: *const Node,
    pub(super) states: [u64; LANES],
    /// The byte of the next bit.
    pub(super) bytes: *const u8,
    /// Which one of that byte it is.
    pub(super) bit: u64,
}

impl Walker {
    /// `n` codes, a multiple of four and not 0, of [`FEW`] bits at most if `few`.
    ///
    /// # Safety
    /// The states are slots of the table, which is closed; `first` has room for `n`; the stream
    /// goes on for sixteen bytes from where the last four codes begin; callers are compiled with
    /// BMI2.
    #[inline(always)]
    unsafe fn groups(&mut self, first: *mut Node, n: usize, few: bool) {
        // SAFETY: the caller's promise. Nodes and stream are read where states and the counts of
        // four codes, 56 at most, say; `n` nodes are written.
        unsafe {
            if few {
                walk_groups!(self, first.add(n), n, [four_codes!(few),],);
            } else {
                walk_groups!(self, first.add(n), n, [four_codes!(many),],);
            }
        }
    }

    /// Gives the states back; returns how many bits of the stream there were.
    #[inline(always)]
    pub(super) fn finish(self, states: &mut [u32; LANES], stream: Stream<'_>) -> usize {
        *states = self.states.map(|s| s as u32);
        let bytes = self.bytes.addr() - stream.bytes.as_ptr().addr();
        bytes * 8 + self.bit as usize - stream.bit
    }

    /// One code of lane `lane`, for what is left at the end.
    ///
    /// # Safety
    /// As [`Walker::groups`], for one; the stream goes on for eight bytes.
    #[inline(always)]
    unsafe fn one(&mut self, lane: usize, visited: &mut Node) {
        // SAFETY: the caller's promise.
        unsafe {
            let node = *self.nodes.add(self.states[lane] as usize);
            *visited = node;
            let bits = low(word(self.bytes, self.bit), node.0);
            self.states[lane] = u64::from(node.base()) + bits;
            self.bit += u64::from(node.bits());
        }
    }
}

/// Reads codes of at most `max_bits` bits; returns how many bits there are in all.
///
/// # Safety
/// The states are slots of the table, which is closed; the stream is as long as the table's
/// window for as many codes as `visited` has room for.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn walk(
    nodes: &[Node],
    max_bits: u8,
    states: &mut [u32; LANES],
    stream: Stream<'_>,
    visited: &mut [Node],
) -> usize {
    let mut walker = Walker {
        nodes: nodes.as_ptr(),
        states: states.map(u64::from),
        bytes: stream.bytes.as_ptr(),
        bit: stream.bit as u64,
    };
    let (groups, rest) = visited.as_chunks_mut::<LANES>();
    let groups = groups.as_flattened_mut();
    if !groups.is_empty() {
        // SAFETY: the caller's promise, which every step keeps, as the table is closed; the window
        // goes on for seventeen bytes behind the last code.
        unsafe { walker.groups(groups.as_mut_ptr(), groups.len(), max_bits <= FEW) };
    }
    for (lane, node) in rest.iter_mut().enumerate() {
        // SAFETY: likewise.
        unsafe { walker.one(lane, node) };
    }
    walker.finish(states, stream)
}
