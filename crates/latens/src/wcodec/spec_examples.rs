//! The numbers that stand as examples in specs/wcodec.md and specs/wcodec-tiles.md: "```example NAME", then lines
//! of a key and what belongs to it.

use crate::bits::reader::BitReader;
use crate::wcodec::class::{Blocks, RowSums, Terms};
use crate::wcodec::layout::class_rule::ClassRule;
use crate::wcodec::layout::fields::Fields;
use crate::wcodec::layout::table::Table;
use crate::wcodec::order::Order;
use crate::wcodec::stack::{Rows, Stack};
use crate::wcodec::transform::{Block, Transform};
use crate::wcodec::woven::{Called, Piece, Pieces};
use std::borrow::Cow;
use std::fmt::Debug;
use std::path::Path;
use std::str::FromStr;

/// The lines of an example of a specification.
fn example(file: &str, name: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs");
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    let mut lines = text.lines().skip_while(|line| *line != format!("```example {name}"));
    assert!(lines.next().is_some(), "no example {name}");
    lines.take_while(|line| *line != "```").map(str::to_owned).collect()
}

/// What stands behind a key.
fn of<'l>(lines: &'l [String], key: &str) -> &'l str {
    let found = lines.iter().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
    found.unwrap_or_else(|| panic!("no {key}"))
}

fn numbers<T: FromStr<Err: Debug>>(text: &str) -> Vec<T> {
    text.split_whitespace().map(|number| number.parse().unwrap()).collect()
}

fn hex(text: &str) -> Vec<u8> {
    text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

/// Numbers in twos, between which a sign stands.
fn twos<T: FromStr<Err: Debug>>(text: &str, sign: char) -> Vec<[T; 2]> {
    let two = |two: &str| two.split(sign).map(|n| n.parse().unwrap()).collect::<Vec<T>>();
    text.split_whitespace().map(|both| two(both).try_into().ok().unwrap()).collect()
}

#[test]
fn tables() {
    let lines = example("wcodec.md", "tables");
    let mut bank: Vec<Table> = Vec::new();
    for both in lines.chunks(2) {
        let (name, bytes) = both[0].split_once(' ').unwrap();
        let bytes = hex(bytes);
        let mut bits = BitReader::new(&bytes, 0);
        let table = Table::read(&mut bits, &bank).unwrap();
        assert!(bits.bits_left() < 8, "{name}");
        let told: Vec<[usize; 2]> = twos(both[1].trim_start().strip_prefix("gives").unwrap(), ':');
        let there = (0..).zip(&table.frequencies).filter(|(_, f)| **f > 0);
        let there: Vec<[usize; 2]> = there.map(|(s, &f)| [s, usize::from(f)]).collect();
        assert_eq!(there, told, "{name}");
        assert_eq!(table.write(Vec::new()), bytes, "{name}");
        bank.push(table);
    }
    assert_eq!(bank.len(), 4);
}

#[test]
fn classes() {
    let lines = example("wcodec.md", "classes");
    let bytes = hex(of(&lines, "rule"));
    let mut fields = Fields::new(&bytes);
    let rule = ClassRule::read(&mut fields, 2, 4, 3).unwrap();
    assert_eq!(fields.left(), 0);
    let (source, values): (_, Vec<i16>) = (&rule.levels[0], numbers(of(&lines, "levels")));
    let bits: Vec<u8> = numbers(of(&lines, "numbers"));
    let given = crate::wcodec::class::SourceBytes { bytes: &bits, width: 1, bits: 8 };
    let blocks = Blocks::levels(source, given, None, 4).unwrap();
    let found: Vec<i32> = (0..values.len()).map(|place| blocks.at(place)).collect();
    assert_eq!(found, values.iter().map(|&v| i32::from(v)).collect::<Vec<_>>());
    let terms = Terms { rule: &rule, levels: Cow::Owned(vec![blocks]), zero: None };
    for row in 0..2 {
        let told: Vec<[u8; 2]> = twos(of(&lines, &format!("row-{row}")), ':');
        let (mut sums, mut classes) = ([0; 4], [0; 4]);
        terms.sums(row, 1, &mut RowSums::default(), &mut sums);
        terms.classes(row, 1, &mut RowSums::default(), &mut classes);
        let found: Vec<[u8; 2]> = sums.iter().zip(classes).map(|(&s, class)| [s, class]).collect();
        assert_eq!(found, told, "row {row}");
    }
}

#[test]
fn order() {
    let lines = example("wcodec.md", "order");
    let order = Order::new(numbers(of(&lines, "levels")));
    let columns: Vec<[u8; 2]> = order.columns().as_chunks().0.to_vec();
    assert_eq!(columns, twos::<u8>(of(&lines, "pairs"), '+'));
    assert_eq!(order.of_pairs(), numbers::<u8>(of(&lines, "levels-of-pairs")));
}

#[test]
fn stacked() {
    let lines = example("wcodec.md", "stacked");
    let (sums, levels): (Vec<i32>, Vec<u8>) =
        (numbers(of(&lines, "sums")), numbers(of(&lines, "levels")));
    // What rows add is their levels here, and the bias takes away what is below 0.
    let least = sums.iter().copied().min().unwrap().min(0);
    let rule = ClassRule {
        rows: sums.iter().map(|sum| u8::try_from(sum - least).unwrap()).collect(),
        cols: levels.clone(),
        bias: least,
        levels: Vec::new(),
        zero: None,
        maps: vec![std::array::from_fn(|sum| u8::try_from(sum).unwrap())],
    };
    let stack = Stack::new(&rule, levels.len()).unwrap();
    let terms = Terms { rule: &rule, levels: Cow::Borrowed(&[]), zero: None };
    let span = stack.spans().next().unwrap();
    let (mut rows, mut order, mut classes) = (Rows::default(), Vec::new(), Vec::new());
    rows.sort(&terms, 0..sums.len(), &span, &mut order);
    let pairs: Vec<[u32; 2]> = order.as_chunks().0.to_vec();
    assert_eq!(pairs, twos::<u32>(of(&lines, "pairs"), '+'));
    rows.classes(&rule.maps[0], &span, &mut classes);
    let told: Vec<(u32, Vec<u8>)> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("column-"))
        .map(|line| line.split_once(' ').unwrap())
        .map(|(column, sums)| (column.parse().unwrap(), numbers(sums)))
        .collect();
    let line = |column: u32| span.lines[column as usize] as usize;
    assert!(told.iter().enumerate().all(|(place, (column, _))| line(*column) == place));
    assert_eq!(classes, told.iter().flat_map(|(_, sums)| sums.clone()).collect::<Vec<_>>());
}

#[test]
fn transforms() {
    let block = |name: &str| -> Block {
        let lines = example("wcodec-tiles.md", name);
        numbers(&lines.join(" ")).try_into().unwrap()
    };
    let coefficients = block("coefficients");
    for (name, transform) in [("dct", Transform::Dct), ("adst", Transform::Adst)] {
        let (mut there, mut back) = (block(name), coefficients);
        transform.inverse(&mut back);
        assert_eq!(back, there, "{name}");
        transform.forward(&mut there);
        assert_eq!(there, coefficients, "{name}");
    }
}

#[test]
fn woven() {
    let lines = example("wcodec.md", "woven");
    let [names, files] = ["names", "files"].map(|what| Vec::from_iter(of(&lines, what).split(' ')));
    let (text, mut out) = (hex(of(&lines, "text")), Vec::new());
    for piece in Pieces::of(&text).unwrap() {
        match piece.unwrap() {
            Piece::Bytes(bytes) => out.extend_from_slice(bytes),
            Piece::Name(called, form) => {
                let name = match called {
                    Called::Entry(entry) => names[entry],
                    Called::File(file) => files[file],
                };
                out.extend_from_slice(&form.of(name).unwrap());
            }
        }
    }
    assert_eq!(out, hex(of(&lines, "gives")));
}
