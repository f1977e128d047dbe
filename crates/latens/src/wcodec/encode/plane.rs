//! Planes of symbols, by the coder that is smallest.

use crate::error::Result;
use crate::wcodec::config::{Coder, Config, Tools};
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::family::Family;
use crate::wcodec::encode::part::PlannedPart;
use crate::wcodec::encode::sources::Hints;
use crate::wcodec::encode::symbols::{Job, PlaneRef, direct};
use crate::wcodec::encode::tiled::{Reference, tiled};
use crate::wcodec::layout::part::PartShape;
use crate::wcodec::plane::Role;
use crate::wcodec::predictor::Predictor;
use crate::wcodec::transform::Transform;

/// Settles how a part of symbols is encoded.
pub(crate) fn plan_plane<'a>(
    role: Role,
    plane: PlaneRef<'a>,
    hints: Hints<'a>,
    family: &Family<'_>,
    config: &Config,
    bank: &mut Bank,
) -> Result<PlannedPart<'a>> {
    let before = bank.len();
    let shape = PartShape::Symbols { bits: plane.bits, rows: plane.rows, cols: plane.cols };
    let coded = symbols(role, plane, shape, hints, family, config, bank)?.kept_if_small(bank)?;
    if config.tools.is_some() && plane.rows * plane.cols > 0 {
        return Ok(coded);
    }
    coded.or_raw(plane.data, before, bank)
}

/// Symbols by the tools that are forced; else by the direct coder, and at the highest levels by
/// whatever is smaller.
fn symbols<'a>(
    role: Role,
    plane: PlaneRef<'a>,
    shape: PartShape,
    hints: Hints<'a>,
    family: &Family<'_>,
    config: &Config,
    bank: &mut Bank,
) -> Result<PlannedPart<'a>> {
    let reference = family.reference.as_ref().filter(|_| role == Role::Weights);
    let reference = reference.map(|(of, symbols)| Reference { of, symbols });
    let reference = reference.filter(|r| r.symbols.len() == plane.data.len());
    let job = Job { reference, ..job(role, plane, shape, hints, config) };
    if let Some(tools) = &config.tools {
        return tiled(&job, tools, bank);
    }
    let mut best = direct(&job, bank)?;
    let large = plane.data.len() >= 1 << 12 && plane.cols <= 1 << 20;
    if config.level <= 10 || !large {
        return Ok(best);
    }
    best.keep(bank)?;
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
        if other.bytes().end + bank.bytes_from(before) < best.bytes().end {
            best = other;
        } else {
            bank.take_from(before);
        }
    }
    Ok(best)
}

/// A job of the direct coder.
pub(crate) fn job<'a>(
    role: Role,
    plane: PlaneRef<'a>,
    shape: PartShape,
    hints: Hints<'a>,
    config: &Config,
) -> Job<'a, 'static> {
    let (config, watch) = (config.direct(plane.bits), config.watch.clone());
    Job { role, plane, shape, hints, reference: None, config, watch }
}
