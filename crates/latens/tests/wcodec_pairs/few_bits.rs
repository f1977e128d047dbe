//! Weights of two and three bits, which MLX packs across the ends of words: their pairs are packed as they are decoded.

use super::wcodec_common::{Random, safetensors};
use latens::Limits;
use latens::wcodec::checkpoint::{Checkpoint, Quantization};
use latens::wcodec::view::Values;
use latens::wcodec::{Config, Reader, compress_checkpoint};

/// Columns of a block, which has a scale and a bias of its own.
const BLOCK: usize = 64;
const WEIGHTS: &str = "w.weight";

/// A file as MLX quantises weights to so many bits, and their symbols. `weight` makes those of a column.
fn source(
    bits: usize,
    [rows, cols]: [usize; 2],
    mut weight: impl FnMut(usize) -> f64,
) -> (Vec<u8>, Vec<u8>) {
    let half = |n: f64| (n as f32).to_bits().to_le_bytes()[2..].to_vec();
    let (mut symbols, mut scales, mut biases) = (Vec::new(), Vec::new(), Vec::new());
    for block in 0..rows * cols / BLOCK {
        let first = block * BLOCK % cols;
        let weights: Vec<f64> = (first..first + BLOCK).map(&mut weight).collect();
        let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
        let most = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let scale = (most - least) / f64::from((1u32 << bits) - 1);
        symbols.extend(weights.iter().map(|w| ((w - least) / scale).round() as u8));
        scales.extend(half(scale));
        biases.extend(half(least));
    }
    let mut packed = vec![0; symbols.len() * bits / 8];
    for (i, symbol) in symbols.iter().enumerate() {
        for bit in (0..bits).filter(|bit| symbol >> bit & 1 == 1) {
            packed[(i * bits + bit) / 8] |= 1 << ((i * bits + bit) % 8);
        }
    }
    let [rows, words, blocks] = [rows, cols * bits / 32, cols / BLOCK].map(|n| n as u64);
    let file = safetensors(&[
        (WEIGHTS, "U32", &[rows, words], packed),
        ("w.scales", "BF16", &[rows, blocks], scales),
        ("w.biases", "BF16", &[rows, blocks], biases),
    ]);
    (file, symbols)
}

fn encode(source: &[u8], bits: usize, level: u32) -> Vec<u8> {
    let (bits, group_size) = (Some(bits as u64), Some(BLOCK as u64));
    let beside = Quantization { bits, group_size, ..Quantization::default() };
    let none = |_: &str| Err(latens::Error::invalid("no shards here"));
    let name = "model.safetensors".to_owned();
    let checkpoint = Checkpoint::read(name, Box::new(source.to_vec()), beside, &none).unwrap();
    compress_checkpoint(&checkpoint, None, &Config::default().level(level), Vec::new()).unwrap()
}

/// What weights are pairs of, if they are.
fn pairs(file: &[u8]) -> Option<&'static str> {
    let reader = Reader::open(file.to_vec(), Limits::default()).unwrap();
    let inspected = reader.inspect(reader.find(WEIGHTS).unwrap()).unwrap();
    inspected.parts.iter().find_map(|part| part.pairs)
}

/// The file comes back, and so do rows, columns and bytes from anywhere within.
fn comes_back(file: &[u8], source: &[u8], symbols: &[u8], [rows, cols]: [usize; 2]) {
    for threads in [1, 2] {
        let reader = Reader::open(file.to_vec(), Limits::default()).unwrap().threads(threads);
        reader.verify().unwrap();
        let mut restored = Vec::new();
        reader.write_file(0, &mut restored).unwrap();
        assert!(restored == source);
        let number = reader.find(WEIGHTS).unwrap();
        for range in [0..1, rows / 3..rows / 2 + 1, rows - 1..rows] {
            let wanted = symbols[range.start * cols..range.end * cols].to_vec();
            let of_rows = range.start as u64..range.end as u64;
            assert!(reader.rows(number, of_rows.clone()).unwrap() == Values::Unsigned(wanted));
            for some in [0..1, 1..cols, 33..34, cols / 2 - 1..cols - 1] {
                let row = |r: usize| &symbols[r * cols..][some.clone()];
                let wanted: Vec<u8> = range.clone().flat_map(row).copied().collect();
                let of_cols = some.start as u64..some.end as u64;
                let slice = reader.slice(number, of_rows.clone(), of_cols).unwrap();
                assert!(slice == Values::Unsigned(wanted), "{range:?}, {some:?}");
            }
        }
        let all = reader.tensor(number).unwrap();
        let bytes = all.len() / 2 - 7..all.len() - 1;
        let range = bytes.start as u64..bytes.end as u64;
        assert!(reader.byte_range(number, range).unwrap() == all[bytes]);
    }
}

#[test]
fn weights_of_two_and_three_bits_are_coded_in_pairs() {
    let mut random = Random(31);
    // A row of a whole number of words and of eights, one of neither many nor few, and groups of several rows.
    for (rows, cols) in [(300, 320), (2048, 64), (40, 4096)] {
        for bits in [2, 3] {
            let (source, symbols) = source(bits, [rows, cols], |_| random.normal(1.0));
            let (file, single) = (encode(&source, bits, 8), encode(&source, bits, 9));
            assert_eq!(pairs(&file), Some("neighbours"), "{bits} bits, {cols} columns");
            assert_eq!(pairs(&single), None, "{bits} bits, {cols} columns");
            comes_back(&file, &source, &symbols, [rows, cols]);
            let (paired, single) = (file.len() as f64, single.len() as f64);
            assert!(paired < 1.01 * single, "{bits} bits, {cols} columns: {paired} {single}");
        }
    }
}

#[test]
fn columns_whose_means_differ_are_coded_in_pairs_of_rows() {
    let (rows, cols, mut random) = (11_001, 384, Random(37));
    let mut of_columns = || -> Vec<f64> { (0..cols).map(|_| random.normal(1.0)).collect() };
    let (sizes, means) = (of_columns(), of_columns());
    let weight = |col: usize| sizes[col].exp() * (means[col] / 2.0 + random.normal(1.0));
    let (source, symbols) = source(3, [rows, cols], weight);
    let file = encode(&source, 3, 8);
    assert_eq!(pairs(&file), Some("rows"));
    comes_back(&file, &source, &symbols, [rows, cols]);
}

/// Fewer symbols than pairs pay for, and files that are damaged anywhere.
#[test]
fn few_weights_are_single_and_damage_is_found() {
    let mut random = Random(43);
    for bits in [2, 3] {
        let (few, symbols) = source(bits, [5, 64], |_| random.normal(1.0));
        let file = encode(&few, bits, 8);
        comes_back(&file, &few, &symbols, [5, 64]);
        let (source, _) = source(bits, [64, 512], |_| random.normal(1.0));
        let file = encode(&source, bits, 8);
        let of = |file: &[u8]| {
            let reader = Reader::open(file.to_vec(), Limits::default())?;
            reader.tensor(reader.find(WEIGHTS).unwrap_or(0))
        };
        let right = of(&file).unwrap();
        for _ in 0..300 {
            let mut damaged = file.clone();
            damaged[random.below(file.len())] ^= 1 << random.below(8);
            assert!(
                of(&damaged).map_or(true, |bytes| bytes == right || bytes.len() != right.len())
            );
        }
    }
}
