//! The container: checkpoints come back byte for byte, and damage anywhere is found.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test"
)]

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
fn every_flipped_bit_is_found() {
    let source = mixed(12, 16);
    let checkpoint = open(source);
    let streamed = compress_checkpoint(&checkpoint, None, &Config::default(), Vec::new()).unwrap();
    let file = Cursor::new(Vec::new());
    let complete =
        compress_checkpoint_to_file(&checkpoint, None, &Config::default(), file).unwrap();
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
    let file = compress_checkpoint(&open(source), None, &config, Vec::new()).unwrap();
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
    let file =
        compress_checkpoint(&open(mixed(12, 16)), None, &Config::default(), Vec::new()).unwrap();
    for end in 0..file.len() {
        assert!(Reader::open(file[..end].to_vec(), Limits::default()).is_err(), "{end}");
    }
    let mut longer = file;
    longer.push(0);
    assert!(Reader::open(longer, Limits::default()).is_err());
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

/// A group may claim so many times its stored bytes and no more, and equal numbers take few.
#[test]
fn tensors_of_equal_numbers_come_back() {
    let widths = [("I8", 1), ("BF16", 2), ("F16", 2), ("I16", 2), ("F32", 4), ("I32", 4)];
    for (dtype, width) in widths.into_iter().chain([("I64", 8), ("U64", 8), ("F64", 8)]) {
        let shape = [600, 1000];
        let source = safetensors(&[("w.weight", dtype, &shape, vec![3; 600_000 * width])]);
        for level in [1, 8] {
            let config = Config::default().level(level);
            let file =
                compress_checkpoint(&open(source.clone()), None, &config, Vec::new()).unwrap();
            assert!(file.len() < 5000, "{dtype}: {}", file.len());
            let reader = Reader::open(file, Limits::default()).unwrap();
            let number = reader.find("w.weight").unwrap();
            let tensor = reader.tensor(number).unwrap_or_else(|e| panic!("{dtype}: {e}"));
            assert!(tensor == vec![3; 600_000 * width], "{dtype}");
        }
    }
}

/// An AWQ layer of so many rows and columns whose weights spread the wider the smaller the scales are
/// that each 64 rows of a column have.
fn awq(
    random: &mut Random,
    (rows, cols): (usize, usize),
    large: impl Fn(usize, usize) -> bool,
) -> [Vec<u8>; 3] {
    let group = 64;
    let mut weights = Vec::new();
    for row in 0..rows {
        for col in (0..cols).step_by(2) {
            let mut nibble = |col: usize| {
                let width = if large(row / group, col) { 0.7 } else { 3.5 };
                (random.normal(width).round().clamp(-8.0, 7.0) + 8.0) as u8
            };
            // A word holds eight columns in the order 0, 2, 4, 6, 1, 3, 5, 7.
            let (word, pair) = (col / 8 * 8, col % 8 / 2);
            let of = |i: usize| word + [0, 2, 4, 6, 1, 3, 5, 7][i];
            weights.push(nibble(of(2 * pair)) | nibble(of(2 * pair + 1)) << 4);
        }
    }
    let places = (0..rows / group).flat_map(|group| (0..cols).map(move |col| (group, col)));
    let scale = |(group, col)| if large(group, col) { 0.4 } else { 0.01 };
    let scales = places.map(scale).flat_map(|x| latens::f16::from_f64(x).to_bits().to_le_bytes());
    [weights, vec![0x88; rows / group * cols / 2], scales.collect()]
}

/// What a reader keeps from one tensor to the next is not what the next one's classes come from.
#[test]
fn layers_of_the_same_shape_have_classes_of_their_own() {
    let mut random = Random(5);
    let layers = [
        awq(&mut random, (256, 64), |_, col| col % 3 == 0),
        awq(&mut random, (256, 64), |_, col| col % 5 > 2),
        awq(&mut random, (256, 64), |group, col| (group + col) % 2 == 0),
    ];
    let mut tensors: Vec<(&str, &str, &[u64], Vec<u8>)> = Vec::new();
    for (names, [weights, zeros, scales]) in [
        ["a.qweight", "a.qzeros", "a.scales"],
        ["b.qweight", "b.qzeros", "b.scales"],
        ["c.qweight", "c.qzeros", "c.scales"],
    ]
    .into_iter()
    .zip(layers)
    {
        tensors.push((names[0], "I32", &[256, 8], weights));
        tensors.push((names[1], "I32", &[4, 8], zeros));
        tensors.push((names[2], "F16", &[4, 64], scales));
    }
    let source = safetensors(&tensors);
    let config = Config::default().group_symbols(1 << 11);
    let file = compress_checkpoint(&open(source.clone()), None, &config, Vec::new()).unwrap();
    assert!(file.len() * 8 < source.len() * 7, "no classes: {} of {}", file.len(), source.len());
    for threads in 1..=3 {
        let reader = Reader::open(file.clone(), Limits::default()).unwrap().threads(threads);
        for (name, _, _, bytes) in &tensors {
            let number = reader.find(name).unwrap();
            assert!(reader.tensor(number).unwrap() == *bytes, "{name}, {threads} threads");
        }
    }
}

/// Other views are tried on a sample, which has no scales: none may win by that.
#[test]
fn higher_levels_still_see_the_scales_of_large_tensors() {
    let scattered = |group: usize, col: usize| (group * 7 + col * 13) % 5 < 2;
    let [weights, zeros, scales] = awq(&mut Random(7), (2048, 512), scattered);
    let source = safetensors(&[
        ("a.qweight", "I32", &[2048, 64], weights),
        ("a.qzeros", "I32", &[32, 64], zeros),
        ("a.scales", "F16", &[32, 512], scales),
    ]);
    let size = |level| {
        let config = Config::default().level(level);
        compress_checkpoint(&open(source.clone()), None, &config, Vec::new()).unwrap().len()
    };
    let (default, higher) = (size(8), size(9));
    assert!(higher <= default + default / 1000, "{higher} at level 9, {default} at level 8");
}

/// The same bytes as other matrices and types: a descriptor is of rows and columns.
#[test]
fn tensors_of_the_same_bytes_and_other_shapes_come_back() {
    let mut random = Random(11);
    let noise: Vec<u8> = (0..1 << 15).map(|_| random.below(23) as u8).collect();
    for bytes in [vec![0; 1 << 15], noise] {
        let shapes: [(&str, &str, &[u64]); 9] = [
            ("a", "I8", &[8, 4096]),
            ("b", "I8", &[4096, 8]),
            ("c", "I8", &[1 << 15]),
            ("d", "U8", &[8, 4096]),
            ("e", "F16", &[8, 2048]),
            ("f", "F16", &[2048, 8]),
            ("g", "F32", &[8192]),
            ("h", "I32", &[64, 128]),
            ("tied", "I8", &[8, 4096]),
        ];
        let tensors = shapes.map(|(name, dtype, shape)| (name, dtype, shape, bytes.clone()));
        let source = safetensors(&tensors);
        for level in [1, 8, 9] {
            let config = Config::default().level(level);
            let checkpoint = open(source.clone());
            let file = compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap();
            let reader = Reader::open(file, Limits::default()).unwrap();
            reader.verify().unwrap();
            for (name, _, shape, bytes) in &tensors {
                let number = reader.find(name).unwrap();
                assert!(reader.tensor(number).unwrap() == *bytes, "{name}");
                let layout = reader.layout(number).unwrap();
                if shape.len() == 2 && layout.rows == shape[0] {
                    reader.rows(number, 1..3).unwrap();
                }
            }
            let tied = reader.entry(reader.find("tied").unwrap()).unwrap();
            assert_eq!(tied.copy_of, reader.find("a"), "level {level}");
        }
    }
}

/// Names and numbers of a header come again, and tables do not know of it: many tensors of two numbers take
/// less than they did.
#[test]
fn headers_that_repeat_are_few_bytes() {
    let tensors: Vec<(String, Vec<u8>)> = (0..2000u32)
        .map(|i| (format!("layers.{i}.scale"), i.wrapping_mul(0x9e37_79b9).to_le_bytes().repeat(2)))
        .collect();
    let listed: Vec<_> =
        tensors.iter().map(|(n, b)| (n.as_str(), "F32", &[2u64][..], b.clone())).collect();
    let source = safetensors(&listed);
    for more in [0, 1, 4] {
        // Blanks behind the header's JSON belong to it.
        let length = u64::from_le_bytes(source[..8].try_into().unwrap());
        let mut padded = (length + more).to_le_bytes().to_vec();
        padded.extend_from_slice(&source[8..8 + length as usize]);
        padded.resize(padded.len() + more as usize, b' ');
        padded.extend_from_slice(&source[8 + length as usize..]);
        for level in [0, 8, 12] {
            let config = Config::default().level(level);
            let file =
                compress_checkpoint(&open(padded.clone()), None, &config, Vec::new()).unwrap();
            assert!(back(&file).unwrap() == padded, "{more} more, level {level}");
            let few = file.len() * 5 < padded.len() * 4;
            assert!(few || level == 0 || more == 1, "{more}, {level}: {}", file.len());
            let reader = Reader::open(file, Limits::default()).unwrap();
            assert!(reader.metadata(0).is_some(), "the header is one entry");
        }
    }
}

/// Bytes of a file of one tensor at each of two levels.
fn at_levels(levels: [u32; 2], tensor: (&str, &str, &[u64], Vec<u8>)) -> [usize; 2] {
    let source = safetensors(&[tensor]);
    levels.map(|level| {
        let config = Config::default().level(level);
        compress_checkpoint(&open(source.clone()), None, &config, Vec::new()).unwrap().len()
    })
}

/// What a view takes is known before another one is held against it: weights of which most are zero, and
/// which repeat as words of eight bytes, took half as much again at level 9.
#[test]
fn pruned_weights_are_not_larger_at_higher_levels() {
    let mut random = Random(11);
    let mut half = || {
        let bits = (random.normal(0.02) as f32).to_bits() >> 16;
        if random.next() % 10 < 7 { 0u16 } else { bits as u16 }
    };
    let (rows, cols) = (4096u64, 640u64);
    let bytes: Vec<u8> = (0..rows * cols).flat_map(|_| half().to_le_bytes()).collect();
    let [usual, high] = at_levels([8, 9], ("w.weight", "BF16", &[rows, cols], bytes));
    assert!(high * 1000 < usual * 1001, "{high}, {usual} at level 8");
}

/// What columns have in common is seen in a sample of long rows too.
#[test]
fn long_rows_are_not_larger_at_higher_levels() {
    let mut random = Random(12);
    let (rows, cols) = (40u64, 20000u64);
    let scales: Vec<f64> = (0..cols).map(|_| 2f64.powf(random.normal(1.0))).collect();
    let mut one = |scale: &f64| (random.normal(*scale) as f32).to_le_bytes();
    let bytes: Vec<u8> =
        (0..rows).flat_map(|_| scales.iter().flat_map(&mut one).collect::<Vec<u8>>()).collect();
    let [low, usual] = at_levels([4, 8], ("coef", "F32", &[rows, cols], bytes));
    assert!(usual * 1000 < low * 1001, "{usual}, {low} at level 4");
}
