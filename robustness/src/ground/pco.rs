//! Pco files and wrapped parts of every type, mode and kind of delta encoding.

use super::Ground;
use crate::common::numbers::{Shape, make};
use crate::common::{deltas, is_possible, modes};
use latens::pco::wrapped::FileEncoder;
use latens::pco::{Config, DeltaSpec};
use latens::{Number, NumberType, with_number_type};

/// Most bytes of a ground: all of its bits are flipped.
const MOST: usize = 700;

/// The type a selector stands for.
pub fn type_of(selector: u8) -> NumberType {
    NumberType::ALL[usize::from(selector) % NumberType::ALL.len()]
}

fn each(thin: usize, mut visit: impl FnMut(u8, &Config, &str, Shape, usize)) {
    for (selector, ty) in NumberType::ALL.into_iter().enumerate() {
        let mut turn = selector;
        for mode in modes(ty) {
            for delta in deltas() {
                turn += 1;
                let config = Config::default().mode(mode).delta(delta);
                let dear = matches!(delta, DeltaSpec::Lookback { state_log: 5.., .. })
                    || matches!(delta, DeltaSpec::Conv1 { order: 9.. });
                if dear || turn % thin != 0 || !is_possible(ty, &config) {
                    continue;
                }
                let shape = Shape::ALL[turn / thin * 3 % Shape::ALL.len()];
                let n = [40, 5, 300, 17][turn / thin % 4];
                let name = format!("{ty} {mode} {delta} {shape:?} n={n}");
                visit(selector as u8, &config, &name, shape, n);
            }
        }
    }
}

fn file<T: Number>(config: &Config, shape: Shape, n: usize) -> Vec<u8> {
    let two_chunks = config.clone().chunk_n(n / 2 + 1);
    let config = if n == 17 { &two_chunks } else { config };
    latens::pco::compress(&make::<T>(shape, n, n as u64), config).unwrap()
}

/// Whole files without checksums, which every reader takes.
pub fn plain() -> Vec<Ground> {
    let mut out = Vec::new();
    each(7, |selector, config, name, shape, n| {
        let config = config.clone().checksum(false);
        let bytes = with_number_type!(type_of(selector), T => file::<T>(&config, shape, n));
        out.push(Ground::new(name, selector, bytes));
    });
    out.retain(|ground| ground.bytes.len() < MOST);
    out
}

/// Whole files with the checksum trailer.
pub fn sealed() -> Vec<Ground> {
    let mut out = Vec::new();
    each(29, |selector, config, name, shape, n| {
        let config = config.clone().checksum(true);
        let bytes = with_number_type!(type_of(selector), T => file::<T>(&config, shape, n));
        out.push(Ground::new(name, selector, bytes));
    });
    out.retain(|ground| ground.bytes.len() < MOST);
    out
}

/// Count of numbers (2 bytes), then wrapped header, chunk metadata and one page.
pub fn wrapped() -> Vec<Ground> {
    fn parts<T: Number>(config: &Config, shape: Shape, n: usize) -> Vec<u8> {
        let file = FileEncoder::new(config.clone());
        let mut bytes = (n as u16).to_le_bytes().to_vec();
        file.write_header(&mut bytes).unwrap();
        let chunk = file.chunk_encoder(&make::<T>(shape, n, n as u64), &[n]).unwrap();
        chunk.write_meta(&mut bytes).unwrap();
        chunk.write_page(0, &mut bytes).unwrap();
        bytes
    }
    let mut out = Vec::new();
    each(17, |selector, config, name, shape, n| {
        let bytes = with_number_type!(type_of(selector), T => parts::<T>(config, shape, n));
        out.push(Ground::new(name, selector, bytes));
    });
    out.retain(|ground| ground.bytes.len() < MOST);
    out
}
