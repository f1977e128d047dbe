//! The weights of a tensor are the same however it is stored: as bytes that nothing made smaller, or
//! in the view that names and types tell of.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::single_range_in_vec_init,
    reason = "a test"
)]

mod wcodec_common;

use latens::wcodec::checkpoint::{Checkpoint, Quantization, ReadAt};
use latens::wcodec::view::{Layout, Values};
use latens::wcodec::{Config, Order0, Reader, compress_checkpoint};
use latens::{Error, Limits};
use std::path::Path;
use wcodec_common::{Random, open, safetensors, samples};

/// Type and bytes of eight elements.
const TYPES: [(&str, usize); 20] = [
    ("BOOL", 8),
    ("U8", 8),
    ("I8", 8),
    ("U16", 16),
    ("I16", 16),
    ("U32", 32),
    ("I32", 32),
    ("U64", 64),
    ("I64", 64),
    ("F16", 16),
    ("BF16", 16),
    ("F32", 32),
    ("F64", 64),
    ("F8_E4M3", 8),
    ("F8_E5M2", 8),
    ("F8_E8M0", 8),
    ("C64", 64),
    ("F4", 4),
    ("F6_E2M3", 6),
    ("F6_E3M2", 6),
];

/// Bytes of values, and whether they are words.
fn flat(values: Values) -> (Vec<u8>, &'static str) {
    match values {
        Values::Signed(values) => (values.into_iter().map(i8::cast_unsigned).collect(), "signed"),
        Values::Unsigned(values) => (values, "unsigned"),
        Values::Words(bytes) => (bytes, "words"),
    }
}

/// Compares every tensor of a file with what its checkpoint says that it means; how many are stored
/// otherwise.
fn compare(name: &str, checkpoint: &Checkpoint, reader: &Reader<Vec<u8>>) -> usize {
    let mut otherwise = 0;
    for t in &checkpoint.tensors {
        let number = reader.find(&t.name).unwrap();
        let place = format!("{name}: {}", t.name);
        let bytes = reader.tensor(number).unwrap();
        let want: Layout = t.layout().unwrap();
        let found = reader.layout(number).unwrap();
        assert_eq!((found.rows, found.cols), (want.rows, want.cols), "{place}");
        assert_eq!(found.meaning(), want.meaning(), "{place}");
        let (rows, cols) = (want.rows, want.cols);
        let (all, kind) = flat(want.logical(want.split(&bytes).unwrap()).unwrap());
        let row = all.len().checked_div(rows as usize).unwrap_or(0);
        for range in [0..rows, 0..rows / 2, rows / 3..rows, rows / 2..rows / 2] {
            let got = flat(reader.rows(number, range.clone()).unwrap());
            let want = &all[range.start as usize * row..range.end as usize * row];
            assert!(got == (want.to_vec(), kind), "{place}, rows {range:?}");
            let a_col = row.checked_div(cols as usize).unwrap_or(0);
            let some = cols / 3..cols - cols / 4;
            let got = flat(reader.slice(number, range.clone(), some.clone()).unwrap());
            let columns = some.start as usize * a_col..some.end as usize * a_col;
            let want = want.chunks(row.max(1)).flat_map(|r| r[columns.clone()].to_vec()).collect();
            assert!(got == (want, kind), "{place}, rows {range:?}, columns {some:?}");
            assert_eq!(reader.plan_rows(number, range).unwrap().layout, found, "{place}");
        }
        assert!(reader.rows(number, 0..rows + 1).is_err(), "{place}");
        let inspected = reader.inspect(number).unwrap();
        otherwise += usize::from(inspected.view != want.view.name());
        // Earlier versions did not keep the names of types that they did not know.
        if t.unknown.is_none() {
            assert_eq!(inspected.packing, want.view.packing(t.type_name()), "{place}");
        }
        let (elements, packed) = (t.shape.iter().product::<u64>(), want.meaning().is_some());
        if packed && t.dtype.width().is_some() && rows * cols > elements {
            assert_eq!(inspected.weights, rows * cols, "{place}");
        } else {
            assert_eq!(inspected.weights, elements, "{place}");
        }
        if packed && inspected.weights == rows * cols && want.parts().len() == 1 {
            let symbols = 8 - want.meaning().unwrap().bits;
            let mut counts = [0f64; 256];
            all.iter().for_each(|&w| counts[usize::from(w << symbols >> symbols)] += 1.0);
            let n = all.len() as f64;
            let bits = |c: &f64| if *c > 0.0 { *c * (n / *c).log2() } else { 0.0 };
            let entropy = counts.iter().map(bits).sum::<f64>() / n.max(1.0);
            let found = inspected.order0_entropy;
            assert!((found - entropy).abs() < 1e-6, "{place}: {found} {entropy}");
        }
        let mut flat = Order0::new(&want);
        flat.add(&bytes);
        let found = inspected.order0_entropy * inspected.weights.max(1) as f64;
        assert!((found - flat.bits()).abs() < 1e-3, "{place}: {found} {}", flat.bits());
    }
    otherwise
}

#[test]
fn noise_has_its_type_and_shape() {
    let shapes: [&[u64]; 9] =
        [&[], &[1], &[37], &[70_000], &[16, 24], &[4, 3, 3, 3], &[2, 5, 64], &[0, 7], &[5, 0, 64]];
    for level in [1, 8, 12] {
        let (mut random, mut tensors) = (Random(3), Vec::new());
        for (dtype, bytes) in TYPES {
            for shape in shapes {
                let n = shape.iter().product::<u64>() as usize;
                if (n * bytes).is_multiple_of(64) || bytes % 8 == 0 && (n < 1000 || level == 8) {
                    let data = (0..n * bytes / 8).map(|_| random.next() as u8).collect();
                    tensors.push((format!("{dtype}{shape:?}"), dtype, shape, data));
                }
            }
        }
        let tensors = tensors.iter().map(|(name, dtype, shape, data): &(String, _, _, Vec<u8>)| {
            (name.as_str(), *dtype, *shape, data.clone())
        });
        let source = safetensors(&tensors.collect::<Vec<_>>());
        let checkpoint = open(source);
        let config = Config::default().level(level).threads(2);
        let file = compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap();
        let reader = Reader::open(file, Limits::default()).unwrap();
        let otherwise = compare(&format!("level {level}"), &checkpoint, &reader);
        assert!(otherwise > 40, "{otherwise} are stored otherwise");
    }
}

/// Packings that only names and shapes tell of, small and of noise, so that they are stored as bytes.
#[test]
fn packings_are_told_by_names() {
    let mut random = Random(9);
    let mut noise = |n: usize| -> Vec<u8> { (0..n).map(|_| random.next() as u8).collect() };
    let shape: Vec<u8> = [8u64, 24].iter().flat_map(|n| n.to_le_bytes()).collect();
    let state = br#"{"quant_type": "nf4", "shape": [6, 16]}"#.to_vec();
    let tensors: &[(&str, &str, &[u64], Vec<u8>)] = &[
        ("gptq.qweight", "I32", &[4, 8], noise(128)),
        ("gptq.qzeros", "I32", &[2, 1], noise(8)),
        ("gptq.scales", "F16", &[2, 8], noise(32)),
        ("gptq3.qweight", "I32", &[3, 32], noise(384)),
        ("gptq3.qzeros", "I32", &[2, 3], noise(24)),
        ("gptq3.scales", "F16", &[2, 32], noise(128)),
        ("awq.qweight", "I32", &[16, 2], noise(128)),
        ("awq.qzeros", "I32", &[2, 2], noise(16)),
        ("awq.scales", "F16", &[2, 16], noise(64)),
        ("gemv.qweight", "I32", &[16, 32], noise(2048)),
        ("gemv.qzeros", "I32", &[16, 1], noise(64)),
        ("gemv.scales", "F16", &[16, 8], noise(256)),
        ("ct.weight_packed", "I32", &[8, 3], noise(96)),
        ("ct.weight_scale", "F16", &[8, 1], noise(16)),
        ("ct.weight_shape", "I64", &[2], shape),
        ("bnb.weight", "U8", &[48, 1], noise(48)),
        ("bnb.weight.absmax", "F32", &[2], noise(8)),
        ("bnb.weight.quant_state.bitsandbytes__nf4", "U8", &[39], state.clone()),
        ("bnb2.weight", "BF16", &[24, 1], noise(48)),
        ("bnb2.weight.absmax", "F32", &[2], noise(8)),
        ("bnb2.weight.quant_state.bitsandbytes__fp4", "U8", &[39], state.clone()),
        ("mx_blocks", "U8", &[2, 3, 2, 16], noise(192)),
        ("mx_scales", "U8", &[2, 3, 2], noise(12)),
        ("mlx.weight", "U32", &[6, 16], noise(384)),
        ("mlx.scales", "U8", &[6, 4], noise(24)),
    ];
    let checkpoint = open(safetensors(tensors));
    for level in [1, 12] {
        let config = Config::default().level(level);
        let file = compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap();
        let reader = Reader::open(file, Limits::default()).unwrap();
        assert!(compare(&format!("level {level}"), &checkpoint, &reader) > 5);
        let zeros = reader.layout(reader.find("gptq.qweight").unwrap()).unwrap();
        assert_eq!((zeros.rows, zeros.cols), (32, 8));
        let three = reader.layout(reader.find("gptq3.qweight").unwrap()).unwrap();
        assert_eq!((three.rows, three.cols, three.meaning().unwrap().bits), (32, 32, 3));
        let codes = reader.layout(reader.find("mlx.weight").unwrap()).unwrap();
        assert_eq!((codes.rows, codes.cols), (6, 128));
        // In the order of the file: the lower nibble first, and of bitsandbytes the higher one.
        let rows = |name: &str| {
            let number = reader.find(name).unwrap();
            let layout = reader.layout(number).unwrap();
            (layout.rows, layout.cols, flat(reader.rows(number, 0..layout.rows).unwrap()).0)
        };
        let bytes = |name: &str| reader.tensor(reader.find(name).unwrap()).unwrap();
        // Three words below each other are the stream of a column.
        let column = |words: &[u8]| -> u128 {
            let word = |r: usize| u128::from(u32::from_le_bytes(words.as_chunks().0[32 * r]));
            word(0) | word(1) << 32 | word(2) << 64
        };
        let words = bytes("gptq3.qweight");
        let columns: Vec<u128> = (0..32).map(|c| column(&words[4 * c..])).collect();
        let place = |i: usize| (columns[i % 32] >> (3 * (i / 32))).to_le_bytes()[0] & 7;
        assert_eq!(rows("gptq3.qweight"), (32, 32, (0..1024).map(place).collect()));
        let low: Vec<u8> = bytes("gemv.qweight").iter().flat_map(|b| [b & 15, b >> 4]).collect();
        assert_eq!(rows("gemv.qweight"), (16, 256, low));
        let high: Vec<u8> = bytes("bnb2.weight").iter().flat_map(|b| [b >> 4, b & 15]).collect();
        assert_eq!(rows("bnb2.weight"), (6, 16, high));
    }
}

/// AWQ's weights whose scales stand in another shard, small and of noise, so that they are stored as bytes.
#[test]
fn weights_without_scales_mean_what_others_do() {
    let mut random = Random(10);
    let mut noise = |n: usize| -> Vec<u8> { (0..n).map(|_| random.next() as u8).collect() };
    let tensors: &[(&str, &str, &[u64], Vec<u8>)] = &[
        ("alone.qweight", "I32", &[24, 2], noise(192)),
        ("l.qweight", "I32", &[16, 2], noise(128)),
        ("l.scales", "F16", &[2, 16], noise(64)),
    ];
    let checkpoint = open(safetensors(tensors));
    for level in [1, 12] {
        let config = Config::default().level(level);
        let file = compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap();
        let reader = Reader::open(file, Limits::default()).unwrap();
        compare(&format!("level {level}"), &checkpoint, &reader);
        for (name, rows) in [("alone.qweight", 24), ("l.qweight", 16)] {
            let layout = reader.layout(reader.find(name).unwrap()).unwrap();
            assert_eq!((layout.rows, layout.cols), (rows, 16), "{name}, level {level}");
        }
    }
}

/// Two nibbles a byte that crowd around some values, each around its own.
fn nibbles(random: &mut Random, bytes: usize, around: [f64; 2]) -> Vec<u8> {
    let mut nibble = |around: f64| (random.normal(1.3) + around).round().clamp(0.0, 15.0) as u8;
    (0..bytes).map(|_| nibble(around[0]) | nibble(around[1]) << 4).collect()
}

/// What is smaller in another view of the same type is stored so from level 9 on, and means what it did.
#[test]
fn views_that_are_smaller_mean_nothing() {
    let mut otherwise = 0;
    for seed in 0..12 {
        let mut random = Random(seed);
        let r = &mut random;
        let around = [(seed % 5) as f64 + 2.0, 12.0 - (seed % 4) as f64];
        let tensors: &[(&str, &str, &[u64], Vec<u8>)] = &[
            ("awq.qweight", "I32", &[64, 12], nibbles(r, 3072, around)),
            ("awq.qzeros", "I32", &[4, 12], nibbles(r, 192, around)),
            ("awq.scales", "F16", &[4, 96], nibbles(r, 768, [3.0, 3.0])),
            ("gptq.qweight", "I32", &[8, 64], nibbles(r, 2048, around)),
            ("gptq.qzeros", "I32", &[2, 8], nibbles(r, 64, around)),
            ("gptq.scales", "F16", &[2, 64], nibbles(r, 256, [3.0, 3.0])),
            ("bnb.weight", "U8", &[2048, 1], nibbles(r, 2048, around)),
            ("bnb.weight.absmax", "F32", &[64], nibbles(r, 256, [4.0, 3.0])),
            ("i8.weight", "I8", &[48, 40], nibbles(r, 1920, around)),
            ("i8.weight_scale", "F32", &[48, 1], nibbles(r, 192, [4.0, 3.0])),
            ("conv.weight", "I8", &[24, 1, 5, 5], nibbles(r, 600, around)),
            ("conv.weight_scale", "F32", &[24, 1], nibbles(r, 96, [4.0, 3.0])),
            ("u8.weight", "U8", &[48, 40], nibbles(r, 1920, around)),
            ("u8.weight_scale", "F32", &[48, 1], nibbles(r, 192, [4.0, 3.0])),
        ];
        let checkpoint = open(safetensors(tensors));
        for level in [1, 8, 9, 10] {
            let config = Config::default().level(level);
            let file = compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap();
            let reader = Reader::open(file, Limits::default()).unwrap();
            let stored = compare(&format!("seed {seed}, level {level}"), &checkpoint, &reader);
            otherwise += if level > 8 { stored } else { 0 };
        }
    }
    assert!(otherwise > 20, "{otherwise} are stored otherwise");
}

/// Bytes of nibbles of which only a file beside the checkpoint tells.
#[test]
fn packings_that_files_beside_tell_are_kept() {
    let config = br#"{"quantization_config": {"quant_method": "x", "weights": {"num_bits": 4, "group_size": 64}}}"#;
    let told = Quantization::from_files(Some(config.to_vec()), None);
    let mut random = Random(31);
    let noise: Vec<u8> = (0..64 * 128).map(|_| random.next() as u8).collect();
    let tensors: &[(&str, &str, &[u64], Vec<u8>)] = &[
        ("a.weight", "U8", &[64, 128], nibbles(&mut random, 64 * 128, [7.0, 8.0])),
        ("a.weight_scale", "F16", &[64, 4], nibbles(&mut random, 512, [3.0, 3.0])),
        ("noise.weight", "U8", &[64, 128], noise),
        ("noise.weight_scale", "F16", &[64, 4], nibbles(&mut random, 512, [3.0, 3.0])),
        ("i.weight", "I8", &[64, 128], nibbles(&mut random, 64 * 128, [0.0, 9.0])),
        ("i.weight_scale", "F16", &[64, 4], nibbles(&mut random, 512, [3.0, 3.0])),
    ];
    let source = safetensors(tensors);
    let none = |_: &str| Err(Error::invalid("no shards"));
    let bytes = Box::new(source.clone());
    let checkpoint = Checkpoint::read("m.safetensors".into(), bytes, told, &none).unwrap();
    let layout = checkpoint.tensors[0].layout().unwrap();
    assert_eq!((layout.rows, layout.cols, layout.meaning().unwrap().bits), (64, 256, 4));
    for level in [1, 8, 9, 12] {
        let config = Config::default().level(level);
        let file = compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap();
        let plain = compress_checkpoint(&open(source.clone()), None, &config, Vec::new()).unwrap();
        assert_ne!(file, plain);
        let reader = Reader::open(file, Limits::default()).unwrap();
        compare(&format!("level {level}"), &checkpoint, &reader);
        reader.verify().unwrap();
    }
}

/// A copy has the bytes of another tensor, and a type of its own; names tell of it, too.
#[test]
fn copies_mean_what_they_are() {
    let mut random = Random(43);
    let words = nibbles(&mut random, 4096, [8.0, 8.0]);
    let bytes: Vec<u8> = (0..16384).map(|_| random.int8(6.0)).collect();
    let tensors: &[(&str, &str, &[u64], Vec<u8>)] = &[
        ("a", "I8", &[64, 256], bytes.clone()),
        ("b", "U8", &[64, 256], bytes.clone()),
        ("c", "F8_E4M3", &[64, 256], bytes),
        ("d.weight_packed", "I32", &[64, 16], words.clone()),
        ("d.weight_scale", "BF16", &[64, 1], nibbles(&mut random, 128, [3.0, 3.0])),
        ("e", "I32", &[64, 16], words),
    ];
    let checkpoint = open(safetensors(tensors));
    for level in [1, 8, 9] {
        let config = Config::default().level(level);
        let file = compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap();
        let reader = Reader::open(file, Limits::default()).unwrap();
        assert!(reader.tensors().filter(|(_, entry)| entry.copy_of.is_some()).count() >= 2);
        compare(&format!("level {level}"), &checkpoint, &reader);
    }
}

/// Rows end where `weight_shape` says, not with their last word.
#[test]
fn what_fills_the_last_word_is_left_out() {
    let mut random = Random(51);
    for (bits, cols) in [(4usize, 100u64), (4, 96), (4, 20), (2, 100), (8, 30)] {
        let (rows, words) = (24u64, cols.div_ceil(32 / bits as u64));
        let weights: Vec<u8> = (0..rows * cols).map(|_| random.below(1 << bits) as u8).collect();
        let mut packed = vec![0xffu8; (rows * words * 4) as usize];
        for (i, weight) in weights.iter().enumerate() {
            let (row, col) = (i / cols as usize, i % cols as usize);
            let at = row * words as usize * 32 + col * bits;
            let mask = ((1u16 << bits) - 1) as u8;
            packed[at / 8] &= !(mask << (at % 8));
            packed[at / 8] |= weight << (at % 8);
        }
        let shape = [rows, cols].iter().flat_map(|n| n.to_le_bytes()).collect();
        let tensors: &[(&str, &str, &[u64], Vec<u8>)] = &[
            ("a.weight_packed", "I32", &[rows, words], packed),
            ("a.weight_scale", "BF16", &[rows, 1], nibbles(&mut random, 48, [3.0, 3.0])),
            ("a.weight_shape", "I64", &[2], shape),
        ];
        let told = Quantization { bits: Some(bits as u64), ..Quantization::default() };
        let none = |_: &str| Err(Error::invalid("no shards"));
        let source = Box::new(safetensors(tensors));
        let checkpoint = Checkpoint::read("m.safetensors".into(), source, told, &none).unwrap();
        for level in [1, 8, 9] {
            let config = Config::default().level(level);
            let file = compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap();
            let reader = Reader::open(file, Limits::default()).unwrap();
            let number = reader.find("a.weight_packed").unwrap();
            let place = format!("{bits} bits, {cols} columns, level {level}");
            assert_eq!(reader.layout(number).unwrap().cols, cols, "{place}");
            assert_eq!(reader.inspect(number).unwrap().weights, rows * cols, "{place}");
            let half = 1i16 << (bits - 1);
            let want: Vec<i8> = weights.iter().map(|&w| (i16::from(w) - half) as i8).collect();
            assert_eq!(
                reader.rows(number, 0..rows).unwrap(),
                Values::Signed(want.clone()),
                "{place}"
            );
            let some = reader.slice(number, 5..9, 3..cols).unwrap();
            let row = cols as usize;
            let want: Vec<i8> =
                want[5 * row..9 * row].chunks(row).flat_map(|r| r[3..].to_vec()).collect();
            assert_eq!(some, Values::Signed(want), "{place}");
            let planned = reader.plan_rows(number, 2..7).unwrap();
            assert_eq!(planned.layout.cols, cols, "{place}");
        }
    }
}

/// A word a row holds up to 16, 8 or 4 columns: `weight_shape` alone does not say of how many bits.
#[test]
fn rows_of_one_word() {
    let mut random = Random(37);
    let shape = |n: [u64; 2]| n.iter().flat_map(|n| n.to_le_bytes()).collect();
    let tensors: &[(&str, &str, &[u64], Vec<u8>)] = &[
        ("a.weight_packed", "I32", &[100, 1], nibbles(&mut random, 400, [8.0, 8.0])),
        ("a.weight_scale", "BF16", &[100, 1], nibbles(&mut random, 200, [3.0, 3.0])),
        ("a.weight_shape", "I64", &[2], shape([100, 8])),
    ];
    let bytes = safetensors(tensors);
    for (said, cols) in [(None, 8), (Some(4), 8), (Some(2), 8), (Some(8), 8), (Some(3), 1)] {
        let told = Quantization { bits: said, ..Quantization::default() };
        let none = |_: &str| Err(Error::invalid("no shards"));
        let source = Box::new(bytes.clone());
        let checkpoint = Checkpoint::read("m.safetensors".into(), source, told, &none).unwrap();
        let config = Config::default();
        let file = compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap();
        let reader = Reader::open(file, Limits::default()).unwrap();
        if said != Some(2) {
            compare(&format!("{said:?}"), &checkpoint, &reader);
        }
        let number = reader.find("a.weight_packed").unwrap();
        assert_eq!(reader.layout(number).unwrap().cols, cols, "{said:?}");
    }
}

/// Zero points tell the bits of weights where they are words, of whatever sign; floats tell nothing.
#[test]
fn bits_are_told_by_words() {
    let mut random = Random(41);
    let mut bytes = |n: usize| nibbles(&mut random, n, [8.0, 8.0]);
    let tensors: &[(&str, &str, &[u64], Vec<u8>)] = &[
        ("u.qweight", "U32", &[8, 16], bytes(512)),
        ("u.qzeros", "U32", &[2, 4], bytes(32)),
        ("u.scales", "F16", &[2, 16], bytes(64)),
        ("f.qweight", "I32", &[8, 16], bytes(512)),
        ("f.qzeros", "F16", &[2, 16], bytes(64)),
        ("f.scales", "F16", &[2, 16], bytes(64)),
        ("f.g_idx", "I32", &[64], vec![0; 256]),
    ];
    let checkpoint = open(safetensors(tensors));
    let config = Config::default();
    let file = compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap();
    let reader = Reader::open(file, Limits::default()).unwrap();
    for (name, rows, bits) in [("u.qweight", 32, 8), ("f.qweight", 64, 4)] {
        let layout = reader.layout(reader.find(name).unwrap()).unwrap();
        assert_eq!((layout.rows, layout.meaning().unwrap().bits), (rows, bits), "{name}");
    }
}

#[test]
fn files_of_earlier_versions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/golden/wcodec");
    let (mut seen, mut otherwise) = (0, 0);
    let beside: Vec<_> = samples::all(1).into_iter().map(|s| (s.name, s.beside)).collect();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "wcodec") {
            continue;
        }
        let reader = Reader::open(std::fs::read(&path).unwrap(), Limits::default()).unwrap();
        let names: Vec<String> = reader.files().map(|(name, _)| name.to_owned()).collect();
        let source = |name: &str| -> latens::Result<Box<dyn ReadAt>> {
            let number = names.iter().position(|n| n == name);
            let (mut out, none) = (Vec::new(), || Error::invalid("no such shard"));
            reader.write_file(number.ok_or_else(none)?, &mut out)?;
            Ok(Box::new(out))
        };
        let first = source(&names[0]).unwrap();
        let sample = path.file_stem().unwrap().to_string_lossy();
        let hints = beside.iter().find(|(name, _)| *name == sample).map(|(_, told)| told.clone());
        let (name, hints) = (names[0].clone(), hints.unwrap_or_default());
        let checkpoint = Checkpoint::read(name, first, hints, &source).unwrap();
        otherwise += compare(&path.display().to_string(), &checkpoint, &reader);
        seen += 1;
    }
    assert!(seen >= 15 && otherwise > 10, "{seen} files, {otherwise} stored otherwise");
}

#[test]
fn metadata_come_from_the_header() {
    let mut file = br#"{"__metadata__":{"format":"pt","n":3},"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}"#
        .to_vec();
    file.resize(file.len().next_multiple_of(8), b' ');
    let file = [&(file.len() as u64).to_le_bytes()[..], &file, &[1, 2]].concat();
    let file = compress_checkpoint(&open(file), None, &Config::default(), Vec::new()).unwrap();
    let reader = Reader::open(file, Limits::default()).unwrap();
    let want = vec![("format".to_owned(), "pt".to_owned())];
    assert_eq!((reader.metadata(0), reader.metadata(1)), (Some(want), None));
}
