//! Whether a tensor's bytes repeat, as those of masks, of tables of positions and of padding do.
//!
//! Classes and tables know nothing of what came before. Pco does, and finds more of it in words
//! that hold several weights.

use crate::error::Result;
use crate::wcodec::checkpoint::wide;
use crate::wcodec::encode::tensor::Tensor;
use crate::wcodec::view::View;

/// Bytes that are looked at, from the middle.
const LOOKED_AT: usize = 1 << 17;
/// Of smaller tensors there is little to save.
const LEAST: usize = 1 << 12;
/// Of so many words one must be one that was there before.
const SHARE: usize = 8;
/// Words that are remembered: a power of two.
const SLOTS: usize = LOOKED_AT / 8;

/// The view as wide words that may be smaller than others, where there is one.
pub(crate) fn as_words(tensor: Tensor<'_>) -> Result<Option<View>> {
    let len = tensor.bytes.len();
    let fits = |view: &View| view.layout(tensor.dtype, tensor.shape, len as u64).is_some();
    let Some(view) = wide(tensor.dtype).find(fits).filter(|_| len >= LEAST) else {
        return Ok(None);
    };
    let first = len.saturating_sub(LOOKED_AT) / 16 * 8;
    let mut buffer = Vec::new();
    let bytes = tensor.bytes.get(first..len.min(first + LOOKED_AT), &mut buffer)?;
    Ok(repeats(bytes).then_some(view))
}

/// Whether words of eight bytes come again and again.
fn repeats(bytes: &[u8]) -> bool {
    let words = bytes.as_chunks::<8>().0;
    let (mut seen, mut again) = (vec![0; SLOTS], 0);
    for &word in words {
        let word = u64::from_le_bytes(word);
        // Half of a product tells words apart well enough, and twice as many of them fit the cache.
        let hash = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (place, own) = (hash >> (64 - SLOTS.ilog2()), hash >> 16 & 0xffff_ffff);
        let own = u32::try_from(own).unwrap_or(0);
        let slot = seen.get_mut(usize::try_from(place).unwrap_or(0));
        again += usize::from(slot.is_some_and(|slot| std::mem::replace(slot, own) == own));
    }
    again * SHARE >= words.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_come_again_are_seen_and_noise_is_not() {
        let mut seed = 1u64;
        let mut next = || {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (seed >> 56).to_le_bytes()[0]
        };
        let noise: Vec<u8> = (0..LOOKED_AT).map(|_| next()).collect();
        assert!(!repeats(&noise));
        // Four bits of each byte are known.
        assert!(!repeats(&noise.iter().map(|b| b & 15).collect::<Vec<_>>()));
        assert!(repeats(&noise[..999 * 8].repeat(3)));
        let mask: Vec<u8> = (0..LOOKED_AT).map(|i| u8::from(i % 512 < i / 512)).collect();
        assert!(repeats(&mask));
    }
}
