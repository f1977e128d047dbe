//! Rules of classes that are worth measuring.

use crate::error::Result;
use crate::wcodec::encode::cost::{self, Histogram};
use crate::wcodec::encode::levels::{Fit, Fitted, Gauge, Measure, Seen, to_bytes};
use crate::wcodec::encode::matrix::Matrix;
use crate::wcodec::encode::sources::{Near, Sources};
use crate::wcodec::layout::class_rule::{ClassRule, MAX_SOURCES};
use crate::wcodec::layout::golomb::Memory;
use crate::wcodec::layout::short_stream;
use std::cmp::Ordering;
use std::f64::consts::{LN_2, LOG2_E};

/// Symbols that are looked at to choose terms: at least so many, and one in [`SHARE`].
const SAMPLE: usize = 1 << 16;
const SHARE: usize = 64;
/// Rows of a sample, at least: they may differ much.
pub(crate) const ROWS: usize = 32;
/// Symbols for levels of columns, at least, and rows: one in so many, or more.
const SAMPLE_OF_LEVELS: usize = 1 << 17;
const SHARE_OF_LEVELS: usize = 8;

/// Every so manieth row is in the sample.
pub(crate) fn sample_step(matrix: Matrix<'_>) -> usize {
    (matrix.len() / SAMPLE).min(matrix.rows() / ROWS).clamp(1, SHARE)
}

/// Every so manieth row counts for levels of columns.
fn levels_step(matrix: Matrix<'_>) -> usize {
    (matrix.len() / SAMPLE_OF_LEVELS).min(matrix.rows() / ROWS).clamp(1, SHARE_OF_LEVELS)
}

/// Columns of blocks whose scales say more of symbols than none.
const WIDE: usize = 64;
/// Steps by which levels of rows are moved at most, as they take fewer bits then.
const MOST_STEPS: usize = 3;

/// Symbols from which on levels may be decided on without counting: where they differ by so many bits, of a squared
/// nat a symbol, for each bit that they take. A third of that is what they gain, more or less.
const DECIDED: usize = 1 << 17;
const SURELY_PAY: f64 = 4.0;
const SURELY_NOT: f64 = 1.0;
/// Bytes that it takes to name a source.
const OF_SOURCE: usize = 8;

/// A rule without maps, and the bits of its side information.
pub(crate) type Described = (ClassRule, f64);

/// Rules worth measuring, made of every so manieth row.
pub(crate) fn candidates(
    matrix: Matrix<'_>,
    sources: &Sources<'_>,
    whole: &Histogram,
    every: usize,
) -> Result<Vec<Described>> {
    let (rows, hints) = (matrix.rows(), &sources.hints);
    let mut out = Vec::new();
    if matrix.len() < 512 || matrix.cols == 0 {
        return Ok(out);
    }
    let many = |n: usize| n >= 2;
    // What is known of blocks is taken whole or not at all. It helps where a row has several, if they are so
    // wide that the largest symbol of a block says little of the others.
    let finer = hints.levels.iter().any(|c| (WIDE..matrix.cols).contains(&c.source.block_cols));
    let with_blocks: &[bool] = if sources.is_empty() {
        &[false]
    } else if finer {
        &[true]
    } else {
        &[false, true]
    };
    let fraction = fraction(matrix, sources);
    let alike = with_blocks == [false, true] && are_alike(matrix, sources);
    let fitted = fitted(matrix, sources, whole, with_blocks, alike, fraction, every)?;
    // Symbols whose size is misjudged by a small share take half of its square more, in nats.
    let exact = hints.measure == Measure::Size && every == 1;
    let loss_of_one = 0.5 * loss_of_levels(matrix, sources);
    let loss = |n: usize| if exact { loss_of_one * n as f64 } else { 0.0 };
    let decided = exact && matrix.len() >= DECIDED;
    let levels = |levels: &[f32], n: usize| Levels::new(levels, loss(n), decided);
    let mut sides: Vec<[Levels; 2]> = Vec::new();
    for fitted in &fitted {
        let cols = match sides.first() {
            Some([_, cols]) if alike => cols.clone(),
            _ => levels(&fitted.cols, rows),
        };
        sides.push([levels(&fitted.rows, matrix.cols), cols]);
    }
    // With levels of rows it is all the same whether the block of a row is known as well: only the side
    // information differs.
    let dearer = match &sides[..] {
        [[without, _], [with, _]] if alike => {
            Some(with.side + OF_SOURCE * hints.sizes() >= without.side)
        }
        _ => None,
    };
    for (&with_blocks, [of_rows, of_cols]) in with_blocks.iter().zip(&sides) {
        for (with_rows, with_cols) in [(true, true), (false, true), (true, false), (false, false)] {
            let lacks = (with_rows && (of_rows.bytes.is_empty() || !many(rows)))
                || (with_cols && (of_cols.bytes.is_empty() || !many(matrix.cols)))
                || !(with_rows || with_cols || with_blocks);
            let surely_worse = of_rows.is_decided_against(with_rows && many(rows))
                || of_cols.is_decided_against(with_cols && many(matrix.cols))
                || with_rows && dearer == Some(with_blocks);
            if lacks || surely_worse {
                continue;
            }
            let named = hints.levels.iter().take(if with_blocks { hints.sizes() } else { 0 });
            let mut rule = ClassRule {
                rows: if with_rows { of_rows.bytes.clone() } else { Vec::new() },
                cols: if with_cols { of_cols.bytes.clone() } else { Vec::new() },
                bias: 0,
                levels: named.map(|c| c.source.clone()).collect(),
                zero: hints.zero.as_ref().filter(|_| with_blocks).map(|c| c.source.clone()),
                maps: vec![[0; 256]],
            };
            let of_blocks: i32 = sources.typical.iter().take(rule.levels.len()).sum();
            rule.bias = 128 - (mean(&rule.rows) + mean(&rule.cols) - of_blocks);
            let side = [(with_rows, of_rows), (with_cols, of_cols)];
            let side = side.iter().map(|(with, levels)| if *with { levels.side } else { 0 }).sum();
            let bits = side_bits_of(&rule, side);
            out.push((rule, bits));
        }
    }
    out.extend(by_place(sources));
    Ok(out)
}

/// A rule of all levels of blocks, where these say where symbols are.
fn by_place(sources: &Sources<'_>) -> Option<Described> {
    let levels = &sources.hints.levels;
    if levels.len() > MAX_SOURCES || levels.len() <= sources.hints.sizes() {
        return None;
    }
    let rule = ClassRule {
        bias: 128 + sources.typical.iter().sum::<i32>(),
        levels: levels.iter().map(|c| c.source.clone()).collect(),
        maps: vec![[0; 256]],
        ..ClassRule::default()
    };
    let bits = side_bits(&rule);
    Some((rule, bits))
}

/// Levels of rows or columns as they are written, and the bytes that this takes.
#[derive(Clone)]
struct Levels {
    bytes: Vec<u8>,
    side: usize,
    /// Whether they surely pay, or do not, where that is clear without counting symbols.
    pays: Option<bool>,
}

impl Levels {
    /// Of levels with what it costs to be off one of them by a step; whether they pay is said if it is to be
    /// `decided`.
    fn new(levels: &[f32], loss: f64, decided: bool) -> Self {
        let mut bytes = to_bytes(levels).0;
        if loss > 0.0 {
            round_by_cost(&mut bytes, levels, loss);
        }
        let side = if bytes.is_empty() { 0 } else { short_stream::cost(&bytes) };
        let share = 2.0 * loss * squares(levels) / (8 * side.max(1)) as f64;
        let pays = match share {
            _ if !decided || side == 0 => None,
            SURELY_PAY.. => Some(true),
            ..SURELY_NOT => Some(false),
            _ => None,
        };
        Self { bytes, side, pays }
    }

    /// Whether it is clear that rules had better not be as they are, with these levels or without.
    fn is_decided_against(&self, with: bool) -> bool {
        self.pays.is_some_and(|pays| pays != with)
    }
}

/// The sum of the squares by which levels differ from their mean.
fn squares(levels: &[f32]) -> f64 {
    let sum: f64 = levels.iter().map(|&level| f64::from(level)).sum();
    let mean = sum / levels.len().max(1) as f64;
    levels.iter().map(|&level| (f64::from(level) - mean).powi(2)).sum()
}

/// Bits of the side information of a rule, its maps aside.
pub(crate) fn side_bits(rule: &ClassRule) -> f64 {
    let stream = |levels: &[u8]| if levels.is_empty() { 0 } else { short_stream::cost(levels) };
    side_bits_of(rule, stream(&rule.rows) + stream(&rule.cols))
}

/// As [`side_bits`], of which `levels` bytes are those of rows and columns.
fn side_bits_of(rule: &ClassRule, levels: usize) -> f64 {
    let sources = rule.levels.len() + usize::from(rule.zero.is_some());
    8.0 * (levels + OF_SOURCE * sources + 16) as f64
}

/// The square of a step of levels, in bits where a nat is one.
pub(crate) fn loss_of_levels(matrix: Matrix<'_>, sources: &Sources<'_>) -> f64 {
    let step = LN_2 / f64::from(1u32 << fraction(matrix, sources));
    LOG2_E * step * step
}

/// log2 of the levels in an octave.
fn fraction(matrix: Matrix<'_>, sources: &Sources<'_>) -> u32 {
    let of_blocks = sources.hints.levels.first().map(|c| c.source.fraction);
    match sources.hints.measure {
        Measure::Place => 2,
        Measure::Size => of_blocks.unwrap_or(if matrix.cols >= 1024 { 3 } else { 2 }),
    }
}

/// Moves levels, rounded to `bytes`, towards the most common one where they then take fewer bits than
/// symbols take more: `loss` times the square of how far off a level is.
fn round_by_cost(bytes: &mut [u8], levels: &[f32], loss: f64) {
    let least = levels.iter().copied().fold(f32::INFINITY, f32::min).round();
    let (base, mut memory) = (short_stream::base(bytes), Memory::new());
    for (byte, &level) in bytes.iter_mut().zip(levels) {
        if *byte == base {
            memory.cost_signed(0);
            continue;
        }
        let exact = f64::from(level - least);
        let bits = |value: u8| {
            let off = f64::from(value) - exact;
            f64::from(memory.clone().cost_signed(i32::from(value) - i32::from(base)))
                + loss * off * off
        };
        let (mut best, mut next) = ((bits(*byte), *byte), *byte);
        for _ in 0..MOST_STEPS {
            next = match next.cmp(&base) {
                Ordering::Less => next + 1,
                Ordering::Greater => next - 1,
                Ordering::Equal => break,
            };
            let off = f64::from(next) - exact;
            if 1.0 + loss * off * off >= best.0 {
                // There is no shorter code, and it is but farther off from here on.
                break;
            }
            let cost = bits(next);
            if cost < best.0 {
                best = (cost, next);
            }
        }
        *byte = best.1;
        memory.cost_signed(i32::from(best.1) - i32::from(base));
    }
}

/// Levels of rows and columns, without and with what is known of blocks, all in one go through every so
/// manieth row, whose level those behind it share; none where there may be none.
fn fitted(
    matrix: Matrix<'_>,
    sources: &Sources<'_>,
    whole: &Histogram,
    with_blocks: &[bool],
    alike: bool,
    fraction: u32,
    every: usize,
) -> Result<Vec<Fitted>> {
    let (rows, cols, hints) = (matrix.rows(), matrix.cols, &sources.hints);
    if !hints.side || matrix.len() < 4096 || !matrix.len().is_multiple_of(cols) {
        return Ok(vec![Fitted::default(); with_blocks.len()]);
    }
    let of_cols = if every > 1 { every } else { levels_step(matrix) };
    // Rows of one block each are explained without it, and then with it.
    let with_blocks = if alike { &[false][..] } else { with_blocks };
    let mut gauges = Vec::new();
    for &with_blocks in with_blocks {
        let by_zero = with_blocks && hints.zero.is_some();
        gauges.push(Gauge {
            measure: hints.measure,
            cols,
            bits: matrix.bits,
            centres: if by_zero { centres(matrix, sources)? } else { vec![centre(whole, matrix)] },
            blocks: with_blocks.then(|| sources.typical.first().copied().unwrap_or(0)),
            fraction,
            every: if rows >= 2 { of_cols } else { 0 },
            sizes: hints.sizes(),
        });
    }
    let make = || (gauges.iter().map(Fit::new).collect::<Vec<_>>(), Vec::new(), Near::default());
    let all = matrix.windows(every, make, |(fits, seen, own), window| {
        let near = sources.near(window.rows.clone(), own)?;
        let of_window: Vec<Seen> = fits.iter_mut().map(|fit| fit.rows(&window, near)).collect();
        seen.push((window.rows.start, of_window));
        Ok(())
    })?;
    let mut seen: Vec<(usize, Vec<Seen>)> = all.into_iter().flat_map(|own| own.1).collect();
    seen.sort_by_key(|(first, _)| *first);
    let each = gauges.iter().enumerate();
    let mut all: Vec<Fitted> = each
        .map(|(i, gauge)| gauge.levels(seen.iter().filter_map(|(_, of)| of.get(i)), every))
        .collect();
    if alike {
        let mut with = all.first().cloned().unwrap_or_default();
        sources.add_levels(&mut with.rows)?;
        all.push(with);
    }
    Ok(all)
}

/// Whether each row has one block, all of it, whose level is one of the row as well.
fn are_alike(matrix: Matrix<'_>, sources: &Sources<'_>) -> bool {
    let hints = &sources.hints;
    let whole = |block_cols: usize| block_cols >= matrix.cols;
    hints.zero.is_none()
        && hints.levels.iter().all(|c| whole(c.source.block_cols) && c.row_map.is_none())
}

/// The mean level.
fn mean(levels: &[u8]) -> i32 {
    let sum: u64 = levels.iter().map(|&l| u64::from(l)).sum();
    i32::try_from(sum / levels.len().max(1) as u64).unwrap_or(0)
}

/// The mean symbol, around the circle.
fn centre(histogram: &Histogram, matrix: Matrix<'_>) -> u8 {
    u8::try_from(circular_mean(histogram, 1 << matrix.bits)).unwrap_or(0)
}

/// The mean symbol by zero point.
fn centres(matrix: Matrix<'_>, sources: &Sources<'_>) -> Result<Vec<u8>> {
    let make = || (vec![[0u32; 256]; 256], vec![0u8; matrix.cols], Near::default());
    let all = matrix.windows(sample_step(matrix), make, |(histograms, zeros, own), window| {
        let near = sources.near(window.rows.clone(), own)?;
        let Some(zero) = &near.zero else { return Ok(()) };
        for (r, row) in window.each() {
            zero.spread(r, |z| u8::try_from(z.clamp(0, 255)).unwrap_or(0), zeros);
            for (&z, &s) in zeros.iter().zip(row) {
                histograms[usize::from(z)][usize::from(s)] += 1;
            }
        }
        Ok(())
    })?;
    let mut histograms = vec![[0; 256]; 256];
    for (some, ..) in &all {
        histograms.iter_mut().zip(some).for_each(|(all, more)| cost::add(all, more));
    }
    Ok(histograms.iter().map(|histogram| centre(histogram, matrix)).collect())
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
