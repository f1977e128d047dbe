//! Groups of tiles as they are stored: residuals and coefficients by the direct coder, both by bit planes.

use super::{Ask, Prepared, prediction_of};
use crate::ans::rans::{self, Classes};
use crate::error::Result;
use crate::wcodec::bitplane::{self, Order, Values, kinds_of, order_of};
use crate::wcodec::class::windows::Windows;
use crate::wcodec::config::Tools;
use crate::wcodec::data::Data;
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::cost::Histogram;
use crate::wcodec::encode::fit::Own;
use crate::wcodec::encode::matrix::Matrix;
use crate::wcodec::encode::plan::{Plan, plan};
use crate::wcodec::encode::sources::{Hints, Near, Sources};
use crate::wcodec::encode::streams::{Coder, Scratch};
use crate::wcodec::encode::symbols::{DirectConfig, Job};
use crate::wcodec::layout::symbols::{KINDS, Symbols};
use crate::wcodec::threads;
use crate::wcodec::tiled::tile_size;
use std::borrow::Cow;

/// What may tell classes: nothing, where there shall be none.
fn hints_of<'h>(job: &'h Job<'_>, tools: &Tools) -> Cow<'h, Hints<'h>> {
    match tools.contexts {
        true => Cow::Borrowed(&job.hints),
        false => Cow::Owned(Hints::none(job.hints.measure)),
    }
}

/// What tells residuals apart: classes follow from these, coefficients left aside.
fn plan_of(
    (matrix, hints): (Matrix<'_>, &Hints<'_>),
    prepared: &[Prepared],
    table_bits: u32,
    most: Option<usize>,
    bank: &mut Bank,
) -> Result<Plan> {
    let residuals: Vec<u8> = prepared.iter().flat_map(|p| p.symbols.iter().copied()).collect();
    let matrix = Matrix { symbols: Data::Held(&residuals), ..matrix };
    plan(matrix, hints, table_bits, most, bank)
}

/// Groups by the bitplane coder, whose contexts the classes tell: tables there are none.
pub(super) fn by_bitplanes(
    job: &Job<'_>,
    tools: &Tools,
    matrix: Matrix<'_>,
    (symbols, prepared): (&mut Symbols, &[Prepared]),
    bank: &mut Bank,
) -> Result<Vec<Vec<u8>>> {
    let hints = hints_of(job, tools);
    let most = if symbols.has_transform() { KINDS / 2 } else { KINDS };
    let before = bank.len();
    let table_bits = job.config.table_bits;
    symbols.classes = plan_of((matrix, &hints), prepared, table_bits, Some(most), bank)?.classes;
    bank.take_from(before);
    bitplanes(symbols, &hints, prepared, job.config, &|| job.watch.ask())
}

/// Groups of residuals by the direct coder, with a table for each class.
pub(super) fn by_classes(
    job: &Job<'_>,
    tools: &Tools,
    matrix: Matrix<'_>,
    (symbols, prepared): (&mut Symbols, &[Prepared]),
    bank: &mut Bank,
) -> Result<Vec<Vec<u8>>> {
    let hints = hints_of(job, tools);
    let plan = plan_of((matrix, &hints), prepared, job.config.table_bits, None, bank)?;
    (symbols.classes, symbols.tables) = (plan.classes, plan.tables);
    let ask = || job.watch.ask();
    residuals_of((symbols, matrix.bits), &hints, prepared, job.config, bank, &ask)
}

/// Residuals of `bits` by the direct coder, each with the table of its class.
fn residuals_of(
    (symbols, bits): (&Symbols, u32),
    hints: &Hints<'_>,
    prepared: &[Prepared],
    config: DirectConfig,
    bank: &Bank,
    ask: Ask<'_>,
) -> Result<Vec<Vec<u8>>> {
    let prediction = prediction_of(symbols)?;
    let coder = Coder::new(symbols, bank)?;
    let sources = Sources::new(hints.clone(), symbols.cols)?;
    let mut own = Near::default();
    let near = sources.near(0..symbols.rows(), &mut own)?;
    let terms = symbols.classes.as_ref().map(|rule| near.terms(rule));
    let windows = Windows::of(symbols);
    let stream = |scratch: &mut Scratch, group: usize| -> Result<Vec<u8>> {
        ask()?;
        let prepared = &prepared[group];
        let head = prepared.tiles.write(prediction, Vec::new());
        let by = terms.as_ref().map(|terms| (terms, windows.as_ref()));
        Ok(scratch.stream((symbols, bits), by, &coder, group, &prepared.symbols, head))
    };
    let groups = threads::map_with(prepared.len(), config.threads, Scratch::default, stream);
    groups.into_iter().collect()
}

/// Coefficients by the direct coder: zigzag, an escape from 255 on, a table a kind.
pub(super) fn coefficients(
    symbols: &mut Symbols,
    prepared: &[Prepared],
    config: DirectConfig,
    bank: &mut Bank,
) -> Result<Vec<Vec<u8>>> {
    let prediction = prediction_of(symbols)?;
    let mut histograms: Vec<Histogram> = vec![[0; 256]; KINDS];
    let mut streams = Vec::new();
    for group in prepared {
        let rows = group.values.len().checked_div(symbols.cols).unwrap_or(0);
        let shape = (rows, symbols.cols);
        let kinds = kinds_of(&group.tiles.codes, tile_size(prediction)?, shape, &[0])?;
        let (mut coded, mut escapes) = (Vec::with_capacity(kinds.len()), Vec::new());
        for (&value, &kind) in group.values.iter().zip(&kinds) {
            let u = ((value << 1) ^ (value >> 15)).cast_unsigned();
            let symbol = u8::try_from(u).unwrap_or(u8::MAX);
            if symbol == u8::MAX {
                escapes.push(u - u16::from(u8::MAX));
            }
            histograms[usize::from(kind)][usize::from(symbol)] += 1;
            coded.push(symbol);
        }
        let head = group.tiles.write(prediction, Vec::new());
        streams.push((head, coded, kinds, escapes));
    }
    symbols.table_bits = config.table_bits.max(12);
    symbols.tables = histograms
        .iter()
        .map(|h| {
            let own = || Own::new(h, 8, symbols.table_bits, false);
            bank.choose(h, 8, symbols.table_bits, own).0
        })
        .collect();
    let coder = Coder::new(symbols, bank)?;
    Ok(threads::map(streams.len(), config.threads, |i| {
        let (head, coded, kinds, escapes) = &streams[i];
        let by = Classes::PerSymbol(kinds);
        let mut out = rans::encode(coded, 8, by, &coder.tables, &mut Vec::new(), head.clone());
        escapes.iter().for_each(|e| out.extend_from_slice(&e.to_le_bytes()));
        out
    }))
}

/// Values by the bitplane coder.
fn bitplanes(
    symbols: &Symbols,
    hints: &Hints<'_>,
    prepared: &[Prepared],
    config: DirectConfig,
    ask: Ask<'_>,
) -> Result<Vec<Vec<u8>>> {
    let prediction = prediction_of(symbols)?;
    let sources = Sources::new(hints.clone(), symbols.cols)?;
    let mut own = Near::default();
    let near = sources.near(0..symbols.rows(), &mut own)?;
    let terms = symbols.classes.as_ref().map(|rule| near.terms(rule));
    let windows = Windows::of(symbols);
    let encode = |i: usize| -> Result<Vec<u8>> {
        ask()?;
        let group = &prepared[i];
        let (cols, mut kinds) = (symbols.cols, vec![0u8]);
        let rows = group.values.len().checked_div(cols).unwrap_or(0);
        if let Some(terms) = &terms {
            let mut scratch = Scratch::default();
            scratch.find(symbols, (terms, windows.as_ref()), i, group.values.len());
            kinds = std::mem::take(&mut scratch.classes);
        }
        let mut order = Order::Raster;
        if prediction.transform {
            let size = tile_size(prediction)?;
            (order, kinds) = order_of(&group.tiles.codes, size, (rows, cols), &kinds)?;
        }
        let values = Values { rows, cols, kinds: &kinds, order: &order };
        let mut out = group.tiles.write(prediction, Vec::new());
        out.extend(bitplane::encode(&values, &group.values)?);
        Ok(out)
    };
    threads::map(prepared.len(), config.threads, encode).into_iter().collect()
}
