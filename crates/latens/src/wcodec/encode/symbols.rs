//! Symbols by the direct coder.

use crate::ans::rans::{self, MAX_TABLE_BITS};
use crate::error::Result;
use crate::watch::Watch;
use crate::wcodec::data::Data;
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::candidates::{circular_mean, sample_step};
use crate::wcodec::encode::columns::{Centred, column_means, means, subtract};
use crate::wcodec::encode::cost;
use crate::wcodec::encode::linear;
use crate::wcodec::encode::matrix::Matrix;
use crate::wcodec::encode::part::{MOST_KEPT, PlannedPart, Way};
use crate::wcodec::encode::plan::{Explained, Plan, explain, glance};
use crate::wcodec::encode::sources::{Hints, Sources};
use crate::wcodec::encode::streams::Direct;
use crate::wcodec::encode::tiled::Reference;
use crate::wcodec::layout::part::PartShape;
use crate::wcodec::layout::short_stream;
use crate::wcodec::layout::symbols::{
    COLUMN, LINEAR, MOST_EXPANSION, Prediction, REFERENCE, Symbols,
};
use crate::wcodec::plane::Role;
use crate::wcodec::predictor::linear::{MAX_REACH, Weights};
use crate::wcodec::tiled::Tiles;

/// Symbols of a row where they are recut.
const RECUT_COLS: usize = 1 << 16;
/// Symbols from which on finer tables may pay, and bits a symbol that the usual ones may lose.
const FINE: usize = 1 << 19;
const LOSS: f64 = 0.008;
/// Rows longer than this are recut.
const MAX_COLS: usize = 1 << 20;

/// Settings of the direct coder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DirectConfig {
    /// Symbols of a group, at least; 0 for what suits the tensor.
    pub(crate) group_symbols: usize,
    pub(crate) table_bits: u32,
    /// Threads for groups.
    pub(crate) threads: usize,
    /// By how much symbols coded in pairs, which decode twice as fast, may be larger.
    pub(crate) pairs_slack: f64,
    /// Whether columns may be predicted from others, which takes long.
    pub(crate) linear: bool,
    /// Whether means of columns are weighed on a few rows only.
    pub(crate) quick: bool,
}

/// What the lane states of a group take.
pub(crate) const STATES_BYTES: usize = 4 * rans::LANES;

/// Symbols of a group; those of large tensors are smaller, so that it takes little to read a few rows,
/// but where lane states would weigh too much.
const GROUP: usize = 1 << 18;
const LARGE: usize = 1 << 24;

/// Rows of a group: about as many symbols as `config` says, and no more than readers believe of
/// `fewest` stored bytes, fewer than which no group takes.
pub(crate) fn group_rows(matrix: Matrix<'_>, config: DirectConfig, fewest: usize) -> usize {
    let (symbols, cols) = (matrix.len(), matrix.cols.max(1));
    let least = match config.group_symbols {
        0 if symbols >= LARGE && matrix.bits > 4 => GROUP / 2,
        0 => GROUP,
        given => given,
    };
    let rows = symbols.div_ceil(cols);
    let groups = (symbols / least.max(1)).clamp(1, rows.max(1));
    let most = fewest * MOST_EXPANSION / cols;
    rows.div_ceil(groups).clamp(1, most.max(1))
}

/// Symbols of a part, where they are in memory or where they can be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlaneRef<'a> {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) bits: u32,
    pub(crate) data: Data<'a>,
}

/// Symbols to be encoded.
#[derive(Clone, Debug)]
pub(crate) struct Job<'a, 'r> {
    pub(crate) role: Role,
    pub(crate) plane: PlaneRef<'a>,
    pub(crate) shape: PartShape,
    pub(crate) hints: Hints<'a>,
    /// A plane that this one may be predicted by.
    pub(crate) reference: Option<Reference<'r>>,
    pub(crate) config: DirectConfig,
    pub(crate) watch: Watch,
}

/// What symbols are coded by, so far.
struct Choice {
    plan: Plan,
    prediction: Option<Prediction>,
    /// What is left of the symbols where all of it was made.
    residuals: Option<Vec<u8>>,
}

/// Settles how a part of symbols is encoded.
pub(crate) fn direct<'a>(job: &Job<'a, '_>, bank: &mut Bank) -> Result<PlannedPart<'a>> {
    let Job { role, plane, shape, ref hints, mut config, .. } = *job;
    let recut = plane.rows == 1 && plane.cols > RECUT_COLS || plane.cols > MAX_COLS;
    let cols = if recut { RECUT_COLS } else { plane.cols };
    let hints = if recut { Hints::none(hints.measure) } else { hints.clone() };
    let matrix = Matrix { symbols: plane.data, cols, bits: plane.bits };
    let sources = Sources::new(hints, cols)?;
    let before = bank.len();
    let mut columns = match sources.hints.side {
        true => column_means(matrix, &matrix.count(sample_step(matrix))?)?,
        false => None,
    };
    let mut surely = None;
    if config.quick
        && job.reference.is_none()
        && let Some(means) = columns.take()
        && pays_at_a_glance(matrix, &means, &sources)?
    {
        surely = Some(means);
    }
    let mut chosen;
    let mut paired = None;
    if let Some(means) = surely {
        let explained = centred(matrix, &means, |data| {
            explain(Matrix { symbols: data, ..matrix }, &sources, None)
        })?;
        let plan = finer(&explained, matrix.len(), &mut config, bank);
        let prediction = Some(Prediction { means: Some(means), ..uniform(COLUMN) });
        chosen = Choice { plan, prediction, residuals: None };
    } else {
        let explained = explain(matrix, &sources, None)?;
        let plan = finer(&explained, matrix.len(), &mut config, bank);
        chosen = Choice { plan, prediction: None, residuals: None };
        let predict = Predict { matrix, sources: &sources, table_bits: config.table_bits, before };
        predict.all(job, &explained, columns, recut, &mut chosen, bank)?;
        if chosen.prediction.is_none() {
            let kept = bank.take_from(before);
            paired = in_pairs(matrix, &sources, &explained, config, bank)?;
            paired = paired.filter(|p| p.bits <= chosen.plan.bits * (1.0 + config.pairs_slack));
            if paired.is_none() {
                bank.take_from(before);
                bank.give_back(kept);
            }
        }
    }
    let pairs = paired.is_some();
    if let Some(plan) = paired {
        (chosen.plan, config.table_bits) = (plan, PAIR_BITS);
    }
    let cost = chosen.plan.bits_of_symbols(pairs, bank);
    let roughly = pairs || chosen.plan.estimated;
    let Choice { plan: Plan { tables, classes, .. }, prediction, residuals } = chosen;
    let symbols = Symbols {
        count: matrix.len(),
        recut: recut.then_some(cols),
        cols,
        pairs,
        group_rows: group_rows(matrix, config, STATES_BYTES),
        prediction,
        table_bits: config.table_bits,
        tables,
        classes,
    };
    let (data, width) = (plane.data, plane.bits);
    let direct = Direct { data, residuals, symbols, width, sources, cost, roughly };
    Ok(PlannedPart::new(role, shape, Way::Direct(Box::new(direct)), config.threads))
}

/// Gives tables to classes: larger ones where the usual ones lose too much of many symbols.
fn finer(explained: &Explained, n: usize, config: &mut DirectConfig, bank: &mut Bank) -> Plan {
    let before = bank.len();
    let usual = explained.tables(config.table_bits, bank);
    if n < FINE || usual.bits <= cost::entropy(&explained.whole) + LOSS * n as f64 {
        return usual;
    }
    // Rare symbols take a slot each of a table, and are less than that.
    let kept = bank.take_from(before);
    let finer = explained.tables(MAX_TABLE_BITS, bank);
    if finer.bits < usual.bits {
        config.table_bits = MAX_TABLE_BITS;
        return finer;
    }
    bank.take_from(before);
    bank.give_back(kept);
    usual
}

/// Predictors of all tiles, weighed against what was chosen before.
struct Predict<'p> {
    matrix: Matrix<'p>,
    sources: &'p Sources<'p>,
    table_bits: u32,
    /// Tables that were there before those of this part.
    before: usize,
}

impl Predict<'_> {
    fn all(
        &self,
        job: &Job<'_, '_>,
        explained: &Explained,
        columns: Option<Vec<u8>>,
        recut: bool,
        chosen: &mut Choice,
        bank: &mut Bank,
    ) -> Result<()> {
        let (matrix, side) = (self.matrix, self.sources.hints.side);
        let (symbols, bits) = (matrix.symbols, matrix.bits);
        if let Some(means) = columns {
            let candidate = Prediction { means: Some(means.clone()), ..uniform(COLUMN) };
            if centred(matrix, &means, |data| self.pays(data, candidate, chosen, bank))? {
                chosen.residuals = None;
            }
        }
        let reference = job.reference.filter(|r| r.symbols.len() == matrix.len() && !recut);
        if let (Some(reference), Some(symbols)) = (reference, symbols.held()) {
            let mut data = symbols.to_vec();
            subtract(&mut data, reference.symbols, bits);
            let of = Some(reference.of.clone());
            let candidate = Prediction { reference: of, ..uniform(REFERENCE) };
            if self.pays(Data::Held(&data), candidate, chosen, bank)? {
                chosen.residuals = Some(data);
            }
        }
        if let Some(symbols) = symbols.held()
            && job.config.linear
            && side
            && job.role == Role::Weights
            && is_tall(matrix)
        {
            let centre = u8::try_from(circular_mean(&explained.whole, 1 << bits)).unwrap_or(0);
            let means = means(matrix)?;
            let ask = || job.watch.ask();
            if let Some(weights) = linear::fit(symbols, matrix.cols, bits, &means, centre, &ask)? {
                let weights = Some(weights);
                let candidate =
                    Prediction { centre, means: Some(means), weights, ..uniform(LINEAR) };
                let data = residuals_of(&candidate, symbols, matrix, &ask)?;
                if self.pays(Data::Held(&data), candidate, chosen, bank)? {
                    chosen.residuals = Some(data);
                }
            }
        }
        Ok(())
    }

    /// Whether `candidate`, which leaves `data`, is better than what was chosen; it is chosen then.
    fn pays(
        &self,
        data: Data<'_>,
        candidate: Prediction,
        chosen: &mut Choice,
        bank: &mut Bank,
    ) -> Result<bool> {
        let kept = bank.take_from(self.before);
        let residual = Matrix { symbols: data, ..self.matrix };
        let other = explain(residual, self.sources, None)?.tables(self.table_bits, bank);
        let weights = candidate.weights.as_ref().map(Weights::bytes);
        let streams = candidate.means.iter().chain(&weights);
        let stream: usize = streams.map(|values| short_stream::cost(values)).sum();
        let pays = other.bits + stream_bits(stream) <= chosen.plan.bits;
        if pays {
            (chosen.plan, chosen.prediction) = (other, Some(candidate));
        } else {
            bank.take_from(self.before);
            bank.give_back(kept);
        }
        Ok(pays)
    }
}

/// Whether means of columns pay, by what some rows say: all symbols are explained one way only then.
fn pays_at_a_glance(matrix: Matrix<'_>, means: &[u8], sources: &Sources<'_>) -> Result<bool> {
    let stream = stream_bits(short_stream::cost(means));
    let of = |data: Data<'_>| glance(Matrix { symbols: data, ..matrix }, sources);
    Ok(centred(matrix, means, of)? + stream <= of(matrix.symbols)?)
}

/// Bits of a prediction whose streams take so many bytes.
fn stream_bits(bytes: usize) -> f64 {
    8.0 * (bytes + 24) as f64
}

/// What `f` makes of what the means of columns leave of symbols: in memory where it is little.
fn centred<T>(
    matrix: Matrix<'_>,
    means: &[u8],
    f: impl FnOnce(Data<'_>) -> Result<T>,
) -> Result<T> {
    let centred = Centred { symbols: matrix.symbols, means, bits: matrix.bits };
    let whole = Data::Read(&centred).whole_if(matrix.len() <= MOST_KEPT)?;
    f(whole.as_deref().map_or(Data::Read(&centred), Data::Held))
}

/// One predictor for all tiles.
fn uniform(predictor: u8) -> Prediction {
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
    matrix.cols >= 8 && rows >= 16 * matrix.cols.min(MAX_REACH)
}

/// What one predictor for all tiles leaves of the symbols.
fn residuals_of(
    prediction: &Prediction,
    symbols: &[u8],
    matrix: Matrix<'_>,
    ask: &dyn Fn() -> Result<()>,
) -> Result<Vec<u8>> {
    let mut data = vec![0; symbols.len()];
    let tiles = Tiles::of_all(prediction);
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

/// Size of the tables of pairs: those of 2^14 slots save 0.01 % more, and take twice the memory of
/// a decoder.
const PAIR_BITS: u32 = 13;
/// Symbols from which on pairs may pay.
const PAIRED: usize = 1 << 14;

/// Two symbols of four bits as one: tables are products of those of single ones, which halves
/// the steps of a decoder. `None` where that cannot be.
fn in_pairs(
    matrix: Matrix<'_>,
    sources: &Sources<'_>,
    explained: &Explained,
    config: DirectConfig,
    bank: &mut Bank,
) -> Result<Option<Plan>> {
    let n = matrix.len();
    let even = matrix.cols.is_multiple_of(2) && n.is_multiple_of(2);
    if matrix.bits != 4 || !even || n < PAIRED {
        return Ok(None);
    }
    let Some(explained) = explained.of_pairs(matrix, sources)? else { return Ok(None) };
    let mut plan = explained.tables(config.table_bits, bank);
    for (table, histogram) in plan.tables.iter_mut().zip(&plan.histograms) {
        let before = bank.len();
        let Some(product) = bank.product(*table, *table, PAIR_BITS) else {
            return Ok(None);
        };
        let single = bank.bits_under(*table, histogram);
        plan.bits += bank.bits_of_pairs(product, histogram) - single;
        plan.bits += 8.0 * bank.bytes_from(before) as f64;
        *table = product;
    }
    if let Some(rule) = &mut plan.classes {
        rule.cols = rule.cols.as_chunks::<2>().0.iter().map(|[first, _]| *first).collect();
    }
    Ok(Some(plan))
}
