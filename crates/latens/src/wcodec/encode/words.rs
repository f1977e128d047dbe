//! Words by Pco.

use crate::error::Result;
use crate::number::{Number, f16};
use crate::pco;
use crate::wcodec::encode::part::EncodedPart;
use crate::wcodec::layout::part::{Codec, PartShape};
use crate::wcodec::layout::symbols::MOST_EXPANSION;
use crate::wcodec::plane::Role;

/// Words and bytes that a group of Pco holds, at most. Equal words take some 30 bytes in all, which
/// may stand for no more than [`MOST_EXPANSION`] times as many.
const GROUP_WORDS: usize = 1 << 18;
const GROUP_BYTES: usize = 1 << 20;
const _: () = assert!(GROUP_BYTES <= 16 * MOST_EXPANSION);

/// Encodes words in groups, each a Pco file.
pub(crate) fn words(
    role: Role,
    data: &[u8],
    width: u8,
    float: bool,
    config: &pco::Config,
) -> Result<EncodedPart> {
    let bytes = usize::from(width.max(1));
    let per_group = GROUP_WORDS.min(GROUP_BYTES / bytes);
    let groups = data.chunks(per_group * bytes).map(|group| match (width, float) {
        (1, _) => compress(group, u8::from_le_bytes, config),
        (2, false) => compress(group, u16::from_le_bytes, config),
        (4, false) => compress(group, u32::from_le_bytes, config),
        (8, false) => compress(group, u64::from_le_bytes, config),
        (2, true) => compress(group, f16::from_le_bytes, config),
        (4, true) => compress(group, f32::from_le_bytes, config),
        _ => compress(group, f64::from_le_bytes, config),
    });
    let groups = groups.collect::<Result<_>>()?;
    let shape = PartShape::Words { width, float, count: data.len() / bytes };
    Ok(EncodedPart::new(role, shape, Codec::Pco { per_group }, groups))
}

fn compress<T: Number, const WIDTH: usize>(
    bytes: &[u8],
    from: impl Fn([u8; WIDTH]) -> T,
    config: &pco::Config,
) -> Result<Vec<u8>> {
    let numbers: Vec<T> = bytes.as_chunks::<WIDTH>().0.iter().map(|&word| from(word)).collect();
    pco::compress(&numbers, config)
}
