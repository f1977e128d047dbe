//! Files whose modes, delta encodings or pages lie.

use super::written::*;
use crate::common::fields::Fields;

/// Modes.
pub(super) fn modes(out: &mut Vec<Hostile>) {
    let mut add = |name, attacks, file, verdict| {
        out.push(Hostile { name, attacks, file, verdict, pco_accepts: false });
    };
    // Modes.
    add(
        "mode-5",
        "a mode that does not exist",
        sevens(start(U32).field(5, 4).field(0, 4)).end(),
        Refused(CORRUPT, 13, "unknown mode 5"),
    );
    add(
        "int-mult-base-0",
        "an IntMult base of 0",
        start(U32)
            .field(1, 4)
            .field(0, 32)
            .field(0, 4)
            .variable(32, 0, &[(1, 1, 0)])
            .variable(32, 0, &[(1, 0, 0)])
            .pad()
            .end(),
        Refused(CORRUPT, 13, "base of IntMult is 0"),
    );
    add(
        "int-mult-on-f32",
        "IntMult on floats",
        start(F32)
            .field(1, 4)
            .field(3, 32)
            .field(0, 4)
            .variable(32, 0, &[(1, 1, 0)])
            .variable(32, 0, &[(1, 0, 0)])
            .pad()
            .end(),
        Refused(CORRUPT, 13, "mode IntMult on f32"),
    );
    for (name, base, text) in [
        ("float-mult-base-zero", 0.0, "base of FloatMult is 0"),
        ("float-mult-base-minus-zero", -0.0, "base of FloatMult is -0"),
        ("float-mult-base-inf", f32::INFINITY, "base of FloatMult is inf"),
        ("float-mult-base-nan", f32::NAN, "base of FloatMult is NaN"),
    ] {
        let file = float_mult(ordered(base.to_bits()), 1 << 31).end();
        add(
            name,
            "a FloatMult base that is no number to multiply",
            file,
            Refused(CORRUPT, 13, text),
        );
    }
    add(
        "float-mult-on-u32",
        "FloatMult on integers",
        start(U32)
            .field(2, 4)
            .field(ordered(2f32.to_bits()), 32)
            .field(0, 4)
            .variable(32, 0, &[(1, 1, 0)])
            .variable(32, 0, &[(1, 0, 0)])
            .pad()
            .end(),
        Refused(CORRUPT, 13, "mode FloatMult on u32"),
    );
    add(
        "float-quant-0",
        "FloatQuant of no bits",
        float_quant(F32, 32, 0, 1 << 31, 0).end(),
        Refused(CORRUPT, 13, "FloatQuant of 0 bits"),
    );
    add(
        "float-quant-24",
        "FloatQuant of more bits than an f32 stores",
        float_quant(F32, 32, 24, 1, 0).end(),
        Refused(CORRUPT, 13, "FloatQuant of 24 bits"),
    );
    let fields = dict(2, &[5, 6], 2);
    let at = fields.byte();
    add(
        "dict-index",
        "an index behind the dictionary's end",
        fields.end(),
        Refused(
            CORRUPT,
            at,
            "index 2 in the batch that ends here is outside of the dictionary of 2",
        ),
    );
    let fields = dict(0, &[], 0);
    let at = fields.byte();
    add(
        "dict-empty",
        "an index into a dictionary of nothing",
        fields.end(),
        Refused(CORRUPT, at, "outside of the dictionary of 0"),
    );
    add(
        "dict-claimed",
        "a dictionary of 2^25 - 1 values claimed, one there: 128 MiB on the word of 25 bytes",
        dict((1 << 25) - 1, &[5], 0).end(),
        Refused(TRUNCATED, 30, "a dictionary of 33554431 values"),
    );
}

/// Delta encodings.
pub(super) fn deltas(out: &mut Vec<Hostile>) {
    let mut add = |name, attacks, file, verdict| {
        out.push(Hostile { name, attacks, file, verdict, pco_accepts: false });
    };
    // Delta encodings.
    add(
        "delta-4",
        "a delta encoding that does not exist",
        sevens(start(U32).field(0, 4).field(4, 4)).end(),
        Refused(CORRUPT, 13, "unknown delta encoding 4"),
    );
    add(
        "consecutive-0",
        "consecutive deltas of order 0",
        sevens(start(U32).field(0, 4).field(1, 4).field(0, 4)).end(),
        Refused(CORRUPT, 13, "order 0"),
    );
    add(
        "lookback-window-25",
        "a window of 2^25",
        states(lookback(25, 0)).field(5, 32).end(),
        Refused(CORRUPT, 13, "window of 2^25"),
    );
    add(
        "lookback-states-over-window",
        "more states than the window holds",
        states(lookback(3, 4)).field(5, 32).end(),
        Refused(CORRUPT, 13, "2^4 states"),
    );
    add(
        "lookback-states-claimed",
        "2^15 states claimed, one there",
        states(lookback(15, 15)).field(5, 32).end(),
        Refused(TRUNCATED, 35, "delta state"),
    );
    for (name, lower) in [("lookback-bin-0", 0), ("lookback-bin-over-window", 17)] {
        let fields = lookback(4, 0)
            .variable(32, 0, &[(1, lower, 0)])
            .variable(32, 0, &[(1, 7, 0)])
            .pad()
            .field(5, 32);
        let verdict = Refused(CORRUPT, 15, "outside of the window 1 to 16");
        add(name, "a lookback bin that begins outside of the window", fields.end(), verdict);
    }
    let fields = lookback(1, 0)
        .variable(32, 0, &[(1, 2, 1)])
        .variable(32, 0, &[(1, 7, 0)])
        .pad()
        .field(5, 32)
        .field(0, 1)
        .field(1, 1)
        .pad();
    let at = fields.byte() - 1;
    add(
        "lookback-over-window",
        "a bin inside of the window, its offset beyond: reads before the buffer",
        fields.end(),
        Refused(CORRUPT, at, "a lookback of 3"),
    );
    add(
        "conv1-overflow",
        "weights whose sum overflows 64 bits",
        conv1(start(U32), 0, 0, &[i32::MAX, i32::MAX])
            .variable(32, 0, &[(1, 7, 0)])
            .pad()
            .field(1, 64)
            .end(),
        Refused(CORRUPT, 13, "can overflow"),
    );
    add(
        "conv1-quantization",
        "a shift wider than the sum of u8 latents",
        conv1(start(U8), 16, 0, &[1]).variable(8, 0, &[(1, 7, 0)]).pad().field(1, 8).end(),
        Refused(CORRUPT, 13, "quantization 16"),
    );
    add(
        "conv1-u64",
        "Conv1 on latents of 64 bits",
        conv1(start(U64), 0, 0, &[1]).variable(64, 0, &[(1, 7, 0)]).pad().field(1, 64).end(),
        Refused(CORRUPT, 13, "Conv1 on latents of 64 bits"),
    );
    let gcd = Fields::default()
        .bytes(b"pco!")
        .bytes(&[0])
        .chunk(U32, 3)
        .field(1, 4)
        .field(0, 3)
        .variable(32, 0, &[(1, 7, 0)])
        .pad();
    add(
        "format-0-gcd",
        "the mode of format 0 that was withdrawn",
        gcd.end(),
        Refused(CORRUPT, 9, "GCD mode"),
    );
}

/// Pages.
pub(super) fn pages(out: &mut Vec<Hostile>) {
    let mut add = |name, attacks, file, verdict| {
        out.push(Hostile { name, attacks, file, verdict, pco_accepts: false });
    };
    // Pages.
    let fields = classic(U32).variable(32, 0, &[(1, 7, 20)]).pad().field(3, 20).field(4, 20);
    let end = fields.clone().done().len() as u64;
    add(
        "page-short",
        "a page that ends within its third number",
        fields.done(),
        Refused(TRUNCATED, end, "inside of a page"),
    );
}
