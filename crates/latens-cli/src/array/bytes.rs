//! Numbers to little-endian bytes and back, and a fingerprint of them.

use latens::{Latent, Number};
use std::hash::{DefaultHasher, Hasher};

/// Append the numbers, least significant byte first.
pub fn append_le<T: Number>(numbers: &[T], into: &mut Vec<u8>) {
    let width = T::TYPE.bytes();
    let start = into.len();
    into.resize(start + numbers.len() * width, 0);
    for (bytes, number) in into[start..].chunks_exact_mut(width).zip(numbers) {
        bytes.copy_from_slice(&number.to_bits().to_u64().to_le_bytes()[..width]);
    }
}

/// The numbers that the bytes hold; an incomplete one at the end is left out.
pub fn from_le<T: Number>(bytes: &[u8]) -> Vec<T> {
    let width = T::TYPE.bytes();
    let number = |bytes: &[u8]| {
        let mut wide = [0; 8];
        wide[..width].copy_from_slice(bytes);
        T::from_bits(T::L::truncate(u64::from_le_bytes(wide)))
    };
    bytes.chunks_exact(width).map(number).collect()
}

/// A fingerprint of 64 bits: SipHash of the bytes.
pub fn fingerprint(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
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
    }
}
