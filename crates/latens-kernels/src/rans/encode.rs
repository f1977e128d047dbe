//! Encoding with 32 interleaved rANS states and static tables: the inverse of [`crate::rans`].
//!
//! Symbols are taken from the last to the first. A state x that would pass 2^32 first puts out its
//! low 16 bits; then it becomes `⌊x / f⌋ · 2^t + x mod f + C`. Words fill a buffer from its end, so
//! that they come in the order in which they are read.
//!
//! Division is by a reciprocal of 32 bits, rounded down: its quotient is right or one too small,
//! which the remainder tells. All that a symbol needs is one `u64` ([`EncodeTables`]).

pub(crate) mod tables;
pub(crate) mod writer;

use super::{Classes, Kernel, LANES, LOWER};
#[cfg(any(target_arch = "x86_64", test))]
use crate::dispatch::Simd;
#[cfg(target_arch = "x86_64")]
use crate::dispatch::gathers_are_slow;
use crate::scalar;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::{avx2_rans_encode, avx512_rans_encode};
use tables::ALPHABET;
use writer::Writer;

pub use tables::EncodeTables;

/// Bytes below the words that a kernel may write to.
pub const SLACK: usize = 16;

/// A stream that was encoded.
#[derive(Debug)]
pub struct Stream<'a> {
    /// The states that a reader begins with.
    pub states: [u32; LANES],
    /// Words of two bytes, little-endian, in reading order.
    pub words: &'a [u8],
}

impl Kernel {
    /// Encodes `symbols`, which must have frequencies, to a stream behind which a reader's states are `last`, each at
    /// least [`LOWER`]; `buffer` takes the words, and is worth keeping for the next stream.
    ///
    /// # Panics
    /// Where a class has no table, there are not as many classes as symbols, or a state is too small.
    pub fn encode<'a>(
        self,
        tables: &EncodeTables,
        symbols: &'a [u8],
        classes: Classes<'a>,
        last: [u32; LANES],
        buffer: &'a mut Vec<u8>,
    ) -> Stream<'a> {
        #[cfg(target_arch = "x86_64")]
        let loads = gathers_are_slow();
        #[cfg(not(target_arch = "x86_64"))]
        let loads = false;
        self.encode_with(loads, tables, symbols, classes, last, buffer)
    }

    /// As [`Kernel::encode`], with AVX-512 by single loads or by gathers.
    fn encode_with<'a>(
        self,
        loads: bool,
        tables: &EncodeTables,
        symbols: &'a [u8],
        classes: Classes<'a>,
        last: [u32; LANES],
        buffer: &'a mut Vec<u8>,
    ) -> Stream<'a> {
        let count = tables.steps().len() / ALPHABET;
        assert!(classes.fit(count, symbols.len()), "classes without a table or a symbol");
        assert!(last.iter().all(|x| *x >= LOWER), "a state below the least one");
        // A symbol puts out a word at most.
        let size = 2 * symbols.len() + SLACK;
        if buffer.len() < size {
            buffer.resize(size, 0);
        }
        let at = buffer.len();
        let left = symbols.len();
        let mut writer = Writer { symbols, classes, states: last, buffer, at, left };
        scalar::rans_encode::ragged(tables, &mut writer);
        match (self.0, classes, loads) {
            // Only a decoder finds classes by levels; here they are for tests.
            (_, Classes::Levels(_), _) => scalar::rans_encode::rows(tables, &mut writer),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `Kernel` is made for what the processor has alone; classes are checked,
            // there is room for a word a symbol and 16 bytes more, and whole rows are left.
            (Simd::Avx2, ..) => unsafe {
                avx2_rans_encode::rows(tables, &mut writer);
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: likewise.
            (Simd::Avx512, _, true) => unsafe {
                avx512_rans_encode::rows::<avx512_rans_encode::Loads>(tables, &mut writer);
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: likewise.
            (Simd::Avx512, _, false) => unsafe {
                avx512_rans_encode::rows::<avx512_rans_encode::Gathers>(tables, &mut writer);
            },
            _ => scalar::rans_encode::rows(tables, &mut writer),
        }
        let Writer { states, buffer, at, .. } = writer;
        Stream { states, words: &buffer[at..] }
    }
}

#[cfg(test)]
mod tests;
