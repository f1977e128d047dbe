//! The versions that no package of a release writes, by bytes: formats 0 and 4.0, and what the
//! version byte changes between them. Each file is written field by field.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test"
)]

mod common;

use common::fields::Fields;
use common::pco_decode;
use latens::pco::FormatVersion;
use latens::pco::standalone::Decoder;
use latens::{Limits, Number};

/// Decodes with latens and with the reference; the numbers, and the versions that latens saw.
fn decode<T: common::Both>(file: &[u8]) -> (Vec<T>, u8, FormatVersion) {
    let numbers = latens::pco::decompress::<T>(file).unwrap();
    let theirs = pco_decode::<T>(file).unwrap();
    assert_eq!(common::difference(&theirs, &numbers), None);
    let decoder = Decoder::new(file, Limits::default()).unwrap();
    (numbers, decoder.standalone_version(), decoder.format_version())
}

fn version(major: u8, minor: u8) -> FormatVersion {
    FormatVersion { major, minor }
}

/// `pco!` and whatever stands between it and the first chunk.
fn head(bytes: &[u8]) -> Fields {
    Fields::default().bytes(b"pco!").bytes(bytes)
}

const U32: u8 = 1;
const I32: u8 = 3;
const F32: u8 = 5;

fn ordered(x: f32) -> u64 {
    u64::from(x.to_latent())
}

/// Format 0, Classic, two bins: the byte after the magic is standalone version and header in one.
#[test]
fn format_0_classic() {
    // Bins 100…107 and 1000; T = 2, so that slot 0 is the first bin, slot 1 the second, and one
    // bit leads from each to the next slot of its lane.
    let file = head(&[0])
        .chunk(U32, 6)
        .field(0, 4) // mode
        .field(0, 3) // delta order
        .variable(32, 1, &[(1, 100, 3), (1, 1000, 0)])
        .pad()
        // Lanes: numbers 0 to 3 are of bins 0, 1, 0, 0.
        .field(0b0010, 4)
        .pad()
        // From numbers 0 and 1 to numbers 4 and 5, which are of bins 1 and 0; then the bits that
        // nobody needs.
        .field(1, 1)
        .field(0, 1)
        .field(0, 4)
        // Offsets of the numbers in the first bin: 0, 2, 3, 5.
        .field(4, 3)
        .field(7, 3)
        .field(0, 3)
        .field(1, 3)
        .pad()
        .end();
    let (numbers, standalone, format) = decode::<u32>(&file);
    assert_eq!(numbers, [104, 1000, 107, 100, 1000, 101]);
    assert_eq!((standalone, format), (0, version(0, 0)));
}

/// Format 0, FloatMult with a delta order of three bits, and no flag for the secondary.
#[test]
fn format_0_float_mult_with_deltas() {
    let mid = 1u64 << 31;
    let file = head(&[0])
        .chunk(F32, 4)
        .field(2, 4)
        .field(ordered(0.5), 32)
        .field(1, 3)
        // Multiples 10, 11, 13, 16: the differences 1, 2, 3 are stored with MID added.
        .variable(32, 0, &[(1, mid + 1, 2)])
        // Units in the last place, stored with MID added: one of four is off by 1.
        .variable(32, 0, &[(1, mid, 1)])
        .pad()
        .field(mid + 10, 32)
        .pad()
        .field(0, 2)
        .field(1, 2)
        .field(2, 2)
        .field(0b0100, 4)
        .pad()
        .end();
    let (numbers, _, format) = decode::<f32>(&file);
    assert_eq!(numbers, [5.0, 5.5, f32::from_bits(6.5f32.to_bits() + 1), 8.0]);
    assert_eq!(format, version(0, 0));
}

#[test]
fn format_0_empty_and_gcd() {
    assert!(decode::<u32>(&head(&[0]).end()).0.is_empty());
    let gcd = head(&[0]).chunk(U32, 1).field(1, 4).field(0, 3).variable(32, 0, &[(1, 7, 0)]);
    let error = latens::pco::decompress::<u32>(&gcd.pad().end()).unwrap_err();
    assert!(error.to_string().contains("GCD"), "{error}");
    assert_eq!(error.at(), Some(9));
}

/// The same chunk of IntMult, base 1000, under formats 1 and 2 and 3: the delta field differs.
fn int_mult(fields: Fields, long_delta: bool) -> Vec<u8> {
    let fields = fields.chunk(I32, 4).field(1, 4).field(1000, 32);
    let fields =
        if long_delta { fields.field(1, 4).field(1, 3).field(0, 1) } else { fields.field(1, 3) };
    let mid = 1u64 << 31;
    // Of the ordered latents of 2000, 3001, 4000, 5000; MID is 2147483 · 1000 + 648.
    fields
        .variable(32, 0, &[(1, mid + 1, 0)])
        .variable(32, 0, &[(1, 648, 1)])
        .pad()
        .field(2_147_485, 32)
        .pad()
        .field(0b0010, 4)
        .pad()
        .end()
}

#[test]
fn the_delta_field_is_short_before_format_3() {
    let want = [2000, 3001, 4000, 5000];
    // Standalone 1: no version byte, no hint.
    let (numbers, standalone, format) = decode::<i32>(&int_mult(head(&[1]), false));
    assert_eq!((&numbers[..], standalone, format), (&want[..], 1, version(1, 0)));
    // Standalone 2: a hint of one bit, 0.
    for (major, long) in [(1, false), (2, false), (3, true)] {
        let (numbers, standalone, format) = decode::<i32>(&int_mult(head(&[2, 0, major]), long));
        assert_eq!((&numbers[..], standalone, format), (&want[..], 2, version(major, 0)));
    }
    // Standalone 2 and 3 with a minor version: 4.0 and 4.1, and newer ones.
    for minor in [0, 1, 2, 255] {
        let (numbers, standalone, format) = decode::<i32>(&int_mult(head(&[2, 0, 4, minor]), true));
        assert_eq!((&numbers[..], standalone, format), (&want[..], 2, version(4, minor)));
        let (numbers, standalone, format) =
            decode::<i32>(&int_mult(head(&[3, I32, 0, 4, minor]), true));
        assert_eq!((&numbers[..], standalone, format), (&want[..], 3, version(4, minor)));
    }
    // Read by the rules of the other, the field leads elsewhere: an error, not other numbers.
    assert!(latens::pco::decompress::<i32>(&int_mult(head(&[2, 0, 2]), true)).is_err());
    assert!(latens::pco::decompress::<i32>(&int_mult(head(&[2, 0, 3]), false)).is_err());
}

/// Nothing but the delta field and mode 1 hang on the version: Dict and Conv1, which came with 4.1,
/// are read under older ones, and so are the types of 8 bits.
#[test]
fn features_are_not_tied_to_versions() {
    let dict = |f: Fields, long: bool| {
        let f = f.chunk(U32, 3).field(4, 4).field(2, 25).pad().field(70, 32).field(90, 32);
        let f = if long { f.field(0, 4) } else { f.field(0, 3) };
        f.variable(32, 0, &[(1, 0, 1)]).pad().field(0b101, 3).pad().end()
    };
    for (bytes, long) in [
        (&[0][..], false),
        (&[1], false),
        (&[2, 0, 2], false),
        (&[2, 0, 3], true),
        (&[2, 0, 4, 0], true),
    ] {
        assert_eq!(decode::<u32>(&dict(head(bytes), long)).0, [90, 70, 90]);
    }
    let conv1 = |f: Fields| {
        f.chunk(10, 3)
            .field(0, 4)
            .field(3, 4)
            .field(0, 5)
            .field(1 << 63, 64)
            .field(0, 5)
            .field((1 << 31) + 1, 32)
            .variable(8, 0, &[(1, 130, 0)])
            .pad()
            .field(40, 8)
            .end()
    };
    for bytes in [&[2, 0, 3][..], &[2, 0, 4, 0], &[3, 0, 0, 4, 0], &[3, 10, 0, 4, 7]] {
        assert_eq!(decode::<u8>(&conv1(head(bytes))).0, [40, 42, 44]);
    }
}

/// Several chunks in files of old versions.
#[test]
fn chunks_follow_each_other_in_every_version() {
    for (bytes, long) in
        [(&[0][..], false), (&[1], false), (&[2, 0, 3], true), (&[3, 0, 0, 4, 0], true)]
    {
        let mut fields = head(bytes);
        for value in 1..=3 {
            fields = fields.chunk(U32, value).field(0, 4).field(0, if long { 4 } else { 3 });
            fields = fields.variable(32, 0, &[(1, value, 0)]).pad();
        }
        assert_eq!(decode::<u32>(&fields.end()).0, [1, 2, 2, 3, 3, 3]);
    }
}
