//! Numbers to little-endian bytes and back, and a fingerprint of them.

use crc_fast::CrcAlgorithm;
use latens::{AnyNumbers, AnySlice, Number};

/// Append the numbers, least significant byte first.
pub fn append_le<T: Number>(numbers: &[T], into: &mut Vec<u8>) {
    into.extend_from_slice(&AnySlice::from(numbers).le_bytes());
}

/// The numbers that the bytes hold; an incomplete one at the end is left out.
pub fn from_le<T: Number>(bytes: &[u8]) -> Vec<T> {
    let whole = bytes.len() - bytes.len() % T::TYPE.bytes();
    let numbers = AnyNumbers::from_le_bytes(T::TYPE, &bytes[..whole]);
    numbers.ok().and_then(AnyNumbers::into_vec).unwrap_or_default()
}

/// A fingerprint of 64 bits: the CRC-64/NVME of the bytes. Files hold CRC-32C, which is of another polynomial.
pub fn fingerprint(bytes: &[u8]) -> u64 {
    crc_fast::checksum(CrcAlgorithm::Crc64Nvme, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let numbers = [f64::NAN, -0.0, 1.5];
        let mut bytes = Vec::new();
        append_le(&numbers, &mut bytes);
        assert_eq!(bytes[16..], 1.5f64.to_le_bytes());
        let back: Vec<f64> = from_le(&bytes);
        assert!(numbers.iter().zip(&back).all(|(a, b)| a.to_bits() == b.to_bits()));
        assert_eq!(from_le::<i16>(&[1, 0, 0xff, 0xff, 7]), [1, -1]);
        assert_eq!(fingerprint(b"123456789"), 0xae8b_1486_0a79_9888);
    }
}
