//! Words as unsigned integers in the order of the numbers that they stand for.

use super::super::plane::{Content, Part, Role};
use super::parts;
use latens_kernels::dispatch::Present;

/// What is done to a word so that its order as an unsigned integer is that of the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WordOrder {
    /// Nothing: unsigned integers.
    Unsigned,
    /// Nothing: IEEE floats, which Pco takes as floats.
    Float,
    /// Two's complement: the highest bit is flipped.
    Signed,
    /// Sign and magnitude, as floats have it: all bits of negative numbers are flipped, the highest
    /// bit of others. For BF16 and 8-bit floats, and for floats that are to be taken as integers.
    SignMagnitude,
}

impl WordOrder {
    /// Whether words of `width` bytes can be taken so.
    pub(super) fn fits(self, width: u8) -> bool {
        matches!(
            (self, width),
            (_, 2 | 4 | 8) | (Self::Signed | Self::SignMagnitude | Self::Unsigned, 1)
        )
    }

    pub(super) fn is_float(self) -> bool {
        self == WordOrder::Float
    }

    /// Whether words stay as they are.
    pub(super) fn is_same(self) -> bool {
        matches!(self, WordOrder::Unsigned | WordOrder::Float)
    }

    pub(super) fn name(self, width: u8) -> String {
        let bits = 8 * u32::from(width);
        match self {
            WordOrder::Unsigned => format!("u{bits}"),
            WordOrder::Float => format!("f{bits}"),
            WordOrder::Signed => format!("i{bits}"),
            WordOrder::SignMagnitude => format!("ordered {bits}-bit"),
        }
    }

    /// The part that holds the words of `bytes`.
    pub(super) fn split(self, bytes: &[u8], width: u8, rows: usize, cols: usize) -> Part {
        let mut data = bytes.to_vec();
        self.map(&mut data, width, true);
        if width == 1 {
            return parts::weights(rows, cols, 8, data);
        }
        let content = Content::Words { width, float: self.is_float(), data };
        Part { role: Role::Weights, content }
    }

    /// The inverse of [`WordOrder::split`].
    pub(super) fn join(self, mut data: Vec<u8>, width: u8) -> Vec<u8> {
        self.map(&mut data, width, false);
        data
    }

    /// The words in `data` forward to that order, or back.
    pub(crate) fn map(self, data: &mut [u8], width: u8, forward: bool) {
        macro_rules! words {
            ($word:ty) => {{
                const HIGH: $word = 1 << (<$word>::BITS - 1);
                const BYTES: usize = size_of::<$word>();
                for bytes in data.as_chunks_mut::<BYTES>().0 {
                    let word = <$word>::from_le_bytes(*bytes);
                    // A negative number has its highest bit set before, and not after.
                    let negative = (word & HIGH != 0) == forward;
                    let flip = match self {
                        WordOrder::SignMagnitude if negative => <$word>::MAX,
                        _ => HIGH,
                    };
                    *bytes = (word ^ flip).to_le_bytes();
                }
            }};
        }
        Present::in_use().call(
            #[inline(always)]
            || match (self, width) {
                (WordOrder::Unsigned | WordOrder::Float, _) => {}
                (_, 1) => words!(u8),
                (_, 2) => words!(u16),
                (_, 4) => words!(u32),
                _ => words!(u64),
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_the_numbers() {
        let floats = [f32::NEG_INFINITY, -2.5, -1e-40, -0.0, 0.0, 1e-40, 1.5, f32::INFINITY];
        let bytes: Vec<u8> = floats.iter().flat_map(|f| f.to_le_bytes()).collect();
        let part = WordOrder::SignMagnitude.split(&bytes, 4, 1, 8);
        let words: Vec<u32> =
            parts::data(&part).as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).collect();
        assert!(words.is_sorted_by(|a, b| a < b), "{words:x?}");
        assert_eq!(words[4], 1 << 31);

        let bytes: Vec<u8> = [i16::MIN, -3, 0, 7].iter().flat_map(|f| f.to_le_bytes()).collect();
        let part = WordOrder::Signed.split(&bytes, 2, 1, 4);
        let words: Vec<u16> =
            parts::data(&part).as_chunks().0.iter().map(|b| u16::from_le_bytes(*b)).collect();
        assert_eq!(words, [0, 0x7ffd, 0x8000, 0x8007]);
    }
}
