//! Large tensors are never much above their order-0 entropy, however many of their symbols are rare.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test")]

mod wcodec_common;

use latens::Limits;
use latens::wcodec::view::Values;
use latens::wcodec::{Config, Reader, compress_checkpoint};
use wcodec_common::{Random, open, safetensors};

/// Bits a weight above order 0 that are allowed, side information and all.
const MOST: f64 = 0.01;
const ROWS: usize = 1024;
const COLS: usize = 1024;

/// Weights of one distribution, wherever they are: with `tails`, far ones are more common than in a normal one.
fn weights(width: f64, tails: bool) -> Vec<u8> {
    let mut random = Random(width as u64 + 17);
    let mut one = || {
        let spread = match tails {
            // About that of the t-distribution with five degrees of freedom.
            true => (0..5).map(|_| random.normal(1.0).powi(2)).sum::<f64>() / 5.0,
            false => 1.0,
        };
        let weight = random.normal(width) / spread.max(1e-3).sqrt();
        (weight.round().clamp(-128.0, 127.0) as i8).cast_unsigned()
    };
    (0..ROWS * COLS).map(|_| one()).collect()
}

#[test]
fn weights_of_one_distribution_are_near_order_0() {
    for (width, tails, escapes) in [
        (7.0, true, true),
        (10.0, true, true),
        (25.0, false, true),
        (2.0, false, false),
        (90.0, false, false),
    ] {
        let weights = weights(width, tails);
        let shape = [ROWS as u64, COLS as u64];
        let source = safetensors(&[("w", "I8", &shape, weights.clone())]);
        let compress = |threads| {
            let config = Config::default().threads(threads);
            compress_checkpoint(&open(source.clone()), None, &config, Vec::new()).unwrap()
        };
        let file = compress(1);
        assert!(compress(3) == file);
        let reader = Reader::open(file, Limits::default()).unwrap();
        reader.verify().unwrap();
        let found = reader.inspect(0).unwrap();
        let above = found.bits_per_weight() - found.order0_entropy;
        println!("{width}, {tails}: {above:.4} bits above order 0, {}", found.parts[0].escapes);
        assert!(above <= MOST, "{width}, {tails}: {above}");
        assert_eq!(found.parts[0].escapes, escapes, "{width}, {tails}");
        // Rows whose group is not decoded to its end, and from the middle of it on.
        for rows in [0..1, 100..101, 250..400, 1000..1024] {
            let there = &weights[rows.start * COLS..rows.end * COLS];
            let Values::Signed(found) = reader.rows(0, rows.start as u64..rows.end as u64).unwrap()
            else {
                unreachable!("INT8")
            };
            assert!(found.into_iter().map(i8::cast_unsigned).eq(there.iter().copied()), "{width}");
        }
    }
}
