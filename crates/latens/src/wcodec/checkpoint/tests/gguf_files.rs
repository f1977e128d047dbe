//! GGUF files.

#![allow(clippy::cast_possible_truncation, reason = "a test")]

use super::*;
use crate::wcodec::made::{Gguf, gguf_string};

fn sample() -> Gguf {
    let mut gguf = Gguf::new();
    let names =
        [&8u32.to_le_bytes()[..], &2u64.to_le_bytes(), &gguf_string(b"ab"), &gguf_string(b"")]
            .concat();
    let nested = [
        &9u32.to_le_bytes()[..],
        &1u64.to_le_bytes(),
        &4u32.to_le_bytes(),
        &2u64.to_le_bytes(),
        &[0; 8],
    ];
    gguf.pair("general.architecture", 8, &gguf_string(b"llama"))
        .pair("flag", 7, &[1])
        .pair("big", 10, &[0; 8])
        .pair("tokens", 9, &names)
        .pair("nested", 9, &nested.concat())
        .tensor("blk.0.w", &[512, 3], 12, noise(3 * 288))
        .tensor("norm", &[7], 0, noise(28))
        .tensor("q8", &[32, 2, 2], 8, noise(34 * 4))
        .tensor("new", &[9, 9], 99, noise(77))
        .tensor("q6", &[256], 14, noise(210));
    gguf
}

#[test]
fn every_byte_comes_back() {
    let bytes = sample().bytes();
    let checkpoint = open_bytes("a.gguf", &bytes).unwrap();
    assert_eq!(checkpoint.format, Format::Gguf);
    assert_eq!(assemble(&checkpoint, 0), bytes);
    let t = tensor_of(&checkpoint, "blk.0.w");
    assert_eq!((t.dtype, t.shape.as_slice(), t.len), (Dtype::Q4_K, &[3, 512][..], 864));
    let layout = t.layout().unwrap();
    assert_eq!((layout.rows, layout.cols, t.view.name().as_str()), (3, 512, "Q4_K"));
    let q8 = tensor_of(&checkpoint, "q8").layout().unwrap();
    assert_eq!((q8.rows, q8.cols, q8.unit_bytes), (4, 32, 34));
    // A type that is not known goes on to the next tensor.
    let t = tensor_of(&checkpoint, "new");
    assert_eq!((t.dtype, t.view, t.len), (Dtype::Unknown, View::Raw, 96));
    assert!(checkpoint.files[0].segments.iter().any(|s| matches!(s, Segment::Zeros { len: 4 })));
}

#[test]
fn alignment_is_heeded() {
    let mut gguf = Gguf::new();
    gguf.alignment = 256;
    gguf.pair("general.alignment", 4, &256u32.to_le_bytes())
        .tensor("a", &[5], 24, noise(5))
        .tensor("b", &[5], 24, noise(5));
    let bytes = gguf.bytes();
    let checkpoint = open_bytes("a.gguf", &bytes).unwrap();
    assert_eq!(tensor_of(&checkpoint, "b").offset % 256, 0);
    assert_eq!(assemble(&checkpoint, 0), bytes);
    for alignment in [0, u32::MAX] {
        let mut gguf = Gguf::new();
        gguf.pair("general.alignment", 4, &alignment.to_le_bytes());
        assert!(open_bytes("a.gguf", &gguf.bytes()).is_err());
    }
}

#[test]
fn names_that_cannot_be_stay_bytes() {
    let mut gguf = Gguf::new();
    gguf.tensor(&"n".repeat(LONGEST_NAME + 1), &[5], 24, noise(5)).tensor("b", &[5], 24, noise(5));
    gguf.listed(b"\xff", &[5], 24, 5);
    let bytes = gguf.bytes();
    let checkpoint = open_bytes("a.gguf", &bytes).unwrap();
    assert_eq!(checkpoint.tensors.len(), 1);
    assert_eq!(assemble(&checkpoint, 0), bytes);
}

#[test]
fn errors_name_the_tensor_and_the_byte() {
    for (dims, kind, offset, says) in [
        (&[500u64][..], 12, 0, "no whole number of blocks"),
        (&[16, 16], 8, 0, "no whole number of blocks"),
        (&[u64::MAX, u64::MAX], 24, 0, "2^64 bytes or more"),
        (&[1; 9], 24, 0, "9 dimensions"),
        (&[5], 24, u64::MAX, "2^64"),
        (&[5], 24, 1 << 40, "cut short"),
        (&[5], 99, 1 << 40, "behind the end"),
        (&[1 << 40], 24, 0, "cut short"),
        (&[2], 24, 3, "overlap tensor \"a\""),
    ] {
        let mut gguf = Gguf::new();
        gguf.tensor("a", &[5], 24, noise(5)).listed(b"b.w", dims, kind, offset);
        let e = open_bytes("a.gguf", &gguf.bytes()).expect_err(says);
        let text = e.to_string();
        assert!(text.contains("tensor \"b.w\"") && text.contains(says), "{says}: {text}");
        // 24 bytes of header, and 33 of the tensor before.
        assert_eq!(e.at(), Some(57), "{text}");
    }
    let mut gguf = Gguf::new();
    gguf.tensor("a", &[5], 24, noise(5)).tensor("a", &[5], 24, noise(5));
    let text = open_bytes("a.gguf", &gguf.bytes()).unwrap_err().to_string();
    assert!(text.contains("tensor \"a\": two tensors have this name"), "{text}");
}

#[test]
fn broken_headers() {
    let good = sample().bytes();
    let with = |at: usize, value: &[u8]| {
        let mut bytes = good.clone();
        bytes[at..at + value.len()].copy_from_slice(value);
        bytes
    };
    for (bytes, says) in [
        (good[..7].to_vec(), "ends within 4 bytes"),
        (with(4, &[1]), "version 1 is not read"),
        (with(4, &[9]), "version 9 is not known"),
        (with(4, &[0, 0, 0, 3]), "big-endian"),
        (with(8, &[0xff; 8]), "tensors do not fit"),
        (with(16, &[0xff; 8]), "pairs of metadata do not fit"),
        (with(24, &[0xff; 8]), "ends within"),
    ] {
        let e = open_bytes("a.gguf", &bytes).expect_err(says);
        assert!(e.to_string().contains(says), "{e}");
        assert!(e.at().is_some());
    }
    for (kind, value, says) in [
        (77, vec![], "type 77 is not known"),
        (9, [&4u32.to_le_bytes()[..], &[0xff; 8]].concat(), "numbers do not fit"),
        (9, [&8u32.to_le_bytes()[..], &[0xff; 8]].concat(), "values do not fit"),
        (9, [9, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0].repeat(50), "nest deeper"),
    ] {
        let mut gguf = Gguf::new();
        gguf.pair("some.key", kind, &value).tensor("a", &[5], 24, noise(5));
        let e = open_bytes("a.gguf", &gguf.bytes()).expect_err(says);
        assert!(e.to_string().contains(says) && e.to_string().contains("some.key"), "{e}");
    }
}

#[test]
fn mutated_files_are_refused_or_come_back() {
    let bytes = sample().bytes();
    let mut mutants = Mutants::of("a.gguf");
    let header = 600;
    for i in 4..bytes.len() {
        mutants.check(&bytes[..i]);
    }
    for i in 4..header {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[i] ^= 1 << bit;
            mutants.check(&flipped);
        }
    }
    mutants.are_of_both();
}
