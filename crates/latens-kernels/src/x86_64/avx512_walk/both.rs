//! [`crate::tans::Both`] with AVX-512.

use super::load;
use super::pairs::{COUNT, Done, FEWER_BOUNDS, Turns};
use super::sixteen::Order;
use crate::tans::codes::Codes;
use crate::tans::slot::Node;
use crate::tans::stream::{BATCH, LANES, Stream};
use crate::x86_64::avx512_tans::halves;
use crate::x86_64::bmi2_tans::wide_word;
use crate::x86_64::bmi2_walk::four_codes;
use std::arch::asm;
use std::arch::x86_64::*;
use std::mem::offset_of;

pub(crate) use super::pairs::MOST_BITS;
pub(crate) use super::sixteen::SHORT;

/// Batches of two variables of 32 bits. Of each two, the one whose first codes have been walked comes first.
pub(crate) struct Both<'a> {
    pub(crate) nodes: [&'a [Node]; 2],
    pub(crate) states: [&'a mut [u32; LANES]; 2],
    pub(crate) codes: [&'a mut Codes; 2],
    /// Where the first variable's offsets begin, and the second one's codes behind these.
    pub(crate) at: Stream<'a>,
    pub(crate) codes_at: Stream<'a>,
    /// The smallest lower bounds.
    pub(crate) least: [u64; 2],
    /// What the first variable's sums begin with, the last one first, and how many there are.
    pub(crate) sums: [u64; 2],
    pub(crate) order: usize,
    /// Where latents go, where batches' ends are noted, and how many batches there are.
    pub(crate) dst: [usize; 2],
    pub(crate) ends: usize,
    pub(crate) count: usize,
    /// The last byte that a batch's first offset may begin in.
    pub(crate) last: usize,
    /// From which byte on no batch may end.
    pub(crate) limit: usize,
}

/// # Safety
/// As [`super::pairs::walk_pairs`], with room for latents of both variables and for ends of batches; offsets have at most
/// [`SHORT`] bits.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
#[target_feature(enable = "avx512vnni,avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn walk_both(both: Both<'_>) -> Done {
    let order = Order::of(false);
    #[expect(clippy::cast_possible_truncation, reason = "32 bits")]
    let splat = |x: u64| _mm512_set1_epi32(x as i32);
    let [last, first] = both.sums.map(splat);
    let (even, odd) = halves();
    let bytes = both.at.bytes.as_ptr().expose_provenance();
    let [states, second_states] = [0, 1].map(|i: usize| both.states[i].map(u64::from));
    let none = _mm512_setzero_si512();
    let mut turns = Turns {
        last,
        first,
        sevens: [none; 2],
        widths: [none; 2],
        few: [0; FEWER_BOUNDS],
        states,
        second_states,
        new_states: second_states,
        up_to: [0; 2],
        tables: both.nodes.map(|nodes| nodes.as_ptr().expose_provenance()),
        at: [bytes, both.at.bit],
        began: both.codes_at.bytes.as_ptr().addr() * 8 + both.codes_at.bit,
        of_second: 0,
        limit: both.limit,
        ends: [both.ends, size_of::<usize>()],
        half: 0,
    };
    let all = (&raw mut turns).expose_provenance();
    let [first_end, second_end] = [0, 1].map(|i: usize| both.codes[i].end().expose_provenance());
    let batch = BATCH * size_of::<u32>();
    let [first_dst, second_dst] = both.dst.map(|dst| dst + batch);
    #[expect(clippy::cast_possible_truncation, reason = "as wide as addresses")]
    let second_least = both.least[1] as usize;
    // See `Shadow::beside`.
    both.codes[1].beside = [first_end, first_dst, 0, bytes, 0, 0, 0, batch, 0, all];
    both.codes[0].beside =
        [second_end, second_dst, second_least, 0, 0, both.count, both.last, batch, 0, all];
    #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "below 8")]
    let bit = both.at.bit as i32;
    macro_rules! run {
        ($before:expr, $text:expr, $after:expr) => {
            by_turns!(
                both, $before,
                [
                    sixteen_begun!(short, 32),
                    four_codes!(some, "0", to n, summed!()), four_codes!(some, "32", to s, summed!()),
                    "add {left}, 64",
                    $text,
                    four_codes!(some, "0", to n, summed!()), four_codes!(some, "32", to s, summed!()),
                ],
                $after,
                "mov [{n1} + 24], {bytes}
                vpbroadcastd zmm27, {bit:e}",
                "",
                [
                    sixteen_begun!(short, 32),
                    four_codes!(some, "0", to n, summed!()), four_codes!(some, "32", to s, summed!()),
                    "add {left}, 64",
                    concat!(
                        "vpaddd zmm6, zmm6, dword ptr [{end} + 16]{{1to16}}
                        vpaddd zmm6, zmm6, zmm21
                        ",
                        stored!(32)
                    ),
                    four_codes!(some, "0", to n, summed!()), four_codes!(some, "32", to s, summed!()),
                ],
                "mov {n1}, [{end}]
                mov [{n1} + 24], {bytes}
                vpbroadcastd zmm27, {bit:e}",
                inout("zmm8") last => _,
                inout("zmm9") first => _,
                inout("zmm10") none => _,
                in("zmm12") load(&order.fours),
                in("zmm13") _mm512_set1_epi8(1),
                in("zmm14") _mm512_set1_epi32(15),
                in("zmm23") _mm512_set1_epi64(0x0100),
                in("zmm24") odd,
                in("zmm25") even,
                in("zmm26") splat(both.least[0]),
                inout("zmm27") _mm512_set1_epi32(bit) => _,
                in("zmm28") load(&order.sevens),
                in("zmm29") none,
                in("zmm30") load(&order.widths),
                in("k1") order.up_to,
                in("k4") order.before,
                out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _, out("zmm4") _, out("zmm5") _,
                out("zmm6") _, out("zmm7") _, out("zmm17") _, out("zmm18") _, out("zmm19") _, out("zmm20") _,
                out("zmm21") _, out("zmm22") _, out("k0") _, out("k3") _, out("k7") _,
            )
        };
        ($order:tt) => {
            run!(
                sums_begun!(32, $order),
                concat!(
                    summed_up!(32, $order, none),
                    sixteen_latents!(short),
                    "vmovdqa64 zmm17, zmm6\n",
                ),
                concat!("add {left}, 64\n", summed_up!(last 32, $order, none))
            )
        };
    }
    // SAFETY: the caller's promise; what is in turn has room of its own.
    unsafe {
        match both.order {
            0 => run!("", concat!(sixteen_latents!(short), stored!(32)), ""),
            1 => run!(1),
            _ => run!(2),
        }
    }
    // The compiler does not see that the upper halves are in use.
    _mm256_zeroupper();
    // SAFETY: what the loops have written, which they know by its address.
    let turns = unsafe { (&raw const turns).read_volatile() };
    let left = both.codes[0].beside[COUNT];
    turns.done(both.states, both.count - left)
}
