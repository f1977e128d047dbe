//! A walk, and the unpacking of other codes in its shadow.
//!
//! A walk waits for its own loads most of the time: half of what the processor could do in a cycle
//! is free. Unpacking with AVX-512 needs vector registers and, for a moment, one of the others, so
//! that both go into one loop.

use crate::latent::Latent;
use crate::tans::codes::Codes;
use crate::tans::slot::{Lowers, Node};
use crate::tans::stream::{BATCH, LANES, Stream};
use crate::x86_64::avx512_tans::{SEVENS, UP_TO, WIDTHS, halves};
use crate::x86_64::bmi2_tans::wide_word;
use crate::x86_64::bmi2_walk::{FEW, Walker, four_codes, walk_groups};
use std::arch::asm;
use std::arch::x86_64::*;

/// The offsets of the next eight nodes, and these: in zmm registers of the numbers `$nodes` and
/// `$offsets`. What is done is told in [`super::avx512_tans`].
///
/// `end` points to where the nodes, the latents and the lower bounds are; zmm27 has the place in
/// the stream, in bits from the beginning of memory. `n1` is free before four codes.
macro_rules! eight_offsets {
    ($nodes:literal, $offsets:literal) => {
        concat!(
            "mov {n1}, [{end}]
            vmovdqu64 zmm",
            $nodes,
            ", [{n1} + {left}]
            vpermb zmm2{{k1}}{{z}}, zmm30, zmm",
            $nodes,
            "
            vpsadbw zmm2, zmm2, zmm29
            vpandq zmm3, zmm27, zmm28
            vpaddq zmm3, zmm3, zmm2
            vmovq {n1}, xmm27
            vpermq zmm2, zmm28, zmm2
            shr {n1}, 3
            vpaddq zmm27, zmm27, zmm2
            vpsrlq zmm2, zmm3, 6
            vmovdqu64 zmm4{{k2}}{{z}}, [{n1} - 8]
            vpermq zmm5, zmm2, [{n1}]
            vpermq zmm4, zmm2, zmm4
            vpshrdvq zmm4, zmm5, zmm3
            vpsrlq zmm3, zmm",
            $nodes,
            ", 8
            vpxor xmm",
            $offsets,
            ", xmm",
            $offsets,
            ", xmm",
            $offsets,
            "
            vpshldvq zmm",
            $offsets,
            ", zmm4, zmm3
            "
        )
    };
}

/// Eight latents of 64 bits.
macro_rules! eight_latents {
    (near) => {
        concat!(
            eight_offsets!(0, 6),
            "vpsrlq zmm0, zmm0, 32
            vpaddq zmm6, zmm6, zmm26
            mov {n1}, [{end} + 8]
            vpaddq zmm6, zmm6, zmm0
            vmovdqu64 [{n1} + {left}], zmm6
            "
        )
    };
    (far) => {
        concat!(
            eight_offsets!(0, 6),
            "vpsrlq zmm0, zmm0, 32
            mov {n1}, [{end} + 16]
            kxnorb k3, k3, k3
            vpxor xmm1, xmm1, xmm1
            vpgatherqq zmm1{{k3}}, [{n1} + zmm0 * 8]
            mov {n1}, [{end} + 8]
            vpaddq zmm6, zmm6, zmm1
            vmovdqu64 [{n1} + {left}], zmm6
            "
        )
    };
}

/// Sixteen narrower ones, of which eight offsets are there: `$store` puts them where `n1` points
/// behind. A latent has `1 / 2^$shift` of a node's size.
macro_rules! sixteen_latents {
    ($shift:literal, $store:literal) => {
        concat!(
            eight_offsets!(1, 7),
            "vpermt2d zmm6, zmm25, zmm7
            mov {n1}, {left}
            vpermt2d zmm0, zmm24, zmm1
            sar {n1}, ",
            $shift,
            "
            vpaddd zmm6, zmm6, zmm26
            add {n1}, [{end} + 8]
            vpaddd zmm6, zmm6, zmm0
            ",
            $store,
            "
            "
        )
    };
}

/// Eight latents of 64 bits that lie near each other and have no offsets.
macro_rules! eight_bounds {
    () => {
        "mov {n1}, [{end}]
        vpsrlq zmm0, [{n1} + {left}], 32
        mov {n1}, [{end} + 8]
        vpaddq zmm0, zmm0, zmm26
        vmovdqu64 [{n1} + {left}], zmm0
        "
    };
}

/// Sixteen narrower ones without offsets; see [`sixteen_latents`].
macro_rules! sixteen_bounds {
    ($shift:literal, $store:literal) => {
        concat!(
            "mov {n1}, [{end}]
            vmovdqu64 zmm6, [{n1} + {left}]
            vpermt2d zmm6, zmm24, [{n1} + {left} + 64]
            mov {n1}, {left}
            sar {n1}, ",
            $shift,
            "
            add {n1}, [{end} + 8]
            vpaddd zmm6, zmm6, zmm26
            ",
            $store,
            "
            "
        )
    };
}

/// What is unpacked.
pub(crate) struct Shadow<'a, L> {
    pub(crate) lowers: &'a Lowers<L>,
    pub(crate) visited: &'a [Node; BATCH],
    pub(crate) stream: Stream<'a>,
    pub(crate) dst: &'a mut [L; BATCH],
    /// Whether there are any offsets.
    pub(crate) offsets: bool,
}

/// [`super::bmi2_walk::walk`] of a whole batch, and [`super::avx512_tans::unpack`] of another one.
///
/// # Safety
/// As those two.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn walk<L: Latent>(
    nodes: &[Node],
    max_bits: u8,
    states: &mut [u32; LANES],
    stream: Stream<'_>,
    codes: &mut Codes,
    shadow: Shadow<'_, L>,
) -> usize {
    let mut walker = Walker {
        nodes: nodes.as_ptr(),
        states: states.map(u64::from),
        bytes: stream.bytes.as_ptr(),
        bit: stream.bit as u64,
    };
    let Shadow { lowers, visited, stream: offsets, dst, offsets: has_offsets } = shadow;
    codes.beside = [
        visited.as_ptr_range().end.expose_provenance(),
        dst.as_mut_ptr_range().end.expose_provenance(),
        match lowers {
            Lowers::Near(_) => 0,
            Lowers::Far(lowers) => lowers.as_ptr().expose_provenance(),
        },
    ];
    let codes: *mut Codes = codes;
    // SAFETY: the field that follows the nodes.
    let end = unsafe { &raw mut (*codes).beside };
    let place = (offsets.bytes.as_ptr().expose_provenance() * 8 + offsets.bit) as i64;
    let (even, odd) = halves();
    macro_rules! run {
        ($least:expr, $text:tt) => {
            if max_bits <= FEW { run!(@ few, $least, $text) } else { run!(@ many, $least, $text) }
        };
        (@ $count:tt, $least:expr, [$before:expr]) => {
            run!(@ $least, [$before, four_codes!($count), four_codes!($count),])
        };
        (@ $count:tt, $least:expr, [$before:expr, $($between:expr)?]) => {
            run!(@ $least, [
                $before, four_codes!($count), four_codes!($count),
                $($between,)? four_codes!($count), four_codes!($count),
            ])
        };
        (@ $least:expr, $text:tt) => {
            walk_groups!(
                walker, end, BATCH, $text,
                in("zmm30") _mm512_set1_epi64(WIDTHS),
                in("zmm29") _mm512_setzero_si512(),
                in("zmm28") _mm512_set1_epi64(SEVENS),
                inout("zmm27") _mm512_set1_epi64(place) => _,
                in("zmm26") $least,
                in("zmm25") even,
                in("zmm24") odd,
                in("k1") UP_TO,
                in("k2") 0xfe_u64,
                out("k3") _,
                out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _,
                out("zmm4") _, out("zmm5") _, out("zmm6") _, out("zmm7") _,
            )
        };
    }
    let wide = |least: L| _mm512_set1_epi64(least.widen().cast_signed());
    #[expect(clippy::cast_possible_truncation, reason = "as many bits as latents have")]
    let narrow = |least: L| _mm512_set1_epi32(least.widen() as i32);
    // SAFETY: the caller's promise: all nodes, latents, lower bounds and bytes are there.
    unsafe {
        match lowers {
            Lowers::Far(_) => run!(wide(L::default()), [eight_latents!(far)]),
            Lowers::Near(least) if has_offsets => match L::WIDTH {
                64 => run!(wide(*least), [eight_latents!(near)]),
                32 => run!(
                    narrow(*least),
                    [eight_offsets!(0, 6), sixteen_latents!(1, "vmovdqu64 [{n1} - 32], zmm6")]
                ),
                16 => run!(
                    narrow(*least),
                    [eight_offsets!(0, 6), sixteen_latents!(2, "vpmovdw [{n1} - 16], zmm6")]
                ),
                _ => run!(
                    narrow(*least),
                    [eight_offsets!(0, 6), sixteen_latents!(3, "vpmovdb [{n1} - 8], zmm6")]
                ),
            },
            Lowers::Near(least) => match L::WIDTH {
                64 => run!(wide(*least), [eight_bounds!()]),
                32 => run!(narrow(*least), [sixteen_bounds!(1, "vmovdqu64 [{n1}], zmm6"),]),
                16 => run!(narrow(*least), [sixteen_bounds!(2, "vpmovdw [{n1}], zmm6"),]),
                _ => run!(narrow(*least), [sixteen_bounds!(3, "vpmovdb [{n1}], zmm6"),]),
            },
        }
    }
    // The compiler does not see that the upper halves are in use, which would slow down all code for
    // SSE from here on.
    _mm256_zeroupper();
    walker.finish(states, stream)
}
