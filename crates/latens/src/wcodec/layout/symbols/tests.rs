use super::*;
use crate::wcodec::layout::prediction::{BY_TILE, LINEAR};
use crate::wcodec::layout::short_stream;
use crate::wcodec::layout::source::{EntryRef, PartOf};
use crate::wcodec::predictor::linear::Weights;
use crate::wcodec::view::View;

#[test]
fn symbols_come_back() {
    let prediction = Prediction {
        tile_rows: 8,
        tile_cols: 4096,
        predictor: BY_TILE,
        centre: 3,
        transform: false,
        means: Some(vec![1, 2, 3, 4, 5, 6]),
        weights: None,
        reference: Some(PartOf::Other { entry: EntryRef::Entry(9), view: View::Raw, part: 0 }),
    };
    let classes = ClassRule { rows: vec![1; 5], maps: vec![[0; 256]], ..ClassRule::default() };
    let plain = Symbols {
        count: 30,
        cols: 6,
        group_rows: 2,
        table_bits: 12,
        tables: vec![3, 1],
        classes: Some(classes),
        ..Symbols::default()
    };
    let linear = Prediction {
        predictor: LINEAR,
        weights: Weights::new(2, 6, &[0, 1, 2, 127, 128, 129, 200, 254, 255]),
        ..prediction.clone()
    };
    let linear = Symbols { prediction: Some(linear), ..plain.clone() };
    let predicted = Symbols { prediction: Some(prediction.clone()), ..plain.clone() };
    let pairs = Symbols { pairs: true, recut: Some(4), cols: 4, classes: None, ..plain.clone() };
    let column = Prediction { predictor: COLUMN, reference: None, ..prediction.clone() };
    let column = Symbols { pairs: true, prediction: Some(column), classes: None, ..plain.clone() };
    let mut all_tiles = Vec::new();
    let other = Symbols { prediction: Some(prediction.clone()), ..column.clone() };
    other.write(&mut all_tiles);
    assert!(Symbols::read(&mut Fields::new(&all_tiles), 4, 5, 6, false).is_err());
    let levels = vec![9, 1, 5, 1, 0, 200];
    let order = Order::new(levels.clone());
    let rule = ClassRule { cols: order.of_pairs(), maps: vec![[1; 256]], ..ClassRule::default() };
    let order = Some(order);
    let ordered = Symbols { pairs: true, order, classes: Some(rule), ..plain.clone() };
    let mut out = Vec::new();
    ordered.write(&mut out);
    // Flags, rows of a group, tables; terms, bias, and the levels of all columns.
    assert_eq!(out[..7], [50, 2, 12, 2, 3, 1, 2]);
    let mut stream = Vec::new();
    short_stream::write(&levels, &mut stream);
    assert_eq!(out[8..][..stream.len()], stream);
    let rule = ClassRule { cols: levels, maps: vec![[1; 256]], ..ClassRule::default() };
    let stack = Stack::new(&rule, 6);
    assert!(stack.is_some());
    let stacked = Symbols { pairs: true, stack, classes: Some(rule), ..plain.clone() };
    let escaped = Symbols { escape: Some(15), ..predicted.clone() };
    let pairs_escaped = Symbols { escape: Some(255), ..column.clone() };
    for escape in [Some(16), Some(3)] {
        let (mut out, tables) = (Vec::new(), Vec::new());
        Symbols { escape, tables, ..predicted.clone() }.write(&mut out);
        assert!(Symbols::read(&mut Fields::new(&out), 4, 5, 6, true).is_err());
        let mut out = Vec::new();
        Symbols { escape, ..plain.clone() }.write(&mut out);
        let read = Symbols::read(&mut Fields::new(&out), 4, 5, 6, false);
        assert_eq!(read.is_ok(), escape == Some(3));
    }
    let compact = Symbols { compact: true, ..predicted.clone() };
    for compact in [false, true] {
        let mut planes = Vec::new();
        Symbols { tables: Vec::new(), compact, ..predicted.clone() }.write(&mut planes);
        let read = Symbols::read(&mut Fields::new(&planes), 4, 5, 6, true);
        assert_eq!(read.is_err(), compact);
    }
    for symbols in
        [plain, predicted, linear, pairs, column, pairs_escaped, ordered, stacked, escaped, compact]
    {
        let mut out = Vec::new();
        symbols.write(&mut out);
        let mut fields = Fields::new(&out);
        assert_eq!(Symbols::read(&mut fields, 4, 5, 6, false).unwrap(), symbols);
        assert_eq!(fields.left(), 0);
    }
}

/// STACKED needs PAIRS and CLASSES without zero points, whole rows, and blocks of an even number of columns.
#[test]
fn pairs_of_two_rows_need_what_they_are_sorted_by() {
    let read = |bytes: &[u8], cols: usize| {
        Symbols::read(&mut Fields::new(bytes), 4, 5, cols, false).map_err(|e| e.to_string())
    };
    let with = |flags: u8, terms: &[u8]| [&[flags, 2, 12, 1, 0], terms].concat();
    // Classes by nothing, and by the numbers of part 0 in blocks of one row.
    let (none, map) = ([0, 0], [1, 255, 1, 0]);
    let blocks = |terms: u8, cols: u8| [&[terms, 0, 0, 0, 0, 1, cols, 0, 0], &map[..]].concat();
    assert!(read(&with(82, &[&none[..], &map].concat()), 6).is_ok_and(|s| s.stack.is_some()));
    for flags in [64, 66, 80, 114] {
        let refused = read(&with(flags, &[&none[..], &map].concat()), 6).unwrap_err();
        assert!(refused.contains("are not flags"), "{refused}");
    }
    for (terms, cols, wanted) in [(16, 2, true), (16, 3, false), (16, 7, true), (4, 2, false)] {
        let bytes = with(82, &blocks(terms, cols));
        let found = read(&bytes, 6);
        assert_eq!(found.is_ok(), wanted, "{terms} {cols}: {found:?}");
        assert!(wanted || found.unwrap_err().contains("pairs of two rows"));
    }
    let many = [&[82, 0x81, 0x80, 0x40, 12, 1, 0][..], &none, &map].concat();
    assert!(read(&many, 6).unwrap_err().contains("of 1048577 rows"));
    let wide = with(82, &[&none[..], &map].concat());
    assert!(read(&wide, 1 << 16).is_ok());
    for cols in [(1 << 16) + 2, 1 << 50] {
        assert!(read(&wide, cols).unwrap_err().contains("pairs of two rows"));
    }
    // Thirty symbols in rows of eight.
    let recut = [&[83, 8, 2, 12, 1, 0][..], &none, &map].concat();
    assert!(read(&recut, 6).unwrap_err().contains("in rows of 8"));
}

/// ORDER needs PAIRS, CLASSES, levels of columns, and whole rows.
#[test]
fn an_order_needs_what_it_orders_by() {
    let read = |bytes: &[u8], cols: usize| {
        Symbols::read(&mut Fields::new(bytes), 4, 5, cols, false).map_err(|e| e.to_string())
    };
    // One table of 2^12 slots, and classes by levels of six columns, all 5.
    let with = |flags: u8, terms: &[u8]| [&[flags, 2, 12, 1, 0], terms].concat();
    let levels = [2, 0, 3, 5, 0, 0, 1, 255, 1, 0];
    assert!(read(&with(50, &levels), 6).is_ok_and(|s| s.order.is_some()));
    for flags in [32, 34, 48] {
        let refused = read(&with(flags, &levels), 6).unwrap_err();
        assert!(refused.contains("are not flags"), "{refused}");
    }
    let refused = read(&with(50, &[0, 0, 1, 255, 1, 0]), 6).unwrap_err();
    assert!(refused.contains("without levels of columns"), "{refused}");
    // Rows of four of 30 symbols.
    let refused = read(&[51, 4, 2, 12, 1, 0, 2, 0, 1, 5, 1, 255, 1, 0], 6).unwrap_err();
    assert!(refused.contains("in rows of 4"), "{refused}");
}

#[test]
fn groups_cover_all_symbols() {
    let symbols = Symbols { count: 33, cols: 6, group_rows: 2, ..Symbols::default() };
    assert_eq!((symbols.rows(), symbols.groups()), (6, 3));
    assert_eq!(symbols.group_range(2), 24..33);
    assert_eq!([0, 1, 2].map(|group| symbols.coded(group)), [12, 12, 9]);
    let pairs = Symbols { pairs: true, count: 30, ..symbols };
    assert_eq!([0, 1, 2].map(|group| pairs.coded(group)), [6, 6, 3]);
    let rule = ClassRule { rows: vec![0; 5], maps: vec![[0; 256]], ..ClassRule::default() };
    let stacked = Symbols { stack: Stack::new(&rule, 6), ..pairs };
    assert!(stacked.stack.is_some());
    // A row by itself is paired with itself.
    assert_eq!([0, 1, 2].map(|group| stacked.coded(group)), [6, 6, 6]);
}
