//! From one batch to the next, without a way back to the caller.
//!
//! A walk waits for where the one before it has ended, and for the sum of its offset bits: between two loops there
//! are a dozen steps of that kind, and no more instructions than that.

/// Whole batches of codes, one or a row of them: between `$before` and `$after`, `$text` over and over, between which are
/// [`four_codes`]. `$place` says where the next batch's offsets begin: in bit `bit` of `bytes`; `n1` is where its
/// codes end then, and `n0` is free. Flags are lost.
#[rustfmt::skip]
macro_rules! walk_row {
    ($walker:ident, $end:ident, $before:expr, [$($text:expr,)*], $after:expr, $place:expr, $($operand:tt)*) => {
        asm!(
            "2:",
            $before,
            // Wherever it happened to lie, it took up to 5 % longer.
            ".p2align 6",
            "3:",
            $($text,)*
            "add {left}, 64",
            "jne 3b",
            $after,
            "mov {n0}, [{end} + 40]
            sub {n0}, 1
            je 6f
            # Where the codes behind the offsets begin.
            vmovd {n3:e}, xmm10
            add {n3}, {bit}
            mov {n2}, {n3}
            shr {n2}, 3
            add {n2}, {bytes}
            cmp {n2}, [{end} + 48]
            ja 6f
            mov {n1}, [{end}]
            mov [{n1} + 40], {n0}
            mov {n0}, [{end} + 8]
            add {n0}, [{end} + 56]
            mov [{n1} + 8], {n0}",
            $place,
            "mov {bytes}, {n2}
            and {n3:e}, 7
            mov {bit}, {n3}
            shrx {word}, [{bytes}], {bit}
            vpxor xmm10, xmm10, xmm10
            mov {left}, -2048
            mov {end}, {n1}
            # Memory for the latents behind this batch's.
            mov {n0}, [{n1} + 8]
            mov {n2}, [{n1} + 64]
            add {n0}, {n2}
            neg {n2}
            je 5f
            4:
            prefetchw [{n0} + {n2}]
            prefetchw [{n0} + {n2} + 64]
            prefetchw [{n0} + {n2} + 128]
            prefetchw [{n0} + {n2} + 192]
            add {n2}, 256
            jne 4b
            5:
            jmp 2b
            6:",
            nodes = in(reg) $walker.nodes,
            bytes = inout(reg) $walker.bytes,
            bit = inout(reg) $walker.bit,
            end = inout(reg) $end,
            left = inout(reg) -8 * BATCH as isize => _,
            s0 = inout(reg) $walker.states[0],
            s1 = inout(reg) $walker.states[1],
            s2 = inout(reg) $walker.states[2],
            s3 = inout(reg) $walker.states[3],
            word = inout(reg) wide_word($walker.bytes, $walker.bit) => _,
            n0 = out(reg) _,
            n1 = out(reg) _,
            n2 = out(reg) _,
            n3 = out(reg) _,
            $($operand)*
            options(nostack),
        )
    };
}
