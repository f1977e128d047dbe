//! From offsets to latents, what they are mapped to, and where they go without sums.

/// Eight latents of 64 bits, in zmm6.
#[rustfmt::skip]
macro_rules! eight_latents {
    (near) => {
        concat!(
            eight_offsets!(0, 6),
            "vpsrlq zmm0, zmm0, 32
            vpaddq zmm6, zmm6, zmm26
            vpaddq zmm6, zmm6, zmm0
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
            vpaddq zmm6, zmm6, zmm1
            "
        )
    };
    // Up to 32 or 64, in registers.
    (far32) => {
        concat!(
            eight_offsets!(0, 6),
            "vpsrlq zmm0, zmm0, 32
            ",
            bounds_of!("zmm1", "zmm7", "zmm11", "zmm12", "zmm13"),
            "vpaddq zmm6, zmm6, zmm1
            "
        )
    };
    (far64) => {
        concat!(
            eight_offsets!(0, 6),
            "vpsrlq zmm0, zmm0, 32
            ",
            bounds_of!("zmm1", "zmm7", "zmm11", "zmm12", "zmm13"),
            bounds_of!("zmm3", "zmm15", "zmm16", "zmm18", "zmm20"),
            "vptestmq k3, zmm0, zmm22
            vmovdqa64 zmm1{{k3}}, zmm3
            vpaddq zmm6, zmm6, zmm1
            "
        )
    };
    // Near each other and without offsets.
    (bounds) => {
        "mov {n1}, [{end}]
        vpsrlq zmm6, [{n1} + {left}], 32
        vpaddq zmm6, zmm6, zmm26
        "
    };
}

/// Lower bounds by the low five bits of zmm0, of 32 in four registers; zmm21 has 16 in each lane. zmm2 is lost.
#[rustfmt::skip]
macro_rules! bounds_of {
    ($to:literal, $a:literal, $b:literal, $c:literal, $d:literal) => {
        concat!(
            "vmovdqa64 ", $to, ", zmm0
            vmovdqa64 zmm2, zmm0
            vptestmq k3, zmm0, zmm21
            vpermi2q ", $to, ", ", $a, ", ", $b, "
            vpermi2q zmm2, ", $c, ", ", $d, "
            vmovdqa64 ", $to, "{{k3}}, zmm2
            "
        )
    };
}

/// What sixteen latents begin with, before the first four codes; by the kind of offsets.
#[rustfmt::skip]
macro_rules! sixteen_begun {
    // Up to 31 bits. Lower halves of the first eight nodes go to even lanes, the others' to odd ones.
    (short, 64) => {
        concat!(
            "mov {n1}, [{end}]
            vmovdqu64 zmm21, [{n1} + {left}]
            vmovdqu64 zmm22, [{n1} + {left} + 64]
            vmovdqa64 zmm2, zmm21
            vmovsldup zmm2{{k5}}, zmm22
            ",
            sixteen_offsets!()
        )
    };
    (short, $width:tt) => {
        concat!(
            "mov {n1}, [{end}]
            vmovdqu64 zmm2, [{n1} + {left}]
            vmovdqu64 zmm3, [{n1} + {left} + 64]
            vmovdqa64 zmm21, zmm2
            vpermt2d zmm2, zmm25, zmm3
            vpermt2d zmm21, zmm24, zmm3
            ",
            sixteen_offsets!()
        )
    };
    (near, $width:tt) => {
        eight_offsets!(0, 6)
    };
    (bounds, $width:tt) => {
        ""
    };
}

/// Sixteen latents of up to 32 bits, in zmm6, eight codes later: `left` is where that of the second eight
/// is.
#[rustfmt::skip]
macro_rules! sixteen_latents {
    (short) => {
        "vpaddd zmm6, zmm6, zmm26
        vpaddd zmm6, zmm6, zmm21
        "
    };
    (near) => {
        concat!(
            eight_offsets!(1, 7),
            "vpermt2d zmm6, zmm25, zmm7
            vpermt2d zmm0, zmm24, zmm1
            vpaddd zmm6, zmm6, zmm26
            vpaddd zmm6, zmm6, zmm0
            "
        )
    };
    // Without offsets.
    (bounds) => {
        "mov {n1}, [{end}]
        vmovdqu64 zmm6, [{n1} + {left} - 64]
        vpermt2d zmm6, zmm24, [{n1} + {left}]
        vpaddd zmm6, zmm6, zmm26
        "
    };
}

/// Sixteen latents of 64 bits by short offsets, in zmm6 and zmm7, where [`sixteen_latents`] would be.
#[rustfmt::skip]
macro_rules! wide_latents {
    // Each second one, from the first and the second on.
    (paired) => {
        "vpsrlq zmm1, zmm21, 32
        vpsrlq zmm7, zmm6, 32
        vmovdqa32 zmm0{{k6}}{{z}}, zmm21
        vmovdqa32 zmm6{{k6}}{{z}}, zmm6
        vpaddq zmm0, zmm0, zmm26
        vpaddq zmm1, zmm1, zmm26
        vpaddq zmm6, zmm6, zmm0
        vpaddq zmm7, zmm7, zmm1
        "
    };
    // The first eight and the others.
    (short) => {
        "vpsrlq zmm0, zmm21, 32
        vpsrlq zmm1, zmm22, 32
        vpsrlq zmm7, zmm6, 32
        vmovdqa32 zmm6{{k6}}{{z}}, zmm6
        vpaddq zmm0, zmm0, zmm26
        vpaddq zmm1, zmm1, zmm26
        vpaddq zmm6, zmm6, zmm0
        vpaddq zmm7, zmm7, zmm1
        "
    };
}

/// Products of whole numbers, those `$at` of the multiples, and the base, which all lanes of a register have, to which
/// latents are added: see [`crate::tans::Multiples`]. zmm31 has the topmost bit in each lane; zmm0, zmm1 and zmm3
/// are lost.
#[rustfmt::skip]
macro_rules! joined {
    (joined, $x:literal, $at:literal) => {
        joined!(@ "zmm9", $x, $at)
    };
    (@ $base:literal, $x:literal, $at:literal) => {
        concat!(
            "mov {n1}, [{end} + 32]
            vpxorq zmm0, zmm31, [{n1} + {left}", $at, "]
            # The magnitude, and the sign apart.
            vpsraq zmm1, zmm0, 63
            vpxorq zmm3, zmm1, zmm0
            vcvtqq2pd zmm3, zmm3
            vpternlogq zmm3, zmm0, zmm31, 0xf8
            vmulpd zmm3, zmm3, ", $base, "
            # Negative floats in the order of integers.
            vpsraq zmm1, zmm3, 63
            vpternlogq zmm3, zmm1, zmm31, 0xb4
            vpaddq ", $x, ", ", $x, ", zmm3
            "
        )
    };
    ($map:tt, $x:literal, $at:literal) => {
        ""
    };
}

/// What latents are mapped by: see [`crate::tans::Map`]. zmm2 is lost.
#[rustfmt::skip]
macro_rules! mapped {
    ($lane:literal, none, $x:literal) => {
        ""
    };
    ($lane:literal, flip, $x:literal) => {
        concat!(
            "vpxorq ", $x, ", ", $x, ", zmm31
            "
        )
    };
    ("q", joined, $x:literal) => {
        mapped!("q", float, $x)
    };
    // Lanes without the topmost bit are inverted, and the others lose it.
    ("q", float, $x:literal) => {
        concat!(
            "vpsraq zmm2, ", $x, ", 63
            vpternlogq ", $x, ", zmm2, zmm31, 0x4b
            "
        )
    };
    ("d", float, $x:literal) => {
        concat!(
            "vpsrad zmm2, ", $x, ", 31
            vpternlogd ", $x, ", zmm2, zmm31, 0x4b
            "
        )
    };
}

/// Latents without sums from zmm6 to where they belong.
#[rustfmt::skip]
macro_rules! stored {
    (64) => {
        "mov {n1}, [{end} + 8]
        vmovdqu64 [{n1} + {left}], zmm6
        "
    };
    // The eight before as well, which are in zmm6, and these in zmm7.
    (128) => {
        "mov {n1}, [{end} + 8]
        vmovdqu64 [{n1} + {left} - 64], zmm6
        vmovdqu64 [{n1} + {left}], zmm7
        "
    };
    (32) => {
        stored!(@ "1", "vmovdqu64 [{n1} - 32], zmm6")
    };
    (16) => {
        stored!(@ "2", "vpmovdw [{n1} - 16], zmm6")
    };
    (8) => {
        stored!(@ "3", "vpmovdb [{n1} - 8], zmm6")
    };
    // A latent has `1 / 2^$shift` of a node's size, and `left` is eight nodes on.
    (@ $shift:literal, $store:literal) => {
        concat!(
            "mov {n1}, {left}
            sar {n1}, ", $shift, "
            add {n1}, [{end} + 8]
            ", $store, "
            "
        )
    };
}
