//! Tables of frequencies, as the bank holds them.
//!
//! | bits | field |
//! |---|---|
//! | 3 | kind: 0 explicit, 1 curve, 2 product, 3 product with an escape |
//! | 3 | bits of the alphabet − 1 |
//! | 4 | bits of the sum − 1 |
//! | | explicit: differences of frequencies, until they sum to the table |
//! | | curve: centre, below, above, symmetric, logs at knots |
//! | 12, 12 | product: two earlier tables of 4 bits |
//! | 8 | with an escape: the pair in whose place rare ones are said apart |

mod curve;

use crate::ans::rans::MAX_TABLE_BITS;
use crate::bits::reader::BitReader;
use crate::bits::writer::BitWriter;
use crate::error::{Error, Result};
use crate::wcodec::layout::golomb::Memory;

pub(crate) use curve::{Curve, LOG_STEP, TOP_LOG, knots, log_of};

/// Most tables of a file.
pub(crate) const MAX_TABLES: usize = 1 << 16;
/// Frequencies of the symbols of an alphabet, and how they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    /// log2 of the alphabet, 1 to 8.
    pub(crate) bits: u32,
    /// log2 of the sum of the frequencies, 1 to 14.
    pub(crate) table_bits: u32,
    /// How it is written.
    pub(crate) shape: Shape,
    /// By symbol.
    pub(crate) frequencies: Vec<u16>,
}

/// How a table is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Frequency by frequency.
    Explicit,
    /// By logarithms of weights at some distances from a centre.
    Curve(Curve),
    /// As a product, for pairs.
    Product(Factors),
}

/// Two tables of 4 bits, by number, whose product is a table of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Factors {
    /// Of the low four bits.
    pub(crate) low: usize,
    /// Of the high four bits.
    pub(crate) high: usize,
    /// The pair that stands for all pairs that are not worth a slot, where there is one.
    pub(crate) escape: Option<u8>,
}

/// Frequencies that sum to `2^table_bits` from weights above 0, at most as many, in the order in
/// which rounding is evened out.
pub(crate) fn from_weights(bits: u32, table_bits: u32, weights: &[(u8, u64)]) -> Vec<u16> {
    let total: u64 = weights.iter().map(|w| w.1).sum();
    let rare = |w: u64| (w << table_bits) < total;
    let forced = weights.iter().filter(|w| rare(w.1)).count() as u64;
    let rest: u64 = weights.iter().map(|w| w.1).filter(|&w| !rare(w)).sum();
    let slots = (1u64 << table_bits) - forced;
    let mut frequencies = vec![0u16; 1 << bits];
    let mut missing = 1i64 << table_bits;
    for &(symbol, w) in weights {
        let f = if rare(w) { 1 } else { (w * slots / rest.max(1)).max(1) };
        missing -= f.cast_signed();
        frequencies[usize::from(symbol)] = u16::try_from(f).unwrap_or(u16::MAX);
    }
    while missing != 0 {
        for &(symbol, _) in weights {
            let f = &mut frequencies[usize::from(symbol)];
            if missing > 0 {
                *f += 1;
                missing -= 1;
            } else if missing < 0 && *f >= 2 {
                *f -= 1;
                missing += 1;
            }
        }
    }
    frequencies
}

/// The weights of pairs, in the order of weight; with an escape in place of those that are not worth a quarter of a slot.
fn product_weights(
    low: &[u16],
    high: &[u16],
    escape: Option<u8>,
    table_bits: u32,
) -> Vec<(u8, u64)> {
    let of = |table: &[u16], s: u8| table.get(usize::from(s)).copied().map_or(0, u64::from);
    // Weight and then symbol, in one number: it is sorted in half the time.
    let place = |weight: u64, symbol: u8| weight << 8 | u64::from(!symbol);
    let weight = |symbol: u8| of(low, symbol & 15) * of(high, symbol >> 4);
    let mut places: Vec<u64> = (0..=255).map(|symbol| place(weight(symbol), symbol)).collect();
    let mut least = 1;
    if let Some(escape) = escape {
        let all: u64 = places.iter().map(|place| place >> 8).sum();
        least = all.div_ceil(4 << table_bits).max(1);
        places[usize::from(escape)] = 0;
        let kept: u64 = places.iter().map(|place| place >> 8).filter(|&w| w >= least).sum();
        let apart = place((all - kept).max(least), escape);
        places[usize::from(escape)] = apart;
    }
    places.retain(|place| place >> 8 >= least);
    places.sort_unstable_by(|a, b| b.cmp(a));
    places.into_iter().map(|place| (!place.to_le_bytes()[0], place >> 8)).collect()
}

impl Table {
    /// A table of a curve; `None` where it has more symbols than the table slots.
    pub(crate) fn of_curve(bits: u32, table_bits: u32, curve: Curve) -> Option<Self> {
        let weights = curve.weights(bits);
        let fits = weights.len() <= 1 << table_bits;
        fits.then(|| Self {
            bits,
            table_bits,
            frequencies: from_weights(bits, table_bits, &weights),
            shape: Shape::Curve(curve),
        })
    }

    /// The product of two tables of 4 bits, for pairs of symbols.
    pub(crate) fn of_product(table_bits: u32, bank: &[Table], factors: Factors) -> Option<Self> {
        let of = |i: usize| bank.get(i).filter(|t| t.bits == 4).map(|t| &t.frequencies);
        let (low, high) = (of(factors.low)?, of(factors.high)?);
        let weights = product_weights(low, high, factors.escape, table_bits);
        let fits = weights.len() <= 1 << table_bits;
        fits.then(|| Self {
            bits: 8,
            table_bits,
            frequencies: from_weights(8, table_bits, &weights),
            shape: Shape::Product(factors),
        })
    }

    /// Appends the table, from a byte to a byte.
    pub(crate) fn write(&self, out: Vec<u8>) -> Vec<u8> {
        let mut out = BitWriter::append_to(out);
        let kind = match self.shape {
            Shape::Explicit => 0,
            Shape::Curve(_) => 1,
            Shape::Product(factors) => 2 + u64::from(factors.escape.is_some()),
        };
        out.write(kind, 3);
        out.write(u64::from(self.bits - 1), 3);
        out.write(u64::from(self.table_bits - 1), 4);
        match &self.shape {
            Shape::Explicit => {
                let (mut memory, mut before, mut left) =
                    (Memory::new(), 0, 1i32 << self.table_bits);
                for &f in &self.frequencies {
                    let f = i32::from(f);
                    memory.write_signed(f - before, &mut out);
                    (before, left) = (f, left - f);
                    if left <= 0 {
                        break;
                    }
                }
            }
            Shape::Curve(curve) => curve.write(self.bits, &mut out),
            Shape::Product(Factors { low, high, escape }) => {
                out.write(*low as u64, 12);
                out.write(*high as u64, 12);
                if let Some(escape) = escape {
                    out.write(u64::from(*escape), 8);
                }
            }
        }
        out.finish()
    }

    /// Reads a table; `bank` are those before it.
    pub(crate) fn read(r: &mut BitReader<'_>, bank: &[Table]) -> Result<Self> {
        let at = r.byte();
        let kind = r.read(3, "a table's kind")?;
        let bits = r.read_u32(3, "a table's alphabet")? + 1;
        let table_bits = r.read_u32(4, "a table's size")? + 1;
        if table_bits > MAX_TABLE_BITS {
            return Err(Error::corrupt(
                at,
                format!("a table of 2^{table_bits} slots; 2^14 is the most"),
            ));
        }
        let table = match kind {
            0 => Self {
                bits,
                table_bits,
                shape: Shape::Explicit,
                frequencies: read_explicit(r, bits, table_bits)?,
            },
            1 => {
                let curve = Curve::read(r, bits)?;
                Self::of_curve(bits, table_bits, curve).ok_or_else(|| {
                    Error::corrupt(at, "a curve has more symbols than its table slots")
                })?
            }
            2 | 3 => {
                let low = r.read_u32(12, "a table's factors")? as usize;
                let high = r.read_u32(12, "a table's factors")? as usize;
                let mut factors = Factors { low, high, escape: None };
                if kind == 3 {
                    factors.escape = u8::try_from(r.read(8, "a table's escape")?).ok();
                }
                let table = Self::of_product(table_bits, bank, factors).filter(|_| bits == 8);
                table.ok_or_else(|| {
                    Error::corrupt(at, "the factors of a table of pairs do not fit")
                })?
            }
            _ => return Err(Error::corrupt(at, format!("{kind} is not a kind of table"))),
        };
        r.align("a table")?;
        Ok(table)
    }
}

fn read_explicit(r: &mut BitReader<'_>, bits: u32, table_bits: u32) -> Result<Vec<u16>> {
    let mut frequencies = vec![0u16; 1 << bits];
    let (mut memory, mut before, mut left) = (Memory::new(), 0i64, 1i64 << table_bits);
    for slot in &mut frequencies {
        let at = r.byte();
        let f = before + memory.read_signed(r, "a table's frequencies")?;
        if !(0..=left).contains(&f) {
            return Err(Error::corrupt(at, format!("a frequency of {f}; {left} slots are left")));
        }
        *slot = u16::try_from(f).unwrap_or(0);
        (before, left) = (f, left - f);
        if left == 0 {
            return Ok(frequencies);
        }
    }
    Err(Error::corrupt(r.byte(), format!("a table's frequencies leave {left} slots over")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip(table: &Table, bank: &[Table]) {
        let sum: u32 = table.frequencies.iter().map(|&f| u32::from(f)).sum();
        assert_eq!(sum, 1 << table.table_bits);
        let bytes = table.write(Vec::new());
        let mut r = BitReader::new(&bytes, 0);
        assert_eq!(&Table::read(&mut r, bank).unwrap(), table);
        assert_eq!(r.bits_left(), 0);
        for end in 0..bytes.len() {
            assert!(Table::read(&mut BitReader::new(&bytes[..end], 0), bank).is_err());
        }
    }

    proptest! {
        #[test]
        fn explicit_tables(
            bits in 1u32..=8, table_bits in 1u32..=MAX_TABLE_BITS,
            counts in prop::collection::vec(prop_oneof![Just(0u32), 1u32..1000], 256),
        ) {
            let weights: Vec<(u8, u64)> = (0u8..=255).zip(&counts).take(1 << bits)
                .filter(|(_, c)| **c > 0).map(|(s, &c)| (s, u64::from(c))).take(1 << table_bits).collect();
            prop_assume!(!weights.is_empty());
            let frequencies = from_weights(bits, table_bits, &weights);
            for &(s, _) in &weights {
                prop_assert!(frequencies[usize::from(s)] > 0);
            }
            round_trip(&Table { bits, table_bits, shape: Shape::Explicit, frequencies }, &[]);
        }

        #[test]
        fn curves(
            bits in 1u32..=8, table_bits in 1u32..=MAX_TABLE_BITS, centre in any::<u8>(), below in 0i32..256, above in 0i32..256,
            symmetric in any::<bool>(), logs in prop::collection::vec(0i32..255, 40),
        ) {
            let most = (1 << bits) - 1;
            let above = above.min(most);
            let below = below.min(most - above).min(if symmetric { above } else { most });
            prop_assume!(below + above < 1 << table_bits);
            let side = |extent: i32, logs: &[i32]| -> Vec<i32> {
                knots(extent).iter().zip(logs).map(|(_, l)| TOP_LOG - LOG_STEP * l).collect()
            };
            let centre = centre & u8::try_from(most).unwrap();
            let curve = Curve {
                centre, below, above,
                logs_above: side(above, &logs),
                logs_below: (!symmetric).then(|| side(below, &logs[20..])),
            };
            let table = Table::of_curve(bits, table_bits, curve).unwrap();
            let present = table.frequencies.iter().filter(|&&f| f > 0).count();
            prop_assert_eq!(present, usize::try_from(below + above + 1).unwrap());
            round_trip(&table, &[]);
        }

        #[test]
        fn products(
            counts in [(); 2].map(|()| prop::collection::vec(prop_oneof![Just(0u64), 1u64..1000], 16)),
            logs in [4u32..=14, 4u32..=14], table_bits in 8u32..=14, escape in any::<u8>(),
        ) {
            let mut bank = Vec::new();
            for (counts, log) in counts.iter().zip(logs) {
                let weights: Vec<(u8, u64)> = (0u8..16).zip(counts.iter().copied()).filter(|w| w.1 > 0).collect();
                prop_assume!(!weights.is_empty());
                let frequencies = from_weights(4, log, &weights);
                bank.push(Table { bits: 4, table_bits: log, shape: Shape::Explicit, frequencies });
            }
            for (low, high) in [(0, 1), (1, 0), (1, 1)] {
                let factors = Factors { low, high, escape: None };
                let table = Table::of_product(table_bits, &bank, factors).unwrap();
                let may = |table: usize, symbol: usize| bank[table].frequencies[symbol] > 0;
                for (pair, &f) in table.frequencies.iter().enumerate() {
                    prop_assert_eq!(f > 0, may(low, pair & 15) && may(high, pair >> 4));
                }
                round_trip(&table, &bank);
                let factors = Factors { escape: Some(escape), ..factors };
                let table = Table::of_product(table_bits, &bank, factors).unwrap();
                prop_assert!(table.frequencies[usize::from(escape)] > 0);
                let of = |table: usize, symbol: usize| u64::from(bank[table].frequencies[symbol]);
                let all = 1 << (logs[low] + logs[high]);
                for (pair, &f) in table.frequencies.iter().enumerate() {
                    let weight = of(low, pair & 15) * of(high, pair >> 4);
                    let worth = weight > 0 && weight << (table_bits + 2) >= all;
                    prop_assert_eq!(f > 0, worth || pair == usize::from(escape));
                }
                round_trip(&table, &bank);
            }
        }
    }
}
