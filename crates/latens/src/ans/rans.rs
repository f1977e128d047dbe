//! rANS of 32 lanes: states of 32 bits, renormalised by words of 16.
//!
//! Symbol `i` belongs to lane `i mod 32`. A reader renormalises after each row of 32 symbols, lane
//! by lane; a writer goes backwards through all of it. Both ends of every lane are [`START`], which
//! a reader checks.
//!
//! The decoder here is the readable one, for tests; `latens-kernels` has fast ones.

/// States that share a stream.
pub(crate) const LANES: usize = 32;
/// Every lane's state before the first symbol is encoded and after the last one is decoded; also
/// the least state between symbols.
pub(crate) const START: u32 = 1 << 16;
/// log2 of the largest table.
pub(crate) const MAX_TABLE_BITS: u32 = 14;

/// Which table each symbol of a stream uses.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Classes<'a> {
    /// The same for all.
    One(u8),
    /// One for each symbol.
    Each(&'a [u8]),
}

impl Classes<'_> {
    #[inline]
    fn of(self, i: usize) -> usize {
        match self {
            Classes::One(class) => usize::from(class),
            Classes::Each(classes) => usize::from(classes[i]),
        }
    }
}

/// What it takes to encode one symbol: `x` becomes `q · complement + x + bias`, where `q` is the
/// high half of `x · reciprocal`.
#[derive(Clone, Copy, Debug, Default)]
struct Step {
    /// 2^64 / frequency, rounded up.
    reciprocal: u64,
    frequency: u32,
    /// 2^t − frequency.
    complement: u32,
    /// Sum of the frequencies before.
    bias: u32,
}

/// Tables of frequencies, all with the same sum `2^bits`, made ready for encoding.
#[derive(Clone, Debug, Default)]
pub(crate) struct EncodeTables {
    bits: u32,
    steps: Vec<[Step; 256]>,
}

impl EncodeTables {
    /// Each of `tables` has at most 256 frequencies that sum to `2^bits`.
    pub(crate) fn new<'a>(bits: u32, tables: impl Iterator<Item = &'a [u16]>) -> Self {
        let steps = tables.map(|table| {
            let mut steps = [Step::default(); 256];
            let mut sum = 0u32;
            for (step, &f) in steps.iter_mut().zip(table) {
                let frequency = u32::from(f);
                *step = Step {
                    reciprocal: match frequency {
                        0 | 1 => u64::MAX,
                        f => u64::MAX / u64::from(f) + 1,
                    },
                    frequency,
                    complement: (1 << bits) - frequency,
                    // Of frequency 1 the quotient comes out one too small.
                    bias: if frequency == 1 { sum + (1 << bits) - 1 } else { sum },
                };
                sum += frequency;
            }
            steps
        });
        Self { bits, steps: steps.collect() }
    }
}

/// A stream: the states a reader begins with, and the words that follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Encoded {
    /// By lane.
    pub(crate) states: [u32; LANES],
    /// In reading order.
    pub(crate) words: Vec<u16>,
}

/// Encodes symbols that all have a frequency above 0 in the table of their class.
pub(crate) fn encode(symbols: &[u8], classes: Classes<'_>, tables: &EncodeTables) -> Encoded {
    let shift = 32 - tables.bits;
    let mut states = [START; LANES];
    let mut words = vec![0u16; symbols.len() + LANES];
    let mut at = words.len();
    let rows = symbols.len().div_ceil(LANES);
    for row in (0..rows).rev() {
        let first = row * LANES;
        let here = &symbols[first..symbols.len().min(first + LANES)];
        for (lane, &symbol) in here.iter().enumerate().rev() {
            let step = &tables.steps[classes.of(first + lane)][usize::from(symbol)];
            let mut x = states[lane];
            debug_assert!(step.frequency > 0, "symbol {symbol} has no frequency");
            if x >> shift >= step.frequency {
                at -= 1;
                #[expect(clippy::cast_possible_truncation, reason = "the low half")]
                {
                    words[at] = x as u16;
                }
                x >>= 16;
            }
            #[expect(clippy::cast_possible_truncation, reason = "a quotient of a u32")]
            let quotient = ((u128::from(x) * u128::from(step.reciprocal)) >> 64) as u32;
            states[lane] =
                quotient.wrapping_mul(step.complement).wrapping_add(x).wrapping_add(step.bias);
        }
    }
    words.drain(..at);
    Encoded { states, words }
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
            let class = classes.of(row * LANES + lane);
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
        let encoded = encode(symbols, classes, &EncodeTables::new(bits, slices()));
        let words: Vec<[u8; 2]> = encoded.words.iter().map(|w| w.to_le_bytes()).collect();
        let mut states = encoded.states;
        let mut out = vec![0; symbols.len()];
        let read =
            decode(&words, &mut states, &DecodeTables::new(bits, slices()), classes, &mut out);
        assert_eq!(read, Some(words.len()));
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
            round_trip(bits, &symbols, Classes::Each(&classes), &tables);
            let mut all = few.clone();
            all.push(0);
            round_trip(bits, &few, Classes::One(0), &[table(bits, &all)]);
        }
    }
}
