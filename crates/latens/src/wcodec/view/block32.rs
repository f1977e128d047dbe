//! Blocks of 32 weights of 4 or 5 bits: Q4_0, Q4_1, Q5_0, Q5_1, IQ4_NL, MXFP4.
//!
//! | bytes | field |
//! |---|---|
//! | 2 (1) | scale, F16 (MXFP4: a power of two) |
//! | 2 or 0 | minimum, F16 |
//! | 4 or 0 | fifth bits: bit *i* is that of weight *i* |
//! | 16 | nibbles: byte *i* holds weight *i* low, weight *i* + 16 high |

use super::super::plane::{Part, Role};
use super::{nibbles, parts};

/// Which fields a block has.
#[derive(Clone, Copy)]
pub(super) struct Fields {
    scale: usize,
    min: bool,
    fifth: bool,
}

pub(super) const Q4_0: Fields = Fields { scale: 2, min: false, fifth: false };
pub(super) const Q4_1: Fields = Fields { scale: 2, min: true, fifth: false };
pub(super) const Q5_0: Fields = Fields { scale: 2, min: false, fifth: true };
pub(super) const Q5_1: Fields = Fields { scale: 2, min: true, fifth: true };
pub(super) const MXFP4: Fields = Fields { scale: 1, min: false, fifth: false };

impl Fields {
    /// Where minimum, fifth bits and nibbles begin.
    fn places(self) -> (usize, usize, usize) {
        let fifth = self.scale + if self.min { 2 } else { 0 };
        (self.scale, fifth, fifth + if self.fifth { 4 } else { 0 })
    }
}

/// The parts of blocks of `N` bytes.
pub(super) fn split<const N: usize>(
    bytes: &[u8],
    rows: usize,
    cols: usize,
    fields: Fields,
) -> Vec<Part> {
    let (min_at, fifth_at, nibbles_at) = fields.places();
    let blocks = bytes.as_chunks::<N>().0;
    let mut scales = Vec::with_capacity(blocks.len() * fields.scale);
    let mut mins = Vec::with_capacity(if fields.min { blocks.len() * 2 } else { 0 });
    let mut weights = vec![0u8; blocks.len() * 32];
    for (block, weights) in blocks.iter().zip(weights.as_chunks_mut::<32>().0) {
        scales.extend_from_slice(&block[..min_at]);
        mins.extend_from_slice(&block[min_at..fifth_at]);
        let (low, high) = weights.split_at_mut(16);
        for ((byte, low), high) in block[nibbles_at..].iter().zip(low).zip(high) {
            (*low, *high) = (byte & 15, byte >> 4);
        }
        if fields.fifth {
            for (eight, bits) in weights.as_chunks_mut::<8>().0.iter_mut().zip(&block[fifth_at..]) {
                *eight = (u64::from_le_bytes(*eight) | spread_fifth(*bits)).to_le_bytes();
            }
        }
    }
    let scales = if fields.scale == 1 {
        parts::plane(Role::Scale, rows, cols / 32, 8, scales)
    } else {
        parts::halves(Role::Scale, scales)
    };
    let mins = fields.min.then(|| parts::halves(Role::Min, mins));
    let bits = if fields.fifth { 5 } else { 4 };
    let weights = parts::weights(rows, cols, bits, weights);
    std::iter::once(scales).chain(mins).chain([weights]).collect()
}

/// The inverse of [`split`].
#[inline(always)]
pub(super) fn join<const N: usize>(parts: &[&[u8]], fields: Fields, out: &mut [u8]) {
    let (min_at, fifth_at, nibbles_at) = fields.places();
    let weights = parts.last().copied().unwrap_or_default().as_chunks::<32>().0;
    let scales = parts::at(parts, 0).chunks_exact(fields.scale);
    let mut mins = parts::at(parts, 1).as_chunks::<2>().0.iter();
    for ((block, weights), scale) in out.as_chunks_mut::<N>().0.iter_mut().zip(weights).zip(scales)
    {
        block[..min_at].copy_from_slice(scale);
        if fields.min
            && let Some(min) = mins.next()
        {
            block[min_at..fifth_at].copy_from_slice(min);
        }
        if let [low, high] = weights.as_chunks::<16>().0 {
            block[nibbles_at..].copy_from_slice(&nibbles::of_two(low, high));
        }
        if fields.fifth {
            let mut fifth = [0; 4];
            for (eight, bits) in weights.as_chunks::<8>().0.iter().zip(&mut fifth) {
                *bits = gather_fifth(u64::from_le_bytes(*eight));
            }
            block[fifth_at..nibbles_at].copy_from_slice(&fifth);
        }
    }
}

/// Bit *i* of eight as bit 4 of byte *i*.
fn spread_fifth(bits: u8) -> u64 {
    // Byte i keeps bit i alone, which is then carried to its bit 7.
    let own = u64::from_le_bytes([bits; 8]) & 0x8040_2010_0804_0201;
    ((own + 0x7f7f_7f7f_7f7f_7f7f) & 0x8080_8080_8080_8080) >> 3
}

/// The inverse of [`spread_fifth`].
fn gather_fifth(weights: u64) -> u8 {
    let ones = (weights >> 4) & 0x0101_0101_0101_0101;
    let [.., bits] = ones.wrapping_mul(0x0102_0408_1020_4080).to_le_bytes();
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifth_bits() {
        for bits in 0..=255u8 {
            let spread = spread_fifth(bits);
            let want = std::array::from_fn(|i| ((bits >> i) & 1) << 4);
            assert_eq!(spread.to_le_bytes(), want);
            assert_eq!(gather_fifth(spread | 0x0f0f_0f0f_0f0f_0f0f), bits);
        }
    }
}
