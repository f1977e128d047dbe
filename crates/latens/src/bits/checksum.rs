//! CRC-32C, of stored bytes and of numbers; CRC-32 of IEEE 802.3, of stored bytes.

use crate::number::sealed::Sealed;
use crc_fast::{CrcAlgorithm, Digest};

/// Bytes to be summed in one call where there are so many, as one batch of a page after the other
/// comes: few enough to be in the nearest cache still, and enough for the fastest loop.
pub(crate) const TOGETHER: usize = 16 << 10;

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
        let mut digest = Digest::new_with_init_state(CrcAlgorithm::Crc32Iscsi, u64::from(!self.0));
        digest.update(bytes);
        #[expect(clippy::cast_possible_truncation, reason = "32 bits")]
        {
            self.0 = digest.finalize() as u32;
        }
    }

    /// Takes in numbers as little-endian bytes.
    pub(crate) fn update_numbers<T: Sealed>(&mut self, numbers: &[T]) {
        if cfg!(target_endian = "little") {
            return self.update(T::bytes(numbers));
        }
        for x in T::bytes(numbers).chunks_exact(size_of::<T>()) {
            let mut word = [0; 8];
            let word = &mut word[..x.len()];
            word.copy_from_slice(x);
            word.reverse();
            self.update(word);
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

/// Which bit of `bytes` bytes was flipped where their [`crc32`] differs by `difference` from what it
/// should be: bits count from the lowest of the first byte on. `None` where it was not one bit.
pub(crate) fn flipped_bit(bytes: usize, difference: u32) -> Option<usize> {
    // What a flip of the last bit changes, of the one before, …: a step of the register each.
    let mut change = CRC32_POLYNOMIAL;
    for bit in (0..bytes.checked_mul(8)?).rev() {
        if change == difference {
            return Some(bit);
        }
        change = one_bit_on(change);
    }
    None
}

/// Which neighbouring bits of `bytes` bytes, sixteen at most, were flipped where their [`crc32`] differs by `difference`:
/// all that it may be, each as its first bit and a number whose bits are those from there on, the last ones first.
pub(crate) fn flipped_bits(bytes: usize, difference: u32) -> impl Iterator<Item = (usize, u16)> {
    let (mut at, mut changes) = (bytes.saturating_mul(8), difference);
    std::iter::from_fn(move || {
        // At any bit there are 32 from it on that change so much.
        while at > 0 {
            at -= 1;
            changes = one_bit_back(changes);
            let few = u16::try_from(changes).ok().filter(|few| few & 1 == 1);
            if let Some(few) =
                few.filter(|few| at + (16 - few.leading_zeros()) as usize <= 8 * bytes)
            {
                return Some((at, few));
            }
        }
        None
    })
}

/// Where `by` bytes were put into ones of this [`crc32`], so that they became `bytes`: how many come
/// before them, in the last place that fits. `None` where that is not what happened.
pub(crate) fn put_in(bytes: &[u8], by: usize, crc: u32) -> Option<usize> {
    let count = bytes.len().checked_sub(by)?;
    let mut difference = crc32(bytes.get(..count)?) ^ crc;
    let mut change = CRC32_POLYNOMIAL;
    // From one place to the one before it, one byte is taken from behind what was put in.
    for at in (0..count).rev() {
        if difference == 0 {
            return Some(at + 1);
        }
        let other = bytes.get(at)? ^ bytes.get(at + by)?;
        for bit in (0..8).rev() {
            if other >> bit & 1 == 1 {
                difference ^= change;
            }
            change = one_bit_on(change);
        }
    }
    (difference == 0).then_some(0)
}

/// What a flipped bit changes with one more bit behind it.
fn one_bit_on(change: u32) -> u32 {
    (change >> 1) ^ (CRC32_POLYNOMIAL & (change & 1).wrapping_neg())
}

/// The inverse of [`one_bit_on`].
fn one_bit_back(change: u32) -> u32 {
    let odd = change >> 31;
    ((change ^ (CRC32_POLYNOMIAL & odd.wrapping_neg())) << 1) | odd
}

/// That of IEEE 802.3, the highest power in the lowest bit.
const CRC32_POLYNOMIAL: u32 = 0xedb8_8320;

/// A running CRC-32 (IEEE 802.3).
#[derive(Clone, Debug, Default)]
pub(crate) struct Crc32(crc32fast::Hasher);

impl Crc32 {
    /// That of bytes of this checksum, with others to follow.
    pub(crate) fn of(crc: u32) -> Self {
        Self(crc32fast::Hasher::new_with_initial(crc))
    }

    /// Takes in bytes.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The value.
    pub(crate) fn value(self) -> u32 {
        self.0.finalize()
    }
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
    fn a_flipped_bit_is_found_and_two_are_not() {
        let bytes: Vec<u8> = (0..200u8).map(|i| i.wrapping_mul(37)).collect();
        let whole = crc32(&bytes);
        assert_eq!(flipped_bit(bytes.len(), 0), None);
        for bit in 0..8 * bytes.len() {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(flipped_bit(bytes.len(), crc32(&bytes) ^ whole), Some(bit));
            bytes[100] ^= if bit / 8 == 100 { 3 << (bit % 7) } else { 1 };
            if crc32(&bytes) != whole && bit / 8 != 100 {
                assert_eq!(flipped_bit(bytes.len(), crc32(&bytes) ^ whole), None);
            }
        }
    }

    #[test]
    fn neighbouring_bits_that_were_flipped_are_found() {
        let bytes: Vec<u8> = (0..200u8).map(|i| i.wrapping_mul(37)).collect();
        let whole = crc32(&bytes);
        for first in 0..8 * bytes.len() {
            for changes in [1u16, 3, 0x81, 0x55ab, 0x8001, 0xffff] {
                let end = first + 16 - changes.leading_zeros() as usize;
                if end > 8 * bytes.len() {
                    continue;
                }
                let mut hurt = bytes.clone();
                for bit in (first..end).filter(|bit| changes >> (bit - first) & 1 == 1) {
                    hurt[bit / 8] ^= 1 << (bit % 8);
                }
                let found: Vec<_> = flipped_bits(bytes.len(), crc32(&hurt) ^ whole).collect();
                assert!(found.contains(&(first, changes)), "{changes:x} at {first}");
                // One in 2^17 places by chance, for a few of these in the same distance of each.
                assert!(found.len() <= 2, "{changes:x} at {first}: {found:?}");
            }
        }
        assert_eq!(flipped_bits(0, 7).count(), 0);
    }

    #[test]
    fn bytes_that_were_put_in_are_found() {
        let bytes: Vec<u8> = (0..200u8).map(|i| i.wrapping_mul(37)).collect();
        let whole = crc32(&bytes);
        for at in 0..=bytes.len() {
            for put in [&[201][..], &[7, 8, 9]] {
                let longer = [&bytes[..at], put, &bytes[at..]].concat();
                // Bytes that repeat may be taken out at several places.
                let found = put_in(&longer, put.len(), whole).unwrap();
                assert!(found >= at && found <= at + put.len());
                assert_eq!([&longer[..found], &longer[found + put.len()..]].concat(), bytes);
                assert_eq!(put_in(&longer, put.len(), whole ^ 1), None);
            }
        }
        assert_eq!(put_in(&bytes, 201, whole), None);
        let mut crc = Crc32::of(crc32(&bytes[..50]));
        crc.update(&bytes[50..]);
        assert_eq!(crc.value(), whole);
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
