//! Rules of classes that are worth measuring.

mod fitted;
mod side;

use crate::error::Result;
use crate::wcodec::encode::cost::Histogram;
use crate::wcodec::encode::levels::Measure;
use crate::wcodec::encode::matrix::Matrix;
use crate::wcodec::encode::sources::Sources;
use crate::wcodec::layout::class_rule::{ClassRule, MAX_SOURCES};
use fitted::{fitted, levels_step};
use side::{DECIDED, Levels, OF_SOURCE, side_bits_of};
use std::f64::consts::{LN_2, LOG2_E};

pub(crate) use side::{round_by_cost, side_bits};

/// Symbols that are looked at to choose terms: at least so many, and one in [`SHARE`].
const SAMPLE: usize = 1 << 15;
const SHARE: usize = 64;
/// Rows of a sample, at least: they may differ much.
pub(crate) const ROWS: usize = 32;

/// One row in so many is in the sample.
pub(crate) fn sample_step(matrix: Matrix<'_>) -> usize {
    (matrix.len() / SAMPLE).min(matrix.rows() / ROWS).clamp(1, SHARE)
}

/// Columns of blocks whose scales say more of symbols than none.
const WIDE: usize = 64;

/// A rule without maps, and the bits of its side information.
pub(crate) type Described = (ClassRule, f64);

/// Rules worth measuring, made of one row in so many.
pub(crate) fn candidates(
    matrix: Matrix<'_>,
    sources: &Sources<'_>,
    whole: &Histogram,
    every: usize,
) -> Result<Vec<Described>> {
    let mut out = Vec::new();
    if matrix.len() < 512 || matrix.cols == 0 {
        return Ok(out);
    }
    let with_blocks = with_blocks(matrix, sources);
    let alike = with_blocks == [false, true] && are_alike(matrix, sources);
    let sides = sides(matrix, sources, whole, with_blocks, alike, every)?;
    // With levels of rows it is all the same whether the block of a row is known as well: only the side
    // information differs.
    let dearer = match &sides[..] {
        [[without, _], [with, _]] if alike => {
            Some(with.side + OF_SOURCE * sources.hints.sizes() >= without.side)
        }
        _ => None,
    };
    let (many_rows, many_cols) = (matrix.rows() >= 2, matrix.cols >= 2);
    for (&with_blocks, [of_rows, of_cols]) in with_blocks.iter().zip(&sides) {
        for (with_rows, with_cols) in [(true, true), (false, true), (true, false), (false, false)] {
            let lacks = (with_rows && (of_rows.bytes.is_empty() || !many_rows))
                || (with_cols && (of_cols.bytes.is_empty() || !many_cols))
                || !(with_rows || with_cols || with_blocks);
            let surely_worse = of_rows.is_decided_against(with_rows && many_rows)
                || of_cols.is_decided_against(with_cols && many_cols)
                || with_rows && dearer == Some(with_blocks);
            if !lacks && !surely_worse {
                let levels = [with_rows.then_some(of_rows), with_cols.then_some(of_cols)];
                out.push(described(sources, levels, with_blocks));
            }
        }
    }
    out.extend(by_place(sources));
    Ok(out)
}

/// Without what is known of blocks, with it, or both: it is taken whole or not at all. It helps where a row has
/// several, if they are so wide that the largest symbol of a block says little of the others; where it says where zero
/// lies, that may still be less than what columns say.
fn with_blocks(matrix: Matrix<'_>, sources: &Sources<'_>) -> &'static [bool] {
    let is_wide = |block_cols: usize| (WIDE..matrix.cols).contains(&block_cols);
    let levels = &sources.hints.levels;
    if sources.is_empty() {
        &[false]
    } else if levels.iter().all(|c| !c.source.added)
        && levels.iter().any(|c| is_wide(c.source.block_cols))
    {
        &[true]
    } else {
        &[false, true]
    }
}

/// Levels of rows and of columns, for each of `with_blocks`.
fn sides(
    matrix: Matrix<'_>,
    sources: &Sources<'_>,
    whole: &Histogram,
    with_blocks: &[bool],
    alike: bool,
    every: usize,
) -> Result<Vec<[Levels; 2]>> {
    let fraction = fraction(matrix, sources);
    let fitted = fitted(matrix, sources, whole, with_blocks, alike, fraction, every)?;
    // Symbols whose size is misjudged by a small share take half of its square more, in nats.
    let exact = sources.hints.measure == Measure::Size && every == 1;
    let loss_of_one = 0.5 * loss_of_levels(matrix, sources);
    let loss = |n: usize| if exact { loss_of_one * n as f64 } else { 0.0 };
    // Without zero points level 9 decides as level 8 does, with them it is thorough (`model` likewise).
    let few_rounds = match sources.hints.zero {
        None => sources.hints.effort.rounds <= 1,
        Some(_) => sources.hints.effort.rounds == 0,
    };
    let decided = exact && matrix.len() >= DECIDED && few_rounds;
    let levels =
        |levels: &[f32], n: usize, chance: f64| Levels::new(levels, loss(n), decided, chance);
    let chance = if decided { chance(matrix, sources) } else { 0.0 };
    let mut sides: Vec<[Levels; 2]> = Vec::new();
    for fitted in &fitted {
        let cols = match sides.first() {
            Some([_, cols]) if alike => cols.clone(),
            _ => levels(&fitted.cols, matrix.rows(), chance),
        };
        sides.push([levels(&fitted.rows, matrix.cols, 0.0), cols]);
    }
    Ok(sides)
}

/// The rule of levels of rows and of columns, where it has them, and of blocks.
fn described(sources: &Sources<'_>, levels: [Option<&Levels>; 2], with_blocks: bool) -> Described {
    let hints = &sources.hints;
    let [rows, cols] = levels.map(|l| l.map_or_else(Vec::new, |levels| levels.bytes.clone()));
    let named = hints.levels.iter().take(if with_blocks { hints.sizes() } else { 0 });
    let mut rule = ClassRule {
        rows,
        cols,
        bias: 0,
        levels: named.map(|c| c.source.clone()).collect(),
        zero: hints.zero.as_ref().filter(|_| with_blocks).map(|c| c.source.clone()),
        maps: vec![[0; 256]],
    };
    let of_blocks: i32 = sources.typical.iter().take(rule.levels.len()).sum();
    rule.bias = 128 - (mean(&rule.rows) + mean(&rule.cols) - of_blocks);
    let bits = side_bits_of(&rule, levels.iter().flatten().map(|levels| levels.side).sum());
    (rule, bits)
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

/// The square of a step of levels, in bits where a nat is one.
pub(crate) fn loss_of_levels(matrix: Matrix<'_>, sources: &Sources<'_>) -> f64 {
    let step = LN_2 / f64::from(1u32 << fraction(matrix, sources));
    LOG2_E * step * step
}

/// What the square of a column's level gains less than it seems to, where one row in so many says it: as much as
/// it is off by chance in the others, and once more, as that is no difference of columns.
fn chance(matrix: Matrix<'_>, sources: &Sources<'_>) -> f64 {
    // The variance of sizes by the square of their mean, of a normal distribution.
    const OF_ONE: f64 = std::f64::consts::FRAC_PI_2 - 1.0;
    let every = levels_step(matrix);
    let step = LN_2 / f64::from(1u32 << fraction(matrix, sources));
    let counted = (matrix.rows() / every).max(1) as f64;
    2.0 * (1.0 - 1.0 / every as f64) * OF_ONE / (counted * step * step)
}

/// log2 of the levels in an octave.
fn fraction(matrix: Matrix<'_>, sources: &Sources<'_>) -> u32 {
    let of_blocks = sources.hints.levels.first().map(|c| c.source.fraction);
    match sources.hints.measure {
        Measure::Place => 2,
        Measure::Size => of_blocks.unwrap_or(if matrix.cols >= 1024 { 3 } else { 2 }),
    }
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
