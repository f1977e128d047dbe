//! A walk, and the unpacking of other codes in its shadow, with AVX-512.
//!
//! Offsets of up to 31 bits come by sixteen, in lanes of 32 bits. `vpdpbusd` sums up the widths of
//! each four, and then those of the fours before it: two permutations and two sums for all sixteen.

#[macro_use]
mod offsets;
#[macro_use]
mod latents;
#[macro_use]
mod sums;
#[macro_use]
mod row;
#[macro_use]
mod turns;
pub(crate) mod both;
pub(crate) mod pairs;
mod sixteen;

use crate::dispatch::gathers_are_slow;
use crate::latent::Latent;
use crate::tans::Map;
use crate::tans::codes::{Beside, Codes};
use crate::tans::shadow::{Row, Shadow, finished};
use crate::tans::slot::{Lowers, Node};
use crate::tans::stream::{BATCH, LANES, Stream};
use crate::x86_64::avx512_tans::{SEVENS, UP_TO, WIDTHS, halves, lanes};
use crate::x86_64::bmi2_tans::wide_word;
use crate::x86_64::bmi2_walk::{FEW, SOME, Walker, four_codes};
use sixteen::{Order, SHORT};
use std::arch::asm;
use std::arch::x86_64::*;

/// So many lower bounds that are far from each other are in registers, or half as many in half of those.
const FEW_BOUNDS: usize = 64;

/// [`super::bmi2_walk::walk`] of a whole batch, and [`super::avx512_tans::unpack`] of another one, with
/// running sums and the map to numbers.
///
/// # Safety
/// As those two.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
#[target_feature(enable = "avx512vnni,avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn walk<L: Latent>(
    nodes: &[Node],
    max_bits: u8,
    states: &mut [u32; LANES],
    stream: &Stream<'_>,
    codes: &mut Codes,
    visited: &Codes,
    mut shadow: Shadow<'_, L>,
) -> usize {
    codes.beside = shadow.beside(visited, &Row::SINGLE);
    // SAFETY: the caller's promise.
    let done = unsafe { run(nodes, max_bits, states, stream, codes.end(), shadow) };
    codes.summed = Some(done.offset_bits);
    done.bits
}

/// [`walk`] of one batch after the other, from the codes `visited` on, all by the same table; how many, and which bits lie
/// between the first walk's beginning and the end of the last one. The codes that are walked last are
/// `codes` where that is an odd number of batches, `visited` where it is even.
///
/// # Safety
/// As [`walk`], for all of the row: from byte `row.last` on there are bytes enough for a batch of codes, and
/// 65 more.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
#[target_feature(enable = "avx512vnni,avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn walk_row<L: Latent>(
    ways: (&[Node], u8),
    states: &mut [u32; LANES],
    stream: &Stream<'_>,
    codes: &mut Codes,
    visited: &mut Codes,
    mut shadow: Shadow<'_, L>,
    row: &Row,
) -> (usize, usize) {
    let (nodes, max_bits) = ways;
    codes.beside = shadow.beside(visited, row);
    visited.beside = shadow.beside(codes, row);
    let end = codes.end();
    // What is behind the first batch is reached by way of what lies there.
    visited.end().expose_provenance();
    // SAFETY: the caller's promise.
    let done = unsafe { run(nodes, max_bits, states, stream, end, shadow) };
    let last = if done.end == end { codes } else { visited };
    last.summed = Some(done.offset_bits);
    let left = last.beside[COUNT] - 1;
    (row.count - left, done.bits)
}

/// Where [`Shadow::beside`] has the batches that are left.
const COUNT: usize = 5;

/// What [`run`] has done.
struct Done {
    /// Between the walk's beginning and its end.
    bits: usize,
    /// Of the codes that were walked last.
    offset_bits: u32,
    /// Behind their nodes.
    end: *mut Beside,
}

/// # Safety
/// As [`walk`] or [`walk_row`]; `end` is behind the nodes of the codes that are walked first.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
#[target_feature(enable = "avx512vnni,avx2,bmi1,bmi2,popcnt")]
unsafe fn run<L: Latent>(
    nodes: &[Node],
    max_bits: u8,
    states: &mut [u32; LANES],
    stream: &Stream<'_>,
    mut end: *mut Beside,
    mut shadow: Shadow<'_, L>,
) -> Done {
    let mut walker = Walker::new(nodes, states, stream);
    let (even, odd) = halves();
    let has_offsets = shadow.has_offsets();
    let order = Order::of(L::WIDTH == 64 && shadow.moments.is_empty());
    let is_short =
        has_offsets && shadow.max_offset_bits <= SHORT && matches!(shadow.lowers, Lowers::Near(_));
    let bytes = shadow.stream.bytes.as_ptr().expose_provenance();
    #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "below 8")]
    let bit = shadow.stream.bit as i32;
    let splat = |x: L| match L::WIDTH {
        64 => _mm512_set1_epi64(x.widen().cast_signed()),
        #[expect(clippy::cast_possible_truncation, reason = "as many bits as latents have")]
        _ => _mm512_set1_epi32(x.widen() as i32),
    };
    let (least, flip) = (splat(shadow.least()), splat(shadow.flip()));
    let few = few_bounds(shadow.lowers);
    let [mut last, mut first] = shadow.sums().map(splat);
    if let Some(multiples) = shadow.multiples {
        // No latents with sums have such.
        first = splat(multiples.base);
    }
    let mut summed = _mm512_setzero_si512();
    macro_rules! run {
        (each $before:expr, $text:tt, $after:expr, $place:expr, $($operand:tt)*) => {
            match max_bits {
                n if n <= FEW => run!(few, $before, $text, $after, $place, $($operand)*),
                n if n <= SOME => run!(some, $before, $text, $after, $place, $($operand)*),
                _ => run!(many, $before, $text, $after, $place, $($operand)*),
            }
        };
        ($count:ident, $before:expr, [$all:expr], $after:expr, $place:expr, $($operand:tt)*) => {
            run!(@ $before, [
                $all, four_codes!($count, "0", to n, summed!()), four_codes!($count, "32", to s, summed!()),
            ], $after, $place, $($operand)*)
        };
        ($count:ident, $before:expr, [$first:expr, $second:expr], $after:expr, $place:expr, $($operand:tt)*) => {
            run!(@ $before, [
                $first, four_codes!($count, "0", to n, summed!()), four_codes!($count, "32", to s, summed!()),
                "add {left}, 64",
                $second, four_codes!($count, "0", to n, summed!()), four_codes!($count, "32", to s, summed!()),
            ], $after, $place, $($operand)*)
        };
        (@ $before:expr, $text:tt, $after:expr, $place:expr, $($operand:tt)*) => {
            walk_row!(
                walker, end, $before, $text, $after, $place,
                inout("zmm8") last,
                inout("zmm9") first,
                inout("zmm10") summed,
                in("zmm14") _mm512_set1_epi32(15),
                in("zmm23") _mm512_set1_epi64(0x0100),
                in("zmm24") odd,
                in("zmm25") even,
                in("zmm26") least,
                in("zmm29") _mm512_setzero_si512(),
                in("zmm31") flip,
                out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _,
                out("zmm4") _, out("zmm5") _, out("zmm6") _, out("zmm17") _, out("zmm19") _,
                out("k0") _, out("k7") _,
                $($operand)*
            )
        };
    }
    // With what `eight_offsets` takes. Its place is in bits from the beginning of memory.
    macro_rules! by_eight {
        ($before:expr, $text:tt, $after:expr) => {
            run!(
                each $before, $text, $after,
                "lea {n0}, [{bit} + {bytes} * 8]
                vpbroadcastq zmm27, {n0}",
                in("k1") UP_TO,
                out("k3") _,
                inout("zmm27") _mm512_set1_epi64((bytes * 8 + shadow.stream.bit) as i64) => _,
                in("zmm28") _mm512_set1_epi64(SEVENS),
                in("zmm30") _mm512_set1_epi64(WIDTHS),
                inout("zmm7") few[0] => _, in("zmm11") few[1], in("zmm12") few[2], in("zmm13") few[3],
                in("zmm15") few[4], in("zmm16") few[5], in("zmm18") few[6], in("zmm20") few[7],
                in("zmm21") _mm512_set1_epi64(16),
                in("zmm22") _mm512_set1_epi64(32),
            )
        };
    }
    // With what `sixteen_offsets` takes.
    macro_rules! by_sixteen {
        ($before:expr, $text:tt, $after:expr) => {
            run!(
                each $before, $text, $after,
                "mov [{n1} + 24], {bytes}
                vpbroadcastd zmm27, {bit:e}",
                in("k1") order.up_to,
                in("k4") order.before,
                in("k5") 0xaaaa_u64,
                in("k6") 0x5555_u64,
                in("zmm12") load(&order.fours),
                in("zmm13") _mm512_set1_epi8(1),
                in("zmm15") _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0),
                in("zmm16") _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4),
                inout("zmm27") _mm512_set1_epi32(bit) => _,
                in("zmm28") load(&order.sevens),
                in("zmm30") load(&order.widths),
                out("zmm7") _, out("zmm18") _, out("zmm20") _, out("zmm21") _, out("zmm22") _,
            )
        };
    }
    macro_rules! eight {
        ($kind:tt, 0, $map:tt) => {
            by_eight!(
                "",
                [concat!(
                    eight_latents!($kind),
                    joined!($map, "zmm6", ""),
                    mapped!("q", $map, "zmm6"),
                    stored!(64)
                )],
                ""
            )
        };
        ($kind:tt, $order:tt, $map:tt) => {
            by_eight!(
                sums_begun!(64, $order),
                [concat!(
                    summed_up!(64, $order, $map),
                    eight_latents!($kind),
                    "vmovdqa64 zmm17, zmm6\n",
                )],
                summed_up!(last 64, $order, $map)
            )
        };
    }
    macro_rules! sixteen {
        (@ $run:ident, $kind:tt, $width:tt, 0, $map:tt) => {
            $run!(
                "",
                [
                    sixteen_begun!($kind, $width),
                    concat!(
                        sixteen_latents!($kind),
                        mapped!("d", $map, "zmm6"),
                        stored!($width)
                    )
                ],
                ""
            )
        };
        (@ $run:ident, $kind:tt, $width:tt, $order:tt, $map:tt) => {
            $run!(
                sums_begun!($width, $order),
                [
                    sixteen_begun!($kind, $width),
                    concat!(
                        summed_up!($width, $order, $map),
                        sixteen_latents!($kind),
                        "vmovdqa64 zmm17, zmm6\n",
                    )
                ],
                concat!("add {left}, 64\n", summed_up!(last $width, $order, $map))
            )
        };
        (wide, 64, 0, $map:tt) => {
            by_sixteen!(
                "",
                [
                    sixteen_begun!(short, 64),
                    concat!(
                        wide_latents!(short),
                        joined!($map, "zmm6", " - 64"),
                        joined!($map, "zmm7", ""),
                        mapped!("q", $map, "zmm6"),
                        mapped!("q", $map, "zmm7"),
                        stored!(128)
                    )
                ],
                ""
            )
        };
        (wide, 64, $order:tt, $map:tt) => {
            by_sixteen!(
                sums_begun!(paired, $order),
                [
                    sixteen_begun!(short, 32),
                    concat!(
                        summed_up!(paired, $order, $map),
                        wide_latents!(paired),
                        "vmovdqa64 zmm17, zmm6
                        vmovdqa64 zmm18, zmm7
                        "
                    )
                ],
                concat!("add {left}, 64\n", summed_up!(last paired, $order, $map))
            )
        };
        (short, $width:tt, $order:tt, $map:tt) => {
            sixteen!(@ by_sixteen, short, $width, $order, $map)
        };
        ($kind:tt, $width:tt, $order:tt, $map:tt) => {
            sixteen!(@ by_eight, $kind, $width, $order, $map)
        };
    }
    let (sums, map, is_joined) = (shadow.moments.len(), shadow.map, shadow.multiples.is_some());
    // SAFETY: the caller's promise: all nodes, latents, lower bounds and bytes are there. What is summed up
    // lies in front of the codes' nodes, and in these. Rounds whose sums are not there yet store none of
    // the lanes that would lie in front of the latents.
    unsafe {
        match (shadow.lowers, L::WIDTH) {
            (Lowers::Far(lowers), 64) if is_joined => match lowers.len() {
                n if n > FEW_BOUNDS || !gathers_are_slow() => eight!(far, 0, joined),
                n if n > FEW_BOUNDS / 2 => eight!(far64, 0, joined),
                _ => eight!(far32, 0, joined),
            },
            (_, 64) if is_joined && is_short => sixteen!(wide, 64, 0, joined),
            (_, 64) if is_joined && has_offsets => eight!(near, 0, joined),
            (_, 64) if is_joined => eight!(bounds, 0, joined),
            (Lowers::Far(lowers), _) => match lowers.len() {
                n if n > FEW_BOUNDS || !gathers_are_slow() => {
                    finished!(sums, match map => eight, far)
                }
                n if n > FEW_BOUNDS / 2 => finished!(sums, match map => eight, far64),
                _ => finished!(sums, match map => eight, far32),
            },
            (_, 64) if is_short => finished!(sums, match map => sixteen, wide, 64),
            (_, 32) if is_short => finished!(sums, match map => sixteen, short, 32),
            (_, 64) if has_offsets => finished!(sums, match map => eight, near),
            (_, 32) if has_offsets => finished!(sums, match map => sixteen, near, 32),
            (_, 64) => finished!(sums, flip => eight, bounds),
            (_, 32) => finished!(sums, flip => sixteen, bounds, 32),
            (_, 16) if is_short && sums == 0 && map == Map::NONE => sixteen!(short, 16, 0, none),
            (_, 16) if is_short => finished!(sums, flip => sixteen, short, 16),
            (_, 16) if has_offsets => finished!(sums, flip => sixteen, near, 16),
            (_, 16) => finished!(sums, flip => sixteen, bounds, 16),
            _ if is_short && sums == 0 && map == Map::NONE => sixteen!(short, 8, 0, none),
            _ if is_short => finished!(sums, flip => sixteen, short, 8),
            _ if has_offsets => finished!(sums, flip => sixteen, near, 8),
            _ => finished!(sums, flip => sixteen, bounds, 8),
        }
    }
    shadow.take_sums(|| [highest(last), highest(first)]);
    let offset_bits = _mm_cvtsi128_si32(_mm512_castsi512_si128(summed)).cast_unsigned();
    // The compiler does not see that the upper halves are in use, which would slow down all code for
    // SSE from here on.
    _mm256_zeroupper();
    Done { bits: walker.finish(states, stream), offset_bits, end }
}

/// Lower bounds that are far from each other, where they are so few.
#[target_feature(enable = "avx512f")]
#[inline]
fn few_bounds<L: Latent>(lowers: &Lowers<L>) -> [__m512i; FEW_BOUNDS / 8] {
    let mut few = [_mm512_setzero_si512(); FEW_BOUNDS / 8];
    if let Lowers::Far(lowers) = lowers
        && lowers.len() <= FEW_BOUNDS
        && L::WIDTH == 64
    {
        for (bounds, eight) in few.iter_mut().zip(lowers.chunks(8)) {
            let [mask, _] = lanes(eight.len()).to_le_bytes();
            // SAFETY: as many latents of 64 bits as the mask says.
            *bounds = unsafe { _mm512_maskz_loadu_epi64(mask, eight.as_ptr().cast()) };
        }
    }
    few
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: 64 bytes.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// The latent in the last lane.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
#[inline]
fn highest<L: Latent>(x: __m512i) -> L {
    let high = _mm_extract_epi64::<1>(_mm512_extracti64x2_epi64::<3>(x)).cast_unsigned();
    L::from_low(if L::WIDTH == 64 { high } else { high >> 32 })
}
