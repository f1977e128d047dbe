//! Pairs of neighbours in an order of columns by level.

use super::wcodec_common::Random;
use super::{beside_single_nibbles, coding, comes_back, encode, source};
use latens::Limits;
use latens::wcodec::Reader;

const ROWS: usize = 1024;
const COLS: usize = 4096;

/// Weights of columns that differ by `spread` nats.
fn weights(spread: f64) -> Vec<u8> {
    let mut random = Random(5);
    let sizes: Vec<f64> = (0..COLS).map(|_| random.normal(spread).exp()).collect();
    source(ROWS, COLS, |col| random.normal(sizes[col]))
}

#[test]
fn columns_that_differ_are_coded_in_an_order() {
    for (spread, ordered) in [(0.2, true), (0.0, false)] {
        let source = weights(spread);
        let file = encode(&source, 8, 2);
        let reader = Reader::open(file.clone(), Limits::default()).unwrap().threads(2);
        let coded = coding(&reader, 0..1);
        assert_eq!((coded.pairs, coded.order.is_some()), (true, ordered), "columns by {spread}");
        let last = ROWS as u64 - 1..ROWS as u64;
        comes_back(&reader, &source, COLS, &[0..1, 63..65, 500..777, last]);
        // In the order, levels of all columns are said: what decoders gain costs no more than pairs may.
        let (pairs, single) = beside_single_nibbles(&file, &source);
        assert!(pairs < 1.005 * single, "{pairs} {single}");
    }
}
