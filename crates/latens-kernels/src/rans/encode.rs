//! Encoding with 32 interleaved rANS states and static tables: the inverse of [`crate::rans`].
//!
//! Symbols are taken from the last to the first. A state x that would pass 2^32 first puts out its
//! low 16 bits; then it becomes `⌊x / f⌋ · 2^t + x mod f + C`. Words fill a buffer from its end, so
//! that they come in the order in which they are read.
//!
//! Division is by a reciprocal of 32 bits, rounded down: its quotient is right or one too small,
//! which the remainder tells. All that a symbol needs is one `u64` ([`EncodeTables`]).

use super::{Classes, Kernel, LANES, LOWER, MAX_BITS};
use crate::dispatch::Simd;
use crate::scalar;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::avx2_rans_encode;

/// Symbols of a table, whatever its alphabet.
pub(crate) const ALPHABET: usize = 256;
/// Bytes below the words that a kernel may write to.
const SLACK: usize = 16;

/// What it takes to encode each symbol, a table of 256 for each class.
///
/// | bits | field |
/// |---|---|
/// | 32 | reciprocal: ⌊2^(32 + shift) / frequency⌋, at most 2^32 − 1 |
/// | 14 | sum of the frequencies of smaller symbols |
/// | 14 | frequency − 1 |
/// | 4 | shift |
#[derive(Clone, Debug, Default)]
pub struct EncodeTables {
    steps: Vec<u64>,
    bits: u32,
}

impl EncodeTables {
    /// Frequencies of at most 256 symbols a table, those of each summing to `2^bits`; `None` where
    /// they do not, `bits` is not 1 to 14, or there are more than 256 tables.
    pub fn new<'a>(bits: u32, tables: impl Iterator<Item = &'a [u16]>) -> Option<Self> {
        (1..=MAX_BITS).contains(&bits).then_some(())?;
        let mut steps = Vec::new();
        for table in tables {
            (table.len() <= ALPHABET).then_some(())?;
            let mut sum = 0u32;
            for &f in table {
                let f = u32::from(f);
                // A symbol without a frequency has a step that is never asked for.
                steps.push(if f == 0 || sum + f > 1 << bits { 0 } else { step(f, sum) });
                sum += f;
            }
            (sum == 1 << bits).then_some(())?;
            steps.resize(steps.len().next_multiple_of(ALPHABET), 0);
        }
        (steps.len() <= ALPHABET * 256).then_some(Self { steps, bits })
    }

    /// Steps of all tables.
    #[inline(always)]
    pub(crate) fn steps(&self) -> &[u64] {
        &self.steps
    }

    /// log2 of the sum of a table's frequencies.
    #[inline(always)]
    pub(crate) fn bits(&self) -> u32 {
        self.bits
    }
}

fn step(f: u32, before: u32) -> u64 {
    // 2^31 < 2^k / f < 2^32; 1 has a reciprocal of all ones.
    let shift = f.next_power_of_two().ilog2().saturating_sub(1);
    let reciprocal = ((1u64 << 32 << shift) / u64::from(f)).min(u64::from(u32::MAX));
    let packed = before | (f - 1) << 14 | shift << 28;
    reciprocal | u64::from(packed) << 32
}

/// A stream that was encoded.
#[derive(Debug)]
pub struct Stream<'a> {
    /// The states that a reader begins with.
    pub states: [u32; LANES],
    /// Words of two bytes, little-endian, in reading order.
    pub words: &'a [u8],
}

/// An encoding on its way.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
    pub(crate) symbols: &'a [u8],
    pub(crate) classes: Classes<'a>,
    pub(crate) states: [u32; LANES],
    pub(crate) buffer: &'a mut [u8],
    /// Where the words written begin.
    pub(crate) at: usize,
    /// Symbols still to be encoded, the first ones.
    pub(crate) left: usize,
}

impl Kernel {
    /// Encodes `symbols`, which must have frequencies; `buffer` takes the words, and is worth
    /// keeping for the next stream.
    ///
    /// # Panics
    /// Where a class has no table, or there are not as many classes as symbols.
    pub fn encode<'a>(
        self,
        tables: &EncodeTables,
        symbols: &'a [u8],
        classes: Classes<'a>,
        buffer: &'a mut Vec<u8>,
    ) -> Stream<'a> {
        let count = tables.steps.len() / ALPHABET;
        assert!(classes.fit(count, symbols.len()), "classes without a table or a symbol");
        // A symbol puts out a word at most.
        let size = 2 * symbols.len() + SLACK;
        if buffer.len() < size {
            buffer.resize(size, 0);
        }
        let at = buffer.len();
        let left = symbols.len();
        let mut writer = Writer { symbols, classes, states: [LOWER; LANES], buffer, at, left };
        scalar::rans_encode::ragged(tables, &mut writer);
        match (self.0, classes) {
            // Only a decoder finds classes by levels; here they are for tests.
            (_, Classes::Levels(_)) => scalar::rans_encode::rows(tables, &mut writer),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `Kernel` is made for what the processor has alone; classes are checked,
            // there is room for a word a symbol and 16 bytes more, and whole rows are left.
            (Simd::Avx2 | Simd::Avx512, _) => unsafe {
                avx2_rans_encode::rows(tables, &mut writer);
            },
            _ => scalar::rans_encode::rows(tables, &mut writer),
        }
        let Writer { states, buffer, at, .. } = writer;
        Stream { states, words: &buffer[at..] }
    }
}

#[cfg(test)]
mod tests;
