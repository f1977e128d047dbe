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

/// Running sums: the latents of `$x` become the sums before them, to which what all lanes of `$sum` have is
/// added, and `$sum` gets the latents. It waits for one addition only. zmm2 and zmm3 are lost.
#[rustfmt::skip]
macro_rules! running {
    ("q", $sum:literal, $x:literal) => {
        concat!(
            "valignq zmm3, ", $x, ", zmm29, 7
            vpaddq zmm2, ", $x, ", zmm3
            ",
            running!(@ "q", "6"), running!(@ "q", "4"),
            running!(@ "q", $sum, $x, "zmm2")
        )
    };
    ("d", $sum:literal, $x:literal) => {
        concat!(
            "valignd zmm3, ", $x, ", zmm29, 15
            vpaddd zmm2, ", $x, ", zmm3
            ",
            running!(@ "d", "14"), running!(@ "d", "12"), running!(@ "d", "8"),
            running!(@ "d", $sum, $x, "zmm2")
        )
    };
    // Of sixteen, each second one in `$x` and those behind them in `$y`: as sums of two.
    (paired, $sum:literal, $x:literal, $y:literal) => {
        concat!(
            "vpaddq ", $y, ", ", $x, ", ", $y, "
            valignq zmm3, ", $y, ", zmm29, 7
            vpaddq zmm2, ", $y, ", zmm3
            ",
            running!(@ "q", "6"), running!(@ "q", "4"),
            "vpsubq ", $y, ", zmm2, ", $y, "
            vpaddq ", $y, ", ", $y, ", ", $sum, "
            vpermq zmm2, zmm14, zmm2
            vpaddq ", $x, ", ", $x, ", ", $y, "
            vpaddq ", $sum, ", ", $sum, ", zmm2
            "
        )
    };
    (@ $lane:literal, $sum:literal, $x:literal, $sums:literal) => {
        concat!(
            "vpsub", $lane, " ", $x, ", ", $sums, ", ", $x, "
            vpadd", $lane, " ", $x, ", ", $x, ", ", $sum, "
            vperm", $lane, " ", $sums, ", zmm14, ", $sums, "
            vpadd", $lane, " ", $sum, ", ", $sum, ", ", $sums, "
            "
        )
    };
    (@ $lane:literal, $last:literal) => {
        concat!(
            "valign", $lane, " zmm3, zmm2, zmm29, ", $last, "
            vpadd", $lane, " zmm2, zmm2, zmm3
            "
        )
    };
}

/// No latents and no sums yet, before [`summed_up`].
#[rustfmt::skip]
macro_rules! sums_begun {
    ($kind:tt, 1) => {
        concat!(
            sums_begun!(@ $kind),
            "kxnorw k0, k0, k0
            "
        )
    };
    ($kind:tt, 2) => {
        concat!(
            sums_begun!(@ $kind),
            "kxorw k0, k0, k0
            "
        )
    };
    (@ paired) => {
        concat!(
            sums_begun!(@ 64),
            "vpxord zmm18, zmm18, zmm18
            vpxord zmm20, zmm20, zmm20
            "
        )
    };
    (@ $width:tt) => {
        "vpxord zmm17, zmm17, zmm17
        vpxord zmm19, zmm19, zmm19
        kxorw k7, k7, k7
        "
    };
}

/// As many of these as `$order` says, and what comes behind them. Each step takes what the one before it has
/// made a round ago, and the last one puts that in its place: together they would take longer than
/// the processor looks ahead. zmm17 and zmm18 have latents, zmm19 and zmm20 their sums; k7 has whether the last
/// step's are there, k0 those of the step before.
#[rustfmt::skip]
macro_rules! summed_up {
    // A round.
    ($kind:tt, 1, $map:tt) => {
        concat!(
            summed_up!(@ $kind, "zmm8", "zmm17", "zmm18"),
            placed!($kind, $map, "zmm17", "zmm18", 1),
            summed_up!(@ there)
        )
    };
    ($kind:tt, 2, $map:tt) => {
        concat!(
            summed_up!(@ $kind, "zmm9", "zmm19", "zmm20"),
            placed!($kind, $map, "zmm19", "zmm20", 2),
            summed_up!(@ there),
            summed_up!(@ $kind, "zmm8", "zmm17", "zmm18"),
            summed_up!(@ moved $kind)
        )
    };
    // What is left behind the last round, when `left` has gone on to the next one.
    (last $kind:tt, 1, $map:tt) => {
        summed_up!($kind, 1, $map)
    };
    (last $kind:tt, 2, $map:tt) => {
        concat!(
            summed_up!($kind, 2, $map),
            summed_up!(@ $kind, "zmm9", "zmm19", "zmm20"),
            placed!($kind, $map, "zmm19", "zmm20", 1)
        )
    };
    (@ there) => {
        "kmovw k7, k0
        kxnorw k0, k0, k0
        "
    };
    (@ moved paired) => {
        "vmovdqa64 zmm19{{k7}}{{z}}, zmm18
        vmovdqa64 zmm20{{k7}}{{z}}, zmm17
        "
    };
    (@ moved 64) => {
        "vmovdqa64 zmm19{{k7}}{{z}}, zmm17
        "
    };
    (@ moved 32) => {
        "vmovdqa32 zmm19{{k7}}{{z}}, zmm17
        "
    };
    (@ paired, $sum:literal, $x:literal, $y:literal) => {
        running!(paired, $sum, $x, $y)
    };
    (@ 64, $sum:literal, $x:literal, $y:literal) => {
        running!("q", $sum, $x)
    };
    (@ 32, $sum:literal, $x:literal, $y:literal) => {
        running!("d", $sum, $x)
    };
}

/// Latents mapped, and then stored so many rounds behind.
#[rustfmt::skip]
macro_rules! placed {
    (paired, $map:tt, $x:literal, $y:literal, 1) => {
        placed!(@ paired, $map, $x, $y, "128")
    };
    (paired, $map:tt, $x:literal, $y:literal, 2) => {
        placed!(@ paired, $map, $x, $y, "256")
    };
    // The sum of two has changed their registers.
    (@ paired, $map:tt, $x:literal, $y:literal, $behind:literal) => {
        concat!(
            "vmovdqa64 zmm1, ", $y, "
            vpermt2q ", $y, ", zmm15, ", $x, "
            vpermt2q zmm1, zmm16, ", $x, "
            ",
            mapped!("q", $map, $y),
            mapped!("q", $map, "zmm1"),
            "mov {n1}, [{end} + 8]
            vmovdqu64 [{n1} + {left} - 64 - ", $behind, "]{{k7}}, ", $y, "
            vmovdqu64 [{n1} + {left} - ", $behind, "]{{k7}}, zmm1
            "
        )
    };
    (64, $map:tt, $x:literal, $y:literal, 1) => {
        placed!(@ 64, $map, $x, "64")
    };
    (64, $map:tt, $x:literal, $y:literal, 2) => {
        placed!(@ 64, $map, $x, "128")
    };
    (@ 64, $map:tt, $x:literal, $behind:literal) => {
        concat!(
            mapped!("q", $map, $x),
            "mov {n1}, [{end} + 8]
            vmovdqu64 [{n1} + {left} - ", $behind, "]{{k7}}, ", $x, "
            "
        )
    };
    (32, $map:tt, $x:literal, $y:literal, 1) => {
        placed!(@ 32, $map, $x, "64")
    };
    (32, $map:tt, $x:literal, $y:literal, 2) => {
        placed!(@ 32, $map, $x, "128")
    };
    (@ 32, $map:tt, $x:literal, $behind:literal) => {
        concat!(
            mapped!("d", $map, $x),
            "mov {n1}, {left}
            sar {n1}, 1
            add {n1}, [{end} + 8]
            vmovdqu32 [{n1} - 32 - ", $behind, "]{{k7}}, ", $x, "
            "
        )
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
