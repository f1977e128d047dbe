//! Weights of two to four bits in pairs; of columns that differ, so that two neighbours may not share a class, in pairs of others.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test")]

mod escapes;
mod few_bits;
mod order;
mod stacked;
#[path = "../wcodec_common/mod.rs"]
mod wcodec_common;

use latens::Limits;
use latens::wcodec::device::{PartPlan, SymbolPlan};
use latens::wcodec::view::Values;
use latens::wcodec::{Config, Reader, compress_checkpoint};
use std::ops::Range;
use wcodec_common::{open, safetensors};

/// Columns of a block, which has a scale of its own.
const BLOCK: usize = 128;

/// The tensor of weights.
const WEIGHTS: &str = "w.weight_packed";

/// A file of weights as compressed-tensors packs them, the largest of a block 7. `weight` makes those of a column.
fn source(rows: usize, cols: usize, mut weight: impl FnMut(usize) -> f64) -> Vec<u8> {
    let (mut packed, mut scales) = (Vec::new(), Vec::new());
    for block in 0..rows * cols / BLOCK {
        let first = block * BLOCK % cols;
        let weights: Vec<f64> = (first..first + BLOCK).map(&mut weight).collect();
        let scale = weights.iter().fold(0f64, |most, w| most.max(w.abs())) / 7.0;
        let nibble = |w: f64| ((w / scale).round() as i8 + 8) as u8;
        packed.extend(weights.as_chunks().0.iter().map(|[a, b]| nibble(*a) | nibble(*b) << 4));
        scales.extend_from_slice(&(scale as f32).to_bits().to_le_bytes()[2..]);
    }
    let [rows, words, blocks] = [rows, cols / 8, cols / BLOCK].map(|n| n as u64);
    safetensors(&[
        (WEIGHTS, "I32", &[rows, words], packed),
        ("w.weight_scale", "BF16", &[rows, blocks], scales),
    ])
}

fn encode(source: &[u8], level: u32, threads: usize) -> Vec<u8> {
    let config = Config::default().level(level).threads(threads);
    compress_checkpoint(&open(source.to_vec()), None, &config, Vec::new()).unwrap()
}

/// How the weights of some rows are coded.
fn coding(reader: &Reader<Vec<u8>>, rows: Range<u64>) -> SymbolPlan {
    let plan = reader.plan_rows(reader.find(WEIGHTS).unwrap(), rows).unwrap();
    let symbols = plan.parts.into_iter().find_map(|part| match part {
        PartPlan::Symbols(symbols) => Some(*symbols),
        PartPlan::Decoded(_) => None,
    });
    symbols.unwrap()
}

/// The file comes back, and so do rows by themselves, from within groups.
fn comes_back(reader: &Reader<Vec<u8>>, source: &[u8], cols: usize, rows: &[Range<u64>]) {
    reader.verify().unwrap();
    let mut restored = Vec::new();
    reader.write_file(0, &mut restored).unwrap();
    assert!(restored == source);
    let number = reader.find(WEIGHTS).unwrap();
    let all = reader.tensor(number).unwrap();
    for rows in rows {
        let (from, to) = (rows.start as usize * cols / 2, rows.end as usize * cols / 2);
        let nibbles = all[from..to].iter().flat_map(|pair| [pair & 15, pair >> 4]);
        let weights = nibbles.map(|nibble| nibble as i8 - 8).collect();
        assert!(reader.rows(number, rows.clone()).unwrap() == Values::Signed(weights), "{rows:?}");
    }
}

/// Both sizes, as numbers to compare, of a file and of the same weights at level 9, which takes no pairs for speed.
fn beside_single_nibbles(file: &[u8], source: &[u8]) -> (f64, f64) {
    let single = encode(source, 9, 2);
    let slower = Reader::open(single.clone(), Limits::default()).unwrap();
    assert!(!coding(&slower, 0..1).pairs);
    (file.len() as f64, single.len() as f64)
}
