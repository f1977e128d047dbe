//! Levels of rows and columns, as rows of a matrix say.

use super::sample_step;
use crate::error::Result;
use crate::wcodec::encode::centre::centre;
use crate::wcodec::encode::cost::{self, Histogram};
use crate::wcodec::encode::levels::{Fit, Fitted, Gauge, Seen};
use crate::wcodec::encode::matrix::Matrix;
use crate::wcodec::encode::sources::{Near, Sources};

/// Symbols for levels of columns, at least, and rows: one in so many, or more.
const SAMPLE_OF_LEVELS: usize = 1 << 17;
const SHARE_OF_LEVELS: usize = 8;
/// Rows that tell the levels of columns, at least: of 96 in place of 384, a column loses a bit more of
/// each 200.
const ROWS_OF_LEVELS: usize = 512;

/// One row in so many counts for levels of columns.
pub(super) fn levels_step(matrix: Matrix<'_>) -> usize {
    (matrix.len() / SAMPLE_OF_LEVELS).min(matrix.rows() / ROWS_OF_LEVELS).clamp(1, SHARE_OF_LEVELS)
}

/// Levels of rows and columns, without and with what is known of blocks, all in one go through one row in so
/// many, whose level those behind it share; none where there may be none.
pub(super) fn fitted(
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
    let of_cols = match every {
        1 if hints.effort.rounds > 0 => 1,
        1 => levels_step(matrix),
        _ => every,
    };
    // Rows of one block each are explained without it, and then with it.
    let with_blocks = if alike { &[false][..] } else { with_blocks };
    let mut gauges = Vec::new();
    for &with_blocks in with_blocks {
        let by_zero = with_blocks && hints.zero.is_some();
        gauges.push(Gauge {
            measure: hints.measure,
            cols,
            bits: matrix.bits,
            centres: if by_zero {
                centres(matrix, sources)?
            } else {
                vec![centre(whole, matrix.bits)]
            },
            blocks: with_blocks.then(|| sources.typical.first().copied().unwrap_or(0)),
            fraction,
            for_cols: (rows >= 2).then(|| matrix.sample(of_cols)),
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
    // Most zero points do not occur.
    let occurs = |histogram: &&Histogram| **histogram != [0; 256];
    let centre = |histogram| Some(histogram).filter(occurs).map_or(0, |h| centre(h, matrix.bits));
    Ok(histograms.iter().map(centre).collect())
}
