//! From widths to offsets: eight or sixteen at a time.

/// The offsets of the next eight nodes, and these: in zmm registers of the numbers `$nodes` and
/// `$offsets`. What is done is told in [`crate::x86_64::avx512_tans`].
///
/// `end` points to where the nodes, the latents and the lower bounds are; zmm27 has the place in
/// the stream, in bits from the beginning of memory. `n1` is free before four codes.
#[rustfmt::skip]
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
            # The words before: where there is none, an offset is in the first one alone.
            vpaddq zmm4, zmm2, zmm28
            vmovdqu64 zmm5, [{n1}]
            vpermq zmm4, zmm4, zmm5
            vpermq zmm5, zmm2, zmm5
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

/// The offsets of sixteen nodes, whose lower halves are in zmm2, in lanes of 32 bits of zmm6, in the
/// order of the constants: see [`super::sixteen`]. zmm27 has the place in the stream, in bits from the byte that
/// `end` says.
#[rustfmt::skip]
macro_rules! sixteen_offsets {
    () => {
        "# From the byte of the place on, which goes with the first four.
        vpandd zmm3, zmm27, zmm28
        vpermb zmm4{{k1}}{{z}}, zmm30, zmm2
        vpdpbusd zmm3, zmm4, zmm13
        vpermb zmm4{{k4}}{{z}}, zmm12, zmm3
        vpdpbusd zmm3, zmm4, zmm13
        vmovd {n1:e}, xmm27
        shr {n1:e}, 3
        add {n1}, [{end} + 24]
        mov [{end} + 24], {n1}
        vpermd zmm27, zmm14, zmm3
        vpsrld zmm5, zmm3, 5
        # The words before, as above.
        vpsubd zmm4, zmm5, zmm13
        vmovdqu64 zmm6, [{n1}]
        vpermd zmm4, zmm4, zmm6
        vpermd zmm6, zmm5, zmm6
        vpshrdvd zmm4, zmm6, zmm3
        vpsrld zmm5, zmm2, 8
        vpxor xmm6, xmm6, xmm6
        vpshldvd zmm6, zmm4, zmm5
        "
    };
}

/// The offset bits of four nodes to those of zmm10: see [`crate::x86_64::bmi2_walk::four_codes`].
#[rustfmt::skip]
macro_rules! summed {
    () => {
        "vmovd xmm5, {bit:e}
        vpdpbusd xmm10, xmm5, xmm23
        "
    };
}
