//! Pairs of symbols: a file made by hand, from the specification alone,
//! is decoded by library and kernels to what it was made of.

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

use by_hand::escapes::{self, ESCAPE_OF_PAIRS, ESCAPES};
use by_hand::{
    COMPACT, by_column, front, named, number, packed, parts, rans, short_stream, stored, tables,
};
use latens::Limits;
use latens::wcodec::Reader;
use twin_common::{Count, Twin, build};
use wcodec_common::Random;

/// How columns are coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Columns {
    Alike,
    /// Neighbours have a level, and classes by it.
    Levels,
    /// Each has a level, and neighbours are those of an order by it.
    InOrder,
}

/// Nibbles, or what means of columns leave of them, as pairs in groups of some rows; the bytes that they are.
fn file(
    rows: usize,
    cols: usize,
    group_rows: usize,
    columns: Columns,
    with_means: bool,
    compact: bool,
    escaped: bool,
) -> (Vec<u8>, Vec<u8>) {
    let mut random = Random(rows as u64);
    let pairs = cols / 2;
    let in_order = columns == Columns::InOrder;
    let classes = if columns == Columns::Alike { 1 } else { 2 };
    let level_of_column = |col: usize| col * 7 % 5 * 40;
    // Chapter 7, ORDER: each 32 columns by their levels.
    let mut order: Vec<usize> = (0..cols).collect();
    if in_order {
        order.chunks_mut(32).for_each(|window| window.sort_by_key(|&col| level_of_column(col)));
    }
    let level = |pair: usize| match columns {
        Columns::Alike => 0,
        Columns::Levels => pair % 3 * 50,
        Columns::InOrder => {
            (level_of_column(order[2 * pair]) + level_of_column(order[2 * pair + 1])) / 2
        }
    };
    let class = |pair: usize| usize::from(level(pair) >= 100);
    let data: Vec<u8> = (0..rows * pairs)
        .map(|i| {
            let width = if class(i % pairs) == 0 { 1.0 } else { 3.0 };
            let mut nibble = || (random.normal(width).round().clamp(-8.0, 7.0) + 8.0) as u8;
            nibble() | nibble() << 4
        })
        .collect();
    let tables = if escaped { escapes::tables(8, classes) } else { tables(classes) };
    let mut descriptor = packed(4, rows, cols);
    let mean = |col: usize| if with_means { (7 + col * col % 5) as u8 } else { 0 };
    let flags = if classes == 2 { 18 } else { 2 } | if in_order { 32 } else { 0 };
    let flags = flags | if with_means { 4 } else { 0 } | if compact { COMPACT } else { 0 };
    descriptor.extend(number(flags | if escaped { ESCAPES } else { 0 }));
    descriptor.extend(number(group_rows));
    descriptor.extend(escaped.then_some(ESCAPE_OF_PAIRS));
    if with_means {
        descriptor.extend(by_column((0..cols).map(mean)));
    }
    descriptor.extend(named(&tables));
    if classes == 2 {
        // Columns have levels; no bias; a map: class 0 up to 99, class 1 above.
        descriptor.extend([2, 0]);
        descriptor.extend(if in_order {
            short_stream((0..cols).map(|col| level_of_column(col) as i64))
        } else {
            short_stream((0..pairs).map(|pair| level(pair) as i64))
        });
        descriptor.extend([[1, 99, 0].to_vec(), number(155), vec![1]].concat());
    }
    let groups = data.chunks(group_rows * pairs).map(|group| {
        let symbols = (0..group.len()).map(|i| {
            let row = &group[i / pairs * pairs..];
            let nibble =
                |col: usize| (row[col / 2] >> (4 * (col % 2))).wrapping_sub(mean(col)) & 15;
            let [low, high] = [0, 1].map(|half| nibble(order[2 * (i % pairs) + half]));
            (low | high << 4, class(i % pairs))
        });
        let symbols = symbols.collect::<Vec<_>>();
        match escaped {
            true => escapes::group(symbols, &tables, ESCAPE_OF_PAIRS, compact, escapes::head),
            false => rans(&symbols, &tables, compact),
        }
    });
    let entry = stored(&groups.collect::<Vec<_>>(), descriptor);
    let mut parts = parts(&tables);
    parts.entries.push((front(b'p', rows, pairs), entry));
    (parts.bytes(), data)
}

#[test]
fn pairs_come_back() {
    let Some(program) = build("twin-pairs", &["-O2"]) else { return };
    let mut twin = Twin::start(&program);
    let mut count = Count::default();
    for (rows, cols, group_rows) in [(40, 64, 16), (7, 2, 3), (1, 5000, 1), (33, 26, 33)] {
        for columns in [Columns::Alike, Columns::Levels, Columns::InOrder] {
            for turn in 0..8 {
                let [with_means, compact, escaped] = [1, 2, 4].map(|bit| turn & bit != 0);
                let (file, data) =
                    file(rows, cols, group_rows, columns, with_means, compact, escaped);
                let reader = Reader::open(file, Limits::default()).unwrap();
                let what =
                    format!("{rows} × {cols}, {columns:?}, {with_means}, {compact}, {escaped}");
                assert!(reader.tensor(0).unwrap() == data, "{what}");
                twin.agrees("pairs", &reader, &mut count);
            }
        }
    }
    assert!(count.groups == 192 && count.errors == 0, "{count:?}");
}

/// A pair may hold more than symbols of two bits, by its table and in a state.
#[test]
fn pairs_beyond_their_bits_are_refused() {
    let Some(program) = build("twin-pairs-beyond", &["-O2"]) else { return };
    let mut twin = Twin::start(&program);
    let (rows, cols, tables) = (12, 32, tables(1));
    for (compact, beyond) in [(false, None), (true, None), (false, Some(3)), (true, Some(191))] {
        let mut symbols: Vec<(u8, usize)> =
            (0..rows * cols / 2).map(|i| ((i % 4 + 16 * (i / 4 % 4)) as u8, 0)).collect();
        beyond.into_iter().for_each(|place: usize| symbols[place].0 = 0x40);
        let flags = 2 | if compact { COMPACT } else { 0 };
        let descriptor = [packed(2, rows, cols), number(flags), number(rows), named(&tables)];
        let entry = stored(&[rans(&symbols, &tables, compact)], descriptor.concat());
        let mut parts = parts(&tables);
        parts.entries.push((front(b'p', rows, cols / 4), entry));
        let reader = Reader::open(parts.bytes(), Limits::default()).unwrap();
        assert_eq!(reader.tensor(0).is_err(), beyond.is_some(), "{compact}, {beyond:?}");
        let mut count = Count::default();
        twin.agrees("pairs of two bits", &reader, &mut count);
        assert_eq!((count.groups, count.errors), (1, beyond.iter().count()), "{compact}");
    }
}
