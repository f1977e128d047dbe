//! From widths to offsets: four or eight at a time.

/// Offsets in lanes of `$lane`: ymm6 by the widths in ymm2, each lane's first bit in ymm3, and what both
/// begin in, in ymm6. ymm4 is lost.
#[rustfmt::skip]
macro_rules! offsets {
    ($lane:literal, $first:literal, $number:literal) => {
        concat!(
            "vpsrld ymm4, ymm3, 3
            vpshufb ymm4, ymm4, [rip + {constants} + ", $first, "]
            vpaddb ymm4, ymm4, [rip + {constants} + ", $number, "]
            vpshufb ymm6, ymm6, ymm4
            vpand ymm3, ymm3, [rip + {constants} + 64]
            vpsrlv", $lane, " ymm6, ymm6, ymm3
            vpsllv", $lane, " ymm4, ymm14, ymm2
            vpandn ymm6, ymm4, ymm6
            "
        )
    };
}

/// The bytes that the lower half's offsets begin in, in ymm6, and the starts of both in ymm5. ymm3 has
/// each lane's first bit, counted from that of its half, and then from those bytes, and ymm4 the bits of
/// each half in all its lanes; ymm8 the place in the stream. ymm7 is lost.
#[rustfmt::skip]
macro_rules! first_window {
    ($r:literal, $load:literal) => {
        concat!(
            "vmovd {", $r, "2:e}, xmm8
            shr {", $r, "2:e}, 3
            add {", $r, "2}, [{end} + 24]
            ", $load, "mm6, [{", $r, "2}]
            "
        )
    };
    (one, $r:literal) => {
        concat!(
            first_window!($r, "vbroadcasti128 y"),
            "vperm2i128 ymm5, ymm4, ymm4, 0x08
            vpaddd ymm3, ymm3, ymm5
            vpand ymm5, ymm8, [rip + {constants} + 64]
            vpaddd ymm3, ymm3, ymm5
            ",
            first_window!(@ moved)
        )
    };
    (two, $r:literal) => {
        concat!(
            first_window!($r, "vmovdqu x"),
            "vperm2i128 ymm7, ymm4, ymm4, 0x08
            vpaddd ymm7, ymm7, ymm8
            vextracti128 xmm5, ymm7, 1
            vpand ymm7, ymm7, [rip + {constants} + 64]
            vpaddd ymm3, ymm3, ymm7
            ",
            first_window!(@ moved)
        )
    };
    (@ moved) => {
        "vperm2i128 ymm7, ymm4, ymm4, 0x01
        vpaddd ymm8, ymm8, ymm4
        vpaddd ymm8, ymm8, ymm7
        "
    };
}

/// The bytes of the upper half.
#[rustfmt::skip]
macro_rules! second_window {
    (one, $r:literal) => {
        ""
    };
    (two, $r:literal) => {
        concat!(
            "vmovd {", $r, "3:e}, xmm5
            shr {", $r, "3:e}, 3
            add {", $r, "3}, [{end} + 24]
            vinserti128 ymm6, ymm6, [{", $r, "3}], 1
            "
        )
    };
}

/// Four nodes in ymm0, and their offsets in ymm6, in lanes of 64 bits. `${r}1` is where nodes end.
#[rustfmt::skip]
macro_rules! four_offsets {
    ($r:literal, $at:literal) => {
        concat!(
            "vmovdqu ymm0, [{", $r, "1} + {left} + ", $at, "]
            vpshufb ymm2, ymm0, [rip + {constants} + 32]
            vpslldq ymm3, ymm2, 8
            vpshufd ymm4, ymm2, 0x4e
            vpaddd ymm4, ymm4, ymm2
            ",
            first_window!(two, $r),
            second_window!(two, $r),
            offsets!("q", "160", "192")
        )
    };
}

/// Eight nodes, 0 1 4 5 in ymm0 and 2 3 6 7 in ymm1, and what is known of their offsets before the bytes
/// of both halves are.
#[rustfmt::skip]
macro_rules! eight_places {
    (no, $r:literal, $at:literal) => {
        ""
    };
    (four, $r:literal, $at:literal) => {
        ""
    };
    ($windows:ident, $r:literal, $at:literal) => {
        concat!(
            "mov {", $r, "1}, [{end}]
            vmovdqu xmm0, [{", $r, "1} + {left} + ", $at, "]
            vinserti128 ymm0, ymm0, [{", $r, "1} + {left} + ", $at, " + 32], 1
            vmovdqu xmm1, [{", $r, "1} + {left} + ", $at, " + 16]
            vinserti128 ymm1, ymm1, [{", $r, "1} + {left} + ", $at, " + 48], 1
            vshufps ymm2, ymm0, ymm1, 0x88
            vpshufb ymm2, ymm2, [rip + {constants}]
            vpslldq ymm3, ymm2, 4
            vpaddd ymm3, ymm3, ymm2
            vpslldq ymm4, ymm3, 8
            vpaddd ymm3, ymm3, ymm4
            vpshufd ymm4, ymm3, 0xff
            vpsubd ymm3, ymm3, ymm2
            ",
            first_window!($windows, $r)
        )
    };
}

/// The offsets of eight nodes in ymm6, in lanes of 32 bits.
#[rustfmt::skip]
macro_rules! eight_offsets {
    ($windows:ident) => {
        concat!(second_window!($windows, "n"), offsets!("d", "96", "128"))
    };
}
