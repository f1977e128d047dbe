//! Symbols by tiles: predicted, perhaps transformed, then by the direct or the bitplane coder.

mod groups;

use crate::error::{Error, Result};
use crate::wcodec::config::{Coder, Tools};
use crate::wcodec::crew::Crew;
use crate::wcodec::data::Data;
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::centre::{centre, centre_of_planes};
use crate::wcodec::encode::columns::means;
use crate::wcodec::encode::linear;
use crate::wcodec::encode::matrix::Matrix;
use crate::wcodec::encode::part::PlannedPart;
use crate::wcodec::encode::plane::direct_of;
use crate::wcodec::encode::symbols::{Job, STATES_BYTES, group_rows};
use crate::wcodec::layout::part::Codec;
use crate::wcodec::layout::prediction::{BY_TILE, Prediction};
use crate::wcodec::layout::source::PartOf;
use crate::wcodec::layout::symbols::{MOST_EXPANSION, Symbols};
use crate::wcodec::predictor::{Predictor, choose, magnitude_costs};
use crate::wcodec::threads;
use crate::wcodec::tiled::{Tiles, of_reference, tile_size};
use crate::wcodec::transform::{self, Transform};

use groups::{by_bitplanes, by_classes, coefficients};

/// Asks whether to go on.
type Ask<'a> = &'a (dyn Fn() -> Result<()> + Sync);

/// A plane that this one may be predicted by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reference<'a> {
    pub(crate) of: &'a PartOf,
    pub(crate) symbols: Data<'a>,
}

/// A group after prediction and transforms.
struct Prepared {
    tiles: Tiles,
    /// Residuals mod 2^bits, where nothing is transformed.
    symbols: Vec<u8>,
    /// Residuals or coefficients.
    values: Vec<i16>,
}

/// Encodes a part of symbols with given tools.
pub(crate) fn tiled<'a>(job: &Job<'a>, tools: &Tools, bank: &mut Bank) -> Result<PlannedPart<'a>> {
    let Job { role, plane, shape, .. } = *job;
    // Tiles reach over groups of rows in what is learned of them: the plane is held.
    let whole = plane.data.whole()?;
    let matrix = Matrix {
        symbols: Data::Held(&whole),
        cols: plane.cols,
        bits: plane.bits,
        crew: Crew::ALONE,
    };
    let (mut symbols, prepared) = predicted(job, tools, matrix, &whole)?;
    let before = bank.len();
    let groups = match tools.coder {
        Coder::Bitplane => by_bitplanes(job, tools, matrix, (&mut symbols, &prepared), bank)?,
        Coder::Direct if symbols.has_transform() => {
            coefficients(&mut symbols, &prepared, job.config, bank)?
        }
        Coder::Direct => by_classes(job, tools, matrix, (&mut symbols, &prepared), bank)?,
    };
    if !believable(&symbols, &groups) {
        bank.take_from(before);
        return direct_of(job, bank);
    }
    let codec = match tools.coder {
        Coder::Bitplane => Codec::Bitplane(symbols),
        Coder::Direct => Codec::Direct(symbols),
    };
    Ok(PlannedPart::done(role, shape, codec, groups))
}

/// How a part is coded, but for classes and tables; and its groups after prediction and transforms.
fn predicted(
    job: &Job<'_>,
    tools: &Tools,
    matrix: Matrix<'_>,
    held: &[u8],
) -> Result<(Symbols, Vec<Prepared>)> {
    let Job { plane, reference, config, ref watch, .. } = *job;
    let ask = || watch.ask();
    let (prediction, among) = prediction((matrix, held, plane.least), tools, reference, &ask)?;
    let bitplane = tools.coder == Coder::Bitplane;
    // Of planes without a bit set a group is a byte, of direct ones never less than its states.
    let fewest = if bitplane { 1 } else { STATES_BYTES };
    let symbols = Symbols {
        count: held.len(),
        cols: matrix.cols,
        group_rows: group_rows(matrix, config, fewest),
        prediction: Some(prediction),
        table_bits: config.table_bits,
        compact: !bitplane,
        ..Symbols::default()
    };
    let prepare = |group: usize| {
        ask()?;
        let of = (held, matrix.bits);
        prepare(of, &symbols, group, &among, &tools.transforms, reference, bitplane)
    };
    let prepared = threads::map(symbols.groups(), config.threads, prepare);
    let prepared = prepared.into_iter().collect::<Result<_>>()?;
    Ok((symbols, prepared))
}

/// Whether no group holds more than readers believe: one of a long row of next to nothing may. Without a prediction rows
/// can be cut anew.
fn believable(symbols: &Symbols, groups: &[Vec<u8>]) -> bool {
    let most = |group: &Vec<u8>| group.len().saturating_mul(MOST_EXPANSION);
    groups.iter().enumerate().all(|(i, group)| symbols.group_range(i).len() <= most(group))
}

/// The predictors of `tools` that there is what they need for, and all that they need.
fn prediction(
    (matrix, held, least): (Matrix<'_>, &[u8], u8),
    tools: &Tools,
    reference: Option<Reference<'_>>,
    ask: Ask<'_>,
) -> Result<(Prediction, Vec<Predictor>)> {
    let mut among: Vec<Predictor> = tools.predictors.clone();
    among.retain(|&p| p != Predictor::Reference || reference.is_some());
    // Weights are for all tiles or none.
    among.retain(|&p| p != Predictor::Linear || tools.predictors.len() == 1);
    if among.is_empty() {
        among.push(Predictor::None);
    }
    let has = |p: Predictor| among.contains(&p);
    let histogram = matrix.count(1)?;
    let mean = centre(&histogram, matrix.bits);
    let linear = has(Predictor::Linear);
    let means = if linear || has(Predictor::Column) { Some(means(matrix)?) } else { None };
    let weights = match means.as_deref().filter(|_| linear) {
        Some(means) => linear::fit(held, matrix.cols, matrix.bits, means, mean, ask)?,
        None => None,
    };
    if linear && weights.is_none() {
        among = vec![Predictor::None];
    }
    let by_itself = among == [Predictor::None] && tools.coder == Coder::Bitplane;
    let centre = match by_itself {
        true => centre_of_planes(&histogram, matrix.bits, least),
        false => mean,
    };
    let reference = reference.filter(|_| among.contains(&Predictor::Reference));
    let [tile_rows, tile_cols] = tools.tile.sides();
    let prediction = Prediction {
        tile_rows,
        tile_cols,
        predictor: if among.len() > 1 { BY_TILE } else { among[0].id() },
        centre,
        transform: tools.transforms.iter().any(|&t| t != Transform::None),
        means,
        weights,
        reference: reference.map(|r| r.of.clone()),
    };
    Ok((prediction, among))
}

/// What predicts the tiles of a part.
fn prediction_of(symbols: &Symbols) -> Result<&Prediction> {
    symbols.prediction.as_ref().ok_or_else(|| Error::invalid("tiles without a prediction"))
}

/// Predicts and transforms one group.
fn prepare(
    (symbols, bits): (&[u8], u32),
    coded: &Symbols,
    group: usize,
    among: &[Predictor],
    transforms: &[Transform],
    reference: Option<Reference<'_>>,
    whole: bool,
) -> Result<Prepared> {
    let prediction = prediction_of(coded)?;
    let range = coded.group_range(group);
    let data = &symbols[range.clone()];
    let rows = data.len().checked_div(coded.cols).unwrap_or(0);
    let reference = reference.map(|r| of_reference(r.symbols, range)).transpose()?;
    let reference = reference.unwrap_or_default();
    let mut tiles = Tiles { predictors: vec![among[0]], codes: Vec::new() };
    if among.len() > 1 {
        let band = tiles.band(prediction, bits, rows, coded.cols, &reference)?;
        let chosen = choose(&band, among, &magnitude_costs(bits), data)?;
        tiles.predictors = chosen;
    }
    let band = tiles.band(prediction, bits, rows, coded.cols, &reference)?;
    let mut residuals = vec![0u8; data.len()];
    band.residual_symbols(data, &mut residuals)?;
    let mut values = Vec::new();
    if whole || prediction.transform {
        values = vec![0i16; data.len()];
        band.residuals(data, &mut values)?;
    }
    if prediction.transform {
        let size = tile_size(prediction)?;
        let codes = transform::choose_all(size, coded.cols, &values, transforms);
        transform::forward(&codes, size, coded.cols, &mut values)?;
        tiles.codes = codes;
    }
    Ok(Prepared { tiles, symbols: residuals, values })
}
