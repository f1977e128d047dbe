//! A group of words, which Pco has.

use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::number::{Number, f16};
use crate::pco;
use crate::wcodec::layout::part::PartShape;

/// Decodes a group of words of a shape into `out`, which is as long as they are.
pub(crate) fn decompress(
    shape: PartShape,
    stored: &[u8],
    limits: Limits,
    out: &mut [u8],
) -> Result<()> {
    let PartShape::Words { width, float, .. } = shape else {
        return Err(Error::corrupt(0, "Pco of what are no words"));
    };
    match (width, float) {
        (1, _) => numbers(stored, out, limits, u8::to_le_bytes),
        (2, false) => numbers(stored, out, limits, u16::to_le_bytes),
        (4, false) => numbers(stored, out, limits, u32::to_le_bytes),
        (8, false) => numbers(stored, out, limits, u64::to_le_bytes),
        (2, true) => numbers(stored, out, limits, f16::to_le_bytes),
        (4, true) => numbers(stored, out, limits, f32::to_le_bytes),
        _ => numbers(stored, out, limits, f64::to_le_bytes),
    }
}

/// A Pco file of exactly as many numbers as `out` holds.
fn numbers<T: Number, const WIDTH: usize>(
    stored: &[u8],
    out: &mut [u8],
    limits: Limits,
    to: impl Fn(T) -> [u8; WIDTH],
) -> Result<()> {
    let words = out.as_chunks_mut::<WIDTH>().0;
    let mut decoder = pco::standalone::Decoder::new(stored, limits)?;
    let mut buffer = vec![T::default(); words.len().min(1 << 12)];
    let mut at = 0;
    while at < words.len() {
        let most = buffer.len().min(words.len() - at);
        let read = decoder.read(&mut buffer[..most])?;
        if read == 0 {
            return Err(Error::corrupt(0, format!("{at} numbers where {} belong", words.len())));
        }
        for (word, &x) in words[at..].iter_mut().zip(&buffer[..read]) {
            *word = to(x);
        }
        at += read;
    }
    let mut one = [T::default()];
    if decoder.read(&mut one)? != 0 {
        return Err(Error::corrupt(0, format!("more than {} numbers", words.len())));
    }
    let ending = decoder.finish()?;
    if ending.trailing {
        return Err(Error::corrupt(ending.consumed, "bytes behind a group of Pco"));
    }
    Ok(())
}
