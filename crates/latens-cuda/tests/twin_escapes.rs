//! Symbols that are said apart: files made by hand, from the specification alone, and those of the encoder are
//! decoded by library and kernels to what they were made of; lists that are not right are refused.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_possible_truncation,
    reason = "a test"
)]

mod by_hand;
mod twin_common;
#[path = "../../latens/tests/wcodec_common/mod.rs"]
mod wcodec_common;

use by_hand::escapes::{self, Escaped, GROUPS};
use by_hand::number;
use by_hand::stacked::{Blocks, Stacked};
use latens::Limits;
use latens::wcodec::{Config, Reader, compress_checkpoint};
use twin_common::{Count, Twin, build};
use wcodec_common::{Random, open, safetensors};

/// `FAULT_WORDS` and `FAULT_PAIRS` of kernels/batch.cuh.
const WORDS: &str = "status 0x20";
const PAIRS: &str = "status 0x80";

#[test]
fn escapes_come_back() {
    let Some(program) = build("twin-escapes", &["-O2"]) else { return };
    let mut twin = Twin::start(&program);
    for (bits, pairs) in [(8, false), (4, false), (2, false), (4, true), (2, true)] {
        let predictors = [None, Some(6), Some(1), Some(255)];
        for predictor in &predictors[..if pairs { 2 } else { 4 }] {
            for turn in 0..4 {
                let [by_class, compact] = [1, 2].map(|bit| turn & bit != 0);
                let predictor = *predictor;
                let escaped = Escaped { bits, pairs, predictor, by_class, compact };
                let (file, data) = escaped.file(escapes::head);
                let reader = Reader::open(file, Limits::default()).unwrap();
                let found = reader.tensor(0).unwrap();
                assert!(predictor.is_some() || found == data, "{escaped:?}");
                let mut count = Count::default();
                twin.agrees("escapes", &reader, &mut count);
                assert!(count.groups == GROUPS && count.errors == 0, "{escaped:?}: {count:?}");
            }
        }
    }
}

/// What is wrong with a list.
type Head = Box<dyn Fn(&[u8]) -> Vec<u8>>;

/// Lists that lack one or have one too many, counts that are not what follows, or not as they should be.
fn wrong_heads() -> Vec<(&'static str, Head)> {
    let counted = |count: u64| -> Head {
        Box::new(move |list| [wcodec_common::mend::varint(count), list.to_vec()].concat())
    };
    let longer = |list: &[u8]| {
        let mut head = number(list.len());
        *head.last_mut().unwrap() |= 0x80;
        [&head[..], &[0], list].concat()
    };
    vec![
        ("lacking", Box::new(|list| escapes::head(&list[..list.len() - 1]))),
        ("none", Box::new(|_| escapes::head(&[]))),
        ("left over", Box::new(|list| escapes::head(&[list, &[2]].concat()))),
        ("beyond the group", counted(1 << 13)),
        ("beyond all", counted(u64::MAX)),
        ("of nine bytes", counted(1 << 62)),
        ("not the shortest", Box::new(longer)),
        ("endless", Box::new(|_| vec![0xff; 400])),
        ("of eleven bytes", Box::new(|list| [&[0x80; 10][..], &[1], list].concat())),
    ]
}

fn refused(twin: &mut Twin, file: Vec<u8>, status: &str, what: &str) {
    let reader = Reader::open(file, Limits::default()).unwrap();
    assert!(reader.tensor(0).is_err(), "{what}");
    let found = twin.tensor(&reader, 0, &mut Count::default());
    assert_eq!(found.unwrap_err(), status, "{what}");
}

#[test]
fn wrong_lists_are_refused() {
    let Some(program) = build("twin-wrong-escapes", &["-O2"]) else { return };
    let mut twin = Twin::start(&program);
    for (what, head) in wrong_heads() {
        for compact in [false, true] {
            for (bits, pairs, by_class) in [(8, false, false), (4, false, true), (4, true, true)] {
                let escaped = Escaped { bits, pairs, predictor: None, by_class, compact };
                refused(&mut twin, escaped.file(&head).0, WORDS, &format!("{what}: {escaped:?}"));
            }
            let file = stacked(compact).file_of(|_| (), &head).0;
            refused(&mut twin, file, WORDS, &format!("{what}: stacked, {compact}"));
        }
    }
}

fn stacked(compact: bool) -> Stacked {
    const BLOCKS: &[Blocks] = &[Blocks { rows: 1, cols: 16, added: false }];
    Stacked {
        rows: 12,
        cols: 32,
        group_rows: 12,
        blocks: BLOCKS,
        row_levels: true,
        col_levels: true,
        with_means: false,
        bias: -20,
        compact,
        escapes: true,
    }
}

/// The first one, or the last one, which with compact states is in these.
#[test]
fn escapes_beyond_their_bits_are_refused() {
    let Some(program) = build("twin-escapes-beyond", &["-O2"]) else { return };
    let mut twin = Twin::start(&program);
    for (bits, pairs, beyond, status) in [
        (4, false, 0x10, WORDS),
        (2, false, 0x04, WORDS),
        (2, true, 0x04, PAIRS),
        (2, true, 0x80, PAIRS),
    ] {
        for (compact, last) in [(false, false), (true, false), (true, true)] {
            let spoil = |list: &[u8]| {
                let mut list = list.to_vec();
                let place = if last { list.len() - 1 } else { 0 };
                list[place] |= beyond;
                escapes::head(&list)
            };
            let escaped = Escaped { bits, pairs, predictor: None, by_class: true, compact };
            refused(&mut twin, escaped.file(spoil).0, status, &format!("{escaped:?}, {last}"));
        }
    }
}

/// Rows of weights of INT8 or INT4, whose spread differs by row, by column or by none of both.
fn source(bits: u32, rows: usize, cols: usize, by_row: bool, by_col: bool) -> Vec<u8> {
    let mut random = Random(rows as u64);
    let half = f64::from(1u32 << (bits - 1));
    let mut weight = |i: usize| {
        let row = if by_row { i / cols % 7 } else { 0 };
        let col = if by_col { i % cols * 11 % 13 } else { 0 };
        let width = half / 16.0 * (1.0 + row as f64 / 3.0 + col as f64 / 6.0);
        // About that of the t-distribution with five degrees of freedom.
        let spread = (0..5).map(|_| random.normal(1.0).powi(2)).sum::<f64>() / 5.0;
        let weight = random.normal(width) / spread.max(1e-3).sqrt();
        weight.round().clamp(-half, half - 1.0) as i8
    };
    let weights: Vec<i8> = (0..rows * cols).map(&mut weight).collect();
    if bits == 8 {
        let bytes = weights.iter().map(|w| w.cast_unsigned()).collect();
        return safetensors(&[("w", "I8", &[rows as u64, cols as u64], bytes)]);
    }
    let nibble = |w: i8| (w + 8).cast_unsigned() & 15;
    let bytes = weights.chunks(2).map(|two| nibble(two[0]) | nibble(two[1]) << 4).collect();
    safetensors(&[("w.weight_packed", "I32", &[rows as u64, cols as u64 / 8], bytes)])
}

#[test]
fn files_of_the_encoder() {
    let Some(program) = build("twin-escapes-encoder", &["-O2"]) else { return };
    let mut twin = Twin::start(&program);
    for (bits, rows, cols, by_row, by_col) in [
        (8, 1024, 1024, false, false),
        (4, 256, 512, false, false),
        (4, 2048, 2048, true, true),
        (4, 2048, 2048, false, true),
        (4, 2048, 2048, true, false),
    ] {
        let source = source(bits, rows, cols, by_row, by_col);
        let file = compress_checkpoint(&open(source), None, &Config::default(), Vec::new());
        let reader = Reader::open(file.unwrap(), Limits::default()).unwrap();
        let part = reader.inspect(0).unwrap().parts.pop().unwrap();
        println!("{bits} bits, {rows} × {cols}: {:?}, escapes: {}", part.pairs, part.escapes);
        let mut count = Count::default();
        twin.agrees("of the encoder", &reader, &mut count);
        assert!(count.groups >= part.groups && count.errors == 0, "{count:?}");
        // What the encoder makes of weights that differ is its choice.
        assert!(part.escapes || by_row || by_col, "{bits} bits, {rows} × {cols}");
    }
}
