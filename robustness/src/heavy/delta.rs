//! Pages of Parquet's three delta encodings that are nearly nothing but counts.

use super::{Heavy, MOST, OUTPUT};
use latens::delta_binary_packed::{
    Layout, Options, decode, delta_byte_array, delta_length_byte_array, encode,
};
use latens::{Error, Limits};

fn numbers(selector: u8, page: &[u8], limits: Limits) -> Result<usize, Error> {
    let options = Options::default();
    Ok(match selector {
        0 => size_of_val(&decode::<i32>(page, limits, options)?.0[..]),
        _ => size_of_val(&decode::<i64>(page, limits, options)?.0[..]),
    })
}

fn lengths(_: u8, page: &[u8], limits: Limits) -> Result<usize, Error> {
    let (strings, _) = delta_length_byte_array::decode(page, limits, Options::default())?;
    Ok(strings.data().len() + size_of_val(strings.ends()))
}

fn prefixes(_: u8, page: &[u8], limits: Limits) -> Result<usize, Error> {
    let (strings, _) = delta_byte_array::decode(page, limits, Options::default())?;
    Ok(strings.data().len() + size_of_val(strings.ends()))
}

/// Block size and miniblocks: usual, and as far as can be.
const SHAPES: [(usize, usize); 7] = [
    (128, 1),
    (128, 4),
    (256, 4),
    (2048, 64),
    (1 << 15, 1 << 10),
    (1 << 20, 1 << 14),
    (1 << 24, 1),
];

fn layouts() -> impl Iterator<Item = (String, Layout)> {
    SHAPES.into_iter().map(|(size, miniblocks)| {
        (format!("{size}/{miniblocks}"), Layout::new(size, miniblocks).unwrap())
    })
}

/// Half as many of them, until it fits.
fn fitting(mut n: usize, make: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
    loop {
        let bytes = make(n);
        if bytes.len() <= MOST {
            return bytes;
        }
        n = (n / 2).max(1);
    }
}

/// `n` strings of `len` bytes that are the same.
fn copies(n: usize, len: usize, layout: Layout) -> Vec<u8> {
    let mut prefix_lens = vec![len as i32; n];
    prefix_lens[0] = 0;
    let mut suffix_lens = vec![0i32; n];
    suffix_lens[0] = len as i32;
    [encode(&prefix_lens, layout), encode(&suffix_lens, layout), vec![b'x'; len]].concat()
}

/// All but those that `thin` leaves out.
pub fn all(thin: usize) -> Vec<Heavy> {
    let mut out = Vec::new();
    let mut turn = 0;
    let mut add = |decoder, name: String, selector, bytes, decode| {
        turn += 1;
        if turn % thin == 0 {
            out.push(Heavy { decoder, name, selector, bytes, decode });
        }
    };
    for (name, layout) in layouts() {
        let steps = fitting(OUTPUT / 4, |n| encode(&(0..n as i32).collect::<Vec<_>>(), layout));
        add("dbp", format!("i32 steps, {name}"), 0, steps, numbers);
        let steps = fitting(OUTPUT / 8, |n| encode(&(0..n as i64).collect::<Vec<_>>(), layout));
        add("dbp", format!("i64 steps, {name}"), 1, steps, numbers);
        let bit = |i: usize| i64::from(i.count_ones() & 1);
        let bits = fitting(OUTPUT / 8, |n| encode(&(0..n).map(bit).collect::<Vec<_>>(), layout));
        add("dbp", format!("i64 of few bits, {name}"), 1, bits, numbers);
    }
    for (name, layout) in layouts() {
        let empty = fitting(OUTPUT / 8, |n| encode(&vec![0i32; n], layout));
        add("dlba", format!("empty strings, {name}"), 0, empty, lengths);
    }
    for (name, layout) in layouts() {
        for len in [0, 1, 1000, 30_000] {
            let n = OUTPUT / (len + 8);
            let same = fitting(n, |n| copies(n, len, layout));
            add("dba", format!("copies of {len} bytes, {name}"), 0, same, prefixes);
        }
    }
    out
}
