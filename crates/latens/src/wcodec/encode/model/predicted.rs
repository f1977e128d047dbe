//! What predictors leave of symbols: by another plane, and by other columns.

use super::{Modelling, Paired};
use crate::error::Result;
use crate::spare;
use crate::wcodec::data::{Data, Stretches};
use crate::wcodec::encode::candidates::sample_step;
use crate::wcodec::encode::centre::centre;
use crate::wcodec::encode::columns::{Centred, means};
use crate::wcodec::encode::linear;
use crate::wcodec::encode::matrix::Matrix;
use crate::wcodec::encode::part::MOST_KEPT;
use crate::wcodec::encode::plan::{Explained, explain};
use crate::wcodec::encode::referenced::Referenced;
use crate::wcodec::encode::sources::Sources;
use crate::wcodec::encode::symbols::{GROUP, Job};
use crate::wcodec::layout::prediction::{LINEAR, Prediction, REFERENCE};
use crate::wcodec::layout::short_stream;
use crate::wcodec::plane::Role;
use crate::wcodec::predictor::linear::{MAX_REACH, Weights};
use crate::wcodec::tiled::Tiles;

/// What a prediction leaves of symbols.
pub(super) struct Predicted {
    pub(super) prediction: Prediction,
    pub(super) modelling: Modelling,
    /// All of it, where it was made as a whole.
    pub(super) residuals: Option<Vec<u8>>,
}

/// What another plane leaves of symbols.
pub(super) fn by_reference(
    job: &Job<'_>,
    matrix: Matrix<'_>,
    sources: &Sources<'_>,
) -> Result<Option<Predicted>> {
    let Some(reference) = job.reference else { return Ok(None) };
    let left =
        Referenced { symbols: matrix.symbols, reference: reference.symbols, bits: matrix.bits };
    let of = Some(reference.of.clone());
    let prediction = Prediction { reference: of, ..uniform(REFERENCE) };
    if matrix.len() > MOST_KEPT {
        return Predicted::new(prediction, Data::Read(&left), matrix, sources).map(Some);
    }
    let mut data = Vec::new();
    left.read(0..matrix.len(), &mut data)?;
    let predicted = Predicted::new(prediction, Data::Held(&data), matrix, sources)?;
    Ok(Some(Predicted { residuals: Some(data), ..predicted }))
}

/// What other columns leave of those of `explained` symbols.
pub(super) fn by_columns(
    job: &Job<'_>,
    matrix: Matrix<'_>,
    sources: &Sources<'_>,
    explained: &Explained,
) -> Result<Option<Predicted>> {
    let wanted = job.config.slow_reading && sources.hints.side && job.role == Role::Weights;
    let Some(symbols) = matrix.symbols.held().filter(|_| wanted && is_tall(matrix)) else {
        return Ok(None);
    };
    let centre = centre(&explained.whole, matrix.bits);
    let means = means(matrix)?;
    let ask = || job.watch.ask();
    let weights = linear::fit(symbols, matrix.cols, matrix.bits, &means, centre, &ask)?;
    if weights.is_none() {
        return Ok(None);
    }
    let prediction = Prediction { centre, means: Some(means), weights, ..uniform(LINEAR) };
    let data = residuals_of(&prediction, symbols, matrix, &ask)?;
    let predicted = Predicted::new(prediction, Data::Held(&data), matrix, sources)?;
    Ok(Some(Predicted { residuals: Some(data), ..predicted }))
}

impl Predicted {
    fn new(
        prediction: Prediction,
        symbols: Data<'_>,
        matrix: Matrix<'_>,
        sources: &Sources<'_>,
    ) -> Result<Self> {
        let left = Matrix { symbols, ..matrix };
        let mut single = explain(left, sources, left.count(sample_step(left))?, None)?;
        single.complete(left, sources)?;
        let modelling = Modelling { single, pairs: Paired::None };
        Ok(Self { prediction, modelling, residuals: None })
    }

    /// Bits of what the prediction itself takes.
    pub(super) fn stream_bits(&self) -> f64 {
        let weights = self.prediction.weights.as_ref().map(Weights::bytes);
        let streams = self.prediction.means.iter().chain(&weights);
        stream_bits(streams.map(|values| short_stream::cost(values)).sum())
    }
}

/// Bits of a prediction whose streams take so many bytes.
pub(super) fn stream_bits(bytes: usize) -> f64 {
    8.0 * (bytes + 24) as f64
}

/// One predictor for all tiles.
pub(super) fn uniform(predictor: u8) -> Prediction {
    Prediction {
        tile_rows: 16,
        tile_cols: 16,
        predictor,
        centre: 0,
        transform: false,
        means: None,
        weights: None,
        reference: None,
    }
}

/// Whether there are rows enough for weights between columns to be worth their bytes.
fn is_tall(matrix: Matrix<'_>) -> bool {
    let rows = matrix.len().checked_div(matrix.cols).unwrap_or(0);
    matrix.cols >= 8 && rows >= 2 * matrix.cols.min(MAX_REACH)
}

/// What one predictor for all tiles leaves of the symbols.
fn residuals_of(
    prediction: &Prediction,
    symbols: &[u8],
    matrix: Matrix<'_>,
    ask: &dyn Fn() -> Result<()>,
) -> Result<Vec<u8>> {
    let mut data = vec![0; symbols.len()];
    let tiles = Tiles::of_all(prediction)?;
    let cols = matrix.cols.max(1);
    // A row is predicted by itself, so a few can be as well as all.
    let step = (GROUP / cols).max(1) * cols;
    for (out, symbols) in data.chunks_mut(step).zip(symbols.chunks(step)) {
        ask()?;
        let band = tiles.band(prediction, matrix.bits, symbols.len() / cols, cols, &[])?;
        band.residual_symbols(symbols, out)?;
    }
    Ok(data)
}

/// What `f` makes of what the means of columns leave of symbols: in memory where it is little.
pub(super) fn centred<T>(
    matrix: Matrix<'_>,
    means: &[u8],
    f: impl FnOnce(Data<'_>) -> Result<T>,
) -> Result<T> {
    let centred = Centred { symbols: matrix.symbols, means, bits: matrix.bits };
    if matrix.len() > MOST_KEPT {
        return f(Data::Read(&centred));
    }
    let mut whole = spare::stale_bytes(matrix.len());
    centred.read(0..matrix.len(), &mut whole)?;
    let made = f(Data::Held(&whole));
    spare::give_bytes(whole);
    made
}
