//! Classes of symbols by the direct coder, and the predictor that leaves the least of them. What takes the
//! time of it knows nothing of other tensors; tables, which they share, come last.

use crate::ans::rans::MAX_TABLE_BITS;
use crate::error::Result;
use crate::wcodec::crew::Crew;
use crate::wcodec::data::Data;
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::candidates::{circular_mean, sample_step};
use crate::wcodec::encode::columns::{Centred, Means, column_means, means, subtract};
use crate::wcodec::encode::cost::{self, Histogram};
use crate::wcodec::encode::linear;
use crate::wcodec::encode::matrix::Matrix;
use crate::wcodec::encode::part::{MOST_KEPT, PlannedPart, Way};
use crate::wcodec::encode::plan::{Explained, Pairs, Plan, explain, glance};
use crate::wcodec::encode::sources::{Hints, Sources};
use crate::wcodec::encode::streams::Direct;
use crate::wcodec::encode::symbols::{DirectConfig, GROUP, Job, STATES_BYTES, group_rows};
use crate::wcodec::encode::tally::Tallies;
use crate::wcodec::layout::part::PartShape;
use crate::wcodec::layout::short_stream;
use crate::wcodec::layout::symbols::{COLUMN, LINEAR, Prediction, REFERENCE, Symbols};
use crate::wcodec::plane::Role;
use crate::wcodec::predictor::linear::{MAX_REACH, Weights};
use crate::wcodec::tiled::Tiles;

/// Symbols of a row where they are recut, and what rows are longer than then.
const RECUT_COLS: usize = 1 << 16;
const MAX_COLS: usize = 1 << 20;
/// Symbols from which on finer tables may pay, and bits a symbol that the usual ones may lose.
const FINE: usize = 1 << 19;
const LOSS: f64 = 0.008;
/// Bits of symbols whose tables are much alike, and of fewer symbols than these the size of the tables: half
/// of the usual one, so that the nearest cache of a decoder holds all of them.
const FEW_BITS: u32 = 4;
const FEW: usize = 1 << 20;
const SMALL_TABLE_BITS: u32 = 10;

/// Symbols whose classes are chosen, by themselves and by what predictors leave of them; tables, which
/// they share with other tensors, decide between these.
pub(crate) struct Modelled<'a> {
    role: Role,
    shape: PartShape,
    matrix: Matrix<'a>,
    sources: Sources<'a>,
    recut: bool,
    /// The symbols themselves; `None` where the first prediction surely is better.
    plain: Option<Modelling>,
    predicted: Vec<Predicted>,
}

/// Symbols, or what a prediction leaves of them, and pairs of these where they may be coded so.
struct Modelling {
    /// Where these are surely coded in pairs, what explains them so.
    single: Explained,
    pairs: Paired,
}

/// What explains pairs of symbols.
enum Paired {
    None,
    /// What explains single ones.
    Alike,
    /// That, and they are not coded otherwise.
    Surely,
    Apart(Box<Explained>),
}

/// What a prediction leaves of symbols.
struct Predicted {
    prediction: Prediction,
    modelling: Modelling,
    /// All of it, where it had to be made.
    residuals: Option<Vec<u8>>,
}

/// Chooses classes for a part of symbols.
pub(crate) fn model<'a>(job: &Job<'a, '_>, crew: Crew<'_>) -> Result<Modelled<'a>> {
    let Job { role, plane, shape, ref hints, config, .. } = *job;
    let recut = plane.rows == 1 && plane.cols > RECUT_COLS || plane.cols > MAX_COLS;
    let cols = if recut { RECUT_COLS } else { plane.cols };
    let hints = if recut { Hints::none(hints.measure) } else { hints.clone() };
    let own = Matrix { symbols: plane.data, cols, bits: plane.bits, crew: Crew::ALONE };
    let matrix = Matrix { crew, ..own };
    let sources = Sources::new(hints, cols)?;
    let sampled = matrix.count(sample_step(matrix))?;
    let columns = match sources.hints.side {
        true => column_means(matrix, &sampled)?,
        false => None,
    };
    let (mut plain, mut predicted) = (None, Vec::new());
    let quick = config.quick && job.reference.is_none();
    let pairing = Pairing { slack: config.pairs_slack, alone: quick };
    let surely = match &columns {
        Some(means) if quick => pays_at_a_glance(matrix, &means.symbols, &sources, &sampled)?,
        _ => false,
    };
    if let Some(means) = columns.filter(|_| surely || !quick) {
        let Means { symbols: means, leanings } = means;
        let leanings = if own.bits <= FEW_BITS { leanings } else { Vec::new() };
        let modelling = centred(matrix, &means, |data| {
            let left = Matrix { symbols: data, ..matrix };
            Modelling::new(left, &sources, left.count(sample_step(left))?, &leanings, pairing)
        })?;
        let prediction = Prediction { means: Some(means), ..uniform(COLUMN) };
        predicted.push(Predicted { prediction, modelling, residuals: None });
    }
    if !surely {
        let modelling = Modelling::new(matrix, &sources, sampled, &[], pairing)?;
        predicted.extend(by_reference(job, matrix, &sources, recut)?);
        predicted.extend(by_columns(job, matrix, &sources, &modelling.single)?);
        plain = Some(modelling);
    }
    // Of few bits, most get tables that are there.
    if !crew.is_alone() && own.bits > FEW_BITS {
        let predicted = predicted.iter_mut().map(|candidate| &mut candidate.modelling);
        let all = predicted.chain(&mut plain);
        all.for_each(|modelling| modelling.single.prepare(job.config.table_bits));
    }
    Ok(Modelled { role, shape, matrix: own, sources, recut, plain, predicted })
}

/// What pairs may take.
#[derive(Clone, Copy)]
struct Pairing {
    /// More than single symbols by so much, as a share.
    slack: f64,
    /// Whether nothing else is held against what is modelled.
    alone: bool,
}

impl Modelling {
    /// Of symbols, of which `sampled` are those of every so manieth row.
    fn new(
        matrix: Matrix<'_>,
        sources: &Sources<'_>,
        sampled: Histogram,
        leanings: &[u8],
        pairing: Pairing,
    ) -> Result<Self> {
        let mut single = explain(matrix, sources, sampled, None, leanings)?;
        let pairs = match may_pair(matrix) {
            true => single.of_pairs(matrix, sources, pairing.slack)?,
            false => Pairs::None,
        };
        let pairs = match pairs {
            Pairs::Apart { explained, surely } if surely && pairing.alone => {
                return Ok(Self { single: *explained, pairs: Paired::Surely });
            }
            Pairs::Apart { explained, .. } => Paired::Apart(explained),
            Pairs::Alike => Paired::Alike,
            Pairs::None => Paired::None,
        };
        single.complete(matrix, sources)?;
        Ok(Self { single, pairs })
    }

    /// What explains pairs of symbols, if they may be coded so.
    fn pairs(&self) -> Option<&Explained> {
        match &self.pairs {
            Paired::None => None,
            Paired::Alike | Paired::Surely => Some(&self.single),
            Paired::Apart(explained) => Some(explained),
        }
    }

    /// Tables for single symbols; none where they are not coded so.
    fn tables(&self, n: usize, config: &mut DirectConfig, bank: &mut Bank) -> Plan {
        match self.pairs {
            Paired::Surely => Plan { bits: f64::INFINITY, ..Plan::default() },
            _ => finer(&self.single, n, config, bank),
        }
    }
}

/// What another plane leaves of symbols.
fn by_reference(
    job: &Job<'_, '_>,
    matrix: Matrix<'_>,
    sources: &Sources<'_>,
    recut: bool,
) -> Result<Option<Predicted>> {
    let reference = job.reference.filter(|r| r.symbols.len() == matrix.len() && !recut);
    let (Some(reference), Some(symbols)) = (reference, matrix.symbols.held()) else {
        return Ok(None);
    };
    let mut data = symbols.to_vec();
    subtract(&mut data, reference.symbols, matrix.bits);
    let of = Some(reference.of.clone());
    let prediction = Prediction { reference: of, ..uniform(REFERENCE) };
    Predicted::new(prediction, data, matrix, sources).map(Some)
}

/// What other columns leave of those of `explained` symbols.
fn by_columns(
    job: &Job<'_, '_>,
    matrix: Matrix<'_>,
    sources: &Sources<'_>,
    explained: &Explained,
) -> Result<Option<Predicted>> {
    let wanted = job.config.linear && sources.hints.side && job.role == Role::Weights;
    let Some(symbols) = matrix.symbols.held().filter(|_| wanted && is_tall(matrix)) else {
        return Ok(None);
    };
    let centre = u8::try_from(circular_mean(&explained.whole, 1 << matrix.bits)).unwrap_or(0);
    let means = means(matrix)?;
    let ask = || job.watch.ask();
    let weights = linear::fit(symbols, matrix.cols, matrix.bits, &means, centre, &ask)?;
    if weights.is_none() {
        return Ok(None);
    }
    let prediction = Prediction { centre, means: Some(means), weights, ..uniform(LINEAR) };
    let data = residuals_of(&prediction, symbols, matrix, &ask)?;
    Predicted::new(prediction, data, matrix, sources).map(Some)
}

impl Predicted {
    fn new(
        prediction: Prediction,
        data: Vec<u8>,
        matrix: Matrix<'_>,
        sources: &Sources<'_>,
    ) -> Result<Self> {
        let left = Matrix { symbols: Data::Held(&data), ..matrix };
        let mut single = explain(left, sources, left.count(sample_step(left))?, None, &[])?;
        single.complete(left, sources)?;
        let modelling = Modelling { single, pairs: Paired::None };
        Ok(Self { prediction, modelling, residuals: Some(data) })
    }

    /// Bits of what the prediction itself takes.
    fn stream_bits(&self) -> f64 {
        let weights = self.prediction.weights.as_ref().map(Weights::bytes);
        let streams = self.prediction.means.iter().chain(&weights);
        stream_bits(streams.map(|values| short_stream::cost(values)).sum())
    }
}

impl<'a> Modelled<'a> {
    /// Settles how the symbols are encoded.
    pub(crate) fn plan(self, mut config: DirectConfig, bank: &mut Bank) -> PlannedPart<'a> {
        let Self { role, shape, matrix, sources, recut, plain, predicted } = self;
        if matrix.bits <= FEW_BITS && matrix.len() < FEW {
            config.table_bits = config.table_bits.min(SMALL_TABLE_BITS);
        }
        let before = bank.len();
        let mut predicted = predicted.into_iter();
        let mut chosen = match &plain {
            Some(plain) => (plain.tables(matrix.len(), &mut config, bank), None),
            None => {
                let first = predicted.next();
                let modelling = first.as_ref().map(|first| &first.modelling);
                let plan = modelling.map(|m| m.tables(matrix.len(), &mut config, bank));
                (plan.unwrap_or_default(), first)
            }
        };
        for candidate in predicted {
            let kept = bank.take_from(before);
            let plan = candidate.modelling.single.tables(config.table_bits, bank);
            if plan.bits + candidate.stream_bits() <= chosen.0.bits {
                chosen = (plan, Some(candidate));
            } else {
                bank.take_from(before);
                bank.give_back(kept);
            }
        }
        let (mut plan, chosen) = chosen;
        let mut paired = false;
        let modelling = chosen.as_ref().map(|chosen| &chosen.modelling).or(plain.as_ref());
        if let Some((modelling, pairs)) = modelling.and_then(|m| m.pairs().map(|pairs| (m, pairs)))
        {
            let kept = bank.take_from(before);
            match in_pairs(pairs, config, bank) {
                Some((pairs, bits)) if pairs.bits <= plan.bits * (1.0 + config.pairs_slack) => {
                    (plan, config.table_bits, paired) = (pairs, bits, true);
                }
                _ => {
                    bank.take_from(before);
                    bank.give_back(kept);
                    if matches!(modelling.pairs, Paired::Surely) {
                        plan = finer(&modelling.single, matrix.len(), &mut config, bank);
                    }
                }
            }
        }
        let (prediction, residuals) =
            chosen.map_or((None, None), |chosen| (Some(chosen.prediction), chosen.residuals));
        let cost = plan.bits_of_symbols(paired, bank);
        let roughly = paired || plan.estimated;
        let symbols = Symbols {
            count: matrix.len(),
            recut: recut.then_some(matrix.cols),
            cols: matrix.cols,
            pairs: paired,
            group_rows: group_rows(matrix, config, STATES_BYTES),
            prediction,
            table_bits: config.table_bits,
            tables: plan.tables,
            classes: plan.classes,
        };
        let (data, width) = (matrix.symbols, matrix.bits);
        let direct = Direct { data, residuals, symbols, width, sources, cost, roughly };
        PlannedPart::new(role, shape, Way::Direct(Box::new(direct)), config.threads)
    }
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

/// Whether means of columns pay, by what some rows say: all symbols are explained one way only then.
fn pays_at_a_glance(
    matrix: Matrix<'_>,
    means: &[u8],
    sources: &Sources<'_>,
    sampled: &Histogram,
) -> Result<bool> {
    let (stream, tallies) = (stream_bits(short_stream::cost(means)), Tallies::default());
    let left = centred(matrix, means, |data| {
        let left = Matrix { symbols: data, ..matrix };
        glance(left, sources, &left.count(sample_step(left))?, &tallies)
    })?;
    Ok(left + stream <= glance(matrix, sources, sampled, &tallies)?)
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

/// Sizes of the tables of pairs: the smaller ones where these cost so much more of all bits at most. Those
/// of 2^14 slots save 0.01 % more than those of 2^13, and take twice the memory of a decoder.
const PAIR_BITS: u32 = 12;
const FINE_PAIR_BITS: u32 = 13;
const LOSS_OF_PAIRS: f64 = 0.0006;
/// Symbols from which on pairs may pay.
const PAIRED: usize = 1 << 14;

/// Whether two symbols of four bits may be coded as one, which halves the steps of a decoder.
fn may_pair(matrix: Matrix<'_>) -> bool {
    let n = matrix.len();
    let even = matrix.cols.is_multiple_of(2) && n.is_multiple_of(2);
    matrix.bits == 4 && even && n >= PAIRED
}

/// Pairs of symbols, and the size of their tables, which are products of those of single ones. `None`
/// where that cannot be.
fn in_pairs(explained: &Explained, config: DirectConfig, bank: &mut Bank) -> Option<(Plan, u32)> {
    let mut single = explained.tables(config.table_bits, bank);
    if let Some(rule) = &mut single.classes {
        rule.cols = rule.cols.as_chunks::<2>().0.iter().map(|[first, _]| *first).collect();
    }
    let before = bank.len();
    let fine = products(single.clone(), FINE_PAIR_BITS, bank)?;
    let kept = bank.take_from(before);
    match products(single, PAIR_BITS, bank) {
        Some(plan) if plan.bits <= fine.bits * (1.0 + LOSS_OF_PAIRS) => Some((plan, PAIR_BITS)),
        _ => {
            bank.take_from(before);
            bank.give_back(kept);
            Some((fine, FINE_PAIR_BITS))
        }
    }
}

/// Products in place of the tables of single symbols.
fn products(mut plan: Plan, table_bits: u32, bank: &mut Bank) -> Option<Plan> {
    for (table, histogram) in plan.tables.iter_mut().zip(&plan.histograms) {
        let before = bank.len();
        let product = bank.product(*table, *table, table_bits)?;
        let single = bank.bits_under(*table, histogram);
        plan.bits += bank.bits_of_pairs(product, histogram) - single;
        plan.bits += 8.0 * bank.bytes_from(before) as f64;
        *table = product;
    }
    Some(plan)
}
