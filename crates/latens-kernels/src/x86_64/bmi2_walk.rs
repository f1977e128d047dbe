//! Walking with BMI2, whose shifts and masks by a register take one step, and look at the low bits
//! of that register only, so that whole nodes are their counts.
//!
//! A walk waits for itself on two ways: from a node to the next one of its lane, and from the
//! counts of four nodes to the place of the bits that follow. Processors run but two shifts or
//! masks in a cycle, Zen 3 among them. Hence:
//!
//! * The next slot's base is added from memory and not taken out of the node.
//! * No load lies on the second way: the stream is loaded from the place before those four codes
//!   whose bits are still to be counted, and shifted once they are.
//! * Counts are summed up in the register of the place, and states go round two sets of registers:
//!   eight codes a loop. What counts most is how few instructions there are.
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
/// Four codes of so many bits end within seven bytes.
pub(super) const SOME: u8 = 12;

/// Four codes, whose nodes go to `[end + left + $at]`: from the states in the registers `$s` to those in
/// `$n`, which are free before; the others are then.
///
/// `word` has the bits of these codes, and `bit` the place of the first of them in the byte of `bytes`. With `$summed`
/// `bit` has four nodes and that place: the second byte says how many bits their offsets have, below 256.
#[rustfmt::skip]
macro_rules! four_codes {
    ($few:ident, $at:literal, to n $(, $summed:expr)?) => {
        four_codes!(
            @ [$($summed)?] $few, $at, "s0", "s1", "s2", "s3", "n0", "n1", "n2", "n3")
    };
    ($few:ident, $at:literal, to s $(, $summed:expr)?) => {
        four_codes!(
            @ [$($summed)?] $few, $at, "n0", "n1", "n2", "n3", "s0", "s1", "s2", "s3")
    };
    (@ [$($summed:expr)?] $few:ident, $at:literal, $s0:literal, $s1:literal, $s2:literal, $s3:literal,
     $n0:literal, $n1:literal, $n2:literal, $n3:literal) => {
        concat!(
            "mov {", $n0, "}, [{nodes} + {", $s0, "} * 8]
            mov {", $n1, "}, [{nodes} + {", $s1, "} * 8]
            mov {", $n2, "}, [{nodes} + {", $s2, "} * 8]
            mov [{end} + {left} + ", $at, "], {", $n0, "}
            mov [{end} + {left} + ", $at, " + 8], {", $n1, "}
            mov [{end} + {left} + ", $at, " + 16], {", $n2, "}
            # The low byte of these sums counts bits.
            add {bit}, {", $n0, "}
            shrx {", $n3, "}, {word}, {", $n0, "}
            bzhi {", $n0, "}, {word}, {", $n0, "}
            add {", $n0, ":x}, [{nodes} + {", $s0, "} * 8 + 2]
            add {bit}, {", $n1, "}
            shrx {word}, {", $n3, "}, {", $n1, "}
            bzhi {", $n1, "}, {", $n3, "}, {", $n1, "}
            add {", $n1, ":x}, [{nodes} + {", $s1, "} * 8 + 2]
            mov {", $n3, "}, [{nodes} + {", $s3, "} * 8]
            mov [{end} + {left} + ", $at, " + 24], {", $n3, "}
            add {bit}, {", $n2, "}
            shrx {", $s0, "}, {word}, {", $n2, "}
            bzhi {", $n2, "}, {word}, {", $n2, "}
            add {", $n2, ":x}, [{nodes} + {", $s2, "} * 8 + 2]
            add {bit}, {", $n3, "}
            bzhi {", $n3, "}, {", $s0, "}, {", $n3, "}
            add {", $n3, ":x}, [{nodes} + {", $s3, "} * 8 + 2]
            shrx {word}, [{bytes}], {bit}
            ",
            $($summed,)?
            four_codes!(@ $few, $s0, $s1),
            "# At most 7 + 56 bits from the byte that the four codes begin in.
            movzx {bit:e}, {bit:l}
            mov {", $s0, ":e}, {bit:e}
            shr {", $s0, ":e}, 3
            and {bit:e}, 7
            add {bytes}, {", $s0, "}
            "
        )
    };
    // The word has as many bits as four codes behind these need.
    (@ few, $t:literal, $u:literal) => {
        ""
    };
    // The byte behind it, and what follows, where the place is below 56.
    (@ some, $t:literal, $u:literal) => {
        concat!(
            "mov {", $t, ":e}, 56
            sub {", $t, ":e}, {bit:e}
            shlx {", $t, "}, [{bytes} + 7], {", $t, "}
            or {word}, {", $t, "}
            "
        )
    };
    // The eight bytes behind it, shifted left by one, and by 63 less the count, so that none is by 64.
    (@ many, $t:literal, $u:literal) => {
        concat!(
            "mov {", $t, "}, [{bytes} + 8]
            mov {", $u, ":e}, {bit:e}
            not {", $u, ":e}
            add {", $t, "}, {", $t, "}
            shlx {", $t, "}, {", $t, "}, {", $u, "}
            or {word}, {", $t, "}
            "
        )
    };
}
pub(super) use four_codes;

/// All of `$n` codes by eights: between `$before` and `$after`, `$text` over and over, between which are two times [`four_codes`],
/// and what it needs. Flags are lost.
macro_rules! walk_eights {
    ($walker:ident, $end:expr, $n:expr, $before:expr, [$($text:expr,)*], $after:expr, $($operand:tt)*) => {
        asm!(
            $before,
            // Wherever it happened to lie, it took up to 5 % longer.
            ".p2align 6",
            "2:",
            $($text,)*
            "add {left}, 64",
            "jne 2b",
            $after,
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
            n3 = out(reg) _,
            $($operand)*
            options(nostack),
        )
    };
}
pub(super) use walk_eights;

pub(super) struct Walker {
    pub(super) nodes: *const Node,
    pub(super) states: [u64; LANES],
    /// The byte of the next bit.
    pub(super) bytes: *const u8,
    /// Which one of that byte it is.
    pub(super) bit: u64,
}

impl Walker {
    #[inline(always)]
    pub(super) fn new(nodes: &[Node], states: &[u32; LANES], stream: &Stream<'_>) -> Self {
        Self {
            nodes: nodes.as_ptr(),
            states: states.map(u64::from),
            bytes: stream.bytes.as_ptr(),
            bit: stream.bit as u64,
        }
    }

    /// `n` codes of `max_bits` at most, a multiple of eight and not 0.
    ///
    /// # Safety
    /// The states are slots of the table, which is closed; `first` has room for `n`; the stream
    /// goes on for sixteen bytes from where the last four codes begin; callers are compiled with
    /// BMI2.
    #[inline(always)]
    unsafe fn eights(&mut self, first: *mut Node, n: usize, max_bits: u8) {
        macro_rules! run {
            ($few:ident) => {
                walk_eights!(
                    self,
                    first.add(n),
                    n,
                    "",
                    [four_codes!($few, "0", to n), four_codes!($few, "32", to s),],
                    "",
                )
            };
        }
        // SAFETY: the caller's promise. Nodes and stream are read where states and the counts of
        // four codes, 56 at most, say; `n` nodes are written.
        unsafe {
            match max_bits {
                n if n <= FEW => run!(few),
                n if n <= SOME => run!(some),
                _ => run!(many),
            }
        }
    }

    /// Gives the states back; returns how many bits of the stream there were.
    #[inline(always)]
    pub(super) fn finish(self, states: &mut [u32; LANES], stream: &Stream<'_>) -> usize {
        *states = self.states.map(|s| s as u32);
        let bytes = self.bytes.addr() - stream.bytes.as_ptr().addr();
        bytes * 8 + self.bit as usize - stream.bit
    }

    /// One code of lane `lane`, for what is left at the end.
    ///
    /// # Safety
    /// As [`Walker::eights`], for one; the stream goes on for eight bytes.
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
    stream: &Stream<'_>,
    visited: &mut [Node],
) -> usize {
    let mut walker = Walker::new(nodes, states, stream);
    let (eights, rest) = visited.as_chunks_mut::<{ 2 * LANES }>();
    let eights = eights.as_flattened_mut();
    if !eights.is_empty() {
        // SAFETY: the caller's promise, which every step keeps, as the table is closed; the window
        // goes on for seventeen bytes behind the last code.
        unsafe { walker.eights(eights.as_mut_ptr(), eights.len(), max_bits) };
    }
    for (i, node) in rest.iter_mut().enumerate() {
        // SAFETY: likewise.
        unsafe { walker.one(i % LANES, node) };
    }
    walker.finish(states, stream)
}
