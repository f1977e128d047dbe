//! Pairs of two rows, where no two neighbours are alike in any order, as those of embeddings may be.

use super::wcodec_common::Random;
use super::{WEIGHTS, beside_single_nibbles, coding, comes_back, encode, source};
use latens::Limits;
use latens::wcodec::Reader;

/// An odd number, so that the last row of the last group is paired with itself.
const ROWS: usize = 11_001;
const COLS: usize = 384;

/// Weights of columns that differ by some nats and lie around means of their own.
fn weights() -> Vec<u8> {
    let mut random = Random(6);
    let mut of_columns = || -> Vec<f64> { (0..COLS).map(|_| random.normal(1.0)).collect() };
    let (sizes, means) = (of_columns(), of_columns());
    source(ROWS, COLS, |col| sizes[col].exp() * (means[col] / 2.0 + random.normal(1.0)))
}

#[test]
fn columns_that_no_order_makes_alike_are_coded_in_pairs_of_rows() {
    let source = weights();
    let file = encode(&source, 8, 2);
    assert!(file == encode(&source, 8, 1), "threads make a difference");
    let reader = Reader::open(file.clone(), Limits::default()).unwrap();
    let all = 0..ROWS as u64;
    let coded = coding(&reader, all.clone());
    assert_eq!(coded.stack.unwrap().ends, [128, 256, 384]);
    assert!(coded.groups.len() > 1 && coded.groups.last().unwrap().count / COLS % 2 == 1);
    let inspected = reader.inspect(reader.find(WEIGHTS).unwrap()).unwrap();
    assert!(inspected.parts.iter().any(|part| part.pairs == Some("rows")));
    let last = all.end - 1..all.end;
    for threads in [1, 2] {
        let reader = Reader::open(file.clone(), Limits::default()).unwrap().threads(threads);
        comes_back(&reader, &source, COLS, &[0..1, 63..65, 500..1777, last.clone()]);
    }
    // What decoders gain costs no more than it may.
    let (pairs, single) = beside_single_nibbles(&file, &source);
    assert!(pairs < 1.012 * single, "{pairs} {single}");
}

#[test]
fn what_is_damaged_is_found() {
    let file = encode(&weights(), 8, 2);
    let reader = Reader::open(file.clone(), Limits::default()).unwrap();
    let groups = coding(&reader, 0..ROWS as u64).groups;
    let mut random = Random(7);
    for group in &groups {
        let mut damaged = file.clone();
        let at = group.at as usize + random.below(group.length);
        damaged[at] ^= 1 << random.below(8);
        let reader = Reader::open(damaged, Limits::default()).unwrap();
        let number = reader.find(WEIGHTS).unwrap();
        let error = reader.tensor(number).unwrap_err().to_string();
        assert!(error.contains(&format!("group {}", group.number)), "{error}");
    }
}
