//! Words: by Pco, or as planes of bytes, whichever is smaller.

use crate::error::Result;
use crate::number::{Number, f16};
use crate::pco;
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::levels::Measure;
use crate::wcodec::encode::part::EncodedPart;
use crate::wcodec::encode::plan::Hints;
use crate::wcodec::encode::symbols::{DirectConfig, direct};
use crate::wcodec::layout::part::{Codec, PartRecord, PartShape};
use crate::wcodec::plane::{Plane, Role};

/// Words to be coded, as a matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'a> {
    pub(crate) data: &'a [u8],
    pub(crate) width: u8,
    /// Whether Pco may take them for IEEE floats.
    pub(crate) float: bool,
    /// Whether the words are floats of any kind: exponents are worth a plane.
    pub(crate) exponents: bool,
    pub(crate) cols: usize,
}

/// Words a group of Pco holds.
const PCO_GROUP: usize = 1 << 18;
/// Bytes a group of raw bytes holds.
pub(crate) const RAW_GROUP: usize = 1 << 18;
/// Words that are tried before Pco or planes are chosen for more.
const SAMPLE: usize = 1 << 16;

/// Encodes a part of words.
pub(crate) fn words(
    role: Role,
    words: Words<'_>,
    config: DirectConfig,
    pco_config: &pco::Config,
    bank: &mut Bank,
) -> Result<EncodedPart> {
    let width = usize::from(words.width);
    let count = words.data.len() / width;
    let shape = PartShape::Words { width: words.width, float: words.float, count };
    let mut best = EncodedPart::raw(role, shape, words.data, RAW_GROUP);
    let mut keep = |candidate: EncodedPart| {
        if candidate.bytes() < best.bytes() {
            best = candidate;
        }
    };
    let planes_pay = words.exponents && count >= 256;
    let take_pco = if planes_pay && count > 4 * SAMPLE {
        // The middle of the words decides.
        let start = (count - SAMPLE) / 2 * width;
        let data = &words.data[start..start + SAMPLE * width];
        let part = Words { data, ..words };
        let mut trial = bank.clone();
        let shape = PartShape::Words { width: words.width, float: words.float, count: SAMPLE };
        let planes = planes(role, part, shape, config, &mut trial)?.bytes();
        with_pco(role, part, shape, pco_config)?.bytes() < planes
    } else {
        true
    };
    if take_pco {
        keep(with_pco(role, words, shape, pco_config)?);
    }
    if planes_pay && (!take_pco || count <= 4 * SAMPLE) {
        let before = bank.tables.len();
        let candidate = planes(role, words, shape, config, bank)?;
        let bytes = candidate.bytes();
        keep(candidate);
        if best.bytes() < bytes {
            bank.tables.truncate(before);
        }
    }
    Ok(best)
}

/// By Pco, in groups.
fn with_pco(
    role: Role,
    words: Words<'_>,
    shape: PartShape,
    config: &pco::Config,
) -> Result<EncodedPart> {
    let groups = words.data.chunks(PCO_GROUP * usize::from(words.width)).map(|group| {
        match (words.width, words.float) {
            (1, _) => compress(group, u8::from_le_bytes, config),
            (2, false) => compress(group, u16::from_le_bytes, config),
            (4, false) => compress(group, u32::from_le_bytes, config),
            (8, false) => compress(group, u64::from_le_bytes, config),
            (2, true) => compress(group, f16::from_le_bytes, config),
            (4, true) => compress(group, f32::from_le_bytes, config),
            _ => compress(group, f64::from_le_bytes, config),
        }
    });
    let groups = groups.collect::<Result<_>>()?;
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

/// As planes of bytes, the exponent's first.
fn planes(
    role: Role,
    words: Words<'_>,
    shape: PartShape,
    config: DirectConfig,
    bank: &mut Bank,
) -> Result<EncodedPart> {
    let width = usize::from(words.width);
    let count = shape.count();
    let cols = if words.cols > 0 && count % words.cols == 0 { words.cols } else { count };
    let mut records: Vec<PartRecord> = Vec::new();
    let mut groups = Vec::new();
    let mut data: Vec<Vec<u8>> = vec![Vec::with_capacity(count); width];
    for word in words.data.chunks_exact(width) {
        let mut bytes = [0u8; 8];
        bytes[..width].copy_from_slice(word);
        let rotated = rotate_left(u64::from_le_bytes(bytes), words.width).to_le_bytes();
        data.iter_mut().enumerate().for_each(|(i, plane)| plane.push(rotated[width - 1 - i]));
    }
    for (i, data) in data.into_iter().enumerate() {
        let role = if i == 0 { Role::Exponent } else { Role::Mantissa };
        let plane = Plane { rows: count / cols.max(1), cols, bits: 8, data };
        let shape = PartShape::Symbols { bits: 8, rows: plane.rows, cols };
        let hints = Hints { measure: Measure::Place, levels: Vec::new(), zero: None, side: i == 0 };
        let coded = direct(role, &plane, shape, &hints, config, bank)?;
        let raw = EncodedPart::raw(role, shape, &plane.data, RAW_GROUP);
        let part = if coded.bytes() < raw.bytes() { coded } else { raw };
        records.push(part.record);
        groups.extend(part.groups);
    }
    let codec = Codec::Planes { rotated: true, planes: records };
    let record = PartRecord { role, shape, codec, groups: Vec::new() };
    Ok(EncodedPart { record, groups })
}

/// A word of `width` bytes rotated left by one bit.
pub(crate) fn rotate_left(word: u64, width: u8) -> u64 {
    let bits = 8 * u32::from(width);
    let mask = u64::MAX >> (64 - bits);
    (word << 1 | word >> (bits - 1)) & mask
}
