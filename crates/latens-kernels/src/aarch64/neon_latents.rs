//! From nodes to latents, by eights, alone or beside a walk.

use super::neon_finish::{Finisher, alone};
use super::neon_offsets::{Alike, EIGHTS, FOURS, Nodes, Patterns, Place};
use super::neon_walk::{STEP, Walker};
use crate::latent::Latent;
use crate::scalar::tans as scalar;
use crate::tans::Map;
use crate::tans::codes::Codes;
use crate::tans::offsets::{NARROW, Offsets};
use crate::tans::shadow::{MOST_SUMS, Shadow};
use crate::tans::slot::{Lowers, Node};
use crate::tans::stream::{BATCH, LANES, Stream};
use std::arch::aarch64::*;

/// Most bits of an offset here.
pub(crate) const MOST: u8 = NARROW;

// How offsets are read: what the loops are compiled for.
/// There are none.
const NO: u8 = 0;
/// Eight with one load.
const BY_EIGHT: u8 = 1;
/// Four with one load.
const BY_FOUR: u8 = 2;
/// One by one, in general registers.
const ONE_BY_ONE: u8 = 3;

/// Where latents come from and what becomes of them: what is known of all eights.
struct Eights<L> {
    /// What payloads are added to, where lower bounds are near each other.
    least: L,
    /// Where they are, if not; then all latents have 64 bits.
    far: Option<*const L>,
    place: Place,
    patterns: Patterns,
    finisher: Finisher<L>,
}

impl<L: Latent> Eights<L> {
    #[target_feature(enable = "neon")]
    #[inline]
    fn new(lowers: &Lowers<L>, stream: Stream<'_>, finisher: Finisher<L>) -> Self {
        let (least, far) = match lowers {
            Lowers::Near(least) => (*least, None),
            Lowers::Far(lowers) => (L::default(), Some(lowers.as_ptr())),
        };
        Self { least, far, place: Place::of(stream), patterns: Patterns::new(), finisher }
    }

    /// The next eight latents, to `dst`.
    ///
    /// # Safety
    /// The nodes and lower bounds are of one table, none of whose offsets is longer than `HOW` takes; there are eight,
    /// and room for as many latents; the stream is as long as the table's window for them. Callers are compiled
    /// with NEON.
    #[inline(always)]
    unsafe fn next<const HOW: u8>(&mut self, nodes: *const Node, dst: *mut L) {
        // SAFETY: the caller's promise.
        unsafe {
            match HOW {
                ONE_BY_ONE => {
                    self.four(nodes, dst);
                    self.four(nodes.add(4), dst.add(4));
                }
                _ if L::WIDTH == 64 => self.wide::<HOW>(nodes, dst),
                _ => self.narrow::<HOW>(nodes, dst),
            }
        }
    }

    /// The lower bounds of 64 bits.
    ///
    /// # Safety
    /// There are eight nodes, of the table that these are of.
    #[inline(always)]
    unsafe fn wide_lowers(&self, nodes: *const Node, loaded: Nodes) -> [uint64x2_t; 4] {
        // SAFETY: the caller's promise: nodes say which ones, and these have 64 bits, as narrower ones are always
        // near each other.
        unsafe {
            if let Some(far) = self.far {
                let lower = |i: usize| far.add((*nodes.add(i)).payload() as usize).cast::<u64>();
                let two = |i: usize| {
                    vld1q_lane_u64::<1>(lower(i + 1), vld1q_lane_u64::<0>(lower(i), vdupq_n_u64(0)))
                };
                return [two(0), two(2), two(4), two(6)];
            }
            let least = vdupq_n_u64(self.least.widen());
            let [a, b] = loaded.payloads();
            [
                vaddw_u32(least, vget_low_u32(a)),
                vaddw_high_u32(least, a),
                vaddw_u32(least, vget_low_u32(b)),
                vaddw_high_u32(least, b),
            ]
        }
    }

    /// # Safety
    /// As [`Eights::next`], of 64 bits.
    #[inline(always)]
    unsafe fn wide<const HOW: u8>(&mut self, nodes: *const Node, dst: *mut L) {
        // SAFETY: the caller's promise.
        unsafe {
            let loaded = Nodes::load(nodes);
            let lowers = self.wide_lowers(nodes, loaded);
            let [a, b] = match HOW {
                NO => return self.finisher.wide(lowers, dst),
                BY_EIGHT => {
                    let offsets = loaded.offsets_by_eight(&mut self.place, &self.patterns);
                    [vmovl_u16(vget_low_u16(offsets)), vmovl_high_u16(offsets)]
                }
                _ => loaded.offsets_by_four(&mut self.place, &self.patterns),
            };
            let latents = [
                vaddw_u32(lowers[0], vget_low_u32(a)),
                vaddw_high_u32(lowers[1], a),
                vaddw_u32(lowers[2], vget_low_u32(b)),
                vaddw_high_u32(lowers[3], b),
            ];
            self.finisher.wide(latents, dst);
        }
    }

    /// # Safety
    /// As [`Eights::next`], of fewer bits.
    #[inline(always)]
    unsafe fn narrow<const HOW: u8>(&mut self, nodes: *const Node, dst: *mut L) {
        // SAFETY: the caller's promise.
        unsafe {
            let loaded = Nodes::load(nodes);
            #[expect(clippy::cast_possible_truncation, reason = "as many bits as latents have")]
            let least = vdupq_n_u32(self.least.widen() as u32);
            let [a, b] = loaded.payloads();
            let (a, b) = (vaddq_u32(a, least), vaddq_u32(b, least));
            let latents = match HOW {
                NO => [a, b],
                BY_EIGHT => {
                    let offsets = loaded.offsets_by_eight(&mut self.place, &self.patterns);
                    [vaddw_u16(a, vget_low_u16(offsets)), vaddw_high_u16(b, offsets)]
                }
                _ => {
                    let [c, d] = loaded.offsets_by_four(&mut self.place, &self.patterns);
                    [vaddq_u32(a, c), vaddq_u32(b, d)]
                }
            };
            self.finisher.narrow(latents, dst);
        }
    }

    /// Four latents one by one, of up to [`MOST`] offset bits.
    ///
    /// # Safety
    /// As [`Eights::next`], for four.
    #[inline(always)]
    unsafe fn four(&mut self, nodes: *const Node, dst: *mut L) {
        // SAFETY: the caller's promise.
        unsafe {
            let node = |i: usize| *nodes.add(i);
            // Written out: compilers leave loops over four.
            let lowers = if let Some(far) = self.far {
                let lower = |i| alone((*far.add(node(i).payload() as usize)).widen());
                [lower(0), lower(1), lower(2), lower(3)]
            } else {
                let least = self.least.widen();
                let lower = |i| alone(least.wrapping_add(node(i).payload().into()));
                [lower(0), lower(1), lower(2), lower(3)]
            };
            let mut latent = |i: usize| {
                let Place { bytes, bit } = self.place;
                let word = bytes.cast::<u64>().read_unaligned() >> bit;
                // Shifts look at the low six bits alone.
                let width = node(i).0 >> 8;
                self.place.go_on(bit + width);
                let offset = word & !(u64::MAX << (width & 63));
                alone(lowers[i].wrapping_add(offset))
            };
            let latents = [latent(0), latent(1), latent(2), latent(3)];
            self.finisher.singles(latents, dst);
        }
    }
}

/// How offsets of up to `most` bits are read.
fn how(most: u8) -> u8 {
    match most {
        0 => NO,
        n if n <= EIGHTS => BY_EIGHT,
        n if n <= FOURS => BY_FOUR,
        _ => ONE_BY_ONE,
    }
}

/// [`super::neon_walk::walk`] of a whole batch, and [`unpack`] of another one, with running sums and the map to
/// numbers.
///
/// # Safety
/// As those two; no offset has more than [`MOST`] bits.
#[inline(never)]
pub(crate) unsafe fn walk<L: Latent>(
    nodes: &[Node],
    most: u8,
    states: &mut [u32; LANES],
    stream: Stream<'_>,
    codes: &mut Codes,
    shadow: Shadow<'_, L>,
) -> usize {
    let mut walker = Walker::new(nodes, states, stream);
    let (visited, first) = (shadow.visited.nodes.as_ptr(), codes.nodes.as_mut_ptr());
    let dst = shadow.dst.as_mut_ptr();
    // SAFETY: the caller's promise: whole batches of nodes and latents, a closed table, and bytes enough for
    // all of both.
    let sums = unsafe {
        let finisher =
            Finisher::new(shadow.map, shadow.flip(), shadow.sums(), shadow.moments.len());
        let mut eights = Eights::new(shadow.lowers, shadow.stream, finisher);
        macro_rules! run {
            ($how:expr) => {
                for i in (0..BATCH).step_by(STEP) {
                    walker.step(first.add(i));
                    eights.next::<$how>(visited.add(i), dst.add(i));
                }
            };
        }
        match how(shadow.max_offset_bits) {
            NO => run!(NO),
            BY_EIGHT => run!(BY_EIGHT),
            BY_FOUR => run!(BY_FOUR),
            _ => run!(ONE_BY_ONE),
        }
        eights.finisher.sums(how(shadow.max_offset_bits) == ONE_BY_ONE)
    };
    for (moment, sum) in shadow.moments.iter_mut().rev().zip(sums) {
        *moment = sum;
    }
    codes.summed = walker.offset_bits(most);
    walker.finish(states, stream)
}

/// From nodes to latents; returns the bits that were read.
///
/// # Safety
/// The nodes are of the table of `lowers`, whose offsets have `most` bits at most; there are as many as latents;
/// the stream is as long as the table's window for so many.
pub(crate) unsafe fn unpack<L: Latent>(
    lowers: &Lowers<L>,
    (offsets, most): (Offsets, u8),
    visited: &[Node],
    stream: Stream<'_>,
    dst: &mut [L],
) -> usize {
    if most > MOST {
        return scalar::unpack(lowers, offsets, visited, stream, dst);
    }
    let (eights, rest) = visited.as_chunks::<STEP>();
    let (to, last) = dst.as_chunks_mut::<STEP>();
    // SAFETY: the caller's promise.
    let place = unsafe {
        let finisher = Finisher::new(Map::NONE, L::default(), [L::default(); MOST_SUMS], 0);
        let mut next = Eights::new(lowers, stream, finisher);
        macro_rules! run {
            ($how:expr) => {
                for (nodes, to) in eights.iter().zip(to) {
                    next.next::<$how>(nodes.as_ptr(), to.as_mut_ptr());
                }
            };
        }
        match how(most) {
            NO => run!(NO),
            BY_EIGHT => run!(BY_EIGHT),
            BY_FOUR => run!(BY_FOUR),
            _ => run!(ONE_BY_ONE),
        }
        next.place
    };
    let Place { bytes, bit } = place;
    let read = bytes.addr() - stream.bytes.as_ptr().addr();
    #[expect(clippy::cast_possible_truncation, reason = "below 8")]
    let bit = bit as usize;
    let rest_of = Stream { bytes: &stream.bytes[read..], bit };
    8 * read + bit - stream.bit + scalar::unpack(lowers, offsets, rest, rest_of, last)
}

/// Fields of one width, which is not 0.
///
/// # Safety
/// The stream is as long as the fields and seventeen bytes more.
#[target_feature(enable = "neon")]
pub(crate) unsafe fn unpack_single<L: Latent>(
    lower: L,
    width: u8,
    stream: Stream<'_>,
    dst: &mut [L],
) {
    if width > FOURS {
        return scalar::unpack_single(lower, width, stream, dst);
    }
    let alike = Alike::new(width, stream.bit as u64);
    let mut finisher = Finisher::new(Map::NONE, L::default(), [L::default(); MOST_SUMS], 0);
    let (eights, rest) = dst.as_chunks_mut::<STEP>();
    let size = usize::from(width);
    for (i, eight) in eights.iter_mut().enumerate() {
        // SAFETY: the caller's promise: the second half begins within the bytes of all eight and that of the first
        // bit. There is room for eight latents.
        unsafe {
            let [a, b] = alike.eight(stream.bytes.as_ptr().add(i * size));
            if L::WIDTH == 64 {
                let lower = vdupq_n_u64(lower.widen());
                let latents = [
                    vaddw_u32(lower, vget_low_u32(a)),
                    vaddw_high_u32(lower, a),
                    vaddw_u32(lower, vget_low_u32(b)),
                    vaddw_high_u32(lower, b),
                ];
                finisher.wide(latents, eight.as_mut_ptr());
            } else {
                #[expect(clippy::cast_possible_truncation, reason = "as many bits as latents have")]
                let lower = vdupq_n_u32(lower.widen() as u32);
                finisher.narrow([vaddq_u32(lower, a), vaddq_u32(lower, b)], eight.as_mut_ptr());
            }
        }
    }
    let bytes = &stream.bytes[eights.len() * size..];
    scalar::unpack_single(lower, width, Stream { bytes, ..stream }, rest);
}
