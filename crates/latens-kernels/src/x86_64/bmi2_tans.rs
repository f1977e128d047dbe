//! Unpacking with BMI2, whose shifts and masks by a register take one step, and look at the low
//! bits of that register only.

#![expect(
    clippy::cast_possible_truncation,
    reason = "usize has 64 bits on x86-64, states and counts have few"
)]

use crate::latent::Latent;
use crate::tans::offsets::{NARROW, Offsets};
use crate::tans::slot::{Lowers, Node};
use crate::tans::stream::Stream;
use crate::x86_64::avx2_offsets::{self, Eight};
use std::arch::asm;
use std::arch::x86_64::_bzhi_u64;

/// Keeps the vectoriser of superwords from packing neighbours into a vector: it sees like operations
/// and not that their inputs and outputs are addresses.
#[inline(always)]
pub(super) fn scalar(mut x: u64) -> u64 {
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
pub(super) unsafe fn word(bytes: *const u8, at: u64) -> u64 {
    let byte = (at >> 3) as usize;
    // SAFETY: the caller's promise.
    let word = unsafe { bytes.add(byte).cast::<u64>().read_unaligned() };
    word >> (at & 7)
}

/// The 64 bits of the stream from bit `at` on.
///
/// # Safety
/// Sixteen bytes from `at / 8` on belong to the stream.
#[inline(always)]
pub(super) unsafe fn wide_word(bytes: *const u8, at: u64) -> u64 {
    // SAFETY: the caller's promise.
    let (below, above) = unsafe { (word(bytes, at), word(bytes.add(4), at)) };
    below & 0xffff_ffff | above << 32
}

/// The low bits of `x`, as many as the low byte of `count` says.
#[inline(always)]
pub(super) fn low(x: u64, count: u64) -> u64 {
    // SAFETY: callers in this file are compiled with BMI2.
    unsafe { _bzhi_u64(x, count as u32) }
}

/// [`Lowers`], whose kind the compiler knows.
trait Lower<L: Latent>: Copy {
    /// The lower bound that a node stands for.
    ///
    /// # Safety
    /// The node is of the same table.
    unsafe fn of(self, node: Node) -> L;
    /// Adds eight offsets to the nodes' lower bounds.
    ///
    /// # Safety
    /// There are eight nodes, of the same table, and room for eight latents; callers are compiled
    /// with AVX2.
    unsafe fn add<O: Eight>(self, nodes: *const Node, offsets: O, dst: *mut L);
}

#[derive(Clone, Copy)]
struct Near<L>(L);

impl<L: Latent> Lower<L> for Near<L> {
    #[inline(always)]
    unsafe fn of(self, node: Node) -> L {
        self.0.plus_low(node.payload().into())
    }
    #[inline(always)]
    unsafe fn add<O: Eight>(self, nodes: *const Node, offsets: O, dst: *mut L) {
        // SAFETY: the caller's promise.
        unsafe { avx2_offsets::add_near(self.0, nodes, offsets, dst) }
    }
}

#[derive(Clone, Copy)]
struct Far<L>(*const L);

impl<L: Latent> Lower<L> for Far<L> {
    #[inline(always)]
    unsafe fn of(self, node: Node) -> L {
        // SAFETY: the caller's promise: the node says which one.
        unsafe { *self.0.add(node.payload() as usize) }
    }
    #[inline(always)]
    unsafe fn add<O: Eight>(self, nodes: *const Node, offsets: O, dst: *mut L) {
        // SAFETY: the caller's promise.
        unsafe { avx2_offsets::add_far(self.0, nodes, offsets, dst) }
    }
}

struct Unpacker<W> {
    lowers: W,
    bytes: *const u8,
    at: u64,
}

impl<W> Unpacker<W> {
    /// One latent of up to 57 offset bits.
    ///
    /// # Safety
    /// The node is of the table; the stream goes on for eight bytes.
    #[inline(always)]
    unsafe fn one<L: Latent>(&mut self, node: Node, dst: &mut L)
    where
        W: Lower<L>,
    {
        let width = node.offset_bits().into();
        // SAFETY: the caller's promise.
        let offset = scalar(low(unsafe { word(self.bytes, self.at) }, width));
        // SAFETY: the caller's promise.
        *dst = unsafe { self.lowers.of(node) }.plus_low(offset);
        self.at += width;
    }

    /// Eight at a time where `O` has room for their offsets, as it has for all unless `CHECK`.
    ///
    /// # Safety
    /// The nodes are of the table, whose offsets have 57 bits at most, and as many as latents; the
    /// stream goes on for eight bytes behind the first bit of each; callers are compiled with
    /// AVX2, BMI2 and POPCNT.
    #[inline(always)]
    unsafe fn eights<L: Latent, O: Eight, const CHECK: bool>(
        &mut self,
        nodes: &[Node],
        dst: &mut [L],
    ) where
        W: Lower<L>,
    {
        let (nodes, tail) = nodes.as_chunks::<8>();
        let (dst, rest) = dst.as_chunks_mut::<8>();
        for (xs, nodes) in dst.iter_mut().zip(nodes) {
            // SAFETY: the caller's promise.
            unsafe {
                if let Some(masks) = O::masks::<CHECK>(nodes.as_ptr()) {
                    let offsets = masks.fill(|bits| {
                        let word = word(self.bytes, self.at);
                        self.at += u64::from(bits);
                        word
                    });
                    self.lowers.add(nodes.as_ptr(), offsets, xs.as_mut_ptr());
                } else {
                    for (x, &node) in xs.iter_mut().zip(nodes) {
                        self.one(node, x);
                    }
                }
            }
        }
        for (x, &node) in rest.iter_mut().zip(tail) {
            // SAFETY: the caller's promise.
            unsafe { self.one(node, x) };
        }
    }

    /// One latent of up to 64 offset bits.
    ///
    /// # Safety
    /// As [`Unpacker::some`], but the stream goes on for sixteen bytes.
    #[inline(always)]
    unsafe fn wide<L: Latent>(&mut self, node: Node, dst: &mut L)
    where
        W: Lower<L>,
    {
        // SAFETY: the caller's promise.
        unsafe {
            let width = node.offset_bits().into();
            let offset = scalar(low(wide_word(self.bytes, self.at), width));
            *dst = self.lowers.of(node).plus_low(offset);
            self.at += width;
        }
    }
}

/// From nodes to latents; returns the bits that were read.
///
/// # Safety
/// The nodes are of the table of `lowers` and `offsets`; there are as many as latents; the stream
/// is as long as the table's window for so many.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn unpack<L: Latent>(
    lowers: &Lowers<L>,
    offsets: Offsets,
    visited: &[Node],
    stream: Stream<'_>,
    dst: &mut [L],
) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        match lowers {
            Lowers::Near(least) => unpack_with(Near(*least), offsets, visited, stream, dst),
            // Of 64 bits: narrower ones are always near each other.
            Lowers::Far(lowers) => unpack_with(Far(lowers.as_ptr()), offsets, visited, stream, dst),
        }
    }
}

/// # Safety
/// As [`unpack`].
#[inline(always)]
unsafe fn unpack_with<L: Latent>(
    lowers: impl Lower<L>,
    offsets: Offsets,
    visited: &[Node],
    stream: Stream<'_>,
    dst: &mut [L],
) -> usize {
    let mut unpacker = Unpacker { lowers, bytes: stream.bytes.as_ptr(), at: stream.bit as u64 };
    // SAFETY: the caller's promise in all arms; but in the last one offsets have 57 bits at most.
    unsafe {
        match offsets {
            Offsets::None => {
                for (x, &node) in dst.iter_mut().zip(visited) {
                    *x = lowers.of(node);
                }
            }
            Offsets::Short { all: true } => {
                unpacker.eights::<L, avx2_offsets::Short, false>(visited, dst);
            }
            Offsets::Short { all: false } => {
                unpacker.eights::<L, avx2_offsets::Short, true>(visited, dst);
            }
            Offsets::Medium { all: true } => {
                unpacker.eights::<L, avx2_offsets::Medium, false>(visited, dst);
            }
            Offsets::Medium { all: false } => {
                unpacker.eights::<L, avx2_offsets::Medium, true>(visited, dst);
            }
            Offsets::Long => {
                let (nodes, tail) = visited.as_chunks::<4>();
                let (dst, rest) = dst.as_chunks_mut::<4>();
                for (xs, nodes) in dst.iter_mut().zip(nodes) {
                    for (x, &node) in xs.iter_mut().zip(nodes) {
                        unpacker.one(node, x);
                    }
                }
                for (x, &node) in rest.iter_mut().zip(tail) {
                    unpacker.one(node, x);
                }
            }
            Offsets::Wide => {
                let (nodes, tail) = visited.as_chunks::<4>();
                let (dst, rest) = dst.as_chunks_mut::<4>();
                for (xs, nodes) in dst.iter_mut().zip(nodes) {
                    for (x, &node) in xs.iter_mut().zip(nodes) {
                        unpacker.wide(node, x);
                    }
                }
                for (x, &node) in rest.iter_mut().zip(tail) {
                    unpacker.wide(node, x);
                }
            }
        }
    }
    unpacker.at as usize - stream.bit
}

/// Fields of one width.
///
/// # Safety
/// The stream is as long as the fields and sixteen bytes more.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
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
        for x in dst {
            // SAFETY: the caller's promise.
            *x = lower.plus_low(low(unsafe { wide_word(bytes, at) }, step));
            at += step;
        }
    }
}
