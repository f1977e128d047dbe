//! Symbols by the direct coder.

use crate::ans::rans::{self, Classes, EncodeTables, MAX_TABLE_BITS};
use crate::error::{Error, Result};
use crate::wcodec::class::{Blocks, RowSums, Terms};
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::cost::{self, Histogram};
use crate::wcodec::encode::linear;
use crate::wcodec::encode::part::EncodedPart;
use crate::wcodec::encode::plan::{Explained, Hints, Matrix, Plan, circular_mean, explain};
use crate::wcodec::encode::tiled::Reference;
use crate::wcodec::layout::part::{Codec, PartShape};
use crate::wcodec::layout::short_stream;
use crate::wcodec::layout::symbols::{
    COLUMN, LINEAR, MOST_EXPANSION, Prediction, REFERENCE, Symbols,
};
use crate::wcodec::plane::{PlaneRef, Role};
use crate::wcodec::predictor::linear::{MAX_REACH, Weights};
use crate::wcodec::tiled::Tiles;
use latens_kernels::dispatch::{Present, Work};
use std::borrow::Cow;

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
}

/// What the lane states of a group take.
pub(crate) const STATES_BYTES: usize = 4 * rans::LANES;

/// Symbols of a group; those of large tensors are smaller, so that it takes little to read a few rows,
/// but where lane states would weigh too much.
const GROUP: usize = 1 << 18;
const LARGE: usize = 1 << 24;

/// Rows of a group: about as many symbols as `config` says, and no more than readers believe of
/// `fewest` stored bytes, fewer than which no group takes.
pub(crate) fn group_rows(
    plane: PlaneRef<'_>,
    cols: usize,
    config: DirectConfig,
    fewest: usize,
) -> usize {
    let symbols = plane.data;
    let least = match config.group_symbols {
        0 if symbols.len() >= LARGE && plane.bits > 4 => GROUP / 2,
        0 => GROUP,
        given => given,
    };
    let rows = symbols.len().div_ceil(cols.max(1));
    let groups = (symbols.len() / least.max(1)).clamp(1, rows.max(1));
    let most = fewest * MOST_EXPANSION / cols.max(1);
    rows.div_ceil(groups).clamp(1, most.max(1))
}

/// Symbols to be encoded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'a> {
    pub(crate) role: Role,
    pub(crate) plane: PlaneRef<'a>,
    pub(crate) shape: PartShape,
    pub(crate) hints: &'a Hints<'a>,
    /// A plane that this one may be predicted by.
    pub(crate) reference: Option<Reference<'a>>,
    pub(crate) config: DirectConfig,
}

/// Encodes a part of symbols.
pub(crate) fn direct(job: &Job<'_>, bank: &mut Bank) -> Result<EncodedPart> {
    let Job { role, plane, shape, hints, reference, mut config } = *job;
    let recut = plane.rows == 1 && plane.cols > RECUT_COLS || plane.cols > MAX_COLS;
    let cols = if recut { RECUT_COLS } else { plane.cols };
    let none = Hints { measure: hints.measure, levels: Vec::new(), zero: None, side: false };
    let hints = if recut { &none } else { hints };
    let matrix = Matrix { symbols: plane.data, cols, bits: plane.bits };
    let before = bank.len();
    let explained = explain(matrix, hints, None)?;
    let mut chosen = explained.tables(config.table_bits, bank);
    let n = plane.data.len();
    if n >= FINE && chosen.bits > cost::entropy(&explained.whole) + LOSS * n as f64 {
        // Rare symbols take a slot each of a table, and are less than that.
        let kept = bank.take_from(before);
        config.table_bits = MAX_TABLE_BITS;
        let finer = explained.tables(config.table_bits, bank);
        if finer.bits < chosen.bits {
            chosen = finer;
        } else {
            config = job.config;
            bank.take_from(before);
            bank.give_back(kept);
        }
    }
    let mut prediction = None;
    let mut residuals = None;
    let mut consider = |data: Vec<u8>, candidate: Prediction, bank: &mut Bank| -> Result<()> {
        let kept = bank.take_from(before);
        let residual = Matrix { symbols: &data, ..matrix };
        let other = explain(residual, hints, None)?.tables(config.table_bits, bank);
        let weights = candidate.weights.as_ref().map(Weights::bytes);
        let streams = candidate.means.iter().chain(&weights);
        let stream: usize = streams.map(|values| short_stream::cost(values)).sum();
        if other.bits + 8.0 * (stream + 24) as f64 <= chosen.bits {
            (chosen, prediction, residuals) = (other, Some(candidate), Some(data));
        } else {
            bank.take_from(before);
            bank.give_back(kept);
        }
        Ok(())
    };
    let uniform = |predictor: u8| Prediction {
        tile_rows: 16,
        tile_cols: 16,
        predictor,
        centre: 0,
        transform: false,
        means: None,
        weights: None,
        reference: None,
    };
    if let Some(columns) = column_means(matrix, &explained.whole).filter(|_| hints.side) {
        let data = subtract(plane.data, &columns, plane.bits);
        consider(data, Prediction { means: Some(columns), ..uniform(COLUMN) }, bank)?;
    }
    if let Some(reference) = reference.filter(|r| r.symbols.len() == plane.data.len() && !recut) {
        let data = subtract(plane.data, reference.symbols, plane.bits);
        let of = Some(reference.of.clone());
        consider(data, Prediction { reference: of, ..uniform(REFERENCE) }, bank)?;
    }
    if config.linear && hints.side && role == Role::Weights && is_tall(matrix) {
        let centre = u8::try_from(circular_mean(&explained.whole, 1 << plane.bits)).unwrap_or(0);
        let means = means(matrix);
        if let Some(weights) = linear::fit(matrix, &means, centre) {
            let weights = Some(weights);
            let candidate = Prediction { centre, means: Some(means), weights, ..uniform(LINEAR) };
            let data = residuals_of(&candidate, matrix)?;
            consider(data, candidate, bank)?;
        }
    }
    let mut pairs = None;
    if prediction.is_none() {
        let kept = bank.take_from(before);
        pairs = in_pairs(matrix, hints, &explained, config, bank)?;
        pairs = pairs.filter(|p| p.bits <= chosen.bits * (1.0 + config.pairs_slack));
        if pairs.is_none() {
            bank.take_from(before);
            bank.give_back(kept);
        }
    }
    let paired = pairs.is_some();
    if let Some(plan) = pairs {
        (chosen, config.table_bits) = (plan, PAIR_BITS);
        residuals = Some(plane.data.as_chunks::<2>().0.iter().map(|[a, b]| a | b << 4).collect());
    }
    let Plan { tables, classes, .. } = chosen;
    let symbols = Symbols {
        count: plane.data.len(),
        recut: recut.then_some(cols),
        cols,
        pairs: paired,
        group_rows: group_rows(plane, cols, config, STATES_BYTES),
        prediction,
        table_bits: config.table_bits,
        tables,
        classes,
    };
    let data = residuals.as_deref().unwrap_or(plane.data);
    let groups = encode_groups(data, &symbols, hints, bank, config.threads)?;
    Ok(EncodedPart::new(role, shape, Codec::Direct(symbols), groups))
}

/// Whether there are rows enough for weights between columns to be worth their bytes.
fn is_tall(matrix: Matrix<'_>) -> bool {
    let rows = matrix.symbols.len().checked_div(matrix.cols).unwrap_or(0);
    matrix.cols >= 8 && rows >= 16 * matrix.cols.min(MAX_REACH)
}

/// What one predictor for all tiles leaves of the symbols.
fn residuals_of(prediction: &Prediction, matrix: Matrix<'_>) -> Result<Vec<u8>> {
    let mut data = vec![0; matrix.symbols.len()];
    let tiles = Tiles::of_all(prediction);
    let rows = matrix.symbols.len() / matrix.cols.max(1);
    let band = tiles.band(prediction, matrix.bits, rows, matrix.cols, &[])?;
    band.residual_symbols(matrix.symbols, &mut data)?;
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
    hints: &Hints<'_>,
    explained: &Explained,
    config: DirectConfig,
    bank: &mut Bank,
) -> Result<Option<Plan>> {
    let n = matrix.symbols.len();
    let even = matrix.cols.is_multiple_of(2) && n.is_multiple_of(2);
    if matrix.bits != 4 || !even || n < PAIRED {
        return Ok(None);
    }
    let Some(explained) = explained.of_pairs(matrix, hints)? else { return Ok(None) };
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

/// Symbols less those of `means`, which repeat (a row of them, or a whole plane), around the circle.
fn subtract(symbols: &[u8], means: &[u8], bits: u32) -> Vec<u8> {
    let mask = u8::MAX >> (8 - bits);
    let mut out = symbols.to_vec();
    for row in out.chunks_mut(means.len().max(1)) {
        row.iter_mut().zip(means).for_each(|(s, m)| *s = s.wrapping_sub(*m) & mask);
    }
    out
}

/// The mean of each column, where they differ by more than chance and than what they cost.
fn column_means(matrix: Matrix<'_>, histogram: &Histogram) -> Option<Vec<u8>> {
    let rows = matrix.symbols.len().checked_div(matrix.cols)?;
    let whole = rows * matrix.cols == matrix.symbols.len();
    if rows < 32 || matrix.cols < 2 || !whole || matrix.bits < 3 {
        return None;
    }
    let size = 1i32 << matrix.bits;
    let mode =
        (0u8..=255).zip(histogram).max_by_key(|(s, n)| (**n, 255 - *s)).map_or(0, |(s, _)| s);
    let distance: [i32; 256] = std::array::from_fn(|s| {
        let s = i32::try_from(s).unwrap_or(0);
        (s - i32::from(mode) + size / 2).rem_euclid(size) - size / 2
    });
    let mut sums = vec![0i64; matrix.cols];
    let mut partial = vec![0i32; matrix.cols];
    let present = Present::in_use();
    for band in matrix.symbols.chunks(matrix.cols * 4096) {
        partial.fill(0);
        for row in band.chunks(matrix.cols) {
            present.run(AddRow { row, mode, bits: matrix.bits, sums: &mut partial });
        }
        sums.iter_mut().zip(&partial).for_each(|(sum, &p)| *sum += i64::from(p));
    }
    // Of a sample, maybe.
    let n = histogram.iter().map(|&n| f64::from(n)).sum::<f64>().max(1.0);
    let moment = |power: i32| -> f64 {
        let term = |(s, &n): (usize, &u32)| f64::from(n) * f64::from(distance[s]).powi(power);
        histogram.iter().enumerate().map(term).sum::<f64>() / n
    };
    let mean = moment(1);
    let variance = moment(2) - mean * mean;
    let of_columns: Vec<f64> = sums.iter().map(|&s| s as f64 / rows as f64 - mean).collect();
    let between = of_columns.iter().map(|m| m * m).sum::<f64>() / matrix.cols as f64;
    let explained = between - variance / rows as f64;
    if explained <= 0.0 || variance <= 0.0 {
        return None;
    }
    let gain = -0.5 * (1.0 - (explained / variance).min(0.99)).log2() * matrix.symbols.len() as f64;
    let side = matrix.cols as f64 * (between.sqrt().max(0.25).log2() + 3.0);
    (gain > side + 300.0).then(|| rounded(&sums, rows, mode.into(), size))
}

/// Adds the distances of a row's symbols from `mode`, around the circle, to the sums of columns.
struct AddRow<'a> {
    row: &'a [u8],
    mode: u8,
    bits: u32,
    sums: &'a mut [i32],
}

impl Work for AddRow<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (mode, shift) = (i32::from(self.mode), 32 - self.bits);
        for (sum, &s) in self.sums.iter_mut().zip(self.row) {
            *sum += (i32::from(s) - mode) << shift >> shift;
        }
    }
}

/// The mean symbols of columns from the sums of their distances from `mode`.
fn rounded(sums: &[i64], rows: usize, mode: i32, size: i32) -> Vec<u8> {
    let rows = i64::try_from(rows.max(1)).unwrap_or(1);
    let mean = |&sum: &i64| {
        let mean = i64::from(mode) + (2 * sum + rows).div_euclid(2 * rows);
        u8::try_from(mean.rem_euclid(i64::from(size))).unwrap_or(0)
    };
    sums.iter().map(mean).collect()
}

/// The mean symbol of each column, whatever it is worth.
pub(crate) fn means(matrix: Matrix<'_>) -> Vec<u8> {
    let size = 1i32 << matrix.bits;
    let histogram = cost::count(matrix.symbols);
    let mode = (0..).zip(&histogram).max_by_key(|(s, n)| (**n, -*s)).map_or(0, |(s, _)| s);
    let mut sums = vec![0i64; matrix.cols];
    for row in matrix.symbols.chunks(matrix.cols.max(1)) {
        for (sum, &s) in sums.iter_mut().zip(row) {
            let d = (i32::from(s) - mode + size / 2).rem_euclid(size) - size / 2;
            *sum += i64::from(d);
        }
    }
    rounded(&sums, matrix.symbols.len().checked_div(matrix.cols).unwrap_or(0), mode, size)
}

/// The stored bytes of all groups.
fn encode_groups(
    data: &[u8],
    symbols: &Symbols,
    hints: &Hints<'_>,
    bank: &Bank,
    threads: usize,
) -> Result<Vec<Vec<u8>>> {
    let tables = encoder(symbols, bank)?;
    let terms = terms(symbols, hints)?;
    let encode = |scratch: &mut Scratch, group: usize| -> Vec<u8> {
        let range = symbols.group_range(group);
        let part = if symbols.pairs { &data[range.start / 2..range.end / 2] } else { &data[range] };
        scratch.stream(symbols, terms.as_ref(), &tables, group, part, Vec::new())
    };
    Ok(crate::wcodec::threads::map_with(symbols.groups(), threads, Scratch::default, encode))
}

/// The tables of all classes, for encoding.
pub(crate) fn encoder(symbols: &Symbols, bank: &Bank) -> Result<EncodeTables> {
    let tables = symbols.tables.iter().filter_map(|&t| bank.tables().get(t));
    EncodeTables::new(symbols.table_bits, tables.map(|t| t.frequencies.as_slice()))
        .ok_or_else(|| Error::invalid("a table whose frequencies do not sum to its size"))
}

/// What groups that are encoded one after the other may use again.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) classes: Vec<u8>,
    sums: RowSums,
    words: Vec<u8>,
}

impl Scratch {
    /// Finds the classes of the coded symbols of a group.
    pub(crate) fn find(
        &mut self,
        symbols: &Symbols,
        terms: &Terms<'_>,
        group: usize,
        count: usize,
    ) {
        let (cols, first) = (symbols.coded_cols().max(1), group * symbols.group_rows);
        let step = if symbols.pairs { 2 } else { 1 };
        self.classes.resize(count, 0);
        for (r, row) in self.classes.chunks_mut(cols).enumerate() {
            terms.classes(first + r, step, &mut self.sums, row);
        }
    }

    /// Appends the stream of a group to `out`.
    pub(crate) fn stream(
        &mut self,
        symbols: &Symbols,
        terms: Option<&Terms<'_>>,
        tables: &EncodeTables,
        group: usize,
        data: &[u8],
        out: Vec<u8>,
    ) -> Vec<u8> {
        let mut by = Classes::One(0);
        if let Some(terms) = terms {
            self.find(symbols, terms, group, data.len());
            by = Classes::PerSymbol(&self.classes);
        }
        rans::encode(data, by, tables, &mut self.words, out)
    }
}

/// The rule of classes with its sources, which `hints` holds.
pub(crate) fn terms<'a>(symbols: &'a Symbols, hints: &Hints<'_>) -> Result<Option<Terms<'a>>> {
    let Some(rule) = &symbols.classes else { return Ok(None) };
    let levels = hints
        .levels
        .iter()
        .take(rule.levels.len())
        .map(|c| Blocks::levels(&c.source, c.numbers, c.row_map, symbols.cols));
    let zero = hints
        .zero
        .as_ref()
        .filter(|_| rule.zero.is_some())
        .map(|c| Blocks::zeros(&c.source, c.numbers, c.row_map, symbols.cols));
    let levels: Vec<Blocks> = levels.collect::<Result<_>>()?;
    Ok(Some(Terms { rule, levels: levels.into(), zero: zero.transpose()?.map(Cow::Owned) }))
}
