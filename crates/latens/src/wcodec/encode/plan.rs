//! Which classes the symbols of a part get: every combination of terms is measured on a sample of
//! rows, side information included.

use crate::error::Result;
use crate::wcodec::class::{Blocks, RowSums, SourceBytes, Terms, clamp};
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::cost::{self, Histogram};
use crate::wcodec::encode::levels::{Distances, Fitted, Measure, to_bytes};
use crate::wcodec::encode::merge::merge;
use crate::wcodec::layout::class_rule::{ClassRule, MAX_SOURCES};
use crate::wcodec::layout::short_stream;
use crate::wcodec::layout::source::Source;
use crate::wcodec::layout::symbols::MAX_CLASSES;

/// Symbols that are looked at to choose terms: at least so many, and one in [`SHARE`].
const SAMPLE: usize = 1 << 16;
const SHARE: usize = 8;

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
    pub(crate) classes: Option<ClassRule>,
    pub(crate) bits: f64,
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
    let whole = cost::count(matrix.symbols);
    let mut best = (cost::entropy(&whole) + 110.0, None);
    for rule in candidates(matrix, hints)? {
        let sums = by_sum(matrix, hints, &rule, sample_step(matrix))?;
        let scale = sums.scale;
        let mut bits = 0.0;
        let most = MAX_CLASSES / sums.maps.len().max(1);
        for map in &sums.maps {
            bits += merge(map, most.max(4), sample_step(matrix) > 1).2;
        }
        let classes_bits = 110.0 * sums.maps.len() as f64;
        let bits = (bits - classes_bits) * scale + classes_bits + side_bits(&rule);
        if bits < best.0 {
            best = (bits, Some(rule));
        }
    }
    let Some(mut rule) = best.1 else {
        let (table, bits) = bank.choose(&whole, matrix.bits, table_bits);
        return Ok(Plan { tables: vec![table], classes: None, bits });
    };
    let sums = by_sum(matrix, hints, &rule, 1)?;
    if let Some(most) = most {
        if sums.maps.len() > 1 {
            // Kinds are too few for zero points.
            let none = Plan { tables: Vec::new(), classes: None, bits: best.0 };
            return Ok(none);
        }
        rule.maps = sums.maps.iter().map(|sums| merge(sums, most, false).0).collect();
        return Ok(Plan { tables: Vec::new(), classes: Some(rule), bits: best.0 });
    }
    let (tables, bits) = assign(&sums.maps, &mut rule, matrix.bits, table_bits, bank);
    let bits = bits + side_bits(&rule);
    Ok(Plan { tables, classes: Some(rule), bits })
}

/// Gives classes and tables to the histograms of a rule.
fn assign(
    maps: &[Vec<Histogram>],
    rule: &mut ClassRule,
    bits: u32,
    table_bits: u32,
    bank: &mut Bank,
) -> (Vec<usize>, f64) {
    let (mut tables, mut total) = (Vec::<usize>::new(), 0.0);
    rule.maps.clear();
    let used = maps.iter().filter(|m| m.iter().any(|h| h.iter().any(|&n| n > 0))).count();
    let most = (MAX_CLASSES / used.max(1)).max(1);
    for sums in maps {
        let (mut map, histograms, _) = merge(sums, most, false);
        let mut classes = Vec::new();
        for histogram in &histograms {
            let (table, bits) = bank.choose(histogram, bits, table_bits);
            total += bits;
            let class = tables.iter().position(|&t| t == table).unwrap_or_else(|| {
                tables.push(table);
                tables.len() - 1
            });
            classes.push(u8::try_from(class).unwrap_or(u8::MAX));
        }
        for class in &mut map {
            *class = classes.get(usize::from(*class)).copied().unwrap_or(0);
        }
        rule.maps.push(map);
    }
    if tables.is_empty() {
        tables.push(bank.choose(&[0; 256], bits, table_bits).0);
    }
    (tables, total)
}

/// Bits of the side information of a rule, its map aside.
fn side_bits(rule: &ClassRule) -> f64 {
    let stream = |levels: &[u8]| if levels.is_empty() { 0 } else { short_stream::cost(levels) };
    let sources = rule.levels.len() + usize::from(rule.zero.is_some());
    8.0 * (stream(&rule.rows) + stream(&rule.cols) + 8 * sources + 16) as f64
}

/// Every so manieth row is in the sample.
fn sample_step(matrix: Matrix<'_>) -> usize {
    (matrix.symbols.len() / SAMPLE).clamp(1, SHARE)
}

/// Rules worth measuring, without maps.
fn candidates(matrix: Matrix<'_>, hints: &Hints<'_>) -> Result<Vec<ClassRule>> {
    let rows = matrix.rows();
    if matrix.symbols.len() < 512 || matrix.cols == 0 {
        return Ok(Vec::new());
    }
    let fraction = match hints.measure {
        Measure::Place => 2,
        Measure::Size => hints
            .levels
            .first()
            .map_or(if matrix.cols >= 1024 { 3 } else { 2 }, |c| c.source.fraction),
    };
    let levels = hints.levels.iter().take(MAX_SOURCES);
    let blocks: Vec<Blocks> = levels.map(|c| blocks(c, matrix.cols)).collect::<Result<_>>()?;
    let zero = hints.zero.as_ref().map(|c| zeros(c, matrix.cols)).transpose()?;
    let mut out = Vec::new();
    let many = |n: usize| n >= 2;
    // What is known of blocks is taken whole or not at all.
    let informed = !blocks.is_empty() || zero.is_some();
    for with_blocks in [false, true] {
        if with_blocks && !informed {
            continue;
        }
        {
            let with_zero = with_blocks && zero.is_some();
            let used: &[Blocks] = if with_blocks { &blocks } else { &[] };
            let zero = zero.as_ref().filter(|_| with_zero);
            let distances = Distances {
                symbols: matrix.symbols,
                cols: matrix.cols,
                distance: distances(matrix, zero),
                zero,
                levels: used,
                fraction,
                every: sample_step(matrix),
            };
            let side = hints.side && matrix.symbols.len() >= 4096;
            let whole = matrix.symbols.len().is_multiple_of(matrix.cols);
            let fitted = if side && whole {
                distances.fit(hints.measure, rows, many(rows))
            } else {
                Fitted::default()
            };
            for with_rows in [false, true] {
                for with_cols in [false, true] {
                    let lacks = (with_rows && (fitted.rows.is_empty() || !many(rows)))
                        || (with_cols && (fitted.cols.is_empty() || !many(matrix.cols)))
                        || !(with_rows || with_cols || with_blocks);
                    if lacks {
                        continue;
                    }
                    let mut rule = ClassRule {
                        rows: if with_rows { to_bytes(&fitted.rows).0 } else { Vec::new() },
                        cols: if with_cols { to_bytes(&fitted.cols).0 } else { Vec::new() },
                        bias: 0,
                        levels: Vec::new(),
                        zero: hints.zero.as_ref().filter(|_| with_zero).map(|c| c.source.clone()),
                        maps: vec![[0; 256]],
                    };
                    if with_blocks {
                        rule.levels = hints
                            .levels
                            .iter()
                            .take(MAX_SOURCES)
                            .map(|c| c.source.clone())
                            .collect();
                    }
                    rule.bias = 128 - mean_sum(&rule, used);
                    out.push(rule);
                }
            }
        }
    }
    Ok(out)
}

/// The mean of the sums without bias.
fn mean_sum(rule: &ClassRule, blocks: &[Blocks]) -> i32 {
    let mean = |levels: &[u8]| {
        let sum: u64 = levels.iter().map(|&l| u64::from(l)).sum();
        i32::try_from(sum / levels.len().max(1) as u64).unwrap_or(0)
    };
    mean(&rule.rows) + mean(&rule.cols) - blocks.iter().map(Blocks::typical).sum::<i32>()
}

fn blocks(candidate: &Candidate<'_>, cols: usize) -> Result<Blocks> {
    Blocks::levels(&candidate.source, candidate.numbers, candidate.row_map, cols)
}

fn zeros(candidate: &Candidate<'_>, cols: usize) -> Result<Blocks> {
    Blocks::zeros(&candidate.source, candidate.numbers, candidate.row_map, cols)
}

/// The signed distance of each symbol from the mean one, around the circle; by zero point.
fn distances(matrix: Matrix<'_>, zero: Option<&Blocks>) -> Vec<[i16; 256]> {
    let size = 1i32 << matrix.bits;
    let of = |histogram: &Histogram| {
        let centre = circular_mean(histogram, size);
        std::array::from_fn(|s| {
            let s = i32::try_from(s).unwrap_or(0);
            let d = (s - centre + size / 2).rem_euclid(size) - size / 2;
            i16::try_from(d).unwrap_or(0)
        })
    };
    let Some(zero) = zero else { return vec![of(&cost::count(matrix.symbols))] };
    let mut histograms = vec![[0u32; 256]; 256];
    for (r, row) in matrix.symbols.chunks(matrix.cols).enumerate().step_by(sample_step(matrix)) {
        let start = zero.row_start(r);
        for (c, &s) in row.iter().enumerate() {
            let z = usize::try_from(zero.value(start, c)).unwrap_or(0).min(255);
            histograms[z][usize::from(s)] += 1;
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
    maps: Vec<Vec<Histogram>>,
    scale: f64,
}

fn by_sum(matrix: Matrix<'_>, hints: &Hints<'_>, rule: &ClassRule, every: usize) -> Result<Sums> {
    let terms = Terms {
        rule: &ClassRule {
            maps: vec![[0; 256]; if rule.zero.is_some() { 256 } else { 1 }],
            ..rule.clone()
        },
        levels: if rule.levels.is_empty() {
            Vec::new()
        } else {
            hints
                .levels
                .iter()
                .take(MAX_SOURCES)
                .map(|c| blocks(c, matrix.cols))
                .collect::<Result<_>>()?
        },
        zero: match (&rule.zero, &hints.zero) {
            (Some(_), Some(candidate)) => Some(zeros(candidate, matrix.cols)?),
            _ => None,
        },
    };
    let mut maps = vec![vec![[0u32; 256]; 256]];
    let (mut scratch, mut seen) = (RowSums::default(), 0usize);
    for (r, row) in matrix.symbols.chunks(matrix.cols).enumerate().step_by(every) {
        terms.row(r, row.len(), 1, &mut scratch);
        seen += row.len();
        if scratch.zeros.is_empty() {
            let sums = &mut maps[0];
            for (&s, &sum) in row.iter().zip(&scratch.sums) {
                sums[clamp(sum + scratch.base)][usize::from(s)] += 1;
            }
        } else {
            for ((&s, &sum), &z) in row.iter().zip(&scratch.sums).zip(&scratch.zeros) {
                while maps.len() <= z {
                    maps.push(vec![[0u32; 256]; 256]);
                }
                maps[z][clamp(sum + scratch.base)][usize::from(s)] += 1;
            }
        }
    }
    Ok(Sums { maps, scale: matrix.symbols.len() as f64 / seen.max(1) as f64 })
}
