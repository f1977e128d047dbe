//! The container: checkpoints come back byte for byte, and damage anywhere is found.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test"
)]

mod damage;
mod sizes;
#[path = "../wcodec_common/mod.rs"]
mod wcodec_common;

use latens::Limits;
use latens::wcodec::{Config, Reader, compress_checkpoint, compress_checkpoint_to_file};
use std::io::Cursor;
use wcodec_common::{Random, back, open, safetensors};

/// All kinds of tensors, small ones.
fn mixed(rows: usize, cols: usize) -> Vec<u8> {
    let mut random = Random(7);
    let int8 = |random: &mut Random| -> Vec<u8> {
        (0..rows)
            .flat_map(|r| {
                let width = [3.0, 9.0, 27.0][r % 3];
                (0..cols).map(|_| random.int8(width)).collect::<Vec<_>>()
            })
            .collect()
    };
    let weights = int8(&mut random);
    let more = int8(&mut random);
    let packed: Vec<u8> = (0..rows * cols / 2).map(|_| (random.next() & 0xff) as u8).collect();
    let bf16: Vec<u8> = (0..rows * cols)
        .flat_map(|_| ((random.normal(0.02) as f32).to_bits() >> 16).to_le_bytes()[..2].to_vec())
        .collect();
    let f32s: Vec<u8> = (0..rows).flat_map(|_| (random.normal(1.0) as f32).to_le_bytes()).collect();
    let (r, c) = (rows as u64, cols as u64);
    safetensors(&[
        ("a.weight", "I8", &[r, c], weights.clone()),
        ("a.weight_scale", "F32", &[r, 1], f32s.clone()),
        ("b.weight", "I8", &[r, c], more),
        ("b.weight_packed", "I32", &[r, c / 8], packed),
        ("c.weight", "BF16", &[r, c], bf16),
        ("d \"odd\" \u{1f600}\n", "F32", &[r], f32s),
        ("tied", "I8", &[r, c], weights),
        ("nothing", "F32", &[0, c], Vec::new()),
        ("one", "I64", &[], 42i64.to_le_bytes().to_vec()),
        ("three.dims", "U8", &[2, 3, 4], (0..24).collect()),
        ("flags", "BOOL", &[5], vec![0, 1, 1, 0, 1]),
    ])
}

#[test]
fn checkpoints_come_back_byte_for_byte() {
    for (rows, cols) in [(1, 8), (3, 16), (64, 32), (100, 64), (300, 512)] {
        let source = mixed(rows, cols);
        for level in [0, 8, 12] {
            let config =
                Config::default().level(level).group_symbols(if rows == 300 { 1 << 12 } else { 0 });
            let file =
                compress_checkpoint(&open(source.clone()), None, &config, Vec::new()).unwrap();
            assert!(back(&file).unwrap() == source, "{rows} × {cols}, level {level}");
            let reader = Reader::open(file, Limits::default()).unwrap();
            let names: Vec<String> = reader.tensors().map(|(_, t)| t.name).collect();
            assert_eq!(names.len(), 11);
            let number = reader.find("one").unwrap();
            assert_eq!(reader.tensor(number).unwrap(), 42i64.to_le_bytes());
            let tied = reader.tensors().find(|(_, t)| t.name == "tied").unwrap().1;
            assert!(tied.copy_of.is_some(), "{rows} × {cols}, level {level}");
        }
    }
}

#[test]
fn a_file_without_tensors() {
    let source = safetensors(&[]);
    let file =
        compress_checkpoint(&open(source.clone()), None, &Config::default(), Vec::new()).unwrap();
    assert_eq!(back(&file).unwrap(), source);
}

#[test]
fn the_output_does_not_depend_on_threads_and_headers_may_be_complete() {
    let source = mixed(200, 256);
    let checkpoint = open(source.clone());
    let config = Config::default().group_symbols(1 << 10);
    let one =
        compress_checkpoint(&checkpoint, None, &config.clone().threads(1), Vec::new()).unwrap();
    for threads in [2, 7] {
        let many =
            compress_checkpoint(&checkpoint, None, &config.clone().threads(threads), Vec::new());
        assert!(many.unwrap() == one);
    }
    let file = Cursor::new(Vec::new());
    let complete =
        compress_checkpoint_to_file(&checkpoint, None, &config, file).unwrap().into_inner();
    assert_eq!(complete.len(), one.len());
    let footer = one.len() - 32;
    let index = u64::from_le_bytes(one[footer..][..8].try_into().unwrap()) as usize;
    assert!(complete[128..index] == one[128..index]);
    assert_ne!(complete[12..44], [0; 32]);
    assert!(back(&complete).unwrap() == source);
}

#[test]
fn limits_are_named() {
    let file =
        compress_checkpoint(&open(mixed(64, 64)), None, &Config::default(), Vec::new()).unwrap();
    let reader = Reader::open(file, Limits::default().max_output(1000)).unwrap();
    let error = reader.verify().unwrap_err().to_string();
    assert!(error.contains("max_output = 1000"), "{error}");
}

/// Bytes of tensors, all and some, to memory of the caller; and files against their checkpoint.
#[test]
fn ranges_of_bytes_are_those_of_the_tensor() {
    let source = mixed(100, 64);
    let checkpoint = open(source.clone());
    let config = Config::default().level(3).group_symbols(1 << 10);
    let file = compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap();
    let reader = Reader::open(file, Limits::default()).unwrap();
    let mut random = Random(3);
    let tensors: Vec<usize> = reader.tensors().map(|(number, _)| number).collect();
    for &number in &tensors {
        let whole = reader.tensor(number).unwrap();
        assert_eq!(reader.byte_length(number).unwrap(), whole.len());
        let mut out = vec![0x5a; whole.len()];
        reader.tensor_into(number, &mut out).unwrap();
        assert!(out == whole, "tensor {number}");
        assert!(reader.tensor_into(number, &mut vec![0; whole.len() + 1]).is_err());
        for _ in 0..20 {
            let from = random.below(whole.len() + 1);
            let to = from + random.below(whole.len() - from + 1);
            let range = from as u64..to as u64;
            assert!(reader.byte_range(number, range.clone()).unwrap() == whole[from..to]);
            let mut out = vec![0x5a; to - from];
            reader.byte_range_into(number, range.start, &mut out).unwrap();
            assert!(out == whole[from..to], "tensor {number}, bytes {from} to {to}");
        }
        let end = whole.len() as u64;
        for range in [0..end + 1, end + 1..end + 1, u64::MAX..u64::MAX] {
            assert!(reader.byte_range(number, range).is_err());
        }
        #[expect(clippy::reversed_empty_ranges, reason = "to be refused")]
        let reversed = 1..0;
        assert!(reader.byte_range(number, reversed).is_err());
    }
    assert!(reader.byte_length(usize::MAX).is_err());
    reader.compare(&checkpoint).unwrap();
    let mut other = source;
    let last = other.len() - 1;
    other[last] ^= 1;
    let error = reader.compare(&open(other)).unwrap_err();
    assert!(error.to_string().contains("model.safetensors"), "{error}");
}
