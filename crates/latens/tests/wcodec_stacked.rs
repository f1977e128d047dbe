//! Weights of four bits whose columns differ so much that no two neighbours are alike, as those of embeddings may: pairs
//! of two rows.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test")]

mod wcodec_common;

use latens::Limits;
use latens::wcodec::device::{PartPlan, SymbolPlan};
use latens::wcodec::view::Values;
use latens::wcodec::{Config, Reader, compress_checkpoint};
use wcodec_common::{Random, open, safetensors};

/// An odd number, so that the last row of the last group is paired with itself.
const ROWS: usize = 11_001;
const COLS: usize = 384;
const BLOCK: usize = 128;

/// A file of weights in blocks whose largest is 7, of columns that differ by some nats and lie around means of their own, as
/// compressed-tensors packs them.
fn source() -> Vec<u8> {
    let mut random = Random(6);
    let mut of_columns = || -> Vec<f64> { (0..COLS).map(|_| random.normal(1.0)).collect() };
    let (sizes, means) = (of_columns(), of_columns());
    let (mut packed, mut scales) = (Vec::new(), Vec::new());
    for block in 0..ROWS * COLS / BLOCK {
        let first = block * BLOCK % COLS;
        let weight = |c: usize| sizes[c].exp() * (means[c] / 2.0 + random.normal(1.0));
        let weights: Vec<f64> = (first..first + BLOCK).map(weight).collect();
        let scale = weights.iter().fold(0f64, |most, w| most.max(w.abs())) / 7.0;
        let nibble = |w: f64| ((w / scale).round() as i8 + 8) as u8;
        packed.extend(weights.as_chunks().0.iter().map(|[a, b]| nibble(*a) | nibble(*b) << 4));
        scales.extend_from_slice(&(scale as f32).to_bits().to_le_bytes()[2..]);
    }
    let [rows, words, blocks] = [ROWS, COLS / 8, COLS / BLOCK].map(|n| n as u64);
    safetensors(&[
        ("w.weight_packed", "I32", &[rows, words], packed),
        ("w.weight_scale", "BF16", &[rows, blocks], scales),
    ])
}

fn encode(source: &[u8], level: u32, threads: usize) -> Vec<u8> {
    let config = Config::default().level(level).threads(threads);
    compress_checkpoint(&open(source.to_vec()), None, &config, Vec::new()).unwrap()
}

/// How the weights are coded.
fn coding(reader: &Reader<Vec<u8>>) -> SymbolPlan {
    let plan = reader.plan(reader.find("w.weight_packed").unwrap()).unwrap();
    let symbols = plan.parts.into_iter().find_map(|part| match part {
        PartPlan::Symbols(symbols) => Some(*symbols),
        PartPlan::Decoded(_) => None,
    });
    symbols.unwrap()
}

#[test]
fn columns_that_no_order_makes_alike_are_coded_in_pairs_of_rows() {
    let source = source();
    let file = encode(&source, 8, 2);
    assert!(file == encode(&source, 8, 1), "threads make a difference");
    let reader = Reader::open(file.clone(), Limits::default()).unwrap().threads(2);
    let coded = coding(&reader);
    let stack = coded.stack.unwrap();
    assert_eq!(stack.ends, [128, 256, 384]);
    assert!(coded.groups.len() > 1 && coded.groups.last().unwrap().count / COLS % 2 == 1);
    // Rows that differ are paired, too, so that classes between theirs are there.
    reader.verify().unwrap();
    let mut restored = Vec::new();
    reader.write_file(0, &mut restored).unwrap();
    assert!(restored == source);
    let one = Reader::open(file.clone(), Limits::default()).unwrap();
    let number = one.find("w.weight_packed").unwrap();
    let all = one.tensor(number).unwrap();
    let inspected = one.inspect(number).unwrap();
    assert!(inspected.parts.iter().any(|part| part.pairs == Some("rows")));
    // Rows by themselves, from within groups and across them.
    for rows in [0..1, 63..65, 500..1777, ROWS as u64 - 1..ROWS as u64] {
        let (from, to) = (rows.start as usize * COLS / 2, rows.end as usize * COLS / 2);
        let nibbles = all[from..to].iter().flat_map(|pair| [pair & 15, pair >> 4]);
        let weights = nibbles.map(|nibble| nibble as i8 - 8).collect();
        assert!(one.rows(number, rows.clone()).unwrap() == Values::Signed(weights), "{rows:?}");
    }
    // What decoders gain costs no more than it may.
    let single = encode(&source, 9, 2);
    let slower = Reader::open(single.clone(), Limits::default()).unwrap();
    assert!(!coding(&slower).pairs);
    let (pairs, single) = (file.len() as f64, single.len() as f64);
    assert!(pairs < 1.012 * single, "{pairs} {single}");
}

#[test]
fn what_is_damaged_is_found() {
    let file = encode(&source(), 8, 2);
    let reader = Reader::open(file.clone(), Limits::default()).unwrap();
    let groups = coding(&reader).groups;
    let mut random = Random(7);
    for group in &groups {
        let mut damaged = file.clone();
        let at = group.at as usize + (random.next() % group.length as u64) as usize;
        damaged[at] ^= 1 << (random.next() % 8);
        let reader = Reader::open(damaged, Limits::default()).unwrap();
        let number = reader.find("w.weight_packed").unwrap();
        let error = reader.tensor(number).unwrap_err().to_string();
        assert!(error.contains(&format!("group {}", group.number)), "{error}");
    }
}
