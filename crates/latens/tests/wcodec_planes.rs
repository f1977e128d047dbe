//! Tensors in bitplanes, without the lowest of these: numbers that are near, and never over the ends of their range.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test"
)]

mod wcodec_common;

use latens::Limits;
use latens::wcodec::checkpoint::Checkpoint;
use latens::wcodec::predictor::Predictor;
use latens::wcodec::transform::Transform;
use latens::wcodec::view::{PackingChoice, Values};
use latens::wcodec::{Coder, Config, Reader, Tools, compress_checkpoint};
use wcodec_common::planes::planes;
use wcodec_common::{Random, open, safetensors, samples};

fn numbers(values: Values) -> Vec<i32> {
    match values {
        Values::Signed(v) => v.into_iter().map(i32::from).collect(),
        Values::Unsigned(v) | Values::Words(v) => v.into_iter().map(i32::from).collect(),
    }
}

fn farthest(exact: &[i32], near: &[i32]) -> u32 {
    assert_eq!(exact.len(), near.len());
    exact.iter().zip(near).map(|(a, b)| a.abs_diff(*b)).max().unwrap()
}

fn by_planes(checkpoint: &Checkpoint, config: Config) -> Reader<Vec<u8>> {
    let tools = Tools { coder: Coder::Bitplane, ..Tools::default() };
    let config = config.tools(Some(tools));
    let file = compress_checkpoint(checkpoint, None, &config, Vec::new()).unwrap();
    Reader::open(file, Limits::default()).unwrap()
}

/// Each number is less than 2^k away without the lowest k planes; how many tensors have planes, and how many bits theirs have.
fn are_bounded(reader: &Reader<Vec<u8>>) -> Vec<u32> {
    let mut found = Vec::new();
    for (number, entry) in reader.tensors() {
        let layout = reader.layout(number).unwrap();
        if !reader.has_bitplanes(number).unwrap() {
            continue;
        }
        found.push(layout.meaning().unwrap().bits);
        let exact = numbers(reader.rows(number, 0..layout.rows).unwrap());
        for planes in 1..=8 {
            let near = reader.without_planes(planes).rows(number, 0..layout.rows).unwrap();
            let most = farthest(&exact, &numbers(near));
            assert!(most < 1 << planes, "{}: {most} without {planes} planes", entry.name);
        }
    }
    found
}

/// Numbers at the ends of their range do not come out at the other end, wherever most of them are: of two's complement, of
/// numbers without a sign, of such with an offset.
#[test]
fn numbers_do_not_go_over_the_ends_of_their_range() {
    let mut random = Random(21);
    let mut config = Config::default();
    let mut tensors: Vec<(String, &str, [u64; 2], Vec<u8>)> = Vec::new();
    for (bits, signs) in [(8, &["I8", "U8"][..]), (4, &["int4", "uint4", "int4-offset"])] {
        let size = 1i64 << bits;
        for sign in signs {
            let least = if matches!(*sign, "I8" | "int4") { -size / 2 } else { 0 };
            let most = least + size - 1;
            // Nearly everywhere, or in a place and a few at both ends.
            for (middle, width) in [0, 1, 2, 5, 8, 11, 15]
                .into_iter()
                .flat_map(|sixteenths| [2.0, 8.0].map(|w| (size * sixteenths / 16, w)))
            {
                let middle = (least + middle) as f64;
                let width = size as f64 / width;
                let mut one = |i: usize| match i % 512 {
                    7 => least,
                    8 => most,
                    9 => least + 1,
                    _ => (middle + random.normal(width)).round().clamp(least as f64, most as f64)
                        as i64,
                };
                let data: Vec<u8> = (0..4096).map(|i| one(i) as u8).collect();
                let name = format!("{sign} around {middle} by {width}");
                if bits == 8 {
                    tensors.push((name, sign, [64, 64], data));
                } else {
                    let two = data.chunks(2).map(|two| two[0] & 15 | two[1] << 4).collect();
                    config = config.packing(&name, sign.parse::<PackingChoice>().unwrap());
                    tensors.push((name, "U8", [64, 32], two));
                }
            }
        }
    }
    let tensors: Vec<(&str, &str, &[u64], Vec<u8>)> = tensors
        .iter()
        .map(|(n, ty, shape, data)| (&n[..], *ty, &shape[..], data.clone()))
        .collect();
    let found = are_bounded(&by_planes(&open(safetensors(&tensors)), config));
    assert_eq!(found.len(), tensors.len());
}

/// Of two, three, five and six bits, too.
#[test]
fn all_numbers_of_bits_are_bounded() {
    let of_blocks = samples::all(8).into_iter().filter(|s| ["q5_0", "q6_k"].contains(&s.name));
    let checkpoints = of_blocks.map(|s| s.checkpoint()).chain([open(planes(64, 48, 9))]);
    let readers = checkpoints.map(|checkpoint| by_planes(&checkpoint, Config::default()));
    let mut found: Vec<u32> = readers.flat_map(|reader| are_bounded(&reader)).collect();
    found.sort_unstable();
    found.dedup();
    assert_eq!(found, [2, 3, 4, 5, 6, 8]);
}

/// Of what is coded in bitplanes the highest are enough for numbers that are near; what is not is exact.
#[test]
fn planes_that_are_left_out_are_bounded() {
    let source = planes(200, 64, 9);
    for (coder, contexts) in
        [(Coder::Bitplane, true), (Coder::Bitplane, false), (Coder::Direct, true)]
    {
        let tools = Tools { coder, contexts, ..Tools::default() };
        let config = Config::default().tools(Some(tools)).group_symbols(1 << 10);
        let file = compress_checkpoint(&open(source.clone()), None, &config, Vec::new()).unwrap();
        let reader = Reader::open(file, Limits::default()).unwrap();
        for (name, bits) in [("plain", 8), ("smooth", 8), ("extreme", 8), ("n.weight_packed", 4)] {
            let number = reader.find(name).unwrap();
            let exact = numbers(reader.rows(number, 15..170).unwrap());
            let mut last = 0;
            for planes in [0, 1, 2, 3, 5, 7, 8, 9, usize::MAX] {
                let coarse = reader.without_planes(planes);
                let near = numbers(coarse.rows(number, 15..170).unwrap());
                let most = farthest(&exact, &near);
                let bound = if coder == Coder::Direct { 0 } else { (1 << planes.min(bits)) - 1 };
                assert!(most <= bound, "{name}: {most} without {planes} planes");
                // Each plane that is missing is missed, but for those that hold nothing.
                assert!(
                    most >= last || name == "extreme",
                    "{name}: {most} without {planes} planes"
                );
                last = most;
                let slice = numbers(coarse.slice(number, 15..170, 3..11).unwrap());
                let cols = near.len() / 155;
                let want: Vec<i32> = near.chunks(cols).flat_map(|r| r[3..11].to_vec()).collect();
                assert_eq!(slice, want, "{name}");
                // Everything else is exact.
                assert_eq!(coarse.tensor(number).unwrap(), reader.tensor(number).unwrap());
            }
            assert!((last > 0) == (coder == Coder::Bitplane), "{name} {coder:?}");
        }
        reader.without_planes(3).verify().unwrap();
    }
    // Where tiles are predicted, or blocks transformed, there is no bound, and nothing worse.
    for transforms in [vec![], Transform::ALL.to_vec()] {
        let predictors = Predictor::OF_TILES.to_vec();
        let coder = Coder::Bitplane;
        let tools = Tools { predictors, transforms, coder, ..Tools::default() };
        let config = Config::default().tools(Some(tools));
        let file = compress_checkpoint(&open(source.clone()), None, &config, Vec::new()).unwrap();
        let reader = Reader::open(file, Limits::default()).unwrap();
        for (number, _) in reader.tensors() {
            let rows = reader.layout(number).unwrap().rows;
            for planes in 0..17 {
                reader.without_planes(planes).rows(number, 0..rows).unwrap();
            }
        }
    }
}
