//! Words by Pco.

use crate::error::Result;
use crate::number::{Number, f16};
use crate::pco;
use crate::wcodec::layout::symbols::MOST_EXPANSION;

/// Words and bytes that a group of Pco holds, at most. Equal words take some 30 bytes in all, which
/// may stand for no more than [`MOST_EXPANSION`] times as many.
const GROUP_WORDS: usize = 1 << 18;
const GROUP_BYTES: usize = 1 << 20;
const _: () = assert!(GROUP_BYTES <= 16 * MOST_EXPANSION);

/// Bytes by which a group may be larger than its words.
pub(crate) const MOST_MORE: usize = 256;

/// Words of `width` bytes that a group holds.
pub(crate) fn per_group(width: usize) -> usize {
    GROUP_WORDS.min(GROUP_BYTES / width.max(1))
}

/// Encodes a group, a Pco file.
pub(crate) fn group(
    group: &[u8],
    width: usize,
    float: bool,
    config: &pco::Config,
) -> Result<Vec<u8>> {
    match (width, float) {
        (1, _) => compress(group, u8::from_le_bytes, config),
        (2, false) => compress(group, u16::from_le_bytes, config),
        (4, false) => compress(group, u32::from_le_bytes, config),
        (8, false) => compress(group, u64::from_le_bytes, config),
        (2, true) => compress(group, f16::from_le_bytes, config),
        (4, true) => compress(group, f32::from_le_bytes, config),
        _ => compress(group, f64::from_le_bytes, config),
    }
}

fn compress<T: Number, const WIDTH: usize>(
    bytes: &[u8],
    from: impl Fn([u8; WIDTH]) -> T,
    config: &pco::Config,
) -> Result<Vec<u8>> {
    let numbers: Vec<T> = bytes.as_chunks::<WIDTH>().0.iter().map(|&word| from(word)).collect();
    pco::compress(&numbers, config)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// What nothing is known of grows by less than a group may grow.
    #[test]
    fn noise_grows_little() {
        let mut seed = 1u64;
        let mut next = || {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (seed >> 56).to_le_bytes()[0]
        };
        for (width, float) in [(2, false), (2, true), (4, false), (4, true), (8, false), (8, true)]
        {
            let bytes: Vec<u8> = (0..per_group(width) * width).map(|_| next()).collect();
            for level in [0, 1, 8, 12] {
                let config = pco::Config::default().level(level).checksum(false);
                let stored = group(&bytes, width, float, &config).unwrap();
                assert!(
                    stored.len() <= bytes.len() + MOST_MORE,
                    "{width} {level}: {}",
                    stored.len()
                );
            }
        }
    }
}
