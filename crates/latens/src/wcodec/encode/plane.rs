//! Planes of symbols, by the coder that is smallest.

use crate::error::Result;
use crate::wcodec::config::{Coder, Config, Tools};
use crate::wcodec::crew::Crew;
use crate::wcodec::data::Data;
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::levels::Measure;
use crate::wcodec::encode::model::{Modelled, model};
use crate::wcodec::encode::part::PlannedPart;
use crate::wcodec::encode::sources::Hints;
use crate::wcodec::encode::symbols::{Job, PlaneRef};
use crate::wcodec::encode::tiled::{Reference, tiled};
use crate::wcodec::layout::part::PartShape;
use crate::wcodec::plane::Role;
use crate::wcodec::predictor::Predictor;
use crate::wcodec::transform::Transform;

/// A part of symbols, or of bytes, whose classes are chosen.
pub(crate) struct ModelledPlane<'a> {
    job: Job<'a>,
    by: By<'a>,
}

/// What encodes a part.
enum By<'a> {
    Direct(Box<Modelled<'a>>),
    Forced(Tools),
}

impl<'a> ModelledPlane<'a> {
    pub(crate) fn new(
        role: Role,
        plane: PlaneRef<'a>,
        hints: Hints<'a>,
        reference: Option<Reference<'a>>,
        config: &Config,
        crew: Crew<'_>,
    ) -> Result<Self> {
        let shape = PartShape::Symbols { bits: plane.bits, rows: plane.rows, cols: plane.cols };
        let job = Job { reference, ..job(role, plane, shape, hints, config) };
        let by = match &config.tools {
            Some(tools) => By::Forced(tools.clone()),
            None => By::Direct(Box::new(model(&job, crew)?)),
        };
        Ok(Self { job, by })
    }

    /// Bytes that are no numbers.
    pub(crate) fn of_bytes(
        role: Role,
        data: Data<'a>,
        config: &Config,
        crew: Crew<'_>,
    ) -> Result<Self> {
        let shape = PartShape::Bytes { count: data.len() };
        let plane = PlaneRef { rows: 1, cols: data.len(), bits: 8, least: 0, data };
        let job = job(role, plane, shape, Hints::none(Measure::Place), config);
        let by = By::Direct(Box::new(model(&job, crew)?));
        Ok(Self { job, by })
    }

    /// Settles how it is encoded.
    pub(crate) fn plan(self, config: &Config, bank: &mut Bank) -> Result<PlannedPart<'a>> {
        let Self { mut job, by } = self;
        job.config = config.direct(job.plane.bits);
        let (data, before) = (job.plane.data, bank.len());
        let coded = match by {
            By::Forced(tools) => {
                let coded = tiled(&job, &tools, bank)?;
                if data.len() > 0 {
                    return Ok(coded);
                }
                coded
            }
            By::Direct(direct) => match job.shape {
                PartShape::Symbols { .. } => smallest(&job, *direct, config, bank)?,
                _ => direct.plan(job.config, bank),
            },
        };
        coded.or_raw(data, before, bank)
    }
}

/// Settles how symbols are encoded by the direct coder.
pub(crate) fn direct_of<'a>(job: &Job<'a>, bank: &mut Bank) -> Result<PlannedPart<'a>> {
    Ok(model(job, Crew::ALONE)?.plan(job.config, bank))
}

/// Symbols by the direct coder, and at the highest levels by whatever is smaller.
fn smallest<'a>(
    job: &Job<'a>,
    direct: Modelled<'a>,
    config: &Config,
    bank: &mut Bank,
) -> Result<PlannedPart<'a>> {
    let plane = job.plane;
    let mut best = direct.plan(job.config, bank);
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
        let other = tiled(job, &tools, bank)?;
        if other.bytes().end + bank.bytes_from(before) < best.bytes().end {
            best = other;
        } else {
            bank.take_from(before);
        }
    }
    Ok(best)
}

/// A job of the direct coder.
fn job<'a>(
    role: Role,
    plane: PlaneRef<'a>,
    shape: PartShape,
    hints: Hints<'a>,
    config: &Config,
) -> Job<'a> {
    let (config, watch) = (config.direct(plane.bits), config.watch.clone());
    Job { role, plane, shape, hints, reference: None, config, watch }
}
