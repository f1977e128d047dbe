//! Running sums of latents, and where they go.
//!
//! From widths to offsets, latents, sums and sums of sums is one chain of some hundred cycles. A processor looks
//! ahead less than two rounds of sixteen codes, so that a round would take as long as what is left
//! of its chain behind the next one's begin. Hence each step works on what the step before it has
//! made a round ago: chains of a round are short, and no step waits for another.

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
    (@ moved $width:tt) => {
        "vmovdqa32 zmm19{{k7}}{{z}}, zmm17
        "
    };
    (@ paired, $sum:literal, $x:literal, $y:literal) => {
        running!(paired, $sum, $x, $y)
    };
    (@ 64, $sum:literal, $x:literal, $y:literal) => {
        running!("q", $sum, $x)
    };
    // Narrow latents have lanes of 32 bits, whose upper parts mean nothing.
    (@ $width:tt, $sum:literal, $x:literal, $y:literal) => {
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
        placed!(@ $map, $x, "1", "vmovdqu32 [{n1} - 32 - 64]{{k7}}", $x)
    };
    (32, $map:tt, $x:literal, $y:literal, 2) => {
        placed!(@ $map, $x, "1", "vmovdqu32 [{n1} - 32 - 128]{{k7}}", $x)
    };
    (16, $map:tt, $x:literal, $y:literal, 1) => {
        placed!(@ $map, $x, "2", "vpmovdw ymm2", $x, "vmovdqu32 [{n1} - 16 - 32]{{k7}}, ymm2")
    };
    (16, $map:tt, $x:literal, $y:literal, 2) => {
        placed!(@ $map, $x, "2", "vpmovdw ymm2", $x, "vmovdqu32 [{n1} - 16 - 64]{{k7}}, ymm2")
    };
    (8, $map:tt, $x:literal, $y:literal, 1) => {
        placed!(@ $map, $x, "3", "vpmovdb xmm2", $x, "vmovdqu32 [{n1} - 8 - 16]{{k7}}, xmm2")
    };
    (8, $map:tt, $x:literal, $y:literal, 2) => {
        placed!(@ $map, $x, "3", "vpmovdb xmm2", $x, "vmovdqu32 [{n1} - 8 - 32]{{k7}}, xmm2")
    };
    // A latent has `1 / 2^$shift` of a node's size. The mask has all bits or none.
    (@ $map:tt, $x:literal, $shift:literal, $store:literal, $from:literal $(, $then:literal)?) => {
        concat!(
            mapped!("d", $map, $x),
            "mov {n1}, {left}
            sar {n1}, ", $shift, "
            add {n1}, [{end} + 8]
            ", $store, ", ", $from, "
            ",
            $($then, "
            ",)?
        )
    };
}
