//! From offsets to latents, their sums, what they are mapped to, and where they go.

/// The lower bounds of two nodes in `$to`; `${r}2` is where bounds are.
#[rustfmt::skip]
macro_rules! two_bounds {
    ($r:literal, $at:literal, $to:literal) => {
        concat!(
            "mov {", $r, "3:e}, [{", $r, "1} + {left} + ", $at, " + 4]
            vmovq ", $to, ", [{", $r, "2} + {", $r, "3} * 8]
            mov {", $r, "3:e}, [{", $r, "1} + {left} + ", $at, " + 12]
            vmovhps ", $to, ", ", $to, ", [{", $r, "2} + {", $r, "3} * 8]
            "
        )
    };
}

/// Four latents of 64 bits, in ymm6.
#[rustfmt::skip]
macro_rules! four_latents {
    (near, $r:literal, $at:literal, $behind:literal) => {
        concat!(
            "mov {", $r, "1}, [{end}]
            ",
            four_offsets!($r, $at),
            "vpsrlq ymm0, ymm0, 32
            vpaddq ymm0, ymm0, ymm9
            vpaddq ymm6, ymm6, ymm0
            "
        )
    };
    (far, $r:literal, $at:literal, $behind:literal) => {
        concat!(
            "mov {", $r, "1}, [{end}]
            ",
            four_offsets!($r, $at),
            "mov {", $r, "2}, [{end} + 16]
            ",
            two_bounds!($r, $at, "xmm0"),
            two_bounds!($r, $behind, "xmm1"),
            "vinserti128 ymm0, ymm0, xmm1, 1
            vpaddq ymm6, ymm6, ymm0
            "
        )
    };
    // Near each other and without offsets.
    (bounds, $r:literal, $at:literal, $behind:literal) => {
        concat!(
            "mov {", $r, "1}, [{end}]
            vmovdqu ymm6, [{", $r, "1} + {left} + ", $at, "]
            vpsrlq ymm6, ymm6, 32
            vpaddq ymm6, ymm6, ymm9
            "
        )
    };
}

/// Eight latents: of 64 bits 0 1 4 5 in ymm6 and 2 3 6 7 in ymm7, of fewer in ymm6.
#[rustfmt::skip]
macro_rules! eight_latents {
    (near, $windows:ident, 64) => {
        concat!(
            eight_offsets!($windows),
            "vpsrlq ymm0, ymm0, 32
            vpsrlq ymm1, ymm1, 32
            vpaddq ymm0, ymm0, ymm9
            vpaddq ymm1, ymm1, ymm9
            ",
            eight_latents!(@ sum)
        )
    };
    (far, $windows:ident, 64) => {
        concat!(
            eight_offsets!($windows),
            "mov {n1}, [{end}]
            mov {n2}, [{end} + 16]
            ",
            two_bounds!("n", "0", "xmm0"),
            two_bounds!("n", "32", "xmm4"),
            two_bounds!("n", "16", "xmm1"),
            two_bounds!("n", "48", "xmm5"),
            "vinserti128 ymm0, ymm0, xmm4, 1
            vinserti128 ymm1, ymm1, xmm5, 1
            ",
            eight_latents!(@ sum)
        )
    };
    (@ sum) => {
        "vpxor xmm4, xmm4, xmm4
        vpunpckldq ymm2, ymm6, ymm4
        vpunpckhdq ymm3, ymm6, ymm4
        vpaddq ymm6, ymm0, ymm2
        vpaddq ymm7, ymm1, ymm3
        "
    };
    // Offsets that come by four, 0 1 4 5 and 2 3 6 7 for a while.
    (near, four, 32) => {
        concat!(
            "mov {n1}, [{end}]
            ",
            four_offsets!("n", "0"),
            "vmovdqa ymm1, ymm6
            ",
            four_offsets!("n", "32"),
            "vshufps ymm6, ymm1, ymm6, 0x88
            vmovdqu ymm1, [{n1} + {left}]
            vshufps ymm0, ymm1, ymm0, 0xdd
            vpaddd ymm6, ymm6, ymm9
            vpaddd ymm6, ymm6, ymm0
            vpermq ymm6, ymm6, 0xd8
            "
        )
    };
    (near, $windows:ident, 32) => {
        concat!(
            eight_offsets!($windows),
            "vshufps ymm0, ymm0, ymm1, 0xdd
            vpaddd ymm6, ymm6, ymm9
            vpaddd ymm6, ymm6, ymm0
            "
        )
    };
    (bounds, no, 32) => {
        "mov {n1}, [{end}]
        vmovdqu xmm6, [{n1} + {left}]
        vinserti128 ymm6, ymm6, [{n1} + {left} + 32], 1
        vmovdqu xmm1, [{n1} + {left} + 16]
        vinserti128 ymm1, ymm1, [{n1} + {left} + 48], 1
        vshufps ymm6, ymm6, ymm1, 0xdd
        vpaddd ymm6, ymm6, ymm9
        "
    };
}

/// Running sums: latents become the sums before them, first of all `$sum`, whose lanes all have it, and
/// to which the latents are added. ymm0, ymm1 and ymm2 are lost.
#[rustfmt::skip]
macro_rules! running {
    // Four of 64 bits in ymm6.
    (four, $sum:literal) => {
        concat!(
            "vpshufd ymm1, ymm6, 0x4e
            vpaddq ymm1, ymm1, ymm6
            vpslldq ymm6, ymm6, 8
            ",
            running!(@ "q", $sum),
            "vpaddq ymm6, ymm6, ymm2
            "
        )
    };
    // Eight of them, 0 1 4 5 in ymm6 and 2 3 6 7 in ymm7.
    (64, $sum:literal) => {
        concat!(
            "vpshufd ymm0, ymm6, 0x4e
            vpaddq ymm0, ymm0, ymm6
            vpshufd ymm1, ymm7, 0x4e
            vpaddq ymm1, ymm1, ymm7
            vpaddq ymm1, ymm1, ymm0
            vpslldq ymm6, ymm6, 8
            vpslldq ymm7, ymm7, 8
            ",
            running!(@ "q", $sum),
            "vpaddq ymm6, ymm6, ymm2
            vpaddq ymm2, ymm2, ymm0
            vpaddq ymm7, ymm7, ymm2
            "
        )
    };
    // Eight of 32 bits in ymm6.
    ($width:literal, $sum:literal) => {
        concat!(
            "vpslldq ymm0, ymm6, 4
            vpaddd ymm0, ymm0, ymm6
            vpslldq ymm1, ymm0, 8
            vpaddd ymm0, ymm0, ymm1
            vpshufd ymm1, ymm0, 0xff
            vpsubd ymm6, ymm0, ymm6
            ",
            running!(@ "d", $sum),
            "vpaddd ymm6, ymm6, ymm2
            "
        )
    };
    // What each half begins with to ymm2, by the latents of each in ymm1.
    (@ $lane:literal, $sum:literal) => {
        concat!(
            "vperm2i128 ymm2, ymm1, ymm1, 0x08
            vpadd", $lane, " ymm2, ymm2, ", $sum, "
            vpadd", $lane, " ", $sum, ", ", $sum, ", ymm1
            vperm2i128 ymm1, ymm1, ymm1, 0x01
            vpadd", $lane, " ", $sum, ", ", $sum, ", ymm1
            "
        )
    };
}

/// As many of these as `$order` says.
#[rustfmt::skip]
macro_rules! sums {
    ($width:tt, 0) => {
        ""
    };
    ($width:tt, 1) => {
        running!($width, "ymm12")
    };
    ($width:tt, 2) => {
        concat!(running!($width, "ymm12"), running!($width, "ymm13"))
    };
}

/// What latents are mapped by: see [`crate::tans::Map`].
#[rustfmt::skip]
macro_rules! mapped {
    ($lane:literal, none, $x:literal) => {
        ""
    };
    ($lane:literal, flip, $x:literal) => {
        concat!(
            "vpxor ", $x, ", ", $x, ", ymm11
        "
        )
    };
    // Lanes without the topmost bit are inverted, and the others lose it.
    ($lane:literal, float, $x:literal) => {
        concat!(
            "vpcmpgt", $lane, " ymm0, ", $x, ", ymm14
            vpor ymm0, ymm0, ymm11
            vpxor ", $x, ", ", $x, ", ymm0
            "
        )
    };
}

/// Latents from where they are to where they belong.
#[rustfmt::skip]
macro_rules! stored {
    (four, $r:literal, $at:literal) => {
        concat!(
            "mov {", $r, "1}, [{end} + 8]
            vmovdqu [{", $r, "1} + {left} + ", $at, "], ymm6
            "
        )
    };
    (64) => {
        "mov {s1}, [{end} + 8]
        vperm2i128 ymm0, ymm6, ymm7, 0x20
        vperm2i128 ymm1, ymm6, ymm7, 0x31
        vmovdqu [{s1} + {left}], ymm0
        vmovdqu [{s1} + {left} + 32], ymm1
        "
    };
    (32) => {
        stored!(@ "1", "vmovdqu [{s1}], ymm6")
    };
    (16) => {
        stored!(@ "2", "vpshufb ymm6, ymm6, [rip + {constants} + 224]
        vpermq ymm6, ymm6, 0x08
        vmovdqu [{s1}], xmm6")
    };
    (8) => {
        stored!(@ "3", "vpshufb ymm6, ymm6, [rip + {constants} + 256]
        vextracti128 xmm7, ymm6, 1
        vpunpckldq xmm6, xmm6, xmm7
        vmovq [{s1}], xmm6")
    };
    // A latent has `1 / 2^$shift` of a node's size.
    (@ $shift:literal, $store:literal) => {
        concat!(
            "mov {s1}, {left}
            sar {s1}, ", $shift, "
            add {s1}, [{end} + 8]
            ", $store, "
            "
        )
    };
}
