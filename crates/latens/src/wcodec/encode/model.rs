//! Classes of symbols by the direct coder, and the predictor that leaves the least of them. What takes the
//! time of it knows nothing of other tensors; tables, which they share, come last.

mod pairs;
mod predicted;

use crate::ans::rans::MAX_TABLE_BITS;
use crate::error::Result;
use crate::wcodec::class::windows::Windows;
use crate::wcodec::crew::Crew;
use crate::wcodec::data::Data;
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::candidates::sample_step;
use crate::wcodec::encode::columns::{Means, column_means};
use crate::wcodec::encode::cost::{self, Histogram};
use crate::wcodec::encode::matrix::Matrix;
use crate::wcodec::encode::merge::Worth;
use crate::wcodec::encode::part::{PlannedPart, Way};
use crate::wcodec::encode::plan::{Explained, Pairs, Plan, choose_rule, glance};
use crate::wcodec::encode::sources::{Hints, Sources};
use crate::wcodec::encode::streams::Direct;
use crate::wcodec::encode::symbols::{
    DirectConfig, Job, MANY, STATES_BYTES, group_rows, small_groups, stacked_rows,
};
use crate::wcodec::encode::tally::Tallies;
use crate::wcodec::layout::part::PartShape;
use crate::wcodec::layout::prediction::{COLUMN, Prediction, REFERENCE};
use crate::wcodec::layout::short_stream;
use crate::wcodec::layout::symbols::Symbols;
use crate::wcodec::order::Order;
use crate::wcodec::plane::Role;
use crate::wcodec::stack::Stack;

use pairs::{Coded, may_pair};
use predicted::{Predicted, by_columns, by_reference, centred, stream_bits, uniform};

/// Symbols of a row where they are recut, and what rows are longer than then.
const RECUT_COLS: usize = 1 << 16;
const LEAST_COLS: usize = 1 << 8;
const MAX_COLS: usize = 1 << 20;
/// Symbols from which on finer tables may pay, and bits a symbol that the usual ones may lose, and finer ones: with groups, which
/// take up to 0.005, that is less than a hundredth.
const FINE: usize = 1 << 19;
const LOSS: f64 = 0.0045;
const LOSS_OF_FINER: f64 = 0.003;
/// Bits a symbol that tables may lose and small groups, to be read by few rows, may take together: else these are twice as large.
const LOSS_AND_SMALL_GROUPS: f64 = 0.009;
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
    reference: Option<Data<'a>>,
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
    /// What explains single ones, of two of a column, in groups of so many rows.
    Stacked(usize),
}

/// Chooses classes for a part of symbols.
pub(crate) fn model<'a>(job: &Job<'a>, crew: Crew<'_>) -> Result<Modelled<'a>> {
    let Job { role, plane, shape, ref hints, config, .. } = *job;
    let recut = plane.rows == 1 && plane.cols > RECUT_COLS || plane.cols > MAX_COLS;
    // Rows are whole where they are predicted.
    let whole = |n: usize| (LEAST_COLS..=RECUT_COLS).rev().find(|cols| n.is_multiple_of(*cols));
    let whole_cols = job.reference.filter(|_| recut).and_then(|_| whole(plane.data.len()));
    let may_predict = !recut || whole_cols.is_some();
    let cols = if recut { whole_cols.unwrap_or(RECUT_COLS) } else { plane.cols };
    let hints = if recut { Hints::none(hints.measure) } else { hints.clone() };
    let own = Matrix { symbols: plane.data, cols, bits: plane.bits, crew: Crew::ALONE };
    let matrix = Matrix { crew, ..own };
    let sources = Sources::new(hints, cols)?.watched(&job.watch);
    let sampled = matrix.count(sample_step(matrix))?;
    let columns = match sources.hints.side {
        true => column_means(matrix, &sampled)?,
        false => None,
    };
    let (mut plain, mut predicted) = (None, Vec::new());
    let thorough = sources.hints.effort.rounds > 0 && sources.hints.zero.is_some();
    let quick = config.quick && job.reference.is_none() && !thorough;
    let group_rows = stacked_rows(own, config);
    let pairing = Pairing { slack: config.pairs_slack, alone: quick, group_rows };
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
        if may_predict {
            predicted.extend(by_reference(job, matrix, &sources)?);
        }
        predicted.extend(by_columns(job, matrix, &sources, &modelling.single)?);
        plain = Some(modelling);
    }
    // Of few bits, most get tables that are there.
    if !crew.is_alone() && own.bits > FEW_BITS {
        let predicted = predicted.iter_mut().map(|candidate| &mut candidate.modelling);
        let all = predicted.chain(&mut plain);
        all.for_each(|modelling| modelling.single.prepare(job.config.table_bits));
    }
    let reference = job.reference.map(|reference| reference.symbols);
    Ok(Modelled { role, shape, matrix: own, sources, recut, plain, predicted, reference })
}

/// What pairs may take.
#[derive(Clone, Copy)]
struct Pairing {
    /// More than single symbols by so much, as a share.
    slack: f64,
    /// Whether nothing else is held against what is modelled.
    alone: bool,
    /// Rows of a group where two of these are paired.
    group_rows: usize,
}

impl Modelling {
    /// Of symbols, of which `sampled` are those of one row in so many.
    fn new(
        matrix: Matrix<'_>,
        sources: &Sources<'_>,
        sampled: Histogram,
        leanings: &[u8],
        pairing: Pairing,
    ) -> Result<Self> {
        let may_pair = may_pair(matrix);
        let alone = may_pair && pairing.alone;
        let begun = choose_rule(matrix, sources, sampled, None, leanings, alone)?;
        let pairs = match may_pair {
            true => begun.explained.of_pairs(matrix, sources, pairing.slack)?,
            false => Pairs::None,
        };
        let stacked = matches!(pairs, Pairs::Stacked);
        let pairs = match pairs {
            Pairs::Apart { explained, surely } if surely && pairing.alone => {
                return Ok(Self { single: *explained, pairs: Paired::Surely });
            }
            Pairs::Apart { explained, .. } => Paired::Apart(explained),
            Pairs::Alike => Paired::Alike,
            Pairs::Stacked | Pairs::None => Paired::None,
        };
        let mut single = begun.settled(matrix, sources)?;
        single.complete(matrix, sources)?;
        let n = matrix.len();
        let pairs = match pairs {
            // Many pairs have few tables.
            Paired::Alike if n >= MANY && !sources.hints.effort.slow_reading => {
                Paired::Apart(Box::new(single.joined(Worth::of_pairs(n))))
            }
            Paired::None if stacked => Paired::Stacked(pairing.group_rows),
            pairs => pairs,
        };
        Ok(Self { single, pairs })
    }

    /// Tables for single symbols; none where they are not coded so.
    fn tables(&self, n: usize, config: &mut DirectConfig, bank: &mut Bank) -> Plan {
        match self.pairs {
            Paired::Surely => Plan { bits: f64::INFINITY, ..Plan::default() },
            _ => finer(&self.single, n, config, bank),
        }
    }
}

impl<'a> Modelled<'a> {
    /// Settles how the symbols are encoded.
    pub(crate) fn plan(mut self, mut config: DirectConfig, bank: &mut Bank) -> PlannedPart<'a> {
        let matrix = self.matrix;
        if matrix.bits <= FEW_BITS && matrix.len() < FEW && !config.slow_reading {
            config.table_bits = config.table_bits.min(SMALL_TABLE_BITS);
        }
        let before = bank.len();
        let (single, chosen) = self.tables(&mut config, bank);
        let pairing = chosen.as_ref().map(|chosen| &chosen.modelling).or(self.plain.as_ref());
        let coded = match pairing {
            Some(modelling) => modelling.best(single, matrix.len(), config, (bank, before)),
            None => Coded::single(single, config.table_bits),
        };
        let (prediction, residuals) =
            chosen.map_or((None, None), |chosen| (Some(chosen.prediction), chosen.residuals));
        let Coded { plan, table_bits, pairs, order, stacked_rows } = coded;
        let cost = plan.bits_of_symbols(pairs, bank);
        // Of symbols that are to be said apart, some may have slots all the same.
        let roughly = pairs || plan.estimated || plan.escapes.is_some();
        let rule = plan.classes.as_ref().filter(|_| stacked_rows.is_some());
        let stack = rule.and_then(|rule| Stack::new(rule, matrix.cols));
        let group_rows = stacked_rows.unwrap_or_else(|| group_rows(matrix, config, STATES_BYTES));
        let symbols = Symbols {
            count: matrix.len(),
            recut: self.recut.then_some(matrix.cols),
            cols: matrix.cols,
            pairs,
            order,
            stack,
            group_rows,
            compact: true,
            escape: plan.escapes.map(|(escape, _)| escape),
            prediction,
            table_bits,
            tables: plan.tables,
            classes: plan.classes,
        };
        let (data, width, sources) = (matrix.symbols, matrix.bits, self.sources);
        let by_reference = |p: &Prediction| p.predictor == REFERENCE;
        let reference =
            self.reference.filter(|_| symbols.prediction.as_ref().is_some_and(by_reference));
        let there = symbols.order.as_ref().and_then(Order::there);
        let windows = Windows::of(&symbols);
        let direct = Direct {
            data,
            residuals,
            reference,
            symbols,
            there,
            windows,
            width,
            sources,
            cost,
            roughly,
        };
        PlannedPart::new(self.role, self.shape, Way::Direct(Box::new(direct)), config.threads)
    }

    /// Tables for single symbols as they are, or for what the best prediction leaves of them.
    fn tables(&mut self, config: &mut DirectConfig, bank: &mut Bank) -> (Plan, Option<Predicted>) {
        let (n, before) = (self.matrix.len(), bank.len());
        let mut predicted = std::mem::take(&mut self.predicted).into_iter();
        let mut chosen = match &self.plain {
            Some(plain) => (plain.tables(n, config, bank), None),
            None => {
                let first = predicted.next();
                let plan = first.as_ref().map(|first| first.modelling.tables(n, config, bank));
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
        chosen
    }
}

/// Gives tables to classes: larger ones, but no larger than need be, where the usual ones lose too much of many symbols; and
/// says whether groups are to be large for what they lose.
fn finer(explained: &Explained, n: usize, config: &mut DirectConfig, bank: &mut Bank) -> Plan {
    let before = bank.len();
    let mut best = explained.tables(config.table_bits, bank);
    let alone = alone(explained, *config, &mut best, (bank, before));
    let explained = alone.as_ref().unwrap_or(explained);
    let (least, symbols) = (cost::entropy(&explained.whole), n as f64);
    if n >= FINE && best.bits > least + LOSS * symbols {
        best = refined(best, least, (explained, n), config, (bank, before));
    }
    config.large_groups = best.bits > with_small_groups(least, best.bits, n);
    best
}

/// What `n` symbols of about so many `bits` may take for groups to be small, `least` being what they take at order 0.
fn with_small_groups(least: f64, bits: f64, n: usize) -> f64 {
    let symbols = n as f64;
    least + (LOSS_AND_SMALL_GROUPS - small_groups(bits / symbols.max(1.0))) * symbols
}

/// What explains symbols without classes, where those by columns save less than they must; `best` is by classes, and then by
/// one table.
fn alone(
    explained: &Explained,
    config: DirectConfig,
    best: &mut Plan,
    (bank, before): (&mut Bank, usize),
) -> Option<Explained> {
    let most = best.bits * (1.0 + config.least_of_classes);
    let by_columns = best.classes.as_ref().is_some_and(|rule| !rule.cols.is_empty());
    let may_be_enough = by_columns && explained.has_many_bits();
    if !may_be_enough || cost::entropy(&explained.whole) > most {
        return None;
    }
    let (alone, kept) = (explained.alone(), bank.take_from(before));
    let plan = alone.tables(config.table_bits, bank);
    if plan.bits > most {
        bank.take_from(before);
        bank.give_back(kept);
        return None;
    }
    *best = plan;
    Some(alone)
}

/// The best tables from the usual ones on, `best`, with escapes or without; `least` is what symbols take at order 0.
fn refined(
    mut best: Plan,
    least: f64,
    (explained, n): (&Explained, usize),
    config: &mut DirectConfig,
    (bank, before): (&mut Bank, usize),
) -> Plan {
    let usual = config.table_bits;
    // Rare symbols take a slot each of a table, and are less than that.
    for table_bits in usual..=MAX_TABLE_BITS {
        let before_these = best.bits;
        for escaped in [false, true] {
            if table_bits == usual && !escaped {
                continue;
            }
            let kept = bank.take_from(before);
            let finer = match escaped {
                false => Some(explained.tables(table_bits, bank)),
                true => explained.with_escapes(table_bits, bank),
            };
            match finer {
                Some(finer) if finer.bits < best.bits => {
                    (best, config.table_bits) = (finer, table_bits);
                }
                _ => {
                    bank.take_from(before);
                    bank.give_back(kept);
                }
            }
        }
        let enough = best.bits <= least + LOSS_OF_FINER * n as f64;
        if enough || (table_bits > usual && best.bits >= before_these) {
            break;
        }
    }
    best
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
