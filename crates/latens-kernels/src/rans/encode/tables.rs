//! Tables that symbols are encoded by.

use crate::rans::tables::MAX_BITS;

/// Symbols of a table, whatever its alphabet.
pub(crate) const ALPHABET: usize = 256;

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

pub(super) fn step(f: u32, before: u32) -> u64 {
    // 2^31 < 2^k / f < 2^32; 1 has a reciprocal of all ones.
    let shift = f.next_power_of_two().ilog2().saturating_sub(1);
    let reciprocal = ((1u64 << 32 << shift) / u64::from(f)).min(u64::from(u32::MAX));
    let packed = before | (f - 1) << 14 | shift << 28;
    reciprocal | u64::from(packed) << 32
}
