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
use latens::wcodec::{Config, Reader, compress_checkpoint};
use latens::{Error, Limits};
use std::path::Path;
use wcodec_common::{Random, open, safetensors};

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
        otherwise += usize::from(inspected.packing != want.view.name());
        let (elements, packed) = (t.shape.iter().product::<u64>(), want.meaning().is_some());
        if packed && t.dtype.width().is_some() && rows * cols > elements {
            assert_eq!(inspected.weights, rows * cols, "{place}");
        } else {
            assert_eq!(inspected.weights, elements, "{place}");
        }
        let bytes_or_symbols = inspected.packing == "raw" || packed;
        assert!(inspected.order0_entropy.is_some() || !bytes_or_symbols, "{place}");
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
    let shape: Vec<u8> = [8u64, 20].iter().flat_map(|n| n.to_le_bytes()).collect();
    let state = br#"{"quant_type": "nf4", "shape": [6, 16]}"#.to_vec();
    let tensors: &[(&str, &str, &[u64], Vec<u8>)] = &[
        ("gptq.qweight", "I32", &[4, 8], noise(128)),
        ("gptq.qzeros", "I32", &[2, 1], noise(8)),
        ("gptq.scales", "F16", &[2, 8], noise(32)),
        ("awq.qweight", "I32", &[16, 2], noise(128)),
        ("awq.qzeros", "I32", &[2, 2], noise(16)),
        ("awq.scales", "F16", &[2, 16], noise(64)),
        ("ct.weight_packed", "I32", &[8, 3], noise(96)),
        ("ct.weight_scale", "F16", &[8, 1], noise(16)),
        ("ct.weight_shape", "I64", &[2], shape),
        ("bnb.weight", "U8", &[48, 1], noise(48)),
        ("bnb.weight.absmax", "F32", &[2], noise(8)),
        ("bnb.weight.quant_state.bitsandbytes__nf4", "U8", &[39], state),
        ("mx_blocks", "U8", &[2, 3, 2, 16], noise(192)),
        ("mx_scales", "U8", &[2, 3, 2], noise(12)),
    ];
    let checkpoint = open(safetensors(tensors));
    for level in [1, 12] {
        let config = Config::default().level(level);
        let file = compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap();
        let reader = Reader::open(file, Limits::default()).unwrap();
        assert!(compare(&format!("level {level}"), &checkpoint, &reader) > 5);
        let zeros = reader.layout(reader.find("gptq.qweight").unwrap()).unwrap();
        assert_eq!((zeros.rows, zeros.cols), (32, 8));
    }
}

#[test]
fn files_of_earlier_versions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/golden/wcodec");
    let (mut seen, mut otherwise) = (0, 0);
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
        let (name, hints) = (names[0].clone(), Quantization::default());
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
