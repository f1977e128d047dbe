//! The Golomb code with memory: short lists of numbers whose size changes slowly.
//!
//! | bits | |
//! |---|---|
//! | n − k ones, a zero | n is the bit length of u + 2^k, less 1 |
//! | n | its low bits |
//!
//! k follows from the numbers before.

use crate::bits::low_mask;
use crate::bits::reader::BitReader;
use crate::bits::writer::BitWriter;
use crate::bits::zigzag;
use crate::error::{Error, Result};

/// Most bits of k and of the unary part.
pub(crate) const MOST: u32 = 24;

/// Bits of codes and k of memories, where both are small, as most are: to look them up takes less time than to find
/// the highest bit where every x86-64 is to do it.
const FEW_K: usize = 8;
const FEW: usize = 128;
static BITS: [[u8; FEW]; FEW_K] = {
    let mut bits = [[0; FEW]; FEW_K];
    let mut k = 0u8;
    while (k as usize) < FEW_K {
        let mut u = 0;
        while u < FEW {
            // At most 7.
            let n = (u + (1 << k)).ilog2().to_le_bytes()[0];
            bits[k as usize][u] = 2 * n - k + 1;
            u += 1;
        }
        k += 1;
    }
    bits
};
static K: [u8; FEW] = {
    let mut all = [0; FEW];
    let mut mean = 1;
    while mean < FEW {
        all[mean] = mean.ilog2().to_le_bytes()[0] + 1;
        mean += 1;
    }
    all
};

/// Bits that the code of `u` takes.
#[inline]
fn bits(k: u32, u: u64) -> u32 {
    let few = BITS.get(k as usize).and_then(|bits| bits.get(usize::try_from(u).ok()?));
    few.map_or_else(|| 2 * (u + (1 << k)).ilog2() - k + 1, |&bits| bits.into())
}

/// What the code remembers: four times the mean of the numbers before, the last ones most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory(u32);

impl Memory {
    pub(crate) fn new() -> Self {
        Self(16)
    }

    /// The least number of low bits now.
    #[inline]
    pub(crate) fn k(self) -> u32 {
        let mean = self.0 >> 3;
        let k = || (u32::BITS - mean.leading_zeros()).min(MOST);
        K.get(mean as usize).map_or_else(k, |&k| k.into())
    }

    fn take_in(&mut self, u: u64) {
        let u = u32::try_from(u.min(1 << 20)).unwrap_or(1 << 20);
        self.0 = self.0 - (self.0 >> 2) + u;
    }

    /// Writes `u`, below 2^24.
    #[inline]
    pub(crate) fn write(&mut self, u: u64, out: &mut BitWriter) {
        let k = self.k();
        let bits = bits(k, u);
        let n = (bits + k - 1) / 2;
        let (ones, rest) = ((1 << (n - k)) - 1, u + (1 << k) - (1 << n));
        if bits <= u64::BITS {
            out.write(ones | rest << (n - k + 1), bits);
        } else {
            out.write(ones, n - k + 1);
            out.write(rest, n);
        }
        self.take_in(u);
    }

    /// Writes `value` by zigzag.
    #[inline]
    pub(crate) fn write_signed(&mut self, value: i32, out: &mut BitWriter) {
        self.write(zigzag::encode(i64::from(value)), out);
    }

    /// Bits that [`Memory::write_signed`] takes.
    pub(crate) fn cost_signed(&mut self, value: i32) -> u32 {
        let bits = self.bits_of_signed(value);
        self.take_in(zigzag::encode(i64::from(value)));
        bits
    }

    /// The same, and nothing is remembered.
    pub(crate) fn bits_of_signed(self, value: i32) -> u32 {
        bits(self.k(), zigzag::encode(i64::from(value)))
    }

    /// Reads a number.
    pub(crate) fn read(&mut self, r: &mut BitReader<'_>, field: &'static str) -> Result<u64> {
        let k = self.k();
        let at = r.byte();
        let mut n = k;
        while r.read(1, field)? == 1 {
            n += 1;
            if n - k > MOST {
                return Err(Error::corrupt(at, format!("a number of {field} is too large")));
            }
        }
        let u = (1u64 << n) + r.read(n, field)? - (1 << k);
        self.take_in(u);
        Ok(u)
    }

    /// Reads a number written by zigzag from bit `bit` of `bytes` on, and how many bits it takes;
    /// `None`, and nothing has changed, where it is long or few bytes are left.
    pub(crate) fn peek_signed(&mut self, bytes: &[u8], bit: usize) -> Option<(i64, usize)> {
        let word = u64::from_le_bytes(*bytes.get(bit / 8..)?.first_chunk()?) >> (bit % 8);
        let (k, ones) = (self.k(), word.trailing_ones());
        let n = k + ones;
        // Of 64 bits, up to 7 have been shifted out.
        (ones <= MOST && ones + 1 + n <= 57).then_some(())?;
        let u = (1u64 << n) + (word >> (ones + 1) & low_mask(n)) - (1 << k);
        self.take_in(u);
        Some((zigzag::decode(u), (ones + 1 + n) as usize))
    }

    /// Reads a number written by zigzag.
    pub(crate) fn read_signed(
        &mut self,
        r: &mut BitReader<'_>,
        field: &'static str,
    ) -> Result<i64> {
        self.read(r, field).map(zigzag::decode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(values in prop::collection::vec(-100_000i32..100_000, 0..100)) {
            let (mut out, mut memory, mut cost) = (BitWriter::default(), Memory::new(), 0);
            let mut counter = Memory::new();
            for &v in &values {
                memory.write_signed(v, &mut out);
                cost += counter.cost_signed(v);
            }
            let bytes = out.finish();
            prop_assert_eq!(bytes.len(), cost.div_ceil(8) as usize);
            let (mut r, mut memory) = (BitReader::new(&bytes, 0), Memory::new());
            for &v in &values {
                let (bit, mut other) = (r.bit(), memory);
                prop_assert_eq!(memory.read_signed(&mut r, "x").unwrap(), i64::from(v));
                if let Some((value, bits)) = other.peek_signed(&bytes, bit) {
                    prop_assert_eq!((value, bits, other.0), (i64::from(v), r.bit() - bit, memory.0));
                } else {
                    prop_assert!(bytes.len() - bit / 8 < 8 || r.bit() - bit > 49);
                }
            }
        }
    }
}
