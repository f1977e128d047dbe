//! Weights of four bits whose columns differ, as those of real layers do: pairs in an order of columns by level.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test")]

mod wcodec_common;

use latens::Limits;
use latens::wcodec::device::PartPlan;
use latens::wcodec::view::Values;
use latens::wcodec::{Config, Reader, compress_checkpoint};
use wcodec_common::{Random, open, safetensors};

const ROWS: usize = 1024;
const COLS: usize = 4096;
const GROUP: usize = 128;

/// A file of weights in groups whose largest is 7, of columns that differ by `spread` nats, as compressed-tensors packs
/// them.
fn source(spread: f64) -> Vec<u8> {
    let mut random = Random(5);
    let cols: Vec<f64> = (0..COLS).map(|_| random.normal(spread).exp()).collect();
    let (mut packed, mut scales) = (Vec::new(), Vec::new());
    for group in 0..ROWS * COLS / GROUP {
        let cols = &cols[group * GROUP % COLS..][..GROUP];
        let weights: Vec<f64> = cols.iter().map(|col| random.normal(*col)).collect();
        let scale = weights.iter().fold(0f64, |most, w| most.max(w.abs())) / 7.0;
        let nibble = |w: f64| ((w / scale).round() as i8 + 8) as u8;
        packed.extend(weights.as_chunks().0.iter().map(|[a, b]| nibble(*a) | nibble(*b) << 4));
        scales.extend_from_slice(&(scale as f32).to_bits().to_le_bytes()[2..]);
    }
    let [rows, words, groups] = [ROWS, COLS / 8, COLS / GROUP].map(|n| n as u64);
    safetensors(&[
        ("w.weight_packed", "I32", &[rows, words], packed),
        ("w.weight_scale", "BF16", &[rows, groups], scales),
    ])
}

fn encode(source: &[u8], level: u32) -> Vec<u8> {
    let config = Config::default().level(level).threads(2);
    compress_checkpoint(&open(source.to_vec()), None, &config, Vec::new()).unwrap()
}

/// Whether its weights are in pairs, and these in an order.
fn coding(reader: &Reader<Vec<u8>>) -> (bool, bool) {
    let number = reader.find("w.weight_packed").unwrap();
    let plan = reader.plan_rows(number, 0..1).unwrap();
    let symbols = plan.parts.iter().find_map(|part| match part {
        PartPlan::Symbols(symbols) => Some(symbols),
        PartPlan::Decoded(_) => None,
    });
    symbols.map_or((false, false), |symbols| (symbols.pairs, symbols.order.is_some()))
}

#[test]
fn columns_that_differ_are_coded_in_an_order() {
    for (spread, wanted) in [(0.2, (true, true)), (0.0, (true, false))] {
        let source = source(spread);
        let file = encode(&source, 8);
        let reader = Reader::open(file.clone(), Limits::default()).unwrap().threads(2);
        assert_eq!(coding(&reader), wanted, "columns by {spread}");
        reader.verify().unwrap();
        let mut restored = Vec::new();
        reader.write_file(0, &mut restored).unwrap();
        assert!(restored == source, "columns by {spread}");
        // Rows by themselves, from within groups.
        let number = reader.find("w.weight_packed").unwrap();
        let (all, row) = (reader.tensor(number).unwrap(), COLS / 2);
        for rows in [0..1, 63..65, 500..777, ROWS as u64 - 1..ROWS as u64] {
            let (from, to) = (rows.start as usize * row, rows.end as usize * row);
            let nibbles = all[from..to].iter().flat_map(|pair| [pair & 15, pair >> 4]);
            let weights = nibbles.map(|nibble| nibble as i8 - 8).collect();
            let found = reader.rows(number, rows.clone()).unwrap();
            assert!(found == Values::Signed(weights), "{rows:?}");
        }
        // In the order, levels of all columns are said: what decoders gain costs no more than pairs may.
        let single = encode(&source, 9);
        let slower = Reader::open(single.clone(), Limits::default()).unwrap();
        assert!(!coding(&slower).1);
        assert!(
            (file.len() as f64) < 1.005 * single.len() as f64,
            "{} {}",
            file.len(),
            single.len()
        );
    }
}
