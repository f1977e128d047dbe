//! From offsets to latents, their sums, what they are mapped to, and where they go.

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
    // Near each other and without offsets.
    (bounds) => {
        "mov {n1}, [{end}]
        vpsrlq zmm6, [{n1} + {left}], 32
        vpaddq zmm6, zmm6, zmm26
        "
    };
}

/// What sixteen latents begin with, before the first four codes; by the kind of offsets.
#[rustfmt::skip]
macro_rules! sixteen_begun {
    // Up to 31 bits. Lower halves of the first eight nodes go to even lanes, the others' to odd ones.
    (short, 64) => {
        concat!(
            "mov {n1}, [{end}]
            vmovdqu64 zmm2, [{n1} + {left}]
            vmovsldup zmm2{{k5}}, [{n1} + {left} + 64]
            ",
            sixteen_offsets!()
        )
    };
    (short, $width:tt) => {
        concat!(
            "mov {n1}, [{end}]
            vmovdqu64 zmm2, [{n1} + {left}]
            vpermt2d zmm2, zmm25, [{n1} + {left} + 64]
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
        "mov {n1}, [{end}]
        vmovdqu64 zmm0, [{n1} + {left} - 64]
        vpermt2d zmm0, zmm24, [{n1} + {left}]
        vpaddd zmm6, zmm6, zmm26
        vpaddd zmm6, zmm6, zmm0
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
        "mov {n1}, [{end}]
        vmovdqu64 zmm0, [{n1} + {left} - 64]
        vpermt2d zmm0, zmm24, [{n1} + {left}]
        vpsrlq zmm1, zmm0, 32
        vpsrlq zmm7, zmm6, 32
        vmovdqa32 zmm0{{k6}}{{z}}, zmm0
        vmovdqa32 zmm6{{k6}}{{z}}, zmm6
        vpaddq zmm0, zmm0, zmm26
        vpaddq zmm1, zmm1, zmm26
        vpaddq zmm6, zmm6, zmm0
        vpaddq zmm7, zmm7, zmm1
        "
    };
    // The first eight and the others.
    (short) => {
        "mov {n1}, [{end}]
        vpsrlq zmm0, [{n1} + {left} - 64], 32
        vpsrlq zmm1, [{n1} + {left}], 32
        vpsrlq zmm7, zmm6, 32
        vmovdqa32 zmm6{{k6}}{{z}}, zmm6
        vpaddq zmm0, zmm0, zmm26
        vpaddq zmm1, zmm1, zmm26
        vpaddq zmm6, zmm6, zmm0
        vpaddq zmm7, zmm7, zmm1
        "
    };
}

/// Running sums: the latents of zmm6 become the sums before them, first of all the one that the last
/// lane of `$sum` has, and `$sum` gets these and the latents.
#[rustfmt::skip]
macro_rules! running {
    ("q", $sum:literal) => {
        concat!(
            running!(@ "q", $sum, "7"),
            running!(@ "q", "7"), running!(@ "q", "6"), running!(@ "q", "4"),
            "vpaddq ", $sum, ", zmm6, zmm0
            "
        )
    };
    ("d", $sum:literal) => {
        concat!(
            running!(@ "d", $sum, "15"),
            running!(@ "d", "15"), running!(@ "d", "14"),
            running!(@ "d", "12"), running!(@ "d", "8"),
            "vpaddd ", $sum, ", zmm6, zmm0
            "
        )
    };
    // Of sixteen, each second one in zmm6 and those behind them in zmm7: as sums of two.
    (paired, $sum:literal) => {
        concat!(
            "vpaddq zmm0, zmm6, zmm7
            vmovdqa64 zmm7, zmm6
            valignq zmm6, zmm0, ", $sum, ", 7
            ",
            running!(@ "q", "7"), running!(@ "q", "6"), running!(@ "q", "4"),
            "vpaddq ", $sum, ", zmm6, zmm0
            vpaddq zmm7, zmm7, zmm6
            "
        )
    };
    (@ $lane:literal, $sum:literal, $last:literal) => {
        concat!(
            "vmovdqa64 zmm0, zmm6
            valign", $lane, " zmm6, zmm6, ", $sum, ", ", $last, "
            "
        )
    };
    (@ $lane:literal, $last:literal) => {
        concat!(
            "valign", $lane, " zmm2, zmm6, zmm29, ", $last, "
            vpadd", $lane, " zmm6, zmm6, zmm2
            "
        )
    };
}

/// As many of these as `$order` says.
#[rustfmt::skip]
macro_rules! sums {
    ($lane:tt, 0) => {
        ""
    };
    ($lane:tt, 1) => {
        running!($lane, "zmm8")
    };
    ($lane:tt, 2) => {
        concat!(running!($lane, "zmm8"), running!($lane, "zmm9"))
    };
}

/// What latents are mapped by: see [`crate::tans::Map`].
#[rustfmt::skip]
macro_rules! mapped {
    ($lane:literal, none) => {
        ""
    };
    ($lane:literal, flip) => {
        "vpxorq zmm6, zmm6, zmm31
        "
    };
    // Lanes without the topmost bit are inverted, and the others lose it.
    ("q", float) => {
        "vpsraq zmm2, zmm6, 63
        vpternlogq zmm6, zmm2, zmm31, 0x4b
        "
    };
    ("d", float) => {
        "vpsrad zmm2, zmm6, 31
        vpternlogd zmm6, zmm2, zmm31, 0x4b
        "
    };
}

/// Latents from zmm6 to where they belong.
#[rustfmt::skip]
macro_rules! stored {
    (64) => {
        "mov {n1}, [{end} + 8]
        vmovdqu64 [{n1} + {left}], zmm6
        "
    };
    // The eight before.
    (64, before) => {
        "mov {n1}, [{end} + 8]
        vmovdqu64 [{n1} + {left} - 64], zmm6
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
