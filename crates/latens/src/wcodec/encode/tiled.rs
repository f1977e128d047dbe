//! Symbols by tiles: predicted, perhaps transformed, then by the direct or the bitplane coder.

use crate::ans::rans::{self, Classes};
use crate::error::{Error, Result};
use crate::wcodec::bitplane::{self, Order, Values, kinds_of, order_of};
use crate::wcodec::class::windows::Windows;
use crate::wcodec::config::{Coder, Tools};
use crate::wcodec::crew::Crew;
use crate::wcodec::data::Data;
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::centre::centre;
use crate::wcodec::encode::columns::means;
use crate::wcodec::encode::cost::Histogram;
use crate::wcodec::encode::fit::Own;
use crate::wcodec::encode::linear;
use crate::wcodec::encode::matrix::Matrix;
use crate::wcodec::encode::part::PlannedPart;
use crate::wcodec::encode::plan::{Plan, plan};
use crate::wcodec::encode::plane::direct_of;
use crate::wcodec::encode::sources::{Hints, Near, Sources};
use crate::wcodec::encode::streams::{Scratch, encoder};
use crate::wcodec::encode::symbols::{DirectConfig, Job, STATES_BYTES, group_rows};
use crate::wcodec::layout::part::Codec;
use crate::wcodec::layout::prediction::{BY_TILE, Prediction};
use crate::wcodec::layout::source::PartOf;
use crate::wcodec::layout::symbols::{KINDS, MOST_EXPANSION, Symbols};
use crate::wcodec::predictor::{Predictor, choose, magnitude_costs};
use crate::wcodec::threads;
use crate::wcodec::tiled::{Tiles, tile_size};
use crate::wcodec::transform::{self, Transform};

/// A plane that this one may be predicted by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reference<'a> {
    pub(crate) of: &'a PartOf,
    pub(crate) symbols: &'a [u8],
}

/// A group after prediction and transforms.
struct Prepared {
    tiles: Tiles,
    /// Residuals mod 2^bits, where nothing is transformed.
    symbols: Vec<u8>,
    /// Residuals or coefficients.
    values: Vec<i16>,
}

/// Encodes a part of symbols with given tools.
pub(crate) fn tiled<'a>(
    job: &Job<'a, '_>,
    tools: &Tools,
    bank: &mut Bank,
) -> Result<PlannedPart<'a>> {
    let Job { role, plane, shape, ref hints, reference, config, ref watch } = *job;
    let ask = || watch.ask();
    // Tiles reach over groups of rows in what is learned of them: the plane is held.
    let whole = plane.data.whole()?;
    let held = &whole[..];
    let matrix =
        Matrix { symbols: Data::Held(held), cols: plane.cols, bits: plane.bits, crew: Crew::ALONE };
    let mut among: Vec<Predictor> = tools.predictors.clone();
    among.retain(|&p| p != Predictor::Reference || reference.is_some());
    // Weights are for all tiles or none.
    among.retain(|&p| p != Predictor::Linear || tools.predictors.len() == 1);
    if among.is_empty() {
        among.push(Predictor::None);
    }
    let has = |p: Predictor| among.contains(&p);
    let transforms = &tools.transforms[..];
    let centre = centre(&matrix.count(1)?, plane.bits);
    let linear = has(Predictor::Linear);
    let means = if linear || has(Predictor::Column) { Some(means(matrix)?) } else { None };
    let weights = match means.as_deref().filter(|_| linear) {
        Some(means) => linear::fit(held, matrix.cols, matrix.bits, means, centre, &ask)?,
        None => None,
    };
    if linear && weights.is_none() {
        among = vec![Predictor::None];
    }
    let prediction = Prediction {
        tile_rows: u16::try_from(tools.tile.rows()).unwrap_or(16),
        tile_cols: u16::try_from(tools.tile.cols()).unwrap_or(16),
        predictor: if among.len() > 1 { BY_TILE } else { among[0].id() },
        centre,
        transform: transforms.iter().any(|&t| t != Transform::None),
        means,
        weights,
        reference: reference
            .filter(|_| among.contains(&Predictor::Reference))
            .map(|r| r.of.clone()),
    };
    let bitplane = tools.coder == Coder::Bitplane;
    // Of planes without a bit set a group is a byte, of direct ones never less than its states.
    let fewest = if bitplane { 1 } else { STATES_BYTES };
    let mut symbols = Symbols {
        count: held.len(),
        cols: plane.cols,
        group_rows: group_rows(matrix, config, fewest),
        prediction: Some(prediction),
        table_bits: config.table_bits,
        ..Symbols::default()
    };
    let prepare = |group: usize| {
        ask()?;
        prepare((held, plane.bits), &symbols, group, &among, transforms, reference, bitplane)
    };
    let prepared = threads::map(symbols.groups(), config.threads, prepare);
    let prepared = prepared.into_iter().collect::<Result<Vec<Prepared>>>()?;
    let before = bank.len();
    let none = Hints::none(hints.measure);
    let hints = if tools.contexts { hints } else { &none };
    if symbols.has_transform() && !bitplane {
        let groups = coefficients(&mut symbols, &prepared, config, bank)?;
        return Ok(PlannedPart::done(role, shape, Codec::Direct(symbols), groups));
    }
    // Classes follow from the residuals, coefficients left aside.
    let residuals: Vec<u8> = prepared.iter().flat_map(|p| p.symbols.iter().copied()).collect();
    let matrix = Matrix { symbols: Data::Held(&residuals), ..matrix };
    let most = if !bitplane {
        None
    } else if symbols.has_transform() {
        Some(KINDS / 2)
    } else {
        Some(KINDS)
    };
    let Plan { tables, classes, .. } = plan(matrix, hints, config.table_bits, most, bank)?;
    symbols.classes = classes;
    if bitplane {
        bank.take_from(before);
        let groups = bitplanes(&symbols, hints, &prepared, config, &ask)?;
        let stored = |group: usize| groups.get(group).map_or(0, Vec::len);
        let unbelievable =
            |group: usize| symbols.group_range(group).len() > stored(group) * MOST_EXPANSION;
        if (0..symbols.groups()).any(unbelievable) {
            // A long row of next to nothing.
            return direct_of(job, bank);
        }
        return Ok(PlannedPart::done(role, shape, Codec::Bitplane(symbols), groups));
    }
    symbols.tables = tables;
    let encode = encoder(&symbols, bank)?;
    let sources = Sources::new(hints.clone(), symbols.cols)?;
    let mut own = Near::default();
    let near = sources.near(0..symbols.rows(), &mut own)?;
    let terms = symbols.classes.as_ref().map(|rule| near.terms(rule));
    let windows = Windows::of(&symbols);
    let stream = |scratch: &mut Scratch, group: usize| -> Result<Vec<u8>> {
        ask()?;
        let Some(prepared) = prepared.get(group) else { return Ok(Vec::new()) };
        let prediction = symbols.prediction.as_ref();
        let head = prediction.map_or_else(Vec::new, |p| prepared.tiles.write(p, Vec::new()));
        let by = terms.as_ref().map(|terms| (terms, windows.as_ref()));
        Ok(scratch.stream(&symbols, by, &encode, group, &prepared.symbols, head))
    };
    let groups = threads::map_with(symbols.groups(), config.threads, Scratch::default, stream);
    let groups = groups.into_iter().collect::<Result<Vec<Vec<u8>>>>()?;
    Ok(PlannedPart::done(role, shape, Codec::Direct(symbols), groups))
}

/// Predicts and transforms one group.
fn prepare(
    (symbols, bits): (&[u8], u32),
    coded: &Symbols,
    group: usize,
    among: &[Predictor],
    transforms: &[Transform],
    reference: Option<Reference<'_>>,
    whole: bool,
) -> Result<Prepared> {
    let Some(prediction) = &coded.prediction else {
        return Err(Error::invalid("tiles without a prediction"));
    };
    let range = coded.group_range(group);
    let data = &symbols[range.clone()];
    let rows = data.len().checked_div(coded.cols).unwrap_or(0);
    let reference = reference.and_then(|r| r.symbols.get(range)).unwrap_or_default();
    let mut tiles = Tiles { predictors: vec![among[0]], codes: Vec::new() };
    if among.len() > 1 {
        let band = tiles.band(prediction, bits, rows, coded.cols, reference)?;
        let chosen = choose(&band, among, &magnitude_costs(bits), data)?;
        tiles.predictors = chosen;
    }
    let band = tiles.band(prediction, bits, rows, coded.cols, reference)?;
    let mut residuals = vec![0u8; data.len()];
    band.residual_symbols(data, &mut residuals)?;
    let mut values = Vec::new();
    if whole || prediction.transform {
        values = vec![0i16; data.len()];
        band.residuals(data, &mut values)?;
    }
    if prediction.transform {
        let size = tile_size(prediction)?;
        let codes = transform::choose_all(size, coded.cols, &values, transforms);
        transform::forward(&codes, size, coded.cols, &mut values)?;
        tiles.codes = codes;
    }
    Ok(Prepared { tiles, symbols: residuals, values })
}

/// Coefficients by the direct coder: zigzag, an escape from 255 on, a table a kind.
fn coefficients(
    symbols: &mut Symbols,
    prepared: &[Prepared],
    config: DirectConfig,
    bank: &mut Bank,
) -> Result<Vec<Vec<u8>>> {
    let Some(prediction) = symbols.prediction.clone() else { return Ok(Vec::new()) };
    let mut histograms: Vec<Histogram> = vec![[0; 256]; KINDS];
    let mut streams = Vec::new();
    for group in prepared {
        let rows = group.values.len().checked_div(symbols.cols).unwrap_or(0);
        let shape = (rows, symbols.cols);
        let kinds = kinds_of(&group.tiles.codes, tile_size(&prediction)?, shape, &[0])?;
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
        streams.push((coded, kinds, escapes));
    }
    symbols.table_bits = config.table_bits.max(12);
    symbols.tables = histograms
        .iter()
        .map(|h| {
            let own = || Own::new(h, 8, symbols.table_bits, false);
            bank.choose(h, 8, symbols.table_bits, own).0
        })
        .collect();
    let encode = encoder(symbols, bank)?;
    Ok(threads::map(streams.len(), config.threads, |i| {
        let Some(((coded, kinds, escapes), group)) = streams.get(i).zip(prepared.get(i)) else {
            return Vec::new();
        };
        let head = group.tiles.write(&prediction, Vec::new());
        let by = Classes::PerSymbol(kinds);
        let mut out = rans::encode(coded, by, &encode, &mut Vec::new(), head);
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
    ask: &(dyn Fn() -> Result<()> + Sync),
) -> Result<Vec<Vec<u8>>> {
    let sources = Sources::new(hints.clone(), symbols.cols)?;
    let mut own = Near::default();
    let near = sources.near(0..symbols.rows(), &mut own)?;
    let terms = symbols.classes.as_ref().map(|rule| near.terms(rule));
    let windows = Windows::of(symbols);
    let encode = |i: usize| -> Result<Vec<u8>> {
        ask()?;
        let (Some(group), Some(prediction)) = (prepared.get(i), &symbols.prediction) else {
            return Ok(Vec::new());
        };
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
    threads::map(symbols.groups(), config.threads, encode).into_iter().collect()
}
