//! Two variables by turns: from one loop to the next of the other kind, without a way back to the caller.
//!
//! The first loop unpacks multiples beside the walk over the codes of distances, the second one distances beside the
//! walk over the next batch's multiples. States, nodes and places go by memory: see [`super::pairs::Turns`].

/// Whole batches by turns. `$before`, `$first` and `$after` are the first loop's, over and over between them; `$second` is the
/// second one's, `$check` what comes before that, by way of `6f` where the batch is not to be done. `$place` says where multiples' offsets begin, in bit `bit` of `bytes`: `n1` is where the codes of
/// distances end then, and `s0` is free; `$second_place` the same of distances, where `n0` has the turns. Flags are lost.
#[rustfmt::skip]
macro_rules! by_turns {
    ($pairs:ident, $before:expr, [$($first:expr,)*], $after:expr, $place:expr, $check:expr, [$($second:expr,)*], $second_place:expr, $($operand:tt)*) => {
        asm!(
            "2:",
            $before,
            ".p2align 6",
            "3:",
            $($first,)*
            "add {left}, 64",
            "jne 3b",
            $after,
            "mov {n0}, [{end} + 72]
            # Where the next multiples' codes begin.
            vmovd {n3:e}, xmm10
            add {n3}, {bit}
            mov {n2}, {n3}
            shr {n2}, 3
            add {n2}, {bytes}
            cmp {n2}, [{n0} + {limit}]
            jae 6f",
            $check,
            "mov [{n0} + {new_states}], {s0}
            mov [{n0} + {new_states} + 8], {s1}
            mov [{n0} + {new_states} + 16], {s2}
            mov [{n0} + {new_states} + 24], {s3}",
            $second_place,
            "mov {bytes}, {n2}
            and {n3:e}, 7
            mov {bit}, {n3}
            shrx {word}, [{bytes}], {bit}
            lea {n1}, [{bit} + {bytes} * 8]
            # Where this batch ends.
            mov {s0}, [{n0} + {ends}]
            mov [{s0}], {n1}
            add {s0}, [{n0} + {ends} + 8]
            mov [{n0} + {ends}], {s0}
            sub {n1}, [{n0} + {began}]
            add [{n0} + {of_second}], {n1}
            mov {s0}, [{n0} + {states}]
            mov {s1}, [{n0} + {states} + 8]
            mov {s2}, [{n0} + {states} + 16]
            mov {s3}, [{n0} + {states} + 24]
            mov {nodes}, [{n0} + {tables}]
            mov {end}, [{end}]
            vpxor xmm10, xmm10, xmm10
            mov {left}, -2048
            .p2align 6
            5:",
            $($second,)*
            "add {left}, 64
            jne 5b
            mov {n0}, [{end} + 72]
            # From here on this batch is done.
            vmovdqa64 [{n0} + {last}], zmm8
            vmovdqa64 [{n0} + {first}], zmm9
            vmovdqu ymm0, [{n0} + {new_states}]
            vmovdqu [{n0} + {second_states}], ymm0
            mov [{n0} + {states}], {s0}
            mov [{n0} + {states} + 8], {s1}
            mov [{n0} + {states} + 16], {s2}
            mov [{n0} + {states} + 24], {s3}
            mov [{n0} + {at}], {bytes}
            mov [{n0} + {at} + 8], {bit}
            mov {n1}, [{end} + 8]
            add {n1}, [{end} + 56]
            mov [{end} + 8], {n1}
            sub qword ptr [{end} + 40], 1
            je 6f
            cmp {bytes}, [{end} + 48]
            ja 6f
            # Where the codes of distances begin.
            vmovd {n3:e}, xmm10
            add {n3}, {bit}
            mov {n2}, {n3}
            shr {n2}, 3
            add {n2}, {bytes}
            mov {n1}, [{end}]
            mov {s0}, [{n1} + 56]
            add [{n1} + 8], {s0}",
            $place,
            "mov {bytes}, {n2}
            and {n3:e}, 7
            mov {bit}, {n3}
            shrx {word}, [{bytes}], {bit}
            lea {n3}, [{bit} + {bytes} * 8]
            mov [{n0} + {began}], {n3}
            mov {s0}, [{n0} + {new_states}]
            mov {s1}, [{n0} + {new_states} + 8]
            mov {s2}, [{n0} + {new_states} + 16]
            mov {s3}, [{n0} + {new_states} + 24]
            mov {nodes}, [{n0} + {tables} + 8]
            vpxor xmm10, xmm10, xmm10
            mov {left}, -2048
            # Memory for the numbers behind this batch's.
            mov {n0}, [{end} + 8]
            mov {n2}, [{end} + 64]
            mov {end}, {n1}
            add {n0}, {n2}
            neg {n2}
            je 9f
            8:
            prefetchw [{n0} + {n2}]
            prefetchw [{n0} + {n2} + 64]
            prefetchw [{n0} + {n2} + 128]
            prefetchw [{n0} + {n2} + 192]
            add {n2}, 256
            jne 8b
            9:
            jmp 2b
            # What has not been done so far is to be done by other means.
            6:",
            nodes = inout(reg) $pairs.nodes[1].as_ptr() => _,
            bytes = inout(reg) $pairs.codes_at.bytes.as_ptr() => _,
            bit = inout(reg) $pairs.codes_at.bit => _,
            end = inout(reg) $pairs.codes[1].end() => _,
            left = inout(reg) -8 * BATCH as isize => _,
            s0 = inout(reg) u64::from($pairs.states[1][0]) => _,
            s1 = inout(reg) u64::from($pairs.states[1][1]) => _,
            s2 = inout(reg) u64::from($pairs.states[1][2]) => _,
            s3 = inout(reg) u64::from($pairs.states[1][3]) => _,
            word = inout(reg) wide_word($pairs.codes_at.bytes.as_ptr(), $pairs.codes_at.bit as u64) => _,
            n0 = out(reg) _,
            n1 = out(reg) _,
            n2 = out(reg) _,
            n3 = out(reg) _,
            last = const offset_of!(Turns, last),
            first = const offset_of!(Turns, first),
            states = const offset_of!(Turns, states),
            second_states = const offset_of!(Turns, second_states),
            new_states = const offset_of!(Turns, new_states),
            tables = const offset_of!(Turns, tables),
            at = const offset_of!(Turns, at),
            began = const offset_of!(Turns, began),
            of_second = const offset_of!(Turns, of_second),
            limit = const offset_of!(Turns, limit),
            ends = const offset_of!(Turns, ends),
            $($operand)*
            options(nostack),
        )
    };
}

/// Eight distances, in zmm6. The smallest lower bound lies beside the codes.
#[rustfmt::skip]
macro_rules! distances {
    // Without offsets.
    (bounds) => {
        "mov {n1}, [{end}]
        vpsrlq zmm6, [{n1} + {left}], 32
        vpaddq zmm6, zmm6, qword ptr [{end} + 16]{{1to8}}
        "
    };
    // Far from each other, up to eight.
    (far) => {
        concat!(
            eight_offsets!(0, 6),
            "vpsrlq zmm0, zmm0, 32
            mov {n1}, [{end} + 72]
            vpermq zmm0, zmm0, [{n1} + {few}]
            vpaddq zmm6, zmm6, zmm0
            "
        )
    };
    (near) => {
        concat!(
            eight_offsets!(0, 6),
            "vpsrlq zmm0, zmm0, 32
            vpaddq zmm6, zmm6, qword ptr [{end} + 16]{{1to8}}
            vpaddq zmm6, zmm6, zmm0
            "
        )
    };
}

/// Where the offsets of distances begin, if there are any, and what these take.
#[rustfmt::skip]
macro_rules! place {
    (bounds) => {
        ""
    };
    ($kind:tt) => {
        "lea {s0}, [{bit} + {bytes} * 8]
        vpbroadcastq zmm27, {s0}
        vmovdqa64 zmm28, [{n0} + {sevens}]
        vmovdqa64 zmm30, [{n0} + {widths}]
        kmovq k1, [{n0} + {up_to}]
        "
    };
}

/// What the multiples' offsets take again.
#[rustfmt::skip]
macro_rules! back {
    (bounds) => {
        ""
    };
    ($kind:tt) => {
        "vmovdqa64 zmm28, [{n0} + {sevens} + 64]
        vmovdqa64 zmm30, [{n0} + {widths} + 64]
        kmovq k1, [{n0} + {up_to} + 8]
        "
    };
}

/// Whether all of a batch of multiples are small: out to `6` where one is not. `n0` has the turns.
#[rustfmt::skip]
macro_rules! are_small {
    () => {
        "# Whether all multiples are small.
        mov {n1}, [{end} + 8]
        vpbroadcastq zmm0, [{n0} + {half}]
        vpxor xmm1, xmm1, xmm1
        vpxor xmm6, xmm6, xmm6
        mov {left}, -2048
        4:
        vpaddq zmm2, zmm0, [{n1} + {left}]
        vpaddq zmm3, zmm0, [{n1} + {left} + 64]
        vpaddq zmm4, zmm0, [{n1} + {left} + 128]
        vpaddq zmm5, zmm0, [{n1} + {left} + 192]
        vpternlogq zmm1, zmm2, zmm3, 0xfe
        vpternlogq zmm6, zmm4, zmm5, 0xfe
        add {left}, 256
        jne 4b
        vporq zmm1, zmm1, zmm6
        vpsrlq zmm1, zmm1, 53
        vptestmq k3, zmm1, zmm1
        kortestb k3, k3
        jne 6f"
    };
}
