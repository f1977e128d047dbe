//! A binary range coder with adaptive probabilities.
//!
//! The coder keeps an interval of 32 bits: `low` and `range`, at first 0 and 2^32 − 1. A bit splits it
//! at `bound = (range >> 15) · p`, p being the probability of 0 in units of 2^−15: a 0 takes the
//! lower part, a 1 what is left. While the range is below 2^24, the top byte of `low` is put out and
//! both move up by a byte; carries go back into bytes that were put out. At the end the four bytes
//! of `low` follow. The decoder holds `code`, the next four bytes less `low`: it reads exactly as many
//! bytes as were written.

use super::Coder;
use crate::wcodec::context::Bit;

const LEAST: u32 = 1 << 24;

/// `bound`, or `range − bound` where `ones` is all ones and not 0: without a branch, as bits are hard
/// to foresee.
#[inline(always)]
fn split(range: u32, bound: u32, ones: u32) -> u32 {
    bound ^ ((bound ^ (range - bound)) & ones)
}

pub(super) struct Encoder {
    low: u32,
    range: u32,
    out: Vec<u8>,
}

impl Encoder {
    pub(super) fn new() -> Self {
        Self { low: 0, range: u32::MAX, out: Vec::new() }
    }

    /// The bytes of what was coded.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.out.extend_from_slice(&self.low.to_be_bytes());
        self.out
    }

    /// Adds one to the bytes that were put out.
    #[cold]
    fn carry(&mut self) {
        for byte in self.out.iter_mut().rev() {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                return;
            }
        }
    }
}

impl Coder for Encoder {
    #[inline(always)]
    fn code(&mut self, context: &mut Bit, bit: bool) -> bool {
        let bound = (self.range >> Bit::SCALE) * context.probability();
        let ones = u32::from(bit).wrapping_neg();
        let (low, carry) = self.low.overflowing_add(bound & ones);
        self.low = low;
        self.range = split(self.range, bound, ones);
        if carry {
            self.carry();
        }
        context.update(bit);
        while self.range < LEAST {
            self.out.push(self.low.to_be_bytes()[0]);
            self.low <<= 8;
            self.range <<= 8;
        }
        bit
    }
}

pub(super) struct Decoder<'a> {
    code: u32,
    range: u32,
    bytes: &'a [u8],
    /// Bytes read, those that were lacking counted in.
    read: usize,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let mut decoder = Self { code: 0, range: u32::MAX, bytes, read: 0 };
        for _ in 0..4 {
            decoder.code = decoder.code << 8 | decoder.next();
        }
        decoder
    }

    /// The next byte, 0 behind the end.
    #[inline(always)]
    fn next(&mut self) -> u32 {
        let byte = self.bytes.get(self.read).copied().unwrap_or(0);
        self.read += 1;
        byte.into()
    }

    /// Whether all bytes were read, and no more, and they are what an encoder leaves behind.
    pub(super) fn is_at_end(&self) -> bool {
        self.read == self.bytes.len() && self.code == 0
    }
}

impl Coder for Decoder<'_> {
    #[inline(always)]
    fn code(&mut self, context: &mut Bit, _: bool) -> bool {
        let bound = (self.range >> Bit::SCALE) * context.probability();
        let bit = self.code >= bound;
        let ones = u32::from(bit).wrapping_neg();
        self.code -= bound & ones;
        self.range = split(self.range, bound, ones);
        context.update(bit);
        while self.range < LEAST {
            self.range <<= 8;
            self.code = self.code << 8 | self.next();
        }
        bit
    }
}
