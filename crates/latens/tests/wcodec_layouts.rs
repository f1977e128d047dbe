//! What checkpoints hold besides matrices of weights around zero: asymmetric integers, masks, tables
//! and caches that repeat, thousands of equal scalars.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test"
)]

mod wcodec_common;

use latens::Limits;
use latens::wcodec::view::Values;
use latens::wcodec::{Base, BaseCheckpoint, BaseFile, Config, Reader, compress_checkpoint};
use wcodec_common::{Random, open, safetensors};

type Given<'a> = (&'a str, &'a str, &'a [u64], Vec<u8>);

/// The file of these tensors at a level, read back and compared.
fn compressed(tensors: &[Given<'_>], level: u32) -> Reader<Vec<u8>> {
    let checkpoint = open(safetensors(tensors));
    let config = Config::default().level(level).threads(1);
    let file = compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap();
    let reader = Reader::open(file, Limits::default()).unwrap();
    for (name, _, _, bytes) in tensors {
        let number = reader.find(name).unwrap();
        assert_eq!(&reader.tensor(number).unwrap(), bytes, "{name}, level {level}");
    }
    reader
}

/// Bytes of a file of these tensors at a level.
fn size(tensors: &[Given<'_>], level: u32) -> usize {
    drop(compressed(tensors, level));
    let config = Config::default().level(level).threads(1);
    compress_checkpoint(&open(safetensors(tensors)), None, &config, Vec::new()).unwrap().len()
}

/// Each zero point has another table, but no part may have more than 64 of them.
#[test]
fn zero_points_of_eight_bits() {
    let (rows, cols) = (1024usize, 256usize);
    for spread in [255, 100, 30] {
        let mut random = Random(5);
        let zeros: Vec<u8> =
            (0..rows).map(|r| (128 - spread / 2 + r * 7 % (spread + 1)) as u8).collect();
        let weights: Vec<u8> = (0..rows * cols)
            .map(|i| (f64::from(zeros[i / cols]) + random.normal(5.0)).clamp(0.0, 255.0) as u8)
            .collect();
        let scales = [0, 0, 0x80, 0x3f].repeat(rows);
        let tensors: [Given<'_>; 3] = [
            ("a.weight", "U8", &[rows as u64, cols as u64], weights),
            ("a.weight_scale", "F32", &[rows as u64, 1], scales),
            ("a.weight_zero_point", "U8", &[rows as u64, 1], zeros),
        ];
        for level in [1, 8, 12] {
            // A deviation of 5 is 4.4 bits; a band of zero points is up to 16 wide.
            let bits = size(&tensors, level) as f64 * 8.0 / (rows * cols) as f64;
            assert!(bits < 5.3, "spread {spread}, level {level}: {bits}");
        }
    }
}

/// compressed-tensors packs zero points along the rows, and fills the last word where these are no
/// multiple of eight: vocabularies seldom are.
#[test]
fn rows_that_do_not_fill_the_last_word_of_zero_points() {
    let groups = 4usize;
    let bits = |rows: usize| {
        let mut random = Random(9);
        let zeros: Vec<u8> = (0..rows * groups).map(|_| 5 + random.below(6) as u8).collect();
        let weights: Vec<u8> = (0..rows * groups * 128)
            .map(|i| (f64::from(zeros[i / 128]) + random.normal(1.0)).clamp(0.0, 15.0) as u8)
            .collect();
        let words = weights.chunks(2).map(|two| two[0] | two[1] << 4).collect();
        let mut packed = vec![0; rows.div_ceil(8) * groups * 4];
        for (i, zero) in zeros.iter().enumerate() {
            let (row, group) = (i / groups, i % groups);
            packed[(row / 8 * groups + group) * 4 + row % 8 / 2] |= zero << (row % 2 * 4);
        }
        let [rows, groups] = [rows as u64, groups as u64];
        let scales = [0, 0x3c].repeat((rows * groups) as usize);
        let tensors: [Given<'_>; 3] = [
            ("a.weight_packed", "I32", &[rows, groups * 16], words),
            ("a.weight_scale", "F16", &[rows, groups], scales),
            ("a.weight_zero_point", "I32", &[rows.div_ceil(8), groups], packed),
        ];
        size(&tensors, 8) as f64 * 8.0 / (rows * groups * 128) as f64
    };
    // A deviation of 1 is 2.05 bits; without zero points, of 6 that are as common, 3 bits.
    for rows in [512, 511, 505] {
        assert!(bits(rows) < 2.4, "{rows} rows: {} bits", bits(rows));
    }
}

/// Bytes that repeat are few, whatever their type; what they mean is as before.
#[test]
fn masks_and_tables_that_repeat() {
    let n = 512usize;
    let mask = |f: &dyn Fn(usize, usize) -> bool| -> Vec<u8> {
        (0..n * n).map(|i| u8::from(f(i / n, i % n))).collect()
    };
    let mut random = Random(7);
    let rows: Vec<Vec<u8>> =
        (0..32).map(|_| (0..n).map(|_| random.word() as u8).collect()).collect();
    let table: Vec<u8> = (0..n).flat_map(|r| rows[r * r % 32].clone()).collect();
    let shape: &[u64] = &[n as u64, n as u64];
    let cases: [(Given<'_>, usize); 5] = [
        (("causal", "BOOL", &[1, 1, n as u64, n as u64], mask(&|r, c| c <= r)), 40),
        (("window", "U8", shape, mask(&|r, c| r.abs_diff(c) < 20)), 40),
        (("blocks", "I8", shape, mask(&|r, c| r / 100 == c / 100)), 40),
        (("table", "I8", shape, table.clone()), 8),
        (("halves", "BF16", &[n as u64, n as u64 / 2], table), 8),
    ];
    for (tensor, times) in cases {
        let (name, dtype, bytes) = (tensor.0, tensor.1, tensor.3.clone());
        for level in [4, 8] {
            let tensors = [tensor.clone()];
            let stored = size(&tensors, level);
            assert!(stored * times < bytes.len(), "{name}, level {level}: {stored}");
            let reader = compressed(&tensors, level);
            let got = reader.rows(0, 3..5).unwrap();
            let width = if dtype == "BF16" { 2 } else { 1 };
            assert_eq!(reader.layout(0).unwrap().cols as usize * width, n, "{name}");
            let want = bytes[3 * n..5 * n].to_vec();
            let same = match got {
                Values::Unsigned(got) => dtype != "I8" && got == want,
                Values::Signed(got) => {
                    dtype == "I8" && got.iter().map(|x| x.cast_unsigned()).eq(want)
                }
                Values::Words(got) => dtype == "BF16" && got == want,
            };
            assert!(same, "{name}, level {level}");
        }
    }
}

/// GPTQ whose zero points differ a little from those of a base: both name their namesakes, and weights their zero points.
fn gptq(seed: u64) -> Vec<u8> {
    let (rows, cols, group) = (512usize, 128usize, 128usize);
    let mut random = Random(11);
    let mut zeros: Vec<u8> = (0..rows / group * cols).map(|_| 4 + random.below(8) as u8).collect();
    let mut random = Random(seed);
    for zero in &mut zeros {
        *zero += u8::from(random.below(30) == 0);
    }
    let at = |r: usize, c: usize| f64::from(zeros[r / group * cols + c]);
    let mut words = vec![0u8; rows * cols / 2];
    for (r, c) in (0..rows).flat_map(|r| (0..cols).map(move |c| (r, c))) {
        let weight = (at(r, c) + random.normal(1.5)).clamp(0.0, 15.0) as u8;
        words[4 * (r / 8 * cols + c) + r % 8 / 2] |= weight << (r % 2 * 4);
    }
    let packed = zeros.chunks(2).map(|two| two[0] | two[1] << 4).collect();
    let scales = (0..rows / group * cols).flat_map(|i| [(i % 7) as u8, 0x3c]).collect();
    let [r, c, groups] = [rows as u64, cols as u64, (rows / group) as u64];
    let tensors: [Given<'_>; 3] = [
        ("l.qweight", "I32", &[r / 8, c], words),
        ("l.qzeros", "I32", &[groups, c / 8], packed),
        ("l.scales", "F16", &[groups, c], scales),
    ];
    safetensors(&tensors)
}

#[test]
fn what_explains_others_is_coded_by_itself() {
    let fine = gptq(3);
    for level in [0, 8, 9, 11] {
        let base = BaseCheckpoint::new(open(gptq(2))).unwrap();
        let config = Config::default().level(level);
        let against = Some(BaseFile { base: &base, name: "base" });
        let file = compress_checkpoint(&open(fine.clone()), against, &config, Vec::new()).unwrap();
        let reader = Reader::open(file, Limits::default()).unwrap();
        let reader = reader.with_base(Box::new(base)).unwrap();
        reader.verify().unwrap_or_else(|e| panic!("level {level}: {e}"));
    }
    // Scales with scales of their own, the like of which is a weight with another scale.
    let mut random = Random(13);
    let sizes: Vec<u8> =
        (0..256 * 32).map(|i| 100 + (i / 32 % 9) as u8 + random.below(3) as u8).collect();
    let weights: Vec<u8> =
        (0..256 * 1024).map(|i| random.int8(f64::from(sizes[i / 32] - 99))).collect();
    let scale = |rows: u64| -> Vec<u8> { (0..rows).flat_map(|r| [0, 0, r as u8, 0x3f]).collect() };
    let tensors: [Given<'_>; 5] = [
        ("a", "I8", &[256, 1024], weights),
        ("a_scale", "F8_E8M0", &[256, 32], sizes.clone()),
        ("a_scale_scale", "F32", &[256, 1], scale(256)),
        ("A", "F8_E8M0", &[256, 32], sizes),
        ("A_scale", "F32", &[256, 4], scale(1024)),
    ];
    for level in [0, 8, 9] {
        drop(compressed(&tensors, level));
    }
}

/// Indices of groups for more rows than there are.
#[test]
fn what_belongs_to_weights_is_no_larger_than_these() {
    let mut random = Random(17);
    let groups: Vec<u8> = (0..60_000).flat_map(|_| [random.below(8) as u8, 0, 0, 0]).collect();
    let weights = (0..4096).map(|i| random.int8(f64::from(1 + groups[i / 64 * 4]) * 4.0)).collect();
    let scales = (0..16).flat_map(|i| [0, 0x30 + i]).collect();
    let tensors: [Given<'_>; 3] = [
        ("l.weight", "I8", &[64, 64], weights),
        ("l.weight_scale", "F16", &[8, 2], scales),
        ("l.weight_g_idx", "I32", &[60_000], groups),
    ];
    for level in [0, 8, 9] {
        drop(compressed(&tensors, level));
    }
}

/// Types that are not known have their names, in the file and in its hash.
#[test]
fn types_are_spelled_as_they_were() {
    let tensors: [Given<'_>; 2] =
        [("a", "Q99", &[7], vec![5; 40]), ("b", "I4X", &[3, 3], vec![6; 9])];
    let reader = compressed(&tensors, 8);
    reader.verify().unwrap();
    let types: Vec<_> = reader.tensors().map(|(_, entry)| entry.dtype.to_owned()).collect();
    assert_eq!(types, ["Q99", "I4X"]);
    let base = BaseCheckpoint::new(open(safetensors(&tensors))).unwrap();
    assert_eq!(base.model_hash(), reader.model_hash());
    // Of more dimensions than a list of tensors holds one is bytes of its file.
    let shape = [1; 33];
    let many: [Given<'_>; 1] = [("a", "I8", &shape, vec![1])];
    let source = open(safetensors(&many));
    let file = compress_checkpoint(&source, None, &Config::default(), Vec::new()).unwrap();
    let reader = Reader::open(file, Limits::default()).unwrap();
    reader.compare(&source).unwrap();
    assert_eq!(reader.tensors().count(), 0);
}

/// The steps of an optimizer's state are all the same.
#[test]
fn equal_scalars_are_stored_once() {
    let names: Vec<String> = (0..500).map(|i| format!("state.{i:03}.step")).collect();
    let tensor = |name| -> Given<'_> { (name, "F32", &[], vec![0, 64, 154, 68]) };
    let tensors: Vec<Given<'_>> = names.iter().map(|name| tensor(name.as_str())).collect();
    let reader = compressed(&tensors, 8);
    assert_eq!(reader.tensors().filter(|(_, t)| t.copy_of.is_some()).count(), 499);
    let flat = safetensors(&tensors).len();
    assert!(size(&tensors, 8) < flat, "of {flat}");
}
