//! A tensor: its view, its parts, each by what is smallest.

use crate::error::Result;
use crate::wcodec::class::SourceBytes;
use crate::wcodec::config::{Coder, Config, Tools};
use crate::wcodec::dtype::Dtype;
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::levels::Measure;
use crate::wcodec::encode::part::EncodedPart;
use crate::wcodec::encode::plan::{Candidate, Hints};
use crate::wcodec::encode::symbols::{Job, direct};
use crate::wcodec::encode::tiled::{Reference, tiled};
use crate::wcodec::encode::words::words;
use crate::wcodec::layout::descriptor::Descriptor;
use crate::wcodec::layout::part::PartShape;
use crate::wcodec::layout::source::{Form, PartOf, Source};
use crate::wcodec::plane::{Content, Part, PlaneRef, Role};
use crate::wcodec::predictor::Predictor;
use crate::wcodec::transform::Transform;
use crate::wcodec::view::View;

/// Bytes a group of raw bytes holds.
const RAW_GROUP: usize = 1 << 18;
/// Tensors larger than this are tried under several views on a sample only.
const TRY_WHOLE: usize = 1 << 18;
/// Steps of levels of blocks: 2^-3 octaves.
const FRACTION: u32 = 3;

/// A tensor to be encoded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tensor<'a> {
    pub(crate) dtype: Dtype,
    pub(crate) shape: &'a [u64],
    pub(crate) bytes: &'a [u8],
}

/// Another tensor whose numbers say something of this one's.
#[derive(Clone, Debug)]
pub(crate) struct Sibling<'a> {
    /// What refers to it in the file.
    pub(crate) of: PartOf,
    pub(crate) form: Form,
    pub(crate) numbers: SourceBytes<'a>,
    pub(crate) block_rows: usize,
    pub(crate) block_cols: usize,
}

/// The tensors that belong to a tensor.
#[derive(Clone, Debug, Default)]
pub(crate) struct Family<'a> {
    pub(crate) scale: Option<Sibling<'a>>,
    pub(crate) zero: Option<Sibling<'a>>,
    pub(crate) row_map: Option<(PartOf, SourceBytes<'a>)>,
    /// Symbols that the weights may be like.
    pub(crate) reference: Option<(PartOf, Vec<u8>)>,
}

/// An encoded tensor.
#[derive(Clone, Debug)]
pub(crate) struct EncodedTensor {
    pub(crate) descriptor: Descriptor,
    /// Part by part.
    pub(crate) groups: Vec<Vec<u8>>,
}

impl EncodedTensor {
    /// Bytes in the file, more or less.
    pub(crate) fn bytes(&self) -> usize {
        let groups: usize = self.groups.iter().map(|g| g.len().next_multiple_of(4)).sum();
        groups + self.descriptor.bytes(false).len()
    }
}

/// Encodes a tensor under the best of `views`; the flat bytes are always a choice.
pub(crate) fn tensor(
    tensor: Tensor<'_>,
    views: &[View],
    family: &Family<'_>,
    config: &Config,
    bank: &mut Bank,
) -> Result<EncodedTensor> {
    let mut views: Vec<View> = views.to_vec();
    if views.len() > 1 && tensor.bytes.len() > TRY_WHOLE {
        views = vec![choose(tensor, &views, config, bank)?];
    }
    let (mut best, mut bytes) = (None, flat_bytes(tensor));
    let before = bank.len();
    let mut kept = Vec::new();
    for view in views {
        let Some(encoded) = under(tensor, view, family, config, bank)? else { continue };
        let tables = bank.take_from(before);
        let forced = config.tools.is_some() && !tensor.bytes.is_empty();
        let raw = best.as_ref().is_none_or(|e: &EncodedTensor| e.descriptor.view == View::Raw);
        if encoded.bytes() < bytes || (forced && raw) {
            bytes = encoded.bytes();
            best = Some(encoded);
            kept = tables;
        }
    }
    bank.give_back(kept);
    Ok(best.unwrap_or_else(|| flat(tensor)))
}

/// Bytes of [`flat`] in the file, more or less.
fn flat_bytes(tensor: Tensor<'_>) -> usize {
    let shape = PartShape::Bytes { count: tensor.bytes.len() };
    let part = EncodedPart::raw_bytes(Role::Rest, shape, tensor.bytes.len(), RAW_GROUP);
    part + Descriptor { view: View::Raw, parts: Vec::new() }.bytes(false).len()
}

/// The view that is smallest for a run of rows from the middle.
fn choose(tensor: Tensor<'_>, views: &[View], config: &Config, bank: &Bank) -> Result<View> {
    let mut best = (usize::MAX, View::Raw);
    for &view in views {
        let len = tensor.bytes.len() as u64;
        let Some(layout) = view.layout(tensor.dtype, tensor.shape, len) else { continue };
        let unit = usize::try_from(layout.unit_bytes).unwrap_or(usize::MAX).max(1);
        let units = (TRY_WHOLE / unit).max(1);
        let first = (tensor.bytes.len() / unit).saturating_sub(units) / 2;
        let end = ((first + units) * unit).min(tensor.bytes.len());
        let Some(parts) = layout.split(&tensor.bytes[first * unit..end]) else { continue };
        let mut trial = bank.clone();
        let family = Family::default();
        let encoded = encode_parts(view, parts, &family, config, &mut trial)?;
        let added = trial.bytes_from(bank.len());
        // Tables weigh less in the whole tensor than in the sample.
        let share = added * (end - first * unit) / tensor.bytes.len().max(1);
        if encoded.bytes() + share < best.0 {
            best = (encoded.bytes() + share, view);
        }
    }
    Ok(best.1)
}

/// The bytes as they are.
fn flat(tensor: Tensor<'_>) -> EncodedTensor {
    let shape = PartShape::Bytes { count: tensor.bytes.len() };
    let part = EncodedPart::raw(Role::Rest, shape, tensor.bytes, RAW_GROUP);
    let descriptor = Descriptor { view: View::Raw, parts: vec![part.record] };
    EncodedTensor { descriptor, groups: part.groups }
}

/// Encodes under one view; `None` where it does not fit or does not give back the same bytes.
fn under(
    tensor: Tensor<'_>,
    view: View,
    family: &Family<'_>,
    config: &Config,
    bank: &mut Bank,
) -> Result<Option<EncodedTensor>> {
    let len = tensor.bytes.len() as u64;
    let Some(layout) = view.layout(tensor.dtype, tensor.shape, len) else { return Ok(None) };
    if let Some((role, plane)) = layout.plane(tensor.bytes) {
        let part = encode_plane(role, plane, &[], family, config, bank)?;
        let descriptor = Descriptor { view, parts: vec![part.record] };
        return Ok(Some(EncodedTensor { descriptor, groups: part.groups }));
    }
    let Some(parts) = layout.split(tensor.bytes) else { return Ok(None) };
    // Whatever a view promises: it must give back these bytes.
    if !layout.gives_back(&parts, tensor.bytes)? {
        return Ok(None);
    }
    encode_parts(view, parts, family, config, bank).map(Some)
}

fn encode_parts(
    view: View,
    parts: Vec<Part>,
    family: &Family<'_>,
    config: &Config,
    bank: &mut Bank,
) -> Result<EncodedTensor> {
    let (mut records, mut groups) = (Vec::new(), Vec::new());
    for (i, part) in parts.iter().enumerate() {
        let encoded = encode_part(part, &parts[..i], family, config, bank)?;
        records.push(encoded.record);
        groups.extend(encoded.groups);
    }
    Ok(EncodedTensor { descriptor: Descriptor { view, parts: records }, groups })
}

fn encode_part(
    part: &Part,
    earlier: &[Part],
    family: &Family<'_>,
    config: &Config,
    bank: &mut Bank,
) -> Result<EncodedPart> {
    let before = bank.len();
    let (shape, data, coded) = match &part.content {
        Content::Symbols(plane) => {
            return encode_plane(part.role, plane.borrowed(), earlier, family, config, bank);
        }
        Content::Words { width, float, data } => {
            let count = data.len() / usize::from((*width).max(1));
            let shape = PartShape::Words { width: *width, float: *float, count };
            (shape, data, words(part.role, data, *width, *float, &config.pco())?)
        }
        Content::Raw(data) => {
            let shape = PartShape::Bytes { count: data.len() };
            let plane = PlaneRef { rows: 1, cols: data.len(), bits: 8, data };
            let hints =
                Hints { measure: Measure::Place, levels: Vec::new(), zero: None, side: false };
            (shape, data, direct(&job(part.role, plane, shape, &hints, config), bank)?)
        }
    };
    Ok(or_raw(coded, part.role, shape, data, before, bank))
}

/// Encodes a part of symbols.
fn encode_plane(
    role: Role,
    plane: PlaneRef<'_>,
    earlier: &[Part],
    family: &Family<'_>,
    config: &Config,
    bank: &mut Bank,
) -> Result<EncodedPart> {
    let before = bank.len();
    let shape = PartShape::Symbols { bits: plane.bits, rows: plane.rows, cols: plane.cols };
    let hints = hints(role, plane, earlier, family);
    let coded = symbols(role, plane, shape, &hints, family, config, bank)?;
    if config.tools.is_some() && plane.rows * plane.cols > 0 {
        return Ok(coded);
    }
    Ok(or_raw(coded, role, shape, plane.data, before, bank))
}

/// An encoded part, or its elements as they are where that is not larger; `before` tables were there
/// before it.
fn or_raw(
    coded: EncodedPart,
    role: Role,
    shape: PartShape,
    data: &[u8],
    before: usize,
    bank: &mut Bank,
) -> EncodedPart {
    let tables = bank.bytes_from(before);
    if coded.bytes() + tables < EncodedPart::raw_bytes(role, shape, data.len(), RAW_GROUP) {
        return coded;
    }
    bank.take_from(before);
    EncodedPart::raw(role, shape, data, RAW_GROUP)
}

/// Symbols by the tools that are forced; else by the direct coder, and at the highest levels by
/// whatever is smaller.
fn symbols(
    role: Role,
    plane: PlaneRef<'_>,
    shape: PartShape,
    hints: &Hints<'_>,
    family: &Family<'_>,
    config: &Config,
    bank: &mut Bank,
) -> Result<EncodedPart> {
    let mut job = job(role, plane, shape, hints, config);
    let reference = family.reference.as_ref().filter(|_| role == Role::Weights);
    let reference = reference.map(|(of, symbols)| Reference { of, symbols });
    job.reference = reference.filter(|r| r.symbols.len() == plane.data.len());
    if let Some(tools) = &config.tools {
        return tiled(&job, tools, bank);
    }
    let mut best = direct(&job, bank)?;
    let large = plane.data.len() >= 1 << 12 && plane.cols <= 1 << 20;
    if config.level <= 10 || !large {
        return Ok(best);
    }
    let all = Predictor::OF_TILES.to_vec();
    let both = vec![Transform::Dct, Transform::Adst];
    let tools = |predictors: Vec<Predictor>, transforms: Vec<Transform>, coder| Tools {
        predictors,
        transforms,
        coder,
        ..Tools::default()
    };
    let mut candidates = vec![
        tools(vec![Predictor::None], Vec::new(), Coder::Bitplane),
        tools(all.clone(), Vec::new(), Coder::Direct),
    ];
    if config.level >= 12 {
        candidates.push(tools(vec![Predictor::Column], Vec::new(), Coder::Bitplane));
        candidates.push(tools(all.clone(), Vec::new(), Coder::Bitplane));
        candidates.push(tools(all, both, Coder::Bitplane));
    }
    for tools in candidates {
        let before = bank.len();
        let other = tiled(&job, &tools, bank)?;
        if other.bytes() + bank.bytes_from(before) < best.bytes() {
            best = other;
        } else {
            bank.take_from(before);
        }
    }
    Ok(best)
}

fn job<'a>(
    role: Role,
    plane: PlaneRef<'a>,
    shape: PartShape,
    hints: &'a Hints<'a>,
    config: &Config,
) -> Job<'a> {
    Job { role, plane, shape, hints, reference: None, config: config.direct(plane.bits) }
}

/// What might explain the symbols of a part: its siblings.
fn hints<'a>(
    role: Role,
    plane: PlaneRef<'_>,
    earlier: &'a [Part],
    family: &Family<'a>,
) -> Hints<'a> {
    let measure = if role == Role::Exponent { Measure::Place } else { Measure::Size };
    let mut hints = Hints { measure, levels: Vec::new(), zero: None, side: role != Role::Mantissa };
    if role != Role::Weights {
        return hints;
    }
    for (i, part) in earlier.iter().enumerate() {
        let own = |form, numbers: SourceBytes<'a>| {
            let n = numbers.bytes.len() / numbers.width.max(1);
            let a_row = n.checked_div(plane.rows).filter(|a| *a > 0 && a * plane.rows == n)?;
            plane.cols.is_multiple_of(a_row).then(|| Candidate {
                source: Source {
                    of: PartOf::Own(i),
                    form,
                    block_rows: 1,
                    block_cols: plane.cols / a_row,
                    fraction: FRACTION,
                    row_map: None,
                },
                numbers,
                row_map: None,
            })
        };
        let candidate = match (part.role, &part.content) {
            (Role::Scale | Role::SuperScale, Content::Words { width: 2, float: true, data }) => {
                own(Form::F16, SourceBytes { bytes: data, width: 2, bits: 16 })
            }
            (Role::Scale, Content::Symbols(scales)) => {
                let form = if scales.bits == 8 { Form::Signed } else { Form::Unsigned };
                own(form, SourceBytes { bytes: &scales.data, width: 1, bits: scales.bits })
            }
            _ => None,
        };
        hints.levels.extend(candidate);
    }
    let candidate = |sibling: &Sibling<'a>| Candidate {
        source: Source {
            of: sibling.of.clone(),
            form: sibling.form,
            block_rows: sibling.block_rows,
            block_cols: sibling.block_cols,
            fraction: FRACTION,
            row_map: family.row_map.as_ref().map(|(of, _)| of.clone()),
        },
        numbers: sibling.numbers,
        row_map: family.row_map.as_ref().map(|(_, map)| *map),
    };
    hints.levels.extend(family.scale.as_ref().map(candidate));
    hints.zero = family.zero.as_ref().map(candidate);
    hints
}

/// Encodes bytes that are no tensor's.
pub(crate) fn blob(bytes: &[u8], config: &Config, bank: &mut Bank) -> Result<EncodedTensor> {
    let part = Part { role: Role::Rest, content: Content::Raw(bytes.to_vec()) };
    let part = encode_part(&part, &[], &Family::default(), config, bank)?;
    let descriptor = Descriptor { view: View::Raw, parts: vec![part.record] };
    Ok(EncodedTensor { descriptor, groups: part.groups })
}
