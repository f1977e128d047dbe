//! Reading fields of metadata out of a slice, bit by bit and checked.

use crate::bits::low_mask;
use crate::error::{Error, Result};

/// A position, in bits, in a slice of bytes.
///
/// Offsets in errors count from the start of the slice; callers move them with
/// [`Error::offset_by`].
#[derive(Clone, Debug)]
pub(crate) struct BitReader<'a> {
    src: &'a [u8],
    bit: usize,
}

impl<'a> BitReader<'a> {
    /// Starts at bit `bit` of `src`.
    pub(crate) fn new(src: &'a [u8], bit: usize) -> Self {
        Self { src, bit }
    }

    /// The position in bits.
    pub(crate) fn bit(&self) -> usize {
        self.bit
    }

    /// The byte that holds the next bit.
    pub(crate) fn byte(&self) -> u64 {
        self.bit as u64 / 8
    }

    /// The byte where the input ends.
    pub(crate) fn end(&self) -> u64 {
        self.src.len() as u64
    }

    /// Bits that are left.
    pub(crate) fn bits_left(&self) -> usize {
        (self.src.len() * 8).saturating_sub(self.bit)
    }

    /// The next `count` bits (0 to 64) as a number; `field` names them in the error.
    pub(crate) fn read(&mut self, count: u32, field: &'static str) -> Result<u64> {
        self.read_at_once(count, field)
    }

    /// The same where a call would be felt.
    #[inline(always)]
    pub(crate) fn read_at_once(&mut self, count: u32, field: &'static str) -> Result<u64> {
        if self.bits_left() < count as usize {
            return Err(self.ends_inside(field));
        }
        let shift = self.bit % 8;
        let rest = &self.src[self.bit / 8..];
        // A copy of so few bytes is a call, and its bytes would be waited for.
        let bytes = match rest.first_chunk() {
            Some(bytes) => *bytes,
            None => {
                let mut bytes = [0u8; 16];
                bytes[..rest.len()].copy_from_slice(rest);
                bytes
            }
        };
        let word = u128::from_le_bytes(bytes) >> shift;
        self.bit += count as usize;
        #[expect(clippy::cast_possible_truncation, reason = "64 bits are asked for at most")]
        let low = word as u64;
        Ok(low & low_mask(count))
    }

    #[cold]
    fn ends_inside(&self, field: &str) -> Error {
        Error::truncated(self.end(), format!("the input ends inside of {field}"))
    }

    /// Like [`BitReader::read`] for fields of at most 32 bits.
    pub(crate) fn read_u32(&mut self, count: u32, field: &'static str) -> Result<u32> {
        debug_assert!(count <= 32);
        #[expect(clippy::cast_possible_truncation, reason = "count <= 32")]
        self.read(count, field).map(|x| x as u32)
    }

    /// The next 8 bits.
    pub(crate) fn read_u8(&mut self, field: &'static str) -> Result<u8> {
        #[expect(clippy::cast_possible_truncation, reason = "8 bits are asked for")]
        self.read(8, field).map(|x| x as u8)
    }

    /// Skips to the next byte; bits that are not zero are corruption.
    pub(crate) fn align(&mut self, what: &'static str) -> Result<()> {
        let pad = (8 - self.bit % 8) % 8;
        #[expect(clippy::cast_possible_truncation, reason = "pad < 8")]
        if self.read_at_once(pad as u32, what)? != 0 {
            return Err(Error::corrupt(
                self.byte().saturating_sub(1),
                format!("bits set in the padding after {what}"),
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_across_bytes() {
        let src = [0b1010_0101, 0xff, 0, 0xff, 1, 2, 3, 4, 5, 6];
        let mut r = BitReader::new(&src, 0);
        assert_eq!(r.read(4, "a").unwrap(), 5);
        assert_eq!(r.read(8, "b").unwrap(), 0xfa);
        assert_eq!(r.read(0, "c").unwrap(), 0);
        assert_eq!(r.read(64, "d").unwrap(), 0x6050_4030_201f_f00f);
        assert_eq!(r.bits_left(), 4);
        let e = r.read(5, "the mode").unwrap_err();
        assert_eq!(e.to_string(), "truncated: the input ends inside of the mode (byte 10)");
    }

    #[test]
    fn padding_must_be_zero() {
        let mut r = BitReader::new(&[0b0000_0111, 0b100], 0);
        r.read(3, "x").unwrap();
        r.align("x").unwrap();
        r.read(1, "y").unwrap();
        assert_eq!(r.align("y").unwrap_err().at(), Some(1));
    }
}
