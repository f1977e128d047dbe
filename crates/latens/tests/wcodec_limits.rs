//! Limits bound what is asked for, not what it is a part of.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test")]

mod wcodec_common;

use latens::Limits;
use latens::wcodec::{Config, Reader, compress_checkpoint};
use wcodec_common::{Random, open, safetensors};

/// INT8 with scales that explain its classes, packed INT4, floats as planes, and noise.
fn file() -> Vec<u8> {
    let mut random = Random(3);
    let scales: Vec<u8> = (0..256).flat_map(|i| [0, 0x3c + (i % 3) as u8]).collect();
    let weights = (0..256 * 128).map(|i| random.int8([4.0, 40.0, 9.0][i / 128 % 3])).collect();
    let packed = (0..64 * 64).map(|_| random.next() as u8 & 0x77).collect();
    let floats = (0..100 * 64).flat_map(|_| (random.normal(0.02) as f32).to_le_bytes()).collect();
    let noise = (0..64 * 64).map(|_| random.next() as u8).collect();
    let file = safetensors(&[
        ("a.weight", "I8", &[256, 128], weights),
        ("a.weight_scale", "BF16", &[256, 1], scales),
        ("b.weight_packed", "I32", &[64, 16], packed),
        ("b.weight_scale", "BF16", &[64, 1], vec![0x3c; 128]),
        ("c.weight", "F32", &[100, 64], floats),
        ("d", "U8", &[64, 64], noise),
    ]);
    let config = Config::default().group_symbols(1 << 10);
    compress_checkpoint(&open(file), None, &config, Vec::new()).unwrap()
}

#[test]
fn output_is_what_is_asked_for() {
    let file = file();
    let free = Reader::open(file.clone(), Limits::default()).unwrap();
    for threads in [1, 3] {
        for (number, tensor) in free.tensors() {
            let layout = free.layout(number).unwrap();
            let all = layout.bytes_of(layout.rows, layout.cols);
            let row = layout.bytes_of(1, layout.cols);
            assert_eq!(all, row * layout.rows);
            let within = |bytes: u64| {
                let limits = Limits::default().max_output(bytes);
                Reader::open(file.clone(), limits).unwrap().threads(threads)
            };
            // Layouts are no output.
            assert_eq!(within(0).layout(number).unwrap(), layout, "{}", tensor.name);
            let last = layout.rows - 1..layout.rows;
            let (reader, less) = (within(row), within(row - 1));
            assert!(reader.rows(number, last.clone()).is_ok(), "{}", tensor.name);
            assert!(less.rows(number, last.clone()).unwrap_err().is_limit());
            assert!(reader.slice(number, last.clone(), 0..layout.cols).is_ok());
            assert!(less.slice(number, last.clone(), 0..layout.cols).unwrap_err().is_limit());
            assert!(within(layout.bytes_of(1, 1)).slice(number, last, 0..1).is_ok());
            // Bytes of rows, where these lie there as they are.
            let length = tensor.length as u64;
            if tensor.dtype != "I32" {
                let bytes = length - row..length;
                assert!(reader.byte_range(number, bytes.clone()).is_ok(), "{}", tensor.name);
                assert!(less.byte_range(number, bytes).unwrap_err().is_limit());
                let mut out = vec![0; row as usize];
                assert!(reader.byte_range_into(number, length - row, &mut out).is_ok());
            }
            // All of a tensor.
            let (reader, less) = (within(length), within(length - 1));
            let mut out = vec![7; tensor.length];
            assert!(less.tensor(number).unwrap_err().is_limit());
            let error = less.tensor_into(number, &mut out).unwrap_err();
            assert!(error.is_limit() && error.values_before().is_none());
            assert!(out.iter().all(|&byte| byte == 7));
            assert!(less.inspect(number).unwrap_err().is_limit());
            let all = less.for_each(&[number], |_, _| Ok(None));
            assert!(all.unwrap_err().is_limit());
            assert!(reader.tensor(number).unwrap() == free.tensor(number).unwrap());
            reader.tensor_into(number, &mut out).unwrap();
            reader.inspect(number).unwrap();
        }
    }
    let most = free.tensors().map(|(_, tensor)| tensor.length as u64).max().unwrap();
    let within = |limits| Reader::open(file.clone(), limits).unwrap();
    within(Limits::default().max_output(most)).verify().unwrap();
    let less = within(Limits::default().max_output(most - 1));
    assert!(less.verify().unwrap_err().is_limit() && less.faults().unwrap_err().is_limit());
    let (_, length) = free.files().next().unwrap();
    let mut out = Vec::new();
    assert!(within(Limits::default().max_output(length)).write_file(0, &mut out).is_ok());
    let less = within(Limits::default().max_output(length - 1));
    assert!(less.write_file(0, &mut out).unwrap_err().is_limit());
    // The index, and what explains a tensor where neither limit is enough for it.
    let error = Reader::open(file.clone(), Limits::default().max_alloc(99)).unwrap_err();
    assert!(error.is_limit() && error.what().contains("the index"), "{error}");
}

/// A row of much that a few bytes stand for.
#[test]
fn what_a_row_lies_among_is_bounded() {
    let mut bytes = vec![0; 4096 * 1024];
    bytes[5] = 1;
    let file = safetensors(&[("zeros", "I8", &[4096, 1024], bytes)]);
    let config = Config::default().group_symbols(1 << 22);
    let file = compress_checkpoint(&open(file), None, &config, Vec::new()).unwrap();
    let row = |limits| Reader::open(file.clone(), limits).unwrap().rows(0, 4095..4096);
    let output = Limits::default().max_output(1024);
    row(output).unwrap();
    let error = row(output.max_alloc(1 << 14)).err().unwrap();
    assert!(error.is_limit() && error.what().contains("max_alloc"), "{error}");
    row(output.max_alloc(1 << 22)).unwrap();
}
