//! rANS of 32 lanes: states of 32 bits, renormalised by words of 16.
//!
//! Symbol `i` belongs to lane `i mod 32`. A reader renormalises after each row of 32 symbols, lane
//! by lane; a writer goes backwards through all of it. What lanes end at, where it holds no symbols
//! (`compact`), is [`START`], which a reader checks.
//!
//! The kernels are in `latens-kernels`; the decoder here is the readable one, for tests.

use super::compact;
use latens_kernels::dispatch::simd;
use latens_kernels::rans::Kernel;
use latens_kernels::rans::encode::SLACK;

/// States that share a stream.
pub(crate) const LANES: usize = 32;
/// Every lane's state before the first symbol is encoded and after the last one is decoded; also
/// the least state between symbols.
pub(crate) const START: u32 = 1 << 16;
/// log2 of the largest table.
pub(crate) const MAX_TABLE_BITS: u32 = 14;

pub(crate) use latens_kernels::rans::Classes;
pub(crate) use latens_kernels::rans::encode::EncodeTables;

/// Bytes of the words of so many symbols at most, and what kernels want beside.
pub(crate) fn most_bytes(symbols: usize) -> usize {
    2 * symbols + SLACK
}

/// Encodes symbols of `bits` that all have a frequency above 0 in the table of their class, and appends the
/// compact states that a reader begins with, and the words, to `out`; the last symbols are in the states that it ends
/// with. `scratch` is worth keeping.
pub(crate) fn encode(
    symbols: &[u8],
    bits: u32,
    classes: Classes<'_>,
    tables: &EncodeTables,
    scratch: &mut Vec<u8>,
    mut out: Vec<u8>,
) -> Vec<u8> {
    let count = symbols.len() - compact::in_states(symbols.len(), bits);
    let (symbols, last) = symbols.split_at(count);
    let (classes, last) = (classes.first(count), compact::put_into_states(last, count, bits));
    let stream = Kernel::new(simd()).encode(tables, symbols, classes, last, scratch);
    out.reserve_exact(compact::BYTES.end + stream.words.len());
    let mut out = compact::write(&stream.states, out);
    out.extend_from_slice(stream.words);
    out
}

/// Tables for decoding: for each slot its symbol, the symbol's frequency and the slot's distance
/// from the symbol's first one.
#[cfg(test)]
#[derive(Clone, Debug, Default)]
pub(crate) struct DecodeTables {
    bits: u32,
    slots: Vec<Slot>,
}

#[cfg(test)]
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    symbol: u8,
    frequency: u16,
    bias: u16,
}

#[cfg(test)]
impl DecodeTables {
    /// Each of `tables` has at most 256 frequencies that sum to `2^bits`.
    pub(crate) fn new<'a>(bits: u32, tables: impl Iterator<Item = &'a [u16]>) -> Self {
        let mut slots = Vec::new();
        for table in tables {
            for (symbol, &frequency) in (0u8..=255).zip(table) {
                slots.extend((0..frequency).map(|bias| Slot { symbol, frequency, bias }));
            }
        }
        Self { bits, slots }
    }
}

/// Decodes `out.len()` symbols; `classes` name existing tables. How many of `words` were read, or
/// `None` where they ran out. The lanes' last states are left in `states`.
#[cfg(test)]
pub(crate) fn decode(
    words: &[[u8; 2]],
    states: &mut [u32; LANES],
    tables: &DecodeTables,
    classes: Classes<'_>,
    out: &mut [u8],
) -> Option<usize> {
    let bits = tables.bits;
    let mask = (1usize << bits) - 1;
    let mut read = 0;
    for (row, here) in out.chunks_mut(LANES).enumerate() {
        for (lane, symbol) in here.iter_mut().enumerate() {
            let class = match classes {
                Classes::One(class) => usize::from(class),
                Classes::PerSymbol(classes) => usize::from(classes[row * LANES + lane]),
                Classes::Levels(_) => unreachable!("for kernels alone"),
            };
            let x = states[lane];
            let slot = tables.slots[(class << bits) + (x as usize & mask)];
            *symbol = slot.symbol;
            // At most 2^14 · 2^(32 − 14) + 2^14 as long as a frequency is below 2^t; a frequency
            // of 2^t leaves the state as it is.
            states[lane] = u32::from(slot.frequency)
                .wrapping_mul(x >> bits)
                .wrapping_add(u32::from(slot.bias));
        }
        for x in states.iter_mut().filter(|x| **x < START) {
            let word = words.get(read)?;
            read += 1;
            *x = *x << 16 | u32::from(u16::from_le_bytes(*word));
        }
    }
    Some(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ans::frequencies::normalize;
    use proptest::prelude::*;

    fn table(bits: u32, symbols: &[u8]) -> Vec<u16> {
        let mut counts = [0u32; 256];
        symbols.iter().for_each(|&s| counts[usize::from(s)] += 1);
        let present: Vec<u32> = counts.iter().copied().filter(|&c| c > 0).collect();
        let mut weights = normalize(bits, &present).into_iter();
        let mut table = vec![0u16; 256];
        for (f, _) in table.iter_mut().zip(counts).filter(|(_, c)| *c > 0) {
            *f = u16::try_from(weights.next().unwrap()).unwrap();
        }
        table
    }

    fn round_trip(bits: u32, symbols: &[u8], classes: Classes<'_>, tables: &[Vec<u16>]) -> usize {
        let slices = || tables.iter().map(Vec::as_slice);
        let made = EncodeTables::new(bits, slices()).unwrap();
        let stored = encode(symbols, 8, classes, &made, &mut Vec::new(), Vec::new());
        let (mut states, at) = compact::read(&stored).unwrap();
        let words = stored[at..].as_chunks::<2>().0;
        let mut out = vec![0; symbols.len()];
        let count = symbols.len() - compact::in_states(symbols.len(), 8);
        let (coded, last) = out.split_at_mut(count);
        let read = decode(words, &mut states, &DecodeTables::new(bits, slices()), classes, coded);
        assert_eq!(read, Some(words.len()));
        compact::take_from_states(&mut states, count, 8, last);
        assert_eq!(states, [START; LANES]);
        assert!(out == symbols);
        words.len() * 2
    }

    #[test]
    fn one_symbol_costs_nothing() {
        for bits in 1..=MAX_TABLE_BITS {
            let symbols = vec![7u8; 1000];
            let tables = [table(bits, &symbols)];
            assert_eq!(round_trip(bits, &symbols, Classes::One(0), &tables), 0);
        }
    }

    #[test]
    fn comes_near_to_the_entropy() {
        let mut seed = 1u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            seed >> 33
        };
        let symbols: Vec<u8> = (0..100_000)
            .map(|_| u8::try_from((0..4).map(|_| random() % 16).sum::<u64>()).unwrap())
            .collect();
        let mut counts = [0f64; 256];
        symbols.iter().for_each(|&s| counts[usize::from(s)] += 1.0);
        let entropy: f64 =
            counts.iter().filter(|&&c| c > 0.0).map(|c| c * (1e5 / c).log2()).sum::<f64>() / 8.0;
        let tables = [table(12, &symbols)];
        let bytes = round_trip(12, &symbols, Classes::One(0), &tables) as f64;
        assert!((bytes - entropy).abs() < 0.002 * entropy, "{bytes} bytes, entropy {entropy}");
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(
            bits in 8u32..=MAX_TABLE_BITS,
            symbols in prop::collection::vec(any::<u8>(), 0..300),
            few in prop::collection::vec(0u8..3, 0..300),
        ) {
            let classes: Vec<u8> = symbols.iter().map(|s| s / 128).collect();
            let part = |class: u8| symbols.iter().copied().filter(move |s| s / 128 == class);
            let tables = [0, 1].map(|class| {
                let mut part: Vec<u8> = part(class).collect();
                part.push(class);
                table(bits, &part)
            });
            round_trip(bits, &symbols, Classes::PerSymbol(&classes), &tables);
            let mut all = few.clone();
            all.push(0);
            round_trip(bits, &few, Classes::One(0), &[table(bits, &all)]);
        }
    }
}
