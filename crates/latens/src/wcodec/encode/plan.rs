//! Which classes the symbols of a part get: every combination of terms is measured on a sample of
//! rows, side information included.

use crate::error::Result;
use crate::wcodec::class::{Blocks, RowSums, SourceBytes, Terms};
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::cost::{self, Histogram};
use crate::wcodec::encode::levels::{Distances, Fitted, Measure, to_bytes};
use crate::wcodec::encode::merge::{BySum, merge};
use crate::wcodec::layout::class_rule::{ClassRule, MAX_SOURCES};
use crate::wcodec::layout::short_stream;
use crate::wcodec::layout::source::Source;
use crate::wcodec::layout::symbols::MAX_CLASSES;
use std::borrow::Cow;

/// Symbols that are looked at to choose terms: at least so many, and one in [`SHARE`].
const SAMPLE: usize = 1 << 17;
const SHARE: usize = 64;
/// Rows of a sample, at least: they may differ much.
const ROWS: usize = 32;
/// Rows for levels of columns: one in so many, or more.
const SHARE_OF_LEVELS: usize = 8;
/// Symbols that are looked at to join sums to classes, at least.
const SETTLED: usize = 1 << 20;

/// Symbols to be coded, in whole rows but for the last one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix<'a> {
    pub(crate) symbols: &'a [u8],
    pub(crate) cols: usize,
    pub(crate) bits: u32,
}

impl Matrix<'_> {
    fn rows(&self) -> usize {
        self.symbols.len().div_ceil(self.cols.max(1))
    }

    /// The histogram of every so manieth row.
    fn count(&self, every: usize) -> Histogram {
        if every == 1 {
            return cost::count(self.symbols);
        }
        cost::count_runs(self.symbols.chunks(self.cols.max(1)).step_by(every))
    }
}

/// A source that might help, with its numbers.
#[derive(Clone, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) source: Source,
    pub(crate) numbers: SourceBytes<'a>,
    pub(crate) row_map: Option<SourceBytes<'a>>,
}

/// What might explain the symbols.
#[derive(Clone, Debug)]
pub(crate) struct Hints<'a> {
    pub(crate) measure: Measure,
    pub(crate) levels: Vec<Candidate<'a>>,
    pub(crate) zero: Option<Candidate<'a>>,
    /// Whether levels of rows and columns may be tried.
    pub(crate) side: bool,
}

/// The outcome: tables by class, the rule, and about how many bits all of it takes.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) tables: Vec<usize>,
    /// By class, where there are tables.
    pub(crate) histograms: Vec<Histogram>,
    pub(crate) classes: Option<ClassRule>,
    pub(crate) bits: f64,
}

/// What explains the symbols best, before there are tables.
#[derive(Clone, Debug)]
pub(crate) struct Explained {
    /// All symbols.
    pub(crate) whole: Histogram,
    /// The rule, its maps giving classes of their own, and for each map the histograms of these.
    rule: Option<(ClassRule, Vec<Vec<Histogram>>)>,
    /// Bits of a symbol.
    bits: u32,
}

/// Chooses classes and tables of `2^table_bits` slots. With `most` there are at most so many
/// classes, each a step of the sum, whatever their tables: kinds of the bitplane coder.
pub(crate) fn plan(
    matrix: Matrix<'_>,
    hints: &Hints<'_>,
    table_bits: u32,
    most: Option<usize>,
    bank: &mut Bank,
) -> Result<Plan> {
    let explained = explain(matrix, hints, most)?;
    if most.is_none() {
        return Ok(explained.tables(table_bits, bank));
    }
    // Kinds are too few for zero points.
    let rule = explained.rule.map(|(rule, _)| rule).filter(|rule| rule.maps.len() == 1);
    Ok(Plan { tables: Vec::new(), histograms: Vec::new(), classes: rule, bits: 0.0 })
}

/// Chooses classes; `most` as in [`plan`].
pub(crate) fn explain(
    matrix: Matrix<'_>,
    hints: &Hints<'_>,
    most: Option<usize>,
) -> Result<Explained> {
    let bits = matrix.bits;
    let sources = Sources::new(matrix, hints)?;
    let (step, mut tallies) = (sample_step(matrix), Vec::new());
    let mut whole = matrix.count(step);
    let mut best = (price_of(&whole, matrix, step > 1) + 110.0, None);
    for rule in candidates(matrix, hints, &sources, &whole) {
        let sums = by_sum(matrix, &sources, &rule, step, &mut tallies);
        let mut bits = 0.0;
        let most = MAX_CLASSES / sums.maps.len().max(1);
        for map in &sums.maps {
            bits += merge(map, most.max(4), (step > 1).then_some(1.0)).2;
        }
        let classes_bits = 110.0 * sums.maps.len() as f64;
        let bits = (bits - classes_bits) * sums.scale + classes_bits + side_bits(&rule);
        if bits < best.0 {
            best = (bits, Some((rule, sums)));
        }
    }
    let Some((rule, mut sums)) = best.1 else {
        if step > 1 {
            whole = matrix.count(1);
        }
        return Ok(Explained { whole, rule: None, bits });
    };
    // Classes of zero points may not occur in a sample.
    let all = rule.zero.is_some() || most.is_some();
    let every = if all { 1 } else { settle_step(matrix).min(step) };
    if every < step {
        sums = by_sum(matrix, &sources, &rule, every, &mut tallies);
    }
    let (rule, mut classes) = settle(rule, &sums, most, every > 1);
    if every > 1 {
        classes = classes.into_iter().map(|c| scaled(matrix, &sources, &rule, c, every)).collect();
    }
    if step > 1 {
        whole = [0; 256];
        classes.iter().flatten().for_each(|histogram| cost::add(&mut whole, histogram));
    }
    Ok(Explained { whole, rule: Some((rule, classes)), bits })
}

/// Bits of all symbols by the histogram of them, or of a sample.
fn price_of(histogram: &Histogram, matrix: Matrix<'_>, sample: bool) -> f64 {
    if !sample {
        return cost::entropy(histogram);
    }
    let seen: u64 = histogram.iter().map(|&n| u64::from(n)).sum();
    cost::learned(histogram) * matrix.symbols.len() as f64 / seen.max(1) as f64
}

/// Gives maps to a rule, and the histograms of their classes.
fn settle(
    mut rule: ClassRule,
    sums: &Sums,
    most: Option<usize>,
    sample: bool,
) -> (ClassRule, Vec<Vec<Histogram>>) {
    let used = sums.maps.iter().filter(|map| !map.is_empty()).count();
    let most = most.unwrap_or((MAX_CLASSES / used.max(1)).max(1));
    let mut classes = Vec::new();
    rule.maps.clear();
    for map_sums in &sums.maps {
        let (map, histograms, _) = merge(map_sums, most, sample.then_some(sums.scale));
        rule.maps.push(map);
        classes.push(histograms);
    }
    (rule, classes)
}

impl Explained {
    /// What explains the same symbols where two neighbours in a row have the same class; `None`
    /// where blocks tell them apart.
    pub(crate) fn of_pairs(&self, matrix: Matrix<'_>, hints: &Hints<'_>) -> Result<Option<Self>> {
        let Some((rule, _)) = &self.rule else { return Ok(Some(self.clone())) };
        let mut sources = rule.levels.iter().chain(&rule.zero);
        if sources.any(|source| !source.block_cols.is_multiple_of(2)) {
            return Ok(None);
        }
        if rule.cols.is_empty() {
            return Ok(Some(self.clone()));
        }
        let mut rule = rule.clone();
        for pair in rule.cols.as_chunks_mut::<2>().0 {
            *pair = [pair[0].midpoint(pair[1]); 2];
        }
        let sums = by_sum(matrix, &Sources::new(matrix, hints)?, &rule, 1, &mut Vec::new());
        let rule = Some(settle(rule, &sums, None, false));
        Ok(Some(Self { whole: self.whole, rule, bits: self.bits }))
    }

    /// Gives tables of `2^table_bits` slots to the classes.
    pub(crate) fn tables(&self, table_bits: u32, bank: &mut Bank) -> Plan {
        let Some((rule, of_maps)) = &self.rule else {
            let (table, bits) = bank.choose(&self.whole, self.bits, table_bits);
            return Plan { tables: vec![table], histograms: vec![self.whole], classes: None, bits };
        };
        let mut rule = rule.clone();
        let (mut tables, mut bits) = (Vec::<usize>::new(), side_bits(&rule));
        let mut of_tables: Vec<Histogram> = Vec::new();
        for (map, histograms) in rule.maps.iter_mut().zip(of_maps) {
            let mut classes = Vec::new();
            for histogram in histograms {
                let (table, more) = bank.choose(histogram, self.bits, table_bits);
                bits += more;
                let class = tables.iter().position(|&t| t == table).unwrap_or_else(|| {
                    tables.push(table);
                    of_tables.push([0; 256]);
                    tables.len() - 1
                });
                cost::add(&mut of_tables[class], histogram);
                classes.push(u8::try_from(class).unwrap_or(u8::MAX));
            }
            for class in map {
                *class = classes.get(usize::from(*class)).copied().unwrap_or(0);
            }
        }
        if tables.is_empty() {
            tables.push(bank.choose(&[0; 256], self.bits, table_bits).0);
            of_tables.push([0; 256]);
        }
        Plan { tables, histograms: of_tables, classes: Some(rule), bits }
    }
}

/// The sources that hints name, read.
struct Sources {
    levels: Vec<Blocks>,
    zero: Option<Blocks>,
}

impl Sources {
    fn new(matrix: Matrix<'_>, hints: &Hints<'_>) -> Result<Self> {
        let levels = hints
            .levels
            .iter()
            .take(MAX_SOURCES)
            .map(|c| Blocks::levels(&c.source, c.numbers, c.row_map, matrix.cols.max(1)));
        let zero = hints
            .zero
            .as_ref()
            .map(|c| Blocks::zeros(&c.source, c.numbers, c.row_map, matrix.cols.max(1)));
        Ok(Self { levels: levels.collect::<Result<_>>()?, zero: zero.transpose()? })
    }
}

/// Bits of the side information of a rule, its map aside.
fn side_bits(rule: &ClassRule) -> f64 {
    let stream = |levels: &[u8]| if levels.is_empty() { 0 } else { short_stream::cost(levels) };
    let sources = rule.levels.len() + usize::from(rule.zero.is_some());
    8.0 * (stream(&rule.rows) + stream(&rule.cols) + 8 * sources + 16) as f64
}

/// Every so manieth row is in the sample.
fn sample_step(matrix: Matrix<'_>) -> usize {
    (matrix.symbols.len() / SAMPLE).min(matrix.rows() / ROWS).clamp(1, SHARE)
}

/// As [`sample_step`], to see which sums share a class.
fn settle_step(matrix: Matrix<'_>) -> usize {
    (matrix.symbols.len() / SETTLED).min(matrix.rows() / ROWS).max(1)
}

/// Rules worth measuring, without maps.
fn candidates(
    matrix: Matrix<'_>,
    hints: &Hints<'_>,
    sources: &Sources,
    whole: &Histogram,
) -> Vec<ClassRule> {
    let rows = matrix.rows();
    let mut out = Vec::new();
    if matrix.symbols.len() < 512 || matrix.cols == 0 {
        return out;
    }
    let fraction = match hints.measure {
        Measure::Place => 2,
        Measure::Size => hints
            .levels
            .first()
            .map_or(if matrix.cols >= 1024 { 3 } else { 2 }, |c| c.source.fraction),
    };
    let many = |n: usize| n >= 2;
    // What is known of blocks is taken whole or not at all.
    let informed = !sources.levels.is_empty() || sources.zero.is_some();
    for with_blocks in [false, true] {
        if with_blocks && !informed {
            continue;
        }
        let zero = sources.zero.as_ref().filter(|_| with_blocks);
        let levels: &[Blocks] = if with_blocks { &sources.levels } else { &[] };
        let side = hints.side && matrix.symbols.len() >= 4096;
        let fitted = if side && matrix.symbols.len().is_multiple_of(matrix.cols) {
            let distances = Distances {
                symbols: matrix.symbols,
                cols: matrix.cols,
                bits: matrix.bits,
                centres: centres(matrix, zero, whole),
                zero,
                levels,
                fraction,
                every: sample_step(matrix).min(SHARE_OF_LEVELS),
            };
            distances.fit(hints.measure, rows, many(rows))
        } else {
            Fitted::default()
        };
        for (with_rows, with_cols) in [(false, false), (false, true), (true, false), (true, true)] {
            let lacks = (with_rows && (fitted.rows.is_empty() || !many(rows)))
                || (with_cols && (fitted.cols.is_empty() || !many(matrix.cols)))
                || !(with_rows || with_cols || with_blocks);
            if lacks {
                continue;
            }
            let named = hints.levels.iter().take(if with_blocks { MAX_SOURCES } else { 0 });
            let mut rule = ClassRule {
                rows: if with_rows { to_bytes(&fitted.rows).0 } else { Vec::new() },
                cols: if with_cols { to_bytes(&fitted.cols).0 } else { Vec::new() },
                bias: 0,
                levels: named.map(|c| c.source.clone()).collect(),
                zero: hints.zero.as_ref().filter(|_| with_blocks).map(|c| c.source.clone()),
                maps: vec![[0; 256]],
            };
            rule.bias = 128 - mean_sum(&rule, levels);
            out.push(rule);
        }
    }
    out
}

/// The mean of the sums without bias.
fn mean_sum(rule: &ClassRule, blocks: &[Blocks]) -> i32 {
    let mean = |levels: &[u8]| {
        let sum: u64 = levels.iter().map(|&l| u64::from(l)).sum();
        i32::try_from(sum / levels.len().max(1) as u64).unwrap_or(0)
    };
    mean(&rule.rows) + mean(&rule.cols) - blocks.iter().map(Blocks::typical).sum::<i32>()
}

/// The mean symbol, around the circle; by zero point where there are any.
fn centres(matrix: Matrix<'_>, zero: Option<&Blocks>, whole: &Histogram) -> Vec<u8> {
    let of = |histogram: &Histogram| {
        u8::try_from(circular_mean(histogram, 1 << matrix.bits)).unwrap_or(0)
    };
    let Some(zero) = zero else { return vec![of(whole)] };
    let mut histograms = vec![[0u32; 256]; 256];
    let mut zeros = vec![0u8; matrix.cols];
    for (r, row) in matrix.symbols.chunks(matrix.cols).enumerate().step_by(sample_step(matrix)) {
        zero.spread(r, |z| u8::try_from(z.clamp(0, 255)).unwrap_or(0), &mut zeros);
        for (&z, &s) in zeros.iter().zip(row) {
            histograms[usize::from(z)][usize::from(s)] += 1;
        }
    }
    histograms.iter().map(of).collect()
}

/// The mean symbol of a histogram on a circle of `size` symbols: about the most common one.
pub(crate) fn circular_mean(histogram: &Histogram, size: i32) -> i32 {
    let mode = (0..).zip(histogram).max_by_key(|(s, n)| (**n, -*s)).map_or(0, |(s, _)| s);
    let (mut sum, mut n) = (0i64, 0i64);
    for (s, &count) in (0..size).zip(histogram) {
        let d = (s - mode + size / 2).rem_euclid(size) - size / 2;
        sum += i64::from(d) * i64::from(count);
        n += i64::from(count);
    }
    let mean = (2 * sum + n).div_euclid(2 * n.max(1));
    (mode + i32::try_from(mean).unwrap_or(0)).rem_euclid(size)
}

/// Histograms by zero point and sum, and how much larger the whole is than the sample.
struct Sums {
    maps: Vec<BySum>,
    scale: f64,
}

/// `tallies` are empty, and left so: they are worth keeping.
fn by_sum(
    matrix: Matrix<'_>,
    sources: &Sources,
    rule: &ClassRule,
    every: usize,
    tallies: &mut Vec<Tally>,
) -> Sums {
    let terms = Terms {
        rule,
        levels: Cow::Borrowed(if rule.levels.is_empty() { &[] } else { &sources.levels[..] }),
        zero: sources.zero.as_ref().filter(|_| rule.zero.is_some()).map(Cow::Borrowed),
    };
    let mut used = 1;
    let (mut scratch, mut seen) = (RowSums::default(), 0usize);
    let mut sums = vec![0u8; matrix.cols];
    for (r, row) in matrix.symbols.chunks(matrix.cols).enumerate().step_by(every) {
        let sums = &mut sums[..row.len()];
        terms.sums(r, 1, &mut scratch, sums);
        seen += row.len();
        terms.zeros(r, 1, row.len(), |run, z| {
            used = used.max(z + 1);
            while tallies.len() < used {
                tallies.push(Tally::new());
            }
            tallies[z].add(&sums[run.clone()], &row[run]);
        });
    }
    let maps = (0..used).map(|z| tallies.get_mut(z).map_or_else(Vec::new, Tally::take)).collect();
    Sums { maps, scale: matrix.symbols.len() as f64 / seen.max(1) as f64 }
}

/// Histograms of the classes of a rule with one map, from those of every so manieth row: no symbol
/// that occurs is left without a count.
fn scaled(
    matrix: Matrix<'_>,
    sources: &Sources,
    rule: &ClassRule,
    mut sample: Vec<Histogram>,
    every: usize,
) -> Vec<Histogram> {
    let levels = if rule.levels.is_empty() { &[] } else { &sources.levels[..] };
    let terms = Terms { rule, levels: Cow::Borrowed(levels), zero: None };
    let (mut scratch, mut found) = (RowSums::default(), vec![0u8; matrix.cols]);
    // By class and symbol. That one occurs is written in less time than it is counted.
    let mut seen = vec![false; PLACES];
    if let Some(seen) = seen.first_chunk_mut::<PLACES>() {
        for (r, row) in matrix.symbols.chunks(matrix.cols).enumerate() {
            let found = &mut found[..row.len()];
            terms.classes(r, 1, &mut scratch, found);
            places(found, row, |_, place| seen[usize::from(place)] = true);
        }
    }
    let times = u32::try_from(every).unwrap_or(u32::MAX);
    for (histogram, seen) in sample.iter_mut().zip(seen.as_chunks::<256>().0) {
        for (n, &seen) in histogram.iter_mut().zip(seen) {
            *n = n.saturating_mul(times).max(u32::from(seen));
        }
    }
    sample
}

/// Calls `f` with the place of each symbol of a sum (or class), and whether its number is odd. Places
/// are made many at a time.
#[inline(always)]
fn places(sums: &[u8], symbols: &[u8], mut f: impl FnMut(bool, u16)) {
    let (many, last_sums) = sums.as_chunks::<32>();
    let (symbols, last) = symbols.as_chunks::<32>();
    for (sums, symbols) in many.iter().zip(symbols) {
        let places: [u16; 32] = std::array::from_fn(|i| u16::from_le_bytes([symbols[i], sums[i]]));
        for [even, odd] in places.as_chunks::<2>().0 {
            f(false, *even);
            f(true, *odd);
        }
    }
    for (&sum, &symbol) in last_sums.iter().zip(last) {
        f(false, u16::from_le_bytes([symbol, sum]));
    }
}

/// Places of all sums and symbols.
const PLACES: usize = 1 << 16;

/// Counts of pairs of a sum and a symbol.
struct Tally {
    /// The counts of neighbours are apart: few symbols would else wait for themselves.
    counts: [Vec<u32>; 2],
    /// The least and the largest sum that occur.
    sums: (u8, u8),
}

impl Tally {
    fn new() -> Self {
        Self { counts: [vec![0; PLACES], vec![0; PLACES]], sums: (u8::MAX, 0) }
    }

    fn add(&mut self, sums: &[u8], symbols: &[u8]) {
        let least = sums.iter().fold(self.sums.0, |least, &sum| least.min(sum));
        self.sums = (least, sums.iter().fold(self.sums.1, |most, &sum| most.max(sum)));
        let [even, odd] = &mut self.counts;
        // Of a length that the compiler knows: an index of 16 bits needs no check then.
        let Some(even) = even.first_chunk_mut::<PLACES>() else { return };
        let Some(odd) = odd.first_chunk_mut::<PLACES>() else { return };
        places(sums, symbols, |is_odd, place| {
            let counts = if is_odd { &mut *odd } else { &mut *even };
            counts[usize::from(place)] += 1;
        });
    }

    /// Histograms of the sums that occur; all counts are zero again.
    fn take(&mut self) -> BySum {
        let (least, most) = (usize::from(self.sums.0), usize::from(self.sums.1));
        self.sums = (u8::MAX, 0);
        let [even, odd] = &mut self.counts;
        let (even, odd) = (even.as_chunks_mut::<256>().0, odd.as_chunks_mut::<256>().0);
        let mut out = Vec::new();
        for (sum, (a, b)) in even.iter_mut().zip(odd).enumerate().take(most + 1).skip(least) {
            let mut histogram = std::mem::replace(a, [0; 256]);
            cost::add(&mut histogram, &std::mem::replace(b, [0; 256]));
            if histogram != [0; 256] {
                out.push((sum, histogram));
            }
        }
        out
    }
}
