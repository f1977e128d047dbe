//! The container: checkpoints come back byte for byte, and damage anywhere is found.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use latens::wcodec::checkpoint::{Checkpoint, Quantization};
use latens::wcodec::{Config, Reader, compress_checkpoint, compress_checkpoint_to_file};
use latens::{Error, Limits};
use std::io::Cursor;

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// About normal, of standard deviation `width`.
    fn normal(&mut self, width: f64) -> f64 {
        let sum: f64 = (0..12).map(|_| self.next() as f64 / f64::from(1u32 << 31)).sum();
        (sum - 6.0) * width
    }

    fn int8(&mut self, width: f64) -> u8 {
        #[allow(clippy::cast_possible_truncation, reason = "clamped")]
        let value = self.normal(width).round().clamp(-127.0, 127.0) as i8;
        value.cast_unsigned()
    }
}

/// A safetensors file of the tensors given: name, dtype, shape, bytes.
fn safetensors(tensors: &[(&str, &str, &[u64], Vec<u8>)]) -> Vec<u8> {
    let (mut entries, mut data) = (Vec::new(), Vec::new());
    for (name, dtype, shape, bytes) in tensors {
        let start = data.len();
        data.extend_from_slice(bytes);
        entries.push(format!(
            "{}:{{\"dtype\":\"{dtype}\",\"shape\":{shape:?},\"data_offsets\":[{start},{}]}}",
            serde_json::to_string(name).unwrap(),
            data.len()
        ));
    }
    let mut header = format!("{{{}}}", entries.join(","));
    while header.len() % 8 != 0 {
        header.push(' ');
    }
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(header.as_bytes());
    file.extend_from_slice(&data);
    file
}

fn open(file: Vec<u8>) -> Checkpoint {
    let none = |_: &str| Err(Error::invalid("no shards here"));
    let quantization = Quantization::default();
    Checkpoint::read("model.safetensors".to_owned(), Box::new(file), quantization, &none).unwrap()
}

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

fn back(file: &[u8]) -> latens::Result<Vec<u8>> {
    let reader = Reader::open(file.to_vec(), Limits::default())?;
    reader.verify()?;
    let mut out = Vec::new();
    reader.write_file(0, &mut out)?;
    Ok(out)
}

#[test]
fn checkpoints_come_back_byte_for_byte() {
    for (rows, cols) in [(1, 8), (3, 16), (64, 32), (100, 64), (300, 512)] {
        let source = mixed(rows, cols);
        for level in [0, 8, 12] {
            let config =
                Config::default().level(level).group_symbols(if rows == 300 { 1 << 12 } else { 0 });
            let file = compress_checkpoint(&open(source.clone()), &config, Vec::new()).unwrap();
            assert!(back(&file).unwrap() == source, "{rows} × {cols}, level {level}");
            let reader = Reader::open(file, Limits::default()).unwrap();
            let names: Vec<&str> = reader.tensors().map(|(_, t)| t.name).collect();
            assert_eq!(names.len(), 11);
            let number = reader.find("one").unwrap();
            assert_eq!(reader.tensor(number).unwrap(), 42i64.to_le_bytes());
            assert_eq!(
                reader.tensors().find(|(_, t)| t.name == "tied").unwrap().1.copy_of.is_some(),
                rows > 8
            );
        }
    }
}

#[test]
fn a_file_without_tensors() {
    let source = safetensors(&[]);
    let file = compress_checkpoint(&open(source.clone()), &Config::default(), Vec::new()).unwrap();
    assert_eq!(back(&file).unwrap(), source);
}

#[test]
fn the_output_does_not_depend_on_threads_and_headers_may_be_complete() {
    let source = mixed(200, 256);
    let checkpoint = open(source.clone());
    let config = Config::default().group_symbols(1 << 10);
    let one = compress_checkpoint(&checkpoint, &config.clone().threads(1), Vec::new()).unwrap();
    for threads in [2, 7] {
        let many = compress_checkpoint(&checkpoint, &config.clone().threads(threads), Vec::new());
        assert!(many.unwrap() == one);
    }
    let file = Cursor::new(Vec::new());
    let complete = compress_checkpoint_to_file(&checkpoint, &config, file).unwrap().into_inner();
    assert_eq!(complete.len(), one.len());
    assert!(complete[128..complete.len() - 2000] == one[128..one.len() - 2000]);
    assert_ne!(complete[12..44], [0; 32]);
    assert!(back(&complete).unwrap() == source);
}

#[test]
fn every_flipped_bit_is_found() {
    let source = mixed(12, 16);
    let checkpoint = open(source);
    let streamed = compress_checkpoint(&checkpoint, &Config::default(), Vec::new()).unwrap();
    let file = Cursor::new(Vec::new());
    let complete = compress_checkpoint_to_file(&checkpoint, &Config::default(), file).unwrap();
    for file in [streamed, complete.into_inner()] {
        for bit in 0..file.len() * 8 {
            let mut damaged = file.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(back(&damaged).is_err(), "bit {} of byte {}", bit % 8, bit / 8);
        }
    }
}

#[test]
fn flipped_bits_of_stored_groups_are_named() {
    let source = mixed(200, 256);
    let config = Config::default().group_symbols(1 << 10);
    let file = compress_checkpoint(&open(source), &config, Vec::new()).unwrap();
    let mut random = Random(1);
    for _ in 0..300 {
        let at = usize::try_from(random.next()).unwrap() % file.len();
        let mut damaged = file.clone();
        damaged[at] ^= 1 << (at % 8);
        let error = back(&damaged).unwrap_err();
        assert!(error.at().is_some(), "{error}");
    }
    // In the middle of the first tensor's groups.
    let mut damaged = file;
    damaged[1000] ^= 4;
    let error = back(&damaged).unwrap_err().to_string();
    assert!(error.contains("tensor \"a.weight\"") && error.contains("group "), "{error}");
    assert!(error.contains("(byte "), "{error}");
    // The others can still be read.
    let reader = Reader::open(damaged, Limits::default()).unwrap();
    let good = reader.tensors().filter(|(i, _)| reader.tensor(*i).is_ok()).count();
    assert_eq!(good, 9);
}

#[test]
fn every_truncation_is_found() {
    let file = compress_checkpoint(&open(mixed(12, 16)), &Config::default(), Vec::new()).unwrap();
    for end in 0..file.len() {
        assert!(Reader::open(file[..end].to_vec(), Limits::default()).is_err(), "{end}");
    }
    let mut longer = file;
    longer.push(0);
    assert!(Reader::open(longer, Limits::default()).is_err());
}

#[test]
fn limits_are_named() {
    let file = compress_checkpoint(&open(mixed(64, 64)), &Config::default(), Vec::new()).unwrap();
    let reader = Reader::open(file, Limits::default().max_output(1000)).unwrap();
    let error = reader.verify().unwrap_err().to_string();
    assert!(error.contains("max_output = 1000"), "{error}");
}
