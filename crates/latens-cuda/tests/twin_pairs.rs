//! Pairs of symbols: a file made by hand, from the specification alone,
//! is decoded by library and kernels to what it was made of.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_possible_truncation,
    reason = "a test"
)]

mod twin_common;
#[path = "../../latens/tests/wcodec_common/mod.rs"]
mod wcodec_common;

use latens::Limits;
use latens::wcodec::Reader;
use twin_common::{Count, Twin, build};
use wcodec_common::Random;
use wcodec_common::mend::{Parts, Stored, crc, varint};

const TABLE_BITS: u32 = 10;

/// Bits from the least significant on.
#[derive(Default)]
struct Bits(Vec<bool>);

impl Bits {
    fn push(&mut self, value: u64, count: u32) {
        self.0.extend((0..count).map(|bit| value >> bit & 1 == 1));
    }

    fn bytes(&self) -> Vec<u8> {
        let byte =
            |bits: &[bool]| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
        self.0.chunks(8).map(byte).collect()
    }

    /// The Golomb code with memory of chapter 2.
    fn golomb(&mut self, values: impl Iterator<Item = i64>) {
        let mut a = 16u64;
        for value in values {
            let u = if value >= 0 { 2 * value } else { -2 * value - 1 }.cast_unsigned();
            let k = (64 - (a >> 3).leading_zeros()).min(24);
            let v = u + (1 << k);
            let n = v.ilog2();
            self.push((1 << (n - k)) - 1, n - k + 1);
            self.push(v, n);
            a = a - (a >> 2) + u.min(1 << 20);
        }
    }
}

/// A table of kind 0: frequencies that sum to 2^TABLE_BITS.
fn explicit(frequencies: &[u32]) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.push(0, 3);
    bits.push(7, 3);
    bits.push(u64::from(TABLE_BITS) - 1, 4);
    let last = frequencies.iter().rposition(|&f| f > 0).unwrap();
    let used = frequencies[..=last].iter().map(|&f| i64::from(f));
    let before = std::iter::once(0).chain(used.clone());
    bits.golomb(used.zip(before).map(|(f, before)| f - before));
    bits.bytes()
}

/// Chapter 10: symbols with the table of their class.
fn rans(symbols: &[(u8, usize)], tables: &[Vec<u32>]) -> Vec<u8> {
    let (mut states, mut words) = ([1u32 << 16; 32], Vec::new());
    for (i, &(symbol, class)) in symbols.iter().enumerate().rev() {
        let (table, x) = (&tables[class], &mut states[i % 32]);
        let f = table[usize::from(symbol)];
        let before: u32 = table[..usize::from(symbol)].iter().sum();
        if u64::from(*x) >= u64::from(f) << (32 - TABLE_BITS) {
            words.push(*x as u16);
            *x >>= 16;
        }
        *x = ((*x / f) << TABLE_BITS) + *x % f + before;
    }
    let words = words.into_iter().rev().flat_map(u16::to_le_bytes);
    states.into_iter().flat_map(u32::to_le_bytes).chain(words).collect()
}

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
    by_column: bool,
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
    // Frequencies of at least 1 for all, and what is left for the middle.
    let tables: Vec<Vec<u32>> = (0..classes)
        .map(|class| {
            let mut table = vec![1 + 2 * class as u32; 256];
            table[0x88] += (1 << TABLE_BITS) - table.iter().sum::<u32>();
            table
        })
        .collect();
    let mut parts = Parts {
        header: b"WCODEC\0\0\x01\0\0\0".to_vec(),
        hash: vec![0; 32],
        base: None,
        bank: (classes as u64, tables.iter().flat_map(|t| explicit(t)).collect()),
        entries: Vec::new(),
        files: Vec::new(),
    };
    parts.header.resize(128, 0);
    let number = |n: usize| varint(n as u64);
    // Packed nibbles, lowest first, unsigned.
    let mut descriptor = vec![2, 4, 1, 8, 0, 0, 0, 0, 1, 0, 0, 4];
    descriptor.extend([number(rows), number(cols)].concat());
    let mean = |col: usize| if by_column { (7 + col * col % 5) as u8 } else { 0 };
    let flags = if classes == 2 { 18 } else { 2 } | if in_order { 32 } else { 0 };
    descriptor.extend([3, if by_column { flags | 4 } else { flags }]);
    descriptor.extend(number(group_rows));
    if by_column {
        // Tiles of 16 × 16, COLUMN, centre 0, means.
        descriptor.extend([16, 16, 6, 0, 1]);
        let mut bits = Bits::default();
        bits.push(0, 8);
        bits.golomb((0..cols).map(|col| mean(col).into()));
        let bytes = bits.bytes();
        descriptor.extend([number(bytes.len()), bytes].concat());
    }
    descriptor.extend([TABLE_BITS as u8, classes as u8]);
    descriptor.extend((0..classes).map(|n| n as u8));
    if classes == 2 {
        // Columns have levels; no bias; a map: class 0 up to 99, class 1 above.
        descriptor.extend([2, 0]);
        let mut bits = Bits::default();
        bits.push(0, 8);
        if in_order {
            bits.golomb((0..cols).map(|col| level_of_column(col) as i64));
        } else {
            bits.golomb((0..pairs).map(|pair| level(pair) as i64));
        }
        let bytes = bits.bytes();
        descriptor.extend([number(bytes.len()), bytes].concat());
        descriptor.extend([[1, 99, 0].to_vec(), number(155), vec![1]].concat());
    }
    let (mut groups, mut sums) = (Vec::new(), Vec::new());
    for group in data.chunks(group_rows * pairs) {
        let symbols = (0..group.len()).map(|i| {
            let row = &group[i / pairs * pairs..];
            let nibble =
                |col: usize| (row[col / 2] >> (4 * (col % 2))).wrapping_sub(mean(col)) & 15;
            let [low, high] = [0, 1].map(|half| nibble(order[2 * (i % pairs) + half]));
            (low | high << 4, class(i % pairs))
        });
        let stored = rans(&symbols.collect::<Vec<_>>(), &tables);
        descriptor.extend(number(stored.len()));
        sums.extend(crc(&stored).to_le_bytes());
        groups.extend(stored);
        groups.resize(groups.len().next_multiple_of(4), 0);
    }
    descriptor.extend(sums);
    let (shape, dtype) = ([number(rows), number(pairs)].concat(), *b"\x02U8");
    let front = [&[0, 0, 1, b'p'][..], &dtype, &[2], &shape, &number(rows * pairs)].concat();
    parts.entries.push((front, Stored::Data(groups, descriptor, Vec::new())));
    (parts.bytes(), data)
}

#[test]
fn pairs_come_back() {
    let Some(program) = build("twin-pairs", &["-O2"]) else { return };
    let mut twin = Twin::start(&program);
    let mut count = Count::default();
    for (rows, cols, group_rows) in [(40, 64, 16), (7, 2, 3), (1, 5000, 1), (33, 26, 33)] {
        for columns in [Columns::Alike, Columns::Levels, Columns::InOrder] {
            for by_column in [false, true] {
                let (file, data) = file(rows, cols, group_rows, columns, by_column);
                let reader = Reader::open(file, Limits::default()).unwrap();
                let what = format!("{rows} × {cols}, {columns:?}, {by_column}");
                assert!(reader.tensor(0).unwrap() == data, "{what}");
                twin.agrees("pairs", &reader, &mut count);
            }
        }
    }
    assert!(count.groups == 48 && count.errors == 0, "{count:?}");
}
