//! Zigzag: signed integers as unsigned ones, small magnitudes first.
//!
//! | signed | 0 | -1 | 1 | -2 | 2 | … |
//! |---|---|---|---|---|---|---|
//! | unsigned | 0 | 1 | 2 | 3 | 4 | … |

/// The unsigned image of `value`.
#[inline]
pub(crate) fn encode(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

/// The inverse of [`encode`].
#[inline]
pub(crate) fn decode(image: u64) -> i64 {
    (image >> 1).cast_signed() ^ -(image & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_magnitudes_come_first() {
        for (image, value) in [0, -1, 1, -2, 2, -3].into_iter().enumerate() {
            assert_eq!(encode(value), image as u64);
        }
        assert_eq!(encode(i64::MAX), u64::MAX - 1);
        assert_eq!(encode(i64::MIN), u64::MAX);
    }

    #[test]
    fn is_a_bijection() {
        for shift in 0..64 {
            for value in [1i64 << shift, (1i64 << shift).wrapping_neg(), (1i64 << shift) ^ 0x55] {
                assert_eq!(decode(encode(value)), value);
                assert_eq!(encode(decode(value.cast_unsigned())), value.cast_unsigned());
            }
        }
    }
}
