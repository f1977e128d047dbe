//! A walk, and the unpacking of other codes in its shadow, with AVX2.
//!
//! * The widths of four codes are summed up within each half of a vector. All offsets of a half, of up
//!   to 25 bits if they are four and 57 if they are two, lie within sixteen bytes from that of the
//!   first on.
//! * A shuffle brings the bytes that an offset begins in to its lane, which is shifted by what is left
//!   and rid of what follows.
//! * Both halves have a load of their own, whose place takes the way through a register of the walk's.

mod constants;
#[macro_use]
mod offsets;
#[macro_use]
mod latents;

use crate::latent::Latent;
use crate::tans::Map;
use crate::tans::codes::{BEFORE, Codes};
use crate::tans::offsets::NARROW;
use crate::tans::shadow::{Row, Shadow, finished};
use crate::tans::slot::{Lowers, Node};
use crate::tans::stream::{BATCH, LANES, Stream};
use crate::x86_64::bmi2_tans::{scalar, wide_word};
use crate::x86_64::bmi2_walk::{FEW, SOME, Walker, four_codes, walk_eights};
use constants::CONSTANTS;
use std::arch::asm;
use std::arch::x86_64::*;
use std::mem::{offset_of, size_of};

/// Most bits of an offset here.
pub(crate) const MOST: u8 = NARROW;

/// Most bits of an offset of which there are four in half a vector.
const FOURS: u8 = 25;

/// The same of eight in sixteen bytes.
const EIGHTS: u8 = 15;

/// Bytes behind the nodes of [`Codes`], which the widths of the next eight are read from at the end.
const BEHIND: usize = size_of::<Codes>() - offset_of!(Codes, beside);
const _: () = assert!(BEHIND >= 8 * size_of::<Node>());

/// How many windows of sixteen bytes have the offsets of eight codes.
#[derive(Clone, Copy)]
enum Windows {
    No,
    One,
    Two,
    Four,
}

/// The offset bits of four nodes that were stored a while ago, times 256, to those of ymm10: right
/// behind their stores, these would be waited for.
#[rustfmt::skip]
macro_rules! summed {
    ($t:literal, $at:literal) => {
        concat!(
            "# {constants} are not always used.
            vpand ", $t, ", ymm15, [{end} + {left} + ", $at, " - 512]
            vpaddq ymm10, ymm10, ", $t, "
            "
        )
    };
}

/// [`super::bmi2_walk::walk`] of a whole batch, and [`super::bmi2_tans::unpack`] of another one, with
/// running sums and the map to numbers.
///
/// # Safety
/// As those two.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn walk<L: Latent>(
    nodes: &[Node],
    max_bits: u8,
    states: &mut [u32; LANES],
    stream: &Stream<'_>,
    codes: &mut Codes,
    visited: &Codes,
    mut shadow: Shadow<'_, L>,
) -> usize {
    let mut walker = Walker::new(nodes, states, stream);
    codes.beside = shadow.beside(visited, &Row::SINGLE);
    let end = codes.end();
    let splat = |x: L| match L::WIDTH {
        64 => _mm256_set1_epi64x(x.widen().cast_signed()),
        #[expect(clippy::cast_possible_truncation, reason = "as many bits as latents have")]
        _ => _mm256_set1_epi32(x.widen() as i32),
    };
    let (least, flip) = (splat(shadow.least()), splat(shadow.flip()));
    let [mut last, mut first] = shadow.sums().map(splat);
    let mut summed = _mm256_setzero_si256();
    #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "below 8")]
    let bit = shadow.stream.bit as i32;
    let windows = match shadow.max_offset_bits {
        0 if !shadow.has_offsets() => Windows::No,
        n if n <= EIGHTS => Windows::One,
        n if n <= FOURS && L::WIDTH >= 32 => Windows::Two,
        _ => Windows::Four,
    };
    let place = match windows {
        Windows::Four => _mm256_set1_epi64x(bit.into()),
        _ => _mm256_set1_epi32(bit),
    };
    macro_rules! run {
        ([$($text:expr),*]) => {
            match max_bits {
                n if n <= FEW => run!(few, $($text),*),
                n if n <= SOME => run!(some, $($text),*),
                _ => run!(many, $($text),*),
            }
        };
        ($count:ident, $before:expr, $first:expr, $second:expr) => {
            run!(@ $before, [
                $first, four_codes!($count, "0", to n),
                $second, four_codes!($count, "32", to s),
            ])
        };
        (@ $before:expr, $text:tt) => {
            walk_eights!(
                walker, end, BATCH, $before, $text, "",
                inout("ymm12") last,
                inout("ymm13") first,
                inout("ymm10") summed,
                inout("ymm8") place => _,
                in("ymm9") least,
                in("ymm11") flip,
                in("ymm14") _mm256_set1_epi32(-1),
                in("ymm15") _mm256_set1_epi64x(WIDTHS),
                constants = sym CONSTANTS,
                out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _,
                out("ymm4") _, out("ymm5") _, out("ymm6") _, out("ymm7") _,
            )
        };
    }
    macro_rules! four {
        ($kind:tt, $order:tt, $map:tt) => {
            run!([
                "",
                four!($kind, $order, $map, "n", "0", "16"),
                four!($kind, $order, $map, "s", "32", "48")
            ])
        };
        ($kind:tt, $order:tt, $map:tt, $r:tt, $at:tt, $behind:tt) => {
            concat!(
                summed!("ymm0", $at),
                four_latents!($kind, $r, $at, $behind),
                sums!(four, $order),
                mapped!("q", $map, "ymm6"),
                stored!(four, $r, $at)
            )
        };
    }
    macro_rules! eight {
        ($kind:ident, $windows:ident, 64, $order:tt, $map:tt) => {
            run!([
                eight_places!($windows, "n", "0"),
                concat!(summed!("ymm7", "0"), eight_latents!($kind, $windows, 64)),
                concat!(
                    summed!("ymm0", "32"),
                    sums!(64, $order),
                    mapped!("q", $map, "ymm6"),
                    mapped!("q", $map, "ymm7"),
                    stored!(64),
                    eight_places!($windows, "s", "64")
                )
            ])
        };
        ($kind:ident, $windows:ident, $width:tt, $order:tt, $map:tt) => {
            run!([
                eight_places!($windows, "n", "0"),
                concat!(summed!("ymm7", "0"), eight_latents!($kind, $windows, 32)),
                concat!(
                    summed!("ymm0", "32"),
                    sums!($width, $order),
                    mapped!("d", $map, "ymm6"),
                    stored!($width),
                    eight_places!($windows, "s", "64")
                )
            ])
        };
    }
    let (order, map) = (shadow.moments.len(), shadow.map);
    // SAFETY: the caller's promise: all nodes, latents, lower bounds and bytes are there. What is summed up
    // lies in front of the codes' nodes, and in these; eight nodes too many are looked at, which `BEHIND` has.
    unsafe {
        match (shadow.lowers, L::WIDTH, windows) {
            (Lowers::Far(_), _, Windows::No | Windows::One) => {
                finished!(order, match map => eight, far, one, 64)
            }
            (Lowers::Far(_), _, Windows::Two) => finished!(order, match map => eight, far, two, 64),
            (Lowers::Far(_), _, Windows::Four) => finished!(order, match map => four, far),
            (_, 64, Windows::No) => finished!(order, flip => four, bounds),
            (_, 64, Windows::One) => finished!(order, match map => eight, near, one, 64),
            (_, 64, Windows::Two) => finished!(order, match map => eight, near, two, 64),
            (_, 64, Windows::Four) => finished!(order, match map => four, near),
            (_, 32, Windows::No) => finished!(order, flip => eight, bounds, no, 32),
            (_, 32, Windows::One) => finished!(order, match map => eight, near, one, 32),
            (_, 32, Windows::Two) => finished!(order, match map => eight, near, two, 32),
            (_, 32, Windows::Four) => finished!(order, match map => eight, near, four, 32),
            (_, 16, Windows::No) => eight!(bounds, no, 16, 0, flip),
            (_, 16, Windows::One) => eight!(near, one, 16, 0, flip),
            (_, 16, _) => eight!(near, four, 16, 0, flip),
            (_, _, Windows::No) => eight!(bounds, no, 8, 0, flip),
            (_, _, Windows::One) => eight!(near, one, 8, 0, flip),
            _ => eight!(near, four, 8, 0, flip),
        }
    }
    for (moment, sum) in shadow.moments.iter_mut().rev().zip([last, first]) {
        *moment = L::from_low(_mm256_extract_epi64::<0>(sum).cast_unsigned());
    }
    codes.summed = Some(offset_bits_behind(&codes.nodes[BATCH - BEFORE..], summed));
    // The compiler does not see that the upper halves are in use, which would slow down all code for
    // SSE from here on.
    _mm256_zeroupper();
    walker.finish(states, stream)
}

/// Nodes that a walk has stored so late that they are not yet in the cache. They come fast in
/// pieces of eight bytes, as they were stored, and slowly in larger ones.
const LATEST: usize = 32;

/// Where a node has its offset's width.
const WIDTHS: i64 = 0xff00;

/// Bits that the offsets of nodes take that a walk has just visited, and what lanes of 64 bits have summed
/// up before, times 256.
#[target_feature(enable = "avx2")]
#[inline]
fn offset_bits_behind(visited: &[Node], before: __m256i) -> u32 {
    let (nodes, latest) = visited.split_at(visited.len().saturating_sub(LATEST) & !3);
    let widths = _mm256_set1_epi64x(WIDTHS);
    let mut sums = before;
    for four in nodes.as_chunks::<4>().0 {
        // SAFETY: 32 bytes.
        let four = unsafe { _mm256_loadu_si256(four.as_ptr().cast()) };
        sums = _mm256_add_epi64(sums, _mm256_and_si256(four, widths));
    }
    let halves = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
    let whole = _mm_add_epi64(halves, _mm_shuffle_epi32::<0x4e>(halves));
    // Four sums, so that they do not wait for each other.
    let mut late = [0u64; 4];
    for nodes in latest.as_chunks::<4>().0 {
        for (late, node) in late.iter_mut().zip(nodes) {
            *late = scalar(*late + u64::from(node.offset_bits()));
        }
    }
    #[expect(clippy::cast_possible_truncation, reason = "a few widths")]
    let late = late.iter().sum::<u64>() as u32;
    (_mm_cvtsi128_si32(whole).cast_unsigned() >> 8) + late
}
