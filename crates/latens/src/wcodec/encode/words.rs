//! Words by Pco.

use crate::error::Result;
use crate::number::{Number, f16};
use crate::pco;
use crate::wcodec::encode::part::EncodedPart;
use crate::wcodec::layout::part::{Codec, PartShape};
use crate::wcodec::plane::Role;

/// Words a group of Pco holds.
const PCO_GROUP: usize = 1 << 18;

/// Encodes words in groups, each a Pco file.
pub(crate) fn words(
    role: Role,
    data: &[u8],
    width: u8,
    float: bool,
    config: &pco::Config,
) -> Result<EncodedPart> {
    let groups =
        data.chunks(PCO_GROUP * usize::from(width.max(1))).map(|group| match (width, float) {
            (1, _) => compress(group, u8::from_le_bytes, config),
            (2, false) => compress(group, u16::from_le_bytes, config),
            (4, false) => compress(group, u32::from_le_bytes, config),
            (8, false) => compress(group, u64::from_le_bytes, config),
            (2, true) => compress(group, f16::from_le_bytes, config),
            (4, true) => compress(group, f32::from_le_bytes, config),
            _ => compress(group, f64::from_le_bytes, config),
        });
    let groups = groups.collect::<Result<_>>()?;
    let count = data.len() / usize::from(width.max(1));
    let shape = PartShape::Words { width, float, count };
    Ok(EncodedPart::new(role, shape, Codec::Pco { per_group: PCO_GROUP }, groups))
}

fn compress<T: Number, const WIDTH: usize>(
    bytes: &[u8],
    from: impl Fn([u8; WIDTH]) -> T,
    config: &pco::Config,
) -> Result<Vec<u8>> {
    let numbers: Vec<T> = bytes.as_chunks::<WIDTH>().0.iter().map(|&word| from(word)).collect();
    pco::compress(&numbers, config)
}
