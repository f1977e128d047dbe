//! What files are made of, from the specification alone.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "tests"
)]

pub mod escapes;
pub mod stacked;

use super::wcodec_common::mend::{Parts, Stored, crc, varint};

/// log2 of what frequencies sum to.
pub const TABLE_BITS: u32 = 11;

/// Bits from the least significant on.
#[derive(Default)]
pub struct Bits(Vec<bool>);

impl Bits {
    pub fn push(&mut self, value: u64, count: u32) {
        self.0.extend((0..count).map(|bit| value >> bit & 1 == 1));
    }

    pub fn bytes(&self) -> Vec<u8> {
        let byte =
            |bits: &[bool]| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
        self.0.chunks(8).map(byte).collect()
    }

    /// The Golomb code with memory of chapter 2.
    pub fn golomb(&mut self, values: impl Iterator<Item = i64>) {
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
    bits.push(u64::from(frequencies.len().ilog2()) - 1, 3);
    bits.push(u64::from(TABLE_BITS) - 1, 4);
    let last = frequencies.iter().rposition(|&f| f > 0).unwrap();
    let used = frequencies[..=last].iter().map(|&f| i64::from(f));
    let before = std::iter::once(0).chain(used.clone());
    bits.golomb(used.zip(before).map(|(f, before)| f - before));
    bits.bytes()
}

/// The flag of `compact` states.
pub const COMPACT: usize = 256;

/// Chapter 10: symbols, of as many bits as tables have, with the table of their class; if `compact`, the last ones are in states.
pub fn rans(symbols: &[(u8, usize)], tables: &[Vec<u32>], compact: bool) -> Vec<u8> {
    let (mut states, mut words) = ([1u32 << 16; 32], Vec::new());
    let bits = tables[0].len().ilog2();
    let in_states = if compact { symbols.len().min(32 * (16 / bits as usize)) } else { 0 };
    for (i, &(symbol, class)) in symbols.iter().enumerate().rev() {
        let (table, x) = (&tables[class], &mut states[i % 32]);
        if i >= symbols.len() - in_states {
            *x = (1 << 16) + (*x << bits | u32::from(symbol)) % (1 << 16);
            continue;
        }
        let f = table[usize::from(symbol)];
        let before: u32 = table[..usize::from(symbol)].iter().sum();
        if u64::from(*x) >= u64::from(f) << (32 - TABLE_BITS) {
            words.push(*x as u16);
            *x >>= 16;
        }
        *x = ((*x / f) << TABLE_BITS) + *x % f + before;
    }
    let words = words.into_iter().rev().flat_map(u16::to_le_bytes);
    if !compact {
        return states.into_iter().flat_map(u32::to_le_bytes).chain(words).collect();
    }
    let mut bits = Bits::default();
    states.iter().for_each(|x| bits.push(u64::from(x.ilog2()) - 16, 4));
    states.iter().for_each(|x| bits.push((*x).into(), x.ilog2()));
    bits.bytes().into_iter().chain(words).collect()
}

/// Tables of all bytes by class: frequencies of at least 1 for all, and what is left for the middle.
pub fn tables(classes: usize) -> Vec<Vec<u32>> {
    let table = |class| {
        let mut table = vec![1 + 2 * class as u32; 256];
        table[0x88] += (1 << TABLE_BITS) - table.iter().sum::<u32>();
        table
    };
    (0..classes).map(table).collect()
}

pub fn number(n: usize) -> Vec<u8> {
    varint(n as u64)
}

/// Chapter 2: a short stream, by the Golomb code, behind its length.
pub fn short_stream(values: impl Iterator<Item = i64>) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.push(0, 8);
    bits.golomb(values);
    let bytes = bits.bytes();
    [number(bytes.len()), bytes].concat()
}

/// A file of no entries.
pub fn parts(tables: &[Vec<u32>]) -> Parts {
    let mut header = b"WCODEC\0\0\x01\0\0\0".to_vec();
    header.resize(128, 0);
    Parts {
        header,
        hash: vec![0; 32],
        base: None,
        bank: (tables.len() as u64, tables.iter().flat_map(|t| explicit(t)).collect()),
        entries: Vec::new(),
        files: Vec::new(),
        beside: None,
        tables: false,
    }
}

/// The front of the entry of a matrix of bytes.
pub fn front(name: u8, rows: usize, cols: usize) -> Vec<u8> {
    let (shape, dtype) = ([number(rows), number(cols)].concat(), *b"\x02U8");
    [&[0, 0, 1, name][..], &dtype, &[2], &shape, &number(rows * cols)].concat()
}

/// The beginning of the descriptor of packed symbols of `bits`, lowest first, unsigned, up to their codec: DIRECT.
pub fn packed(bits: u8, rows: usize, cols: usize) -> Vec<u8> {
    let front = vec![2, bits, 1, 8, 0, 0, 0, 0, 1, 0, 0, bits];
    [front, number(rows), number(cols), vec![3]].concat()
}

/// The prediction by means of columns: tiles of 16 × 16, COLUMN, centre 0, means.
pub fn by_column(means: impl Iterator<Item = u8>) -> Vec<u8> {
    [vec![16, 16, 6, 0, 1], short_stream(means.map(i64::from))].concat()
}

/// How many tables there are, of what size, and their numbers.
pub fn named(tables: &[Vec<u32>]) -> Vec<u8> {
    let numbers = (0..tables.len()).map(|n| n as u8);
    [TABLE_BITS as u8, tables.len() as u8].into_iter().chain(numbers).collect()
}

/// An entry of groups, by a descriptor that lacks these alone.
pub fn stored(groups: &[Vec<u8>], mut descriptor: Vec<u8>) -> Stored {
    descriptor.extend(groups.iter().flat_map(|group| number(group.len())));
    descriptor.extend(groups.iter().flat_map(|group| crc(group).to_le_bytes()));
    let mut data = Vec::new();
    for group in groups {
        data.extend(group);
        data.resize(data.len().next_multiple_of(4), 0);
    }
    Stored::Data(data, descriptor, Vec::new())
}
