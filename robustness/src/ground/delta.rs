//! Streams of Parquet's three delta encodings.

use super::Ground;
use crate::random::{Random, noise};
use latens::delta_binary_packed::{Layout, delta_byte_array, delta_length_byte_array, encode};

const SHAPES: [(usize, usize); 5] = [(128, 1), (128, 4), (256, 4), (256, 8), (2048, 8)];

/// Numbers of many widths in many layouts. Selector: type in the low two bits, strict in the third.
pub fn numbers() -> Vec<Ground> {
    let mut random = Random(11);
    let mut out = Vec::new();
    for (turn, (size, miniblocks)) in SHAPES.into_iter().enumerate() {
        let layout = Layout::new(size, miniblocks).unwrap();
        for (i, bits) in [0u32, 1, 7, 13, 26, 33, 63].into_iter().enumerate() {
            let count = 1 + random.below(if bits > 20 { 90 } else { 400 });
            let values: Vec<u64> = (0..count).map(|_| random.word() & ((1 << bits) - 1)).collect();
            let selector = ((turn + i) % 8) as u8;
            let bytes = match selector & 3 {
                0 | 2 => encode(&values.iter().map(|&v| v as i32).collect::<Vec<_>>(), layout),
                _ => encode(&values, layout),
            };
            let name = format!("{count} of {bits} bits in {size}/{miniblocks}");
            out.push(Ground::new(name, selector, bytes));
        }
    }
    // A constant step, for as long as one likes: nine bytes.
    out.push(Ground::new("500 steps", 1, encode(&(0..500i64).collect::<Vec<_>>(), layout())));
    out.push(Ground::new("none", 0, encode::<i32>(&[], layout())));
    out.push(Ground::new("one", 5, encode(&[-1i64], layout())));
    out
}

fn layout() -> Layout {
    Layout::default_for::<i64>()
}

fn strings(random: &mut Random, n: usize) -> Vec<Vec<u8>> {
    (0..n)
        .map(|i| {
            let tail = random.below(9);
            [format!("prefix {}/", i / 7).into_bytes(), noise(random, tail)].concat()
        })
        .collect()
}

/// DELTA_LENGTH_BYTE_ARRAY. Selector: 1 is strict.
pub fn lengths() -> Vec<Ground> {
    of_strings(|strings| delta_length_byte_array::encode(strings).unwrap())
}

/// DELTA_BYTE_ARRAY. Selector: 1 is strict.
pub fn prefixes() -> Vec<Ground> {
    of_strings(|strings| delta_byte_array::encode(strings).unwrap())
}

fn of_strings(encode: impl Fn(&[Vec<u8>]) -> Vec<u8>) -> Vec<Ground> {
    let mut random = Random(13);
    let mut out = Vec::new();
    for (i, n) in [0, 1, 2, 33, 130].into_iter().enumerate() {
        let bytes = encode(&strings(&mut random, n));
        out.push(Ground::new(format!("{n} strings"), i as u8 % 2, bytes));
    }
    out.push(Ground::new("empty strings", 0, encode(&vec![Vec::new(); 200])));
    out.push(Ground::new("the same string", 1, encode(&vec![b"again and again".to_vec(); 60])));
    out
}
