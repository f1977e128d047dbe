//! Symbols that are said apart: chapter 7, ESCAPES.

use super::{
    COMPACT, TABLE_BITS, by_column, front, named, number, packed, parts, rans, short_stream, stored,
};
use crate::wcodec_common::Random;

/// The flag.
pub const ESCAPES: usize = 128;
/// The escape of single symbols, and that of pairs, which is none of two symbols of two bits.
pub const ESCAPE: u8 = 3;
pub const ESCAPE_OF_PAIRS: u8 = 0xf3;

/// Tables by class of symbols of `bits`: a third of them have no slot, but the escapes have.
pub fn tables(bits: u32, classes: usize) -> Vec<Vec<u32>> {
    let table = |class| {
        let has = |symbol: usize| symbol % 3 != 1 + class % 2;
        let mut table: Vec<u32> = (0..1 << bits).map(|s| u32::from(has(s))).collect();
        table[1 << (bits - 1)] += (1 << TABLE_BITS) - table.iter().sum::<u32>();
        table
    };
    (0..classes).map(table).collect()
}

/// The head of a group, as it should be.
pub fn head(list: &[u8]) -> Vec<u8> {
    [number(list.len()), list.to_vec()].concat()
}

/// A group of symbols with their classes, whose `head` is made of its list.
pub fn group(
    mut symbols: Vec<(u8, usize)>,
    tables: &[Vec<u32>],
    escape: u8,
    compact: bool,
    head: impl Fn(&[u8]) -> Vec<u8>,
) -> Vec<u8> {
    let mut list = Vec::new();
    for (symbol, class) in &mut symbols {
        if *symbol == escape || tables[*class][usize::from(*symbol)] == 0 {
            list.push(std::mem::replace(symbol, escape));
        }
    }
    [head(&list), rans(&symbols, tables, compact)].concat()
}

/// How symbols of `bits` are coded, ROWS × COLS of them.
#[derive(Clone, Copy, Debug)]
pub struct Escaped {
    pub bits: u32,
    pub pairs: bool,
    /// 255: one by tile.
    pub predictor: Option<u8>,
    pub by_class: bool,
    pub compact: bool,
}

pub const ROWS: usize = 37;
pub const COLS: usize = 64;
const GROUP_ROWS: usize = 12;
/// Groups of that many rows.
pub const GROUPS: usize = 4;
/// Three bits for each of the tiles of a group, four of 16 columns.
const PREDICTORS: u16 = 1 | 3 << 3 | 2 << 6 | 5 << 9;

impl Escaped {
    fn descriptor(&self, tables: &[Vec<u32>]) -> Vec<u8> {
        let flag = |set: bool, flag: usize| if set { flag } else { 0 };
        let mut out = packed(self.bits as u8, ROWS, COLS);
        let predicted = flag(self.predictor.is_some(), 4);
        let paired = flag(self.pairs, 2) | flag(self.by_class, 16);
        out.extend(number(ESCAPES | paired | predicted | flag(self.compact, COMPACT)));
        out.extend(number(GROUP_ROWS));
        out.push(self.escape());
        match self.predictor {
            None => {}
            Some(6) => out.extend(by_column((0..COLS).map(|col| (col % (1 << self.bits)) as u8))),
            Some(predictor) => out.extend([16, 16, predictor, 0, 0]),
        }
        out.extend(named(tables));
        if self.by_class {
            // Columns have levels; no bias; a map: class 0 up to 99, class 1 above.
            out.extend([2, 0]);
            let cols = if self.pairs { COLS / 2 } else { COLS };
            out.extend(short_stream((0..cols).map(|col| level(col) as i64)));
            out.extend([[1, 99, 0].to_vec(), number(155), vec![1]].concat());
        }
        out
    }

    fn escape(&self) -> u8 {
        if self.pairs { ESCAPE_OF_PAIRS } else { ESCAPE }
    }

    /// The file, and the bytes that it is made of if there is no prediction. Groups' heads are made by `head` of
    /// their lists.
    pub fn file(&self, head: impl Fn(&[u8]) -> Vec<u8>) -> (Vec<u8>, Vec<u8>) {
        let mut random = Random(u64::from(self.bits));
        let middle = f64::from(1u32 << (self.bits - 1));
        let mut symbol = || {
            let far = random.normal(middle / 2.0).round().clamp(-middle, middle - 1.0);
            (far + middle) as u8
        };
        let symbols: Vec<u8> = (0..ROWS * COLS).map(|_| symbol()).collect();
        let (coded_bits, cols) = if self.pairs { (8, COLS / 2) } else { (self.bits, COLS) };
        let tables = tables(coded_bits, if self.by_class { 2 } else { 1 });
        let coded: Vec<u8> = match self.pairs {
            true => symbols.chunks(2).map(|pair| pair[0] | pair[1] << 4).collect(),
            false => symbols.clone(),
        };
        let groups = coded.chunks(GROUP_ROWS * cols).map(|coded| {
            let class = |i: usize| usize::from(self.by_class && level(i % cols) >= 100);
            let coded = coded.iter().enumerate().map(|(i, &symbol)| (symbol, class(i)));
            let tiles = if self.predictor == Some(255) { 2 } else { 0 };
            let tiles = &PREDICTORS.to_le_bytes()[..tiles];
            let group = group(coded.collect(), &tables, self.escape(), self.compact, &head);
            [tiles, &group].concat()
        });
        let entry = stored(&groups.collect::<Vec<_>>(), self.descriptor(&tables));
        let mut parts = parts(&tables);
        let in_byte = 8 / self.bits as usize;
        parts.entries.push((front(b'e', ROWS, COLS / in_byte), entry));
        let byte =
            |symbols: &[u8]| symbols.iter().rev().fold(0, |all, s| (all << (self.bits % 8)) | s);
        (parts.bytes(), symbols.chunks(in_byte).map(byte).collect())
    }
}

fn level(col: usize) -> usize {
    col % 3 * 50
}
