//! Files that lie, each with its verdict: what kind of error, at which byte, saying what; and within
//! which memory and time.
//!
//! Ours are written here field by field and lie in `testdata/hostile`, with a README that this test
//! keeps; `LATENS_BLESS=1` writes the folder anew. Third-party ones are read from `../shared/vectors`
//! beside the repository, or `LATENS_VECTORS`, when they are there.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test"
)]

mod common;

use common::counting::{Counting, peak_of};
use common::fields::Fields;
use common::{pco_decode, repository, vectors};
use latens::pco::standalone::Decoder;
use latens::{AnyNumbers, ErrorKind, Limits, NumberType, with_number_type};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What a decoder may hold when its answer is an error (R2) or numbers of so many bytes (R3).
fn bound(file: &[u8], decoded: &latens::Result<AnyNumbers>) -> usize {
    match decoded {
        Ok(numbers) => (16 << 20) + numbers.len() * numbers.number_type().bytes() * 5 / 4,
        Err(_) => (16 << 20) + 4 * file.len(),
    }
}

/// Decodes within the bounds of memory and time, or panics.
fn bounded(name: &str, file: &[u8], limits: &Limits) -> latens::Result<AnyNumbers> {
    let start = Instant::now();
    let (decoded, peak) = peak_of(|| latens::pco::decompress_any(file, limits));
    let time = start.elapsed();
    let bound = bound(file, &decoded);
    assert!(peak <= bound, "{name}: {peak} bytes held, {bound} are allowed");
    let output = decoded.as_ref().map_or(0, |n| n.len() * n.number_type().bytes());
    // A second for each 128 MiB, 100 ms where there is nothing; tripled for busy machines.
    let most = Duration::from_millis(300) + Duration::from_secs(3) * (output >> 20) as u32 / 128;
    assert!(time <= most, "{name}: {time:?}");
    decoded
}

/// What must come of a file.
enum Verdict {
    /// Kind, byte, and part of the message.
    Refused(ErrorKind, u64, &'static str),
    /// The bits of the numbers.
    Decoded(NumberType, Vec<u64>),
}
use Verdict::{Decoded, Refused};

struct Hostile {
    name: &'static str,
    attacks: &'static str,
    file: Vec<u8>,
    verdict: Verdict,
    /// Whether pco 1.1.0 gives numbers, of whatever sort.
    pco_accepts: bool,
}

const CORRUPT: ErrorKind = ErrorKind::Corrupt;
const TRUNCATED: ErrorKind = ErrorKind::Truncated;

const U32: u8 = 1;
const U64: u8 = 2;
const F32: u8 = 5;
const U8: u8 = 10;
const F16: u8 = 9;

/// A file up to the metadata of a chunk of three numbers (byte 13).
fn start(type_byte: u8) -> Fields {
    Fields::head(0, 3).chunk(type_byte, 3)
}

/// Classic without deltas, up to the primary variable (byte 14).
fn classic(type_byte: u8) -> Fields {
    start(type_byte).field(0, 4).field(0, 4)
}

/// One bin of u32 that needs no offsets, and the rest of the chunk; ends on a byte.
fn sevens(fields: Fields) -> Fields {
    fields.variable(32, 0, &[(1, 7, 0)]).pad()
}

/// The file of three sevens, up to its terminator (byte 22).
fn three_sevens() -> Fields {
    sevens(classic(U32))
}

/// A whole file with a checksum trailer whose fields are as given, its own checksum right.
fn with_trailer(bytes: u32, n: u32, version: u8) -> Vec<u8> {
    let file = three_sevens().end();
    let chunk = &file[9..file.len() - 1];
    let numbers: Vec<u8> = [7u32; 3].iter().flat_map(|x| x.to_le_bytes()).collect();
    let mut trailer = Vec::new();
    trailer.extend(bytes.to_le_bytes());
    trailer.extend(n.to_le_bytes());
    trailer.extend(crc32c::crc32c(chunk).to_le_bytes());
    trailer.extend(crc32c::crc32c(&numbers).to_le_bytes());
    trailer.extend(crc32c::crc32c(&file[..9]).to_le_bytes());
    trailer.extend(1u32.to_le_bytes());
    trailer.extend(crc32c::crc32c(&trailer).to_le_bytes());
    trailer.extend(b"LATENSC");
    trailer.push(version);
    [file, trailer].concat()
}

fn conv1(fields: Fields, q: u64, bias: i64, weights: &[i32]) -> Fields {
    let fields = fields
        .field(0, 4)
        .field(3, 4)
        .field(q, 5)
        .field(bias.cast_unsigned() ^ 1 << 63, 64)
        .field(weights.len() as u64 - 1, 5);
    weights.iter().fold(fields, |f, w| f.field(u64::from(w.cast_unsigned() ^ 1 << 31), 32))
}

/// Lookback without secondary, up to its delta variable.
fn lookback(window_log: u64, state_log: u64) -> Fields {
    start(U32).field(0, 4).field(2, 4).field(window_log - 1, 5).field(state_log, 4).field(0, 1)
}

/// A float of mode FloatMult with that base, joined from two constants.
fn float_mult(base: u64, multiple: u64) -> Fields {
    start(F32)
        .field(2, 4)
        .field(base, 32)
        .field(0, 4)
        .variable(32, 0, &[(1, multiple, 0)])
        .variable(32, 0, &[(1, 1 << 31, 0)])
        .pad()
}

fn float_quant(type_byte: u8, k: usize, q: u64, high: u64, low: u64) -> Fields {
    start(type_byte)
        .field(3, 4)
        .field(q, 8)
        .field(0, 4)
        .variable(k, 0, &[(1, high, 0)])
        .variable(k, 0, &[(1, low, 0)])
        .pad()
}

fn dict(count: u64, values: &[u64], index: u64) -> Fields {
    let fields = start(U32).field(4, 4).field(count, 25).pad();
    let fields = values.iter().fold(fields, |f, &v| f.field(v, 32));
    fields.field(0, 4).variable(32, 0, &[(1, index, 0)]).pad()
}

/// Every file of `testdata/hostile`.
#[allow(clippy::too_many_lines, reason = "a table")]
fn hostile() -> Vec<Hostile> {
    let mut out = Vec::new();
    let mut add = |name, attacks, file, verdict| {
        out.push(Hostile { name, attacks, file, verdict, pco_accepts: false });
    };
    let sevens_of = |n| Decoded(NumberType::U32, vec![7; n]);

    // The head.
    let mut magic = three_sevens().end();
    magic[3] = b'?';
    add("magic", "another magic number", magic, Refused(CORRUPT, 0, "does not begin with `pco!`"));
    let mut version = three_sevens().end();
    version[4] = 4;
    add(
        "standalone-4",
        "a standalone version that does not exist",
        version,
        Refused(CORRUPT, 4, "standalone version 4"),
    );
    let mut version = three_sevens().end();
    version[7] = 5;
    add(
        "major-5",
        "a major format version that does not exist",
        version,
        Refused(CORRUPT, 7, "format version 5"),
    );
    add(
        "uniform-unknown",
        "a uniform type that is no type",
        Fields::head(200, 3).end(),
        Refused(CORRUPT, 5, "200 is not a number type"),
    );
    add(
        "hint-huge-nothing-there",
        "a count of 2^64 - 1 with nothing behind it: a reader that reserves it dies",
        Fields::head(U64, u64::MAX).done(),
        Refused(TRUNCATED, 17, "the input ends"),
    );
    add(
        "hint-16-mib",
        "a count of just 16 MiB of numbers in 30 bytes, then no bins: memory that a small lie gets",
        Fields::head(0, 1 << 21)
            .chunk(U64, 3)
            .field(0, 8)
            .variable(64, 1, &[(1, 1, 0), (2, 2, 0)])
            .pad()
            .end(),
        Refused(CORRUPT, 17, "weights of the bins sum to 3"),
    );

    // Chunk heads.
    add(
        "chunk-type-unknown",
        "a chunk of a type that does not exist",
        sevens(Fields::head(0, 3).chunk(12, 3).field(0, 8)).end(),
        Refused(CORRUPT, 9, "12 is not a number type"),
    );
    add(
        "chunk-type-not-uniform",
        "a chunk of u32 in a file that says all is u64",
        sevens(Fields::head(U64, 3).chunk(U32, 3).field(0, 8)).end(),
        Refused(CORRUPT, 9, "announces another type"),
    );
    add(
        "terminator-missing",
        "a file that ends with its last page",
        three_sevens().done(),
        Refused(TRUNCATED, 22, "the end of the file"),
    );

    // Padding, all five places.
    add(
        "padding-hint",
        "a bit set in the padding behind n_hint",
        sevens(
            Fields::default()
                .bytes(b"pco!")
                .bytes(&[3, 0])
                .field(0, 6)
                .field(0, 1)
                .pad_with(1)
                .bytes(&[4, 1])
                .chunk(U32, 3)
                .field(0, 8),
        )
        .end(),
        Refused(CORRUPT, 6, "padding after the count hint"),
    );
    add(
        "padding-dict",
        "a bit set in the padding behind the length of a dictionary",
        start(U32)
            .field(4, 4)
            .field(1, 25)
            .pad_with(4)
            .field(7, 32)
            .field(0, 4)
            .variable(32, 0, &[(1, 0, 0)])
            .pad()
            .end(),
        Refused(CORRUPT, 16, "padding after the count of dictionary entries"),
    );
    add(
        "padding-chunk",
        "a bit set in the padding behind the chunk metadata",
        classic(U32).variable(32, 0, &[(1, 7, 0)]).pad_with(64).end(),
        Refused(CORRUPT, 21, "padding after the chunk metadata"),
    );
    let two_bins = |f: Fields| f.variable(32, 1, &[(1, 5, 0), (1, 9, 0)]).pad();
    let page = two_bins(classic(U32));
    let at = page.byte();
    add(
        "padding-page-head",
        "a bit set in the padding behind the lanes of a page",
        page.clone().field(0, 4).pad_with(8).field(0, 3).pad().end(),
        Refused(CORRUPT, at, "padding after the page metadata"),
    );
    add(
        "padding-page-end",
        "a bit set in the padding behind the last batch of a page",
        page.clone().field(0, 4).pad().field(0, 3).pad_with(16).end(),
        Refused(CORRUPT, at + 1, "padding after a page"),
    );

    // Bins.
    add(
        "weights-short",
        "weights that do not fill the tANS table: unfilled slots are uninitialised memory",
        classic(U32).variable(32, 2, &[(1, 5, 0), (2, 9, 0)]).pad().end(),
        Refused(CORRUPT, 14, "weights of the bins sum to 3, the table holds 4"),
    );
    add(
        "weights-long",
        "weights that overfill the tANS table",
        classic(U32).variable(32, 2, &[(4, 5, 0), (2, 9, 0)]).pad().end(),
        Refused(CORRUPT, 14, "weights of the bins sum to 6, the table holds 4"),
    );
    add(
        "bins-over-table",
        "more bins than the table has slots",
        classic(U32).variable(32, 1, &[(1, 5, 0), (1, 9, 0), (1, 11, 0)]).pad().end(),
        Refused(CORRUPT, 14, "3 bins in a tANS table of 2^1"),
    );
    add(
        "bins-claimed",
        "16384 bins claimed, none there",
        classic(U32).field(14, 4).field(1 << 14, 15).pad().end(),
        Refused(TRUNCATED, 18, "16384 bins"),
    );
    add(
        "log-15",
        "a tANS table of 2^15",
        classic(U32).variable(32, 15, &[(1 << 15, 5, 0)]).pad().end(),
        Refused(CORRUPT, 14, "a tANS table of 2^15"),
    );
    add(
        "one-bin-with-log",
        "one bin, and a table of 8 slots for it",
        classic(U32).variable(32, 3, &[(8, 5, 0)]).pad().end(),
        Refused(CORRUPT, 14, "a tANS table of 2^3 for 1 bins"),
    );
    add(
        "no-bins-with-log",
        "no bins, and a table of 4 slots for them",
        classic(U32).variable(32, 2, &[]).pad().end(),
        Refused(CORRUPT, 14, "a tANS table of 2^2 for 0 bins"),
    );
    let none = classic(U32).variable(32, 0, &[]).pad();
    let at = none.byte();
    add(
        "no-bins",
        "no bins, but three latents to decode",
        none.end(),
        Refused(CORRUPT, at, "latents of a variable that has no bins"),
    );
    for (name, type_byte, k, bits) in [
        ("offset-bits-u8", U8, 8, 9),
        ("offset-bits-u32", U32, 32, 33),
        ("offset-bits-u64", U64, 64, 127),
    ] {
        let fields = classic(type_byte).variable(k, 0, &[(1, 7, bits)]).pad();
        let file = fields.field(0, 64).field(0, 64).end();
        add(name, "offsets wider than the latents", file, Refused(CORRUPT, 16, "offset bits"));
    }

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
    let ordered = |bits: u32| u64::from(if bits >> 31 == 0 { bits ^ 1 << 31 } else { !bits });
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
    let states = |f: Fields| f.variable(32, 0, &[(1, 1, 0)]).variable(32, 0, &[(1, 7, 0)]).pad();
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

    // Pages.
    let fields = classic(U32).variable(32, 0, &[(1, 7, 20)]).pad().field(3, 20).field(4, 20);
    let end = fields.clone().done().len() as u64;
    add(
        "page-short",
        "a page that ends within its third number",
        fields.done(),
        Refused(TRUNCATED, end, "inside of a page"),
    );

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
    out
}

fn readme(files: &[Hostile]) -> String {
    let mut text = "# Hostile Pco files\n\n\
        Each is written field by field in `crates/latens/tests/pco_hostile.rs`, which also knows what\n\
        must come of it, and makes this folder anew with `LATENS_BLESS=1 cargo test --test pco_hostile`.\n\n\
        | file | attacks with | latens | pco 1.1.0 |\n|---|---|---|---|\n"
        .to_owned();
    for Hostile { name, attacks, verdict, pco_accepts, .. } in files {
        let (verdict, pco) = match verdict {
            Refused(kind, at, _) => (
                format!("{} at byte {at}", kind.name()),
                if *pco_accepts { "decodes it" } else { "refuses it" },
            ),
            Decoded(..) => ("decodes it".to_owned(), "decodes it"),
        };
        writeln!(text, "| {name}.pco | {attacks} | {verdict} | {pco} |").unwrap();
    }
    text
}

fn folder_is(files: &[(String, Vec<u8>)]) {
    let folder = repository().join("testdata/hostile");
    let bless = std::env::var_os("LATENS_BLESS").is_some();
    if bless {
        std::fs::create_dir_all(&folder).unwrap();
    }
    for (name, bytes) in files {
        let path = folder.join(name);
        if bless {
            std::fs::write(&path, bytes).unwrap();
        }
        let there = std::fs::read(&path).unwrap_or_default();
        assert!(
            there == *bytes,
            "{name} differs from what the test writes; LATENS_BLESS=1 writes it"
        );
    }
    let there = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(there, files.len(), "files in testdata/hostile");
}

#[test]
fn our_hostile_files() {
    let all = hostile();
    let mut files: Vec<(String, Vec<u8>)> =
        all.iter().map(|h| (format!("{}.pco", h.name), h.file.clone())).collect();
    files.push(("README.md".to_owned(), readme(&all).into_bytes()));
    let mut wrong = Vec::new();
    for Hostile { name, file, verdict, pco_accepts, .. } in &all {
        match (verdict, bounded(name, file, &Limits::default())) {
            (Decoded(ty, want), Ok(numbers)) => {
                let want: Vec<u8> =
                    want.iter().flat_map(|x| x.to_le_bytes()[..ty.bytes()].to_vec()).collect();
                if numbers.number_type() != *ty || numbers.to_le_bytes() != want {
                    wrong.push(format!("{name}: {numbers:?}"));
                }
            }
            (Decoded(..), Err(error)) => wrong.push(format!("{name}: {error}")),
            (Refused(..), Ok(numbers)) => wrong.push(format!("{name}: decoded, {numbers:?}")),
            (Refused(kind, at, text), Err(error)) => {
                if (error.kind(), error.at()) != (*kind, Some(*at))
                    || !error.to_string().contains(text)
                {
                    wrong.push(format!("{name}: {error}; expected {kind:?} {at} {text}"));
                }
            }
        }
        // The reference needs the type told.
        let ty = file.get(9).and_then(|&b| NumberType::from_pco_byte(b)).unwrap_or(NumberType::U32);
        let theirs = with_number_type!(ty, T => pco_decode::<T>(file).map(|_| ()));
        let accepts = *pco_accepts || matches!(verdict, Decoded(..));
        if theirs.is_ok() != accepts {
            wrong.push(format!("{name}: pco 1.1.0 says {theirs:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    folder_is(&files);
    println!("{} hostile files", all.len());
}

#[test]
fn third_party_hostile_files() {
    let Some(folder) = vectors("hostile") else { return };
    let expected = [
        ("abort_asset_v0_1_1_standalone_versioned.pco.havoc.11.pco", TRUNCATED, "the input ends"),
        ("abort_asset_v0_1_1_standalone_versioned.pco.splice.642.pco", CORRUPT, "2 bins"),
        ("abort_asset_v0_3_0_f16.pco.havoc.1101.pco", TRUNCATED, "the input ends"),
        (
            "abort_asset_v0_4_0_lookback_delta.pco.havoc.922.pco",
            CORRUPT,
            "weights of the bins sum to 66",
        ),
        ("abort_asset_v0_4_8_minor_version.pco.blowup.90.pco", CORRUPT, "unknown mode 8"),
        ("abort_asset_v0_4_8_minor_version.pco.splice.10.pco", CORRUPT, "unknown mode 8"),
        ("bigalloc_asset_v1_0_0_i8.pco.havoc.769.pco", CORRUPT, "78 bins"),
        ("bigalloc_asset_v1_0_0_u8.pco.havoc.769.pco", CORRUPT, "78 bins"),
        ("bigalloc_f64_classic_lb.pco.havoc.2773.pco", TRUNCATED, "the input ends"),
        ("bigalloc_f64_fmult_lb.pco.havoc.2773.pco", TRUNCATED, "the input ends"),
        ("bigalloc_u32_intmult_cv.pco.havoc.3350.pco", TRUNCATED, "3171 bins"),
        ("v049_panic_asset_v0_4_8_minor_version.pco.blowup.90.pco", CORRUPT, "unknown mode 8"),
    ];
    for (name, kind, text) in expected {
        let file = std::fs::read(folder.join(name)).unwrap();
        let error = bounded(name, &file, &Limits::default()).unwrap_err();
        assert_eq!(error.kind(), kind, "{name}: {error}");
        assert!(error.to_string().contains(text), "{name}: {error}");
        assert!(error.at().is_some_and(|at| at <= file.len() as u64), "{name}: {error}");
    }
    let bombs = [
        ("bomb_const_i64.pco.blowup.200.pco", 134_217_729),
        ("bomb_const_i64.pco.blowup.215.pco", 134_217_721),
        ("bomb_const_i64.pco.blowup.234.pco", 133_701_441),
    ];
    for (name, bytes) in bombs {
        let file = std::fs::read(folder.join(name)).unwrap();
        let numbers = bounded(name, &file, &Limits::default()).unwrap();
        // The figures are of the reference's output file, a byte longer than its numbers.
        let ours = numbers.len() * numbers.number_type().bytes();
        assert!(ours.abs_diff(bytes) <= 8, "{name}: {ours} bytes");
        refused_by_limit(name, &file);
        streams_in_a_megabyte(name, &file, ours as u64);
    }
    let name = "bomb_20chunks.pco";
    let file = std::fs::read(folder.join(name)).unwrap();
    refused_by_limit(name, &file);
    streams_in_a_megabyte(name, &file, 20 << 27);
}

/// With a limit on the output, a bomb is an error that names the limit, soon and cheaply.
fn refused_by_limit(name: &str, file: &[u8]) {
    let start = Instant::now();
    let error = bounded(name, file, &Limits::default().max_output(1 << 20)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{name}: {error}");
    assert!(error.to_string().contains("max_output = 1048576"), "{name}: {error}");
    assert!(start.elapsed() < Duration::from_millis(100), "{name}: {:?}", start.elapsed());
}

/// A stream of numbers needs no memory for those that have passed.
fn streams_in_a_megabyte(name: &str, file: &[u8], bytes: u64) {
    let start = Instant::now();
    let (total, peak) = peak_of(|| {
        let mut decoder = Decoder::new(file, &Limits::default()).unwrap();
        let ty = decoder.number_type().unwrap().unwrap();
        with_number_type!(ty, T => {
            let mut buffer = vec![T::default(); 4096];
            let mut total = 0u64;
            loop {
                match decoder.read(&mut buffer).unwrap() {
                    0 => break total * ty.bytes() as u64,
                    got => total += got as u64,
                }
            }
        })
    });
    assert_eq!(total, bytes, "{name}");
    assert!(peak < 1 << 20, "{name}: {peak} bytes held");
    let most = Duration::from_secs(3 * (1 + (bytes >> 27)));
    assert!(start.elapsed() < most, "{name}: {:?}", start.elapsed());
    println!("{name}: {bytes} bytes streamed in {:?} with {peak} bytes", start.elapsed());
}

/// The smallest bomb: 2^24 numbers from nine bytes of chunk, often.
#[test]
fn bombs_of_ours() {
    let mut fields = Fields::head(0, 1);
    for _ in 0..8 {
        fields = fields.chunk(U8, 1 << 24).field(0, 8).variable(8, 0, &[(1, 7, 0)]).pad();
    }
    let cut = fields.clone().done();
    let file = fields.end();
    // The count hint says 1: it must cost neither the numbers nor much time.
    let numbers = bounded("bomb", &file, &Limits::default()).unwrap();
    assert_eq!(numbers.len(), 8 << 24);
    refused_by_limit("bomb", &file);
    streams_in_a_megabyte("bomb", &file, 8 << 24);
    // Without its end it is an error, and has earned nothing.
    let (error, peak) = peak_of(|| latens::pco::decompress_any(&cut, &Limits::default()));
    let error = error.unwrap_err();
    assert_eq!((error.kind(), error.at()), (TRUNCATED, Some(cut.len() as u64)), "{error}");
    assert!(peak <= (16 << 20) + 4 * cut.len(), "{peak} bytes held");
}

/// Tables, dictionaries and windows are within `max_alloc`, and the error says which limit.
#[test]
fn the_limit_of_memory_is_kept_and_named() {
    let limits = Limits::default().max_alloc(1000);
    let numbers: Vec<u32> = (0..5000u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let config = latens::pco::Config::default().mode(latens::pco::ModeSpec::Dict);
    let file = latens::pco::compress(&numbers, &config).unwrap();
    let error = latens::pco::decompress_any(&file, &limits).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.to_string().contains("a dictionary takes 20000 bytes"), "{error}");
    assert!(error.to_string().contains("max_alloc = 1000"), "{error}");
    latens::pco::decompress_any(&file, &Limits::default().max_alloc(200_000)).unwrap();
}

/// Memory follows the bytes that are there, also where most of them are metadata.
#[test]
fn a_large_dictionary_costs_a_few_times_its_bytes() {
    let n = 1 << 21;
    let values: Vec<u8> = (0..n as u32).flat_map(|i| i.to_le_bytes()).collect();
    for (hint, whole) in [(1, true), (1 << 23, true), (1 << 23, false)] {
        let fields = Fields::head(0, hint).chunk(U32, 3).field(4, 4).field(n, 25).pad();
        let fields = fields.bytes(&values).field(0, 4).variable(32, 0, &[(1, n - 1, 0)]).pad();
        let file = if whole { fields.end() } else { fields.done() };
        // Not R3: the dictionary is no output. It may cost what an error may.
        let (decoded, peak) =
            peak_of(|| latens::pco::decompress_any(&file, &Limits::default()).is_ok());
        assert!(peak <= (16 << 20) + 4 * file.len(), "{peak} bytes held for {}", file.len());
        assert_eq!(decoded, whole);
    }
}

/// Sizes that no hint announces, or a hint too small, or too large, cost no more than they are.
#[test]
fn a_wrong_hint_costs_little() {
    let numbers: Vec<u64> = (0..5_000_000u64).map(|i| i * i % 1_000_003).collect();
    let config = latens::pco::Config::default().level(1).checksum(false);
    for hint in [0, 1, 2_500_000, 4_999_999, 5_000_000, 5_000_001, 1 << 40] {
        let mut encoder =
            latens::pco::standalone::Encoder::new(Vec::new(), NumberType::U64, hint, &config)
                .unwrap();
        for chunk in numbers.chunks(1 << 20) {
            encoder.write_chunk(chunk).unwrap();
        }
        let file = encoder.finish().unwrap();
        let decoded = bounded(&format!("hint {hint}"), &file, &Limits::default()).unwrap();
        assert_eq!(decoded, AnyNumbers::from(numbers.clone()));
    }
}
