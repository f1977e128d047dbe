//! Writing fields of any width, bit by bit.

use crate::bits::low_mask;

/// Appends bits to a vector of bytes.
#[derive(Debug, Default)]
pub(crate) struct BitWriter {
    bytes: Vec<u8>,
    /// Bits not yet in `bytes`, fewer than 64.
    pending: u64,
    pending_bits: u32,
}

impl BitWriter {
    /// Continues behind `bytes`.
    pub(crate) fn append_to(bytes: Vec<u8>) -> Self {
        Self { bytes, pending: 0, pending_bits: 0 }
    }

    /// Makes room for so many bytes, and a few.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.bytes.reserve_exact(bytes + 256);
    }

    /// Appends the `count` (0 to 64) low bits of `value`; higher bits must be zero.
    #[inline]
    pub(crate) fn write(&mut self, value: u64, count: u32) {
        debug_assert!(value & !low_mask(count) == 0, "{value} in {count} bits");
        self.pending |= value << self.pending_bits;
        let total = self.pending_bits + count;
        if total >= 64 {
            self.bytes.extend_from_slice(&self.pending.to_le_bytes());
            let used = 64 - self.pending_bits;
            self.pending = value.checked_shr(used).unwrap_or(0);
            self.pending_bits = total - 64;
        } else {
            self.pending_bits = total;
        }
    }

    /// Appends whole words, at once where the last bit before them ends a byte.
    pub(crate) fn write_words(&mut self, words: &[u64]) {
        if !self.pending_bits.is_multiple_of(8) {
            words.iter().for_each(|&word| self.write(word, 64));
            return;
        }
        self.align();
        let start = self.bytes.len();
        self.bytes.resize(start + 8 * words.len(), 0);
        let (places, _) = self.bytes[start..].as_chunks_mut::<8>();
        for (place, word) in places.iter_mut().zip(words) {
            *place = word.to_le_bytes();
        }
    }

    /// Fills the current byte with zeros.
    pub(crate) fn align(&mut self) {
        let bytes = self.pending_bits.div_ceil(8) as usize;
        self.bytes.extend_from_slice(&self.pending.to_le_bytes()[..bytes]);
        self.pending = 0;
        self.pending_bits = 0;
    }

    /// Aligns and returns all bytes.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.align();
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::reader::BitReader;

    #[test]
    fn what_is_written_is_read() {
        let mut w = BitWriter::append_to(vec![9]);
        let fields =
            [(5, 3), (0, 0), (u64::MAX, 64), (1, 1), (0x1234_5678, 33), (u64::MAX >> 1, 63)];
        for (value, count) in fields {
            w.write(value, count);
        }
        w.align();
        w.write(1, 1);
        let bytes = w.finish();
        let mut r = BitReader::new(&bytes, 8);
        for (value, count) in fields {
            assert_eq!(r.read(count, "field").unwrap(), value);
        }
        r.align("fields").unwrap();
        assert_eq!(r.read(8, "last").unwrap(), 1);
        assert_eq!(r.bits_left(), 0);
    }
}
