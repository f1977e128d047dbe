//! Files that look odd and are legal, and those that only pco makes numbers of.

use super::written::*;
use crate::common::fields::Fields;
use latens::NumberType;

/// Legal.
pub(super) fn odd(out: &mut Vec<Hostile>) {
    let mut add = |name, attacks, file, verdict| {
        out.push(Hostile { name, attacks, file, verdict, pco_accepts: false });
    };
    // Legal, though it looks odd.
    let mut minor = three_sevens().end();
    minor[8] = 200;
    add("ok-minor-200", "nothing: a newer minor version is tried", minor, sevens_of(3));
    add(
        "ok-hint-huge",
        "a count of 2^64 - 1 before three numbers: the hint is wrong, the file is not",
        sevens(Fields::head(0, u64::MAX).chunk(U32, 3).field(0, 8)).end(),
        sevens_of(3),
    );
    add(
        "ok-hint-0",
        "a count of 0 before three numbers",
        sevens(Fields::head(0, 0).chunk(U32, 3).field(0, 8)).end(),
        sevens_of(3),
    );
    add(
        "ok-no-bins-few-numbers",
        "no bins where all three numbers are delta states",
        start(U32)
            .field(0, 4)
            .field(1, 4)
            .field(3, 3)
            .field(0, 1)
            .variable(32, 0, &[])
            .pad()
            .field(10, 32)
            .field(1, 32)
            .field(2, 32)
            .end(),
        Decoded(NumberType::U32, vec![10, 11, 14]),
    );
    add(
        "ok-wrapping-latents",
        "a bin at the top of the type whose offset runs over",
        classic(U32)
            .variable(32, 0, &[(1, u64::from(u32::MAX), 2)])
            .pad()
            .field(0, 2)
            .field(1, 2)
            .field(3, 2)
            .pad()
            .end(),
        Decoded(NumberType::U32, vec![u64::from(u32::MAX), 0, 2]),
    );
    let overlapping = classic(U32).variable(32, 1, &[(1, 9, 3), (1, 9, 3)]).pad();
    add(
        "ok-overlapping-bins",
        "the same bin twice, and unsorted is legal too",
        overlapping
            .field(0, 1)
            .field(1, 1)
            .field(0, 1)
            .field(0, 1)
            .pad()
            .field(0, 3)
            .field(1, 3)
            .field(2, 3)
            .field(3, 3)
            .pad()
            .end(),
        Decoded(NumberType::U32, vec![10, 11, 12]),
    );
    add(
        "ok-window-16-mi",
        "a window of 2^24 latents over three numbers: 128 MiB for a reader that takes its word",
        states(lookback(24, 0)).field(5, 32).end(),
        Decoded(NumberType::U32, vec![5, (1u64 << 31) + 12, 19]),
    );
    add(
        "ok-dict-repeats",
        "a dictionary that says the same twice",
        dict(2, &[7, 7], 1).end(),
        sevens_of(3),
    );
    let lookback_of_4 = |fields: Fields, secondary| {
        fields.field(2, 4).field(3, 5).field(2, 4).field(secondary, 1).variable(32, 0, &[])
    };
    let dict = start(U32).field(4, 4).field(2, 25).pad().field(7, 32).field(7, 32);
    add(
        "ok-dict-state-behind-end",
        "a fourth state over three numbers that is no index of the dictionary, and is not joined",
        [0, 1, 0, 77]
            .into_iter()
            .fold(lookback_of_4(dict, 0).variable(32, 0, &[]).pad(), |f, state| f.field(state, 32))
            .end(),
        sevens_of(3),
    );
    let int_mult = lookback_of_4(start(U32).field(1, 4).field(10, 32), 1);
    add(
        "ok-int-mult-state-behind-end",
        "a fourth remainder over three numbers that is not below the base, and is not joined",
        [0, 0, 0, 0, 7, 7, 7, 99]
            .into_iter()
            .fold(int_mult.variable(32, 0, &[]).variable(32, 0, &[]).pad(), |f, state| {
                f.field(state, 32)
            })
            .end(),
        sevens_of(3),
    );
    add(
        "ok-conv1-clamped",
        "a prediction far below zero",
        conv1(start(U8), 1, 0, &[-3]).variable(8, 0, &[(1, 129, 0)]).pad().field(200, 8).end(),
        Decoded(NumberType::U8, vec![200, 1, 1]),
    );
    add(
        "ok-trailer",
        "nothing: a sound checksum trailer, to compare the forged ones with",
        with_trailer(13, 3, b'1'),
        sevens_of(3),
    );
}

/// specs/pco.md, 13.4.
pub(super) fn stricter(out: &mut Vec<Hostile>) {
    // What pco 1.1.0 makes numbers of, and we do not: specs/pco.md, 13.4.
    let mut add = |name, attacks, file, verdict| {
        out.push(Hostile { name, attacks, file, verdict, pco_accepts: true });
    };
    let fields = start(U32)
        .field(1, 4)
        .field(10, 32)
        .field(0, 4)
        .variable(32, 0, &[(1, 1, 0)])
        .variable(32, 0, &[(1, 10, 0)])
        .pad();
    let at = fields.byte();
    add(
        "int-mult-remainder",
        "an IntMult remainder that equals its base",
        fields.end(),
        Refused(CORRUPT, at, "not below the base 10"),
    );
    let past_nan = ordered(1f32.to_bits()); // of MID + a, a is what bits(2^24) + … walks from
    let a = (1u64 << 24) + (1 << 31) - u64::from(16_777_216f32.to_bits());
    let fields = float_mult(past_nan, (1 << 31) + a);
    let at = fields.byte();
    add(
        "float-mult-multiple",
        "a FloatMult multiple behind the last NaN, where the bits run into the sign",
        fields.end(),
        Refused(CORRUPT, at, "beyond the floats"),
    );
    let fields = float_quant(F32, 32, 3, 1 << 28, 8);
    let at = fields.byte();
    add(
        "float-quant-low",
        "a FloatQuant low part of more bits than q",
        fields.end(),
        Refused(CORRUPT, at, "too wide for FloatQuant of 3 bits"),
    );
    let fields = float_quant(F16, 16, 2, 1 << 14, 0);
    let at = fields.byte();
    add(
        "float-quant-high",
        "a FloatQuant high part that is shifted out of the type",
        fields.end(),
        Refused(CORRUPT, at, "too wide for FloatQuant of 2 bits"),
    );
    let fields = lookback(1, 0)
        .variable(32, 0, &[(1, 2, 32)])
        .variable(32, 0, &[(1, 7, 0)])
        .pad()
        .field(5, 32)
        .field(0, 32)
        .field(u64::from(u32::MAX) - 1, 32)
        .pad();
    let at = fields.byte();
    add(
        "lookback-zero-by-wrap",
        "a lookback of 0, reached by an offset that wraps: reads what the buffer held before",
        fields.end(),
        Refused(CORRUPT, at, "a lookback of 0"),
    );
    let fields = start(U32)
        .field(1, 4)
        .field(10, 32)
        .field(1, 4)
        .field(3, 3)
        .field(0, 1)
        .variable(32, 0, &[])
        .variable(32, 0, &[])
        .pad()
        .field(1, 32)
        .field(0, 64);
    let at = fields.byte();
    add(
        "no-bins-of-secondary",
        "no bins for the secondary in a page that the primary's states fill",
        fields.end(),
        Refused(CORRUPT, at, "latents of a variable that has no bins"),
    );
    add(
        "trailing-byte",
        "a byte behind the end",
        [three_sevens().end(), vec![42]].concat(),
        Refused(CORRUPT, 23, "bytes after the end are neither a checksum trailer nor nothing"),
    );
    let mut damaged = with_trailer(13, 3, b'1');
    damaged[18] ^= 0x40; // the lower bound of the bin: other numbers
    add(
        "trailer-stored-bytes",
        "a file changed after its checksums were made",
        damaged,
        Refused(CORRUPT, 9, "its stored bytes fail their checksum"),
    );
    add(
        "trailer-count",
        "a trailer, right by its own checksum, with another count of numbers",
        with_trailer(13, 4, b'1'),
        Refused(CORRUPT, 9, "at another place or of another size"),
    );
    add(
        "trailer-bytes",
        "a trailer, right by its own checksum, whose chunk is longer than the file",
        with_trailer(u32::MAX, 3, b'1'),
        Refused(CORRUPT, 23, "longer than the file before it"),
    );
    add(
        "trailer-version",
        "a trailer, right by its own checksum, of an unknown version",
        with_trailer(13, 3, b'2'),
        Refused(CORRUPT, 58, "version 2 of the checksum trailer"),
    );
}
