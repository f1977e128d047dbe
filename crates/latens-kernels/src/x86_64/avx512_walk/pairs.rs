//! [`crate::tans::Pairs`] with AVX-512.

use super::load;
use super::sixteen::{Order, SHORT};
use crate::tans::codes::Codes;
use crate::tans::slot::Node;
use crate::tans::stream::{BATCH, LANES, Stream};
use crate::x86_64::avx512_tans::{SEVENS, UP_TO, WIDTHS, halves};
use crate::x86_64::bmi2_tans::wide_word;
use crate::x86_64::bmi2_walk::{SOME, four_codes};
use std::arch::asm;
use std::arch::x86_64::*;
use std::mem::offset_of;

/// Most lower bounds of multiples, and of distances, that are far from each other.
pub(crate) const FEW_BOUNDS: usize = 32;
pub(crate) const FEWER_BOUNDS: usize = 8;
/// Most bits of a code.
pub(crate) const MOST_BITS: u8 = SOME;

/// What the loops of two variables have in turn.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Turns {
    /// The multiples' sums behind the batches that are done.
    pub(super) last: __m512i,
    pub(super) first: __m512i,
    /// What `eight_offsets` takes for distances, and what the multiples' offsets take in its place.
    pub(super) sevens: [__m512i; 2],
    pub(super) widths: [__m512i; 2],
    /// Lower bounds of distances that are far from each other.
    pub(super) few: [u64; FEWER_BOUNDS],
    /// The states behind the batches that are done, multiples' first, and those of distances behind the next one's codes.
    pub(super) states: [u64; LANES],
    pub(super) second_states: [u64; LANES],
    pub(super) new_states: [u64; LANES],
    pub(super) up_to: [u64; 2],
    /// The nodes of either table.
    pub(super) tables: [usize; 2],
    /// Where the next multiples' offsets begin: a byte's address, and which bit of it.
    pub(super) at: [usize; 2],
    /// Where the codes of distances have begun, in bits from the beginning of memory.
    pub(super) began: usize,
    /// Bits that distances took in all.
    pub(super) of_second: usize,
    /// From which byte on no batch may end.
    pub(super) limit: usize,
    /// Where the next batch's end is noted, in bits from the beginning of memory, and how far the one behind it is from there.
    pub(super) ends: [usize; 2],
    /// What a small multiple and this are below 2^53.
    pub(super) half: u64,
}

/// Batches of two variables. Of each two, the multiples' come first, then those of distances.
pub(crate) struct Pairs<'a> {
    pub(crate) nodes: [&'a [Node]; 2],
    pub(crate) states: [&'a mut [u32; LANES]; 2],
    /// The multiples' first ones have been walked.
    pub(crate) codes: [&'a mut Codes; 2],
    /// Where the first multiples' offsets begin, and the codes of distances behind these.
    pub(crate) at: Stream<'a>,
    pub(crate) codes_at: Stream<'a>,
    /// Lower bounds of multiples that are far from each other.
    pub(crate) far: Option<[u64; FEW_BOUNDS]>,
    /// And of distances.
    pub(crate) second_far: Option<[u64; FEWER_BOUNDS]>,
    /// The smallest lower bounds of others.
    pub(crate) least: [u64; 2],
    pub(crate) max_offset_bits: [u8; 2],
    /// What the multiples' sums begin with, the last one first, and how many there are.
    pub(crate) sums: [u64; 2],
    pub(crate) order: usize,
    pub(crate) base: u64,
    /// Behind the room for multiples.
    pub(crate) whole: usize,
    /// Where numbers go, and how many batches of them.
    pub(crate) dst: usize,
    pub(crate) count: usize,
    /// The last byte that a batch's first offset may begin in.
    pub(crate) last: usize,
    /// From which byte on no batch may end.
    pub(crate) limit: usize,
    /// Whether memory for numbers is fetched a batch ahead.
    pub(crate) fetches: bool,
}

/// What [`walk_pairs`] has done.
pub(crate) struct Done {
    pub(crate) batches: usize,
    /// Where the next multiples' offsets begin.
    pub(crate) at: usize,
    pub(crate) bit: usize,
    /// Bits of distances.
    pub(crate) of_second: usize,
    pub(crate) sums: [u64; 2],
}

/// # Safety
/// Both walks as [`super::walk`]'s, whose shadows are the other variable's, for as many batches as there are: from byte
/// `last` on there are bytes for a whole batch of both, and room for multiples and numbers. Codes have at most
/// [`MOST_BITS`] bits.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
#[target_feature(enable = "avx512vnni,avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn walk_pairs(mut pairs: Pairs<'_>) -> Done {
    let order = Order::of(pairs.order == 0);
    let is_short = pairs.max_offset_bits[0] <= SHORT && pairs.far.is_none();
    let eight = (_mm512_set1_epi64(SEVENS), _mm512_set1_epi64(WIDTHS), UP_TO);
    let (sevens, widths, up_to) =
        if is_short { (load(&order.sevens), load(&order.widths), order.up_to) } else { eight };
    let splat = |x: u64| _mm512_set1_epi64(x.cast_signed());
    let [last, first] = pairs.sums.map(splat);
    let mut few = [_mm512_setzero_si512(); FEW_BOUNDS / 8];
    for (few, eight) in few.iter_mut().zip(pairs.far.iter().flat_map(|all| all.as_chunks::<8>().0))
    {
        // SAFETY: 64 bytes.
        *few = unsafe { _mm512_loadu_si512(eight.as_ptr().cast()) };
    }
    let (even, odd) = halves();
    let least = splat(pairs.least[0]);
    #[expect(clippy::cast_possible_truncation, reason = "as wide as addresses")]
    let [second_least, base] = [pairs.least[1], pairs.base].map(|x| x as usize);
    let bytes = pairs.at.bytes.as_ptr().expose_provenance();
    let bits_at = |stream: &Stream<'_>| stream.bytes.as_ptr().addr() * 8 + stream.bit;
    let [states, second_states] = [0, 1].map(|i: usize| pairs.states[i].map(u64::from));
    let mut noted = 0usize;
    let mut turns = Turns {
        last,
        first,
        sevens: [eight.0, sevens],
        widths: [eight.1, widths],
        few: pairs.second_far.unwrap_or_default(),
        states,
        second_states,
        new_states: second_states,
        up_to: [eight.2, up_to],
        tables: pairs.nodes.map(|nodes| nodes.as_ptr().expose_provenance()),
        at: [bytes, pairs.at.bit],
        began: bits_at(&pairs.codes_at),
        of_second: 0,
        limit: pairs.limit,
        ends: [(&raw mut noted).expose_provenance(), 0],
        half: (1 << 63) + (1 << 52),
    };
    let all = (&raw mut turns).expose_provenance();
    let [whole_end, second_end] = [0, 1].map(|i: usize| pairs.codes[i].end().expose_provenance());
    let batch = BATCH * size_of::<u64>();
    let fetched = if pairs.fetches { batch } else { 0 };
    // See `Shadow::beside`.
    pairs.codes[1].beside = [whole_end, pairs.whole, 0, bytes, 0, 0, 0, 0, 0, all];
    pairs.codes[0].beside = [
        second_end,
        pairs.dst + batch,
        second_least,
        base,
        pairs.whole,
        pairs.count,
        pairs.last,
        batch,
        fetched,
        all,
    ];
    #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "below 8")]
    let bit = pairs.at.bit as i32;
    macro_rules! run {
        ($before:expr, $text:tt, $after:expr, $place:expr, $second:tt, $($operand:tt)*) => {
            by_turns!(
                pairs, $before, $text, $after,
                concat!("/* {sevens} {widths} {up_to} {few} */\n", back!($second), $place),
                are_small!(),
                [
                    concat!(
                        distances!($second),
                        joined!(@ "qword ptr [{end} + 24]{{1to8}}", "zmm6", ""),
                        mapped!("q", joined, "zmm6"),
                        stored!(64),
                    ),
                    four_codes!(some, "0", to n, summed!()),
                    four_codes!(some, "32", to s, summed!()),
                ],
                place!($second),
                inout("zmm8") last => _,
                inout("zmm9") first => _,
                inout("zmm10") _mm512_setzero_si512() => _,
                in("zmm14") _mm512_set1_epi32(15),
                in("zmm23") _mm512_set1_epi64(0x0100),
                in("zmm24") odd,
                in("zmm25") even,
                in("zmm26") least,
                in("zmm29") _mm512_setzero_si512(),
                in("zmm31") splat(1 << 63),
                inout("zmm28") sevens => _,
                inout("zmm30") widths => _,
                inout("k1") up_to => _,
                out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _,
                out("zmm4") _, out("zmm5") _, out("zmm6") _, out("zmm17") _, out("zmm19") _,
                out("k0") _, out("k3") _, out("k7") _,
                sevens = const offset_of!(Turns, sevens),
                widths = const offset_of!(Turns, widths),
                up_to = const offset_of!(Turns, up_to),
                few = const offset_of!(Turns, few),
                half = const offset_of!(Turns, half),
                $($operand)*
            )
        };
    }
    macro_rules! by_eight {
        ($before:expr, $text:expr, $after:expr, $second:tt) => {
            run!(
                $before,
                [$text, four_codes!(some, "0", to n, summed!()), four_codes!(some, "32", to s, summed!()),],
                $after,
                "lea {s0}, [{bit} + {bytes} * 8]
                vpbroadcastq zmm27, {s0}",
                $second,
                inout("zmm27") _mm512_set1_epi64((bytes * 8 + pairs.at.bit) as i64) => _,
                in("zmm7") few[0], in("zmm11") few[1], in("zmm12") few[2], in("zmm13") few[3],
                in("zmm21") _mm512_set1_epi64(16),
                out("zmm18") _, out("zmm20") _,
            )
        };
    }
    macro_rules! by_sixteen {
        ($before:expr, [$first:expr, $text:expr], $after:expr, $second:tt) => {
            run!(
                $before,
                [
                    $first,
                    four_codes!(some, "0", to n, summed!()), four_codes!(some, "32", to s, summed!()),
                    "add {left}, 64",
                    $text,
                    four_codes!(some, "0", to n, summed!()), four_codes!(some, "32", to s, summed!()),
                ],
                $after,
                "mov [{n1} + 24], {bytes}
                vpbroadcastd zmm27, {bit:e}",
                $second,
                in("k4") order.before,
                in("k5") 0xaaaa_u64,
                in("k6") 0x5555_u64,
                in("zmm12") load(&order.fours),
                in("zmm13") _mm512_set1_epi8(1),
                in("zmm15") _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0),
                in("zmm16") _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4),
                inout("zmm27") _mm512_set1_epi32(bit) => _,
                out("zmm7") _, out("zmm18") _, out("zmm20") _, out("zmm21") _, out("zmm22") _,
            )
        };
    }
    macro_rules! eight {
        ($kind:tt, 0, $second:tt) => {
            by_eight!("", concat!(eight_latents!($kind), stored!(64)), "", $second)
        };
        ($kind:tt, $order:tt, $second:tt) => {
            by_eight!(
                sums_begun!(64, $order),
                concat!(
                    summed_up!(64, $order, none),
                    eight_latents!($kind),
                    "vmovdqa64 zmm17, zmm6\n",
                ),
                summed_up!(last 64, $order, none),
                $second
            )
        };
    }
    macro_rules! sixteen {
        (0, $second:tt) => {
            by_sixteen!(
                "",
                [sixteen_begun!(short, 64), concat!(wide_latents!(short), stored!(128))],
                "",
                $second
            )
        };
        ($order:tt, $second:tt) => {
            by_sixteen!(
                sums_begun!(paired, $order),
                [
                    sixteen_begun!(short, 32),
                    concat!(
                        summed_up!(paired, $order, none),
                        wide_latents!(paired),
                        "vmovdqa64 zmm17, zmm6
                        vmovdqa64 zmm18, zmm7
                        "
                    )
                ],
                concat!("add {left}, 64\n", summed_up!(last paired, $order, none)),
                $second
            )
        };
    }
    macro_rules! ordered {
        ($body:ident $(, $what:tt)?) => {
            match (pairs.order, pairs.max_offset_bits[1], pairs.second_far) {
                (0, _, Some(_)) => $body!($($what,)? 0, far),
                (0, 0, None) => $body!($($what,)? 0, bounds),
                (0, _, None) => $body!($($what,)? 0, near),
                (1, _, Some(_)) => $body!($($what,)? 1, far),
                (1, 0, None) => $body!($($what,)? 1, bounds),
                (1, _, None) => $body!($($what,)? 1, near),
                (_, _, Some(_)) => $body!($($what,)? 2, far),
                (_, 0, None) => $body!($($what,)? 2, bounds),
                (_, _, None) => $body!($($what,)? 2, near),
            }
        };
    }
    // SAFETY: the caller's promise; what is in turn has room of its own.
    unsafe {
        match pairs.far {
            Some(_) => ordered!(eight, far32),
            None if is_short => ordered!(sixteen),
            None => ordered!(eight, near),
        }
    }
    // The compiler does not see that the upper halves are in use.
    _mm256_zeroupper();
    // SAFETY: what the loops have written, which they know by its address.
    let turns = unsafe { (&raw const turns).read_volatile() };
    let left = pairs.codes[0].beside[COUNT];
    turns.done(pairs.states, pairs.count - left)
}

impl Turns {
    /// Gives the states back; what has been done in so many batches.
    #[target_feature(enable = "avx512f")]
    pub(super) fn done(&self, all: [&mut [u32; LANES]; 2], batches: usize) -> Done {
        #[expect(clippy::cast_possible_truncation, reason = "slots")]
        for (states, now) in all.into_iter().zip([self.states, self.second_states]) {
            *states = now.map(|state| state as u32);
        }
        let [at, bit] = self.at;
        let sum = |x: __m512i| _mm_cvtsi128_si64(_mm512_castsi512_si128(x)).cast_unsigned();
        let sums = [sum(self.last), sum(self.first)];
        Done { batches, at, bit, of_second: self.of_second, sums }
    }
}

/// Where the batches that are left lie beside codes.
pub(super) const COUNT: usize = 5;
