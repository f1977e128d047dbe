//! What level 8 chooses for those who decode: as many groups as are decoded side by side, no classes that save next to nothing, an
//! order for pairs.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test")]

mod wcodec_common;

use latens::Limits;
use latens::wcodec::device::{PartPlan, SymbolPlan};
use latens::wcodec::{Config, Reader, compress_checkpoint};
use wcodec_common::{Random, open, safetensors};

/// Bytes of so many rows; `byte` makes those of a column.
fn made(rows: usize, cols: usize, mut byte: impl FnMut(&mut Random, usize) -> u8) -> Vec<u8> {
    let mut random = Random(11);
    (0..rows * cols).map(|i| byte(&mut random, i % cols)).collect()
}

/// How all of tensor `w` is coded, which comes back by what two threads make of it.
fn coded(source: &[u8], level: u32) -> SymbolPlan {
    let config = Config::default().level(level).threads(2);
    let file = compress_checkpoint(&open(source.to_vec()), None, &config, Vec::new()).unwrap();
    let reader = Reader::open(file, Limits::default()).unwrap().threads(2);
    let mut restored = Vec::new();
    reader.write_file(0, &mut restored).unwrap();
    assert!(restored == source);
    let number = reader.find("w").or_else(|| reader.find("w.weight_packed")).unwrap();
    let rows = reader.inspect(number).unwrap().rows;
    let plan = reader.plan_rows(number, 0..rows).unwrap();
    let symbols = plan.parts.into_iter().find_map(|part| match part {
        PartPlan::Symbols(symbols) => Some(*symbols),
        PartPlan::Decoded(_) => None,
    });
    symbols.unwrap()
}

fn int8(rows: usize, cols: usize, byte: impl FnMut(&mut Random, usize) -> u8) -> Vec<u8> {
    safetensors(&[("w", "I8", &[rows as u64, cols as u64], made(rows, cols, byte))])
}

/// Nibbles as compressed-tensors packs them, in blocks of 128 columns with one scale; columns differ by `spread` nats.
fn int4(rows: usize, cols: usize, spread: f64) -> Vec<u8> {
    let mut random = Random(3);
    let sizes: Vec<f64> = (0..cols).map(|_| 2.2 * random.normal(spread).exp()).collect();
    let nibble = |random: &mut Random, col: usize| {
        (random.normal(sizes[col]).round().clamp(-8.0, 7.0) as i8 + 8).cast_unsigned()
    };
    let packed = made(rows, cols / 2, |random, pair| {
        nibble(random, 2 * pair) | nibble(random, 2 * pair + 1) << 4
    });
    // Ones.
    let scales = 0x3f80u16.to_le_bytes().repeat(rows * cols / 128);
    let [rows, words, blocks] = [rows, cols / 8, cols / 128].map(|n| n as u64);
    safetensors(&[
        ("w.weight_packed", "I32", &[rows, words], packed),
        ("w.weight_scale", "BF16", &[rows, blocks], scales),
    ])
}

#[test]
fn groups_are_as_many_as_decode_side_by_side() {
    for (rows, level, groups) in
        [(80, 8, 1), (300, 8, 2), (384, 8, 4), (1536, 8, 4), (384, 12, 1), (6 * 1024, 8, 8)]
    {
        let source = int8(rows, 384, |random, _| random.int8(20.0));
        assert_eq!(coded(&source, level).groups.len(), groups, "INT8, {rows} rows, level {level}");
    }
    for (rows, groups) in [(300, 1), (384, 2), (1536, 4)] {
        let source = int4(rows, 384, 0.0);
        assert_eq!(coded(&source, 8).groups.len(), groups, "INT4, {rows} rows");
    }
}

#[test]
fn classes_by_columns_must_save_a_five_hundredth() {
    // Columns that differ by s nats are 1.44 s² bits of some 6.4.
    for (spread, level, classes) in [(0.08, 8, false), (0.08, 9, true), (0.2, 8, true)] {
        let mut sizes = Random(7);
        let sizes: Vec<f64> = (0..256).map(|_| 20.0 * sizes.normal(spread).exp()).collect();
        let source = int8(4096, 256, |random, col| random.int8(sizes[col]));
        let coded = coded(&source, level);
        assert_eq!(coded.classes.is_some(), classes, "columns by {spread}, level {level}");
    }
}

#[test]
fn pairs_of_small_tensors_have_an_order_too() {
    for (rows, ordered) in [(256, false), (384, true), (1536, true)] {
        let coded = coded(&int4(rows, 384, 0.2), 8);
        assert_eq!((coded.pairs, coded.order.is_some()), (ordered, ordered), "{rows} rows");
    }
}
