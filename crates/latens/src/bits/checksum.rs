//! CRC-32C, of stored bytes and of numbers; CRC-32 of IEEE 802.3, of stored bytes.

use crate::number::{Latent, Number};

/// A running CRC-32C (Castagnoli).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Crc32c(u32);

impl Crc32c {
    /// The checksum of nothing.
    pub(crate) fn new() -> Self {
        Self(0)
    }

    /// Takes in bytes.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0 = crc32c::crc32c_append(self.0, bytes);
    }

    /// Takes in numbers as little-endian bytes.
    pub(crate) fn update_numbers<T: Number>(&mut self, numbers: &[T]) {
        match T::TYPE.bytes() {
            1 => self.update_words::<T, 1>(numbers),
            2 => self.update_words::<T, 2>(numbers),
            4 => self.update_words::<T, 4>(numbers),
            _ => self.update_words::<T, 8>(numbers),
        }
    }

    /// [`Crc32c::update_numbers`] with a width that the compiler knows.
    fn update_words<T: Number, const WIDTH: usize>(&mut self, numbers: &[T]) {
        const BYTES: usize = 2048;
        let mut buffer = [0u8; BYTES];
        for piece in numbers.chunks(BYTES / WIDTH) {
            let words = buffer.as_chunks_mut::<WIDTH>().0;
            for (bytes, x) in words.iter_mut().zip(piece) {
                let word = x.to_bits().to_u64().to_le_bytes();
                *bytes = std::array::from_fn(|i| word[i]);
            }
            self.update(&buffer[..piece.len() * WIDTH]);
        }
    }

    /// The value.
    pub(crate) fn value(self) -> u32 {
        self.0
    }
}

/// The CRC-32 (IEEE 802.3) of `bytes`.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_value_of_the_castagnoli_polynomial() {
        let mut crc = Crc32c::new();
        crc.update(b"1234");
        crc.update(b"56789");
        assert_eq!(crc.value(), 0xe306_9283);
    }

    #[test]
    fn check_value_of_the_ieee_polynomial() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn numbers_count_as_their_little_endian_bytes() {
        let numbers: Vec<i16> = (0..5000).map(|i| i * 5 - 3).collect();
        let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        let (mut a, mut b) = (Crc32c::new(), Crc32c::new());
        a.update_numbers(&numbers);
        b.update(&bytes);
        assert_eq!(a, b);
    }
}
