//! What is in a file, and where its bytes go.

mod summary;

use crate::error::{ErrorKind, Result};
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::layout::class_rule::ClassRule;
use crate::wcodec::layout::part::{Codec, PartRecord};
use crate::wcodec::layout::prediction::{BY_TILE, Prediction};
use crate::wcodec::layout::symbols::Symbols;
use crate::wcodec::open_tensor::OpenTensor;
use crate::wcodec::order0::Order0;
use crate::wcodec::plane::Role;
use crate::wcodec::predictor::Predictor;
use crate::wcodec::reader::Reader;
use crate::wcodec::tile::TileSize;
use crate::wcodec::tiled::{Tiles, tile_size};
use crate::wcodec::transform::Transform;

pub use summary::TensorSummary;

/// What is known of a tensor of a file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TensorInspection {
    /// Its number in the file.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// Its type, as the source spells it.
    pub dtype: String,
    /// Its shape.
    pub shape: Vec<u64>,
    /// How its weights are packed, in words; the type of numbers that are not.
    pub packing: String,
    /// The view that it is stored in, in words; mostly it says the same.
    pub view: String,
    /// Weights that it holds.
    pub weights: u64,
    /// Its rows and columns, as [`Reader::rows`] counts them: of weights where these are packed, of a vector one row, of
    /// what has no numbers here bytes.
    pub rows: u64,
    /// See `rows`.
    pub cols: u64,
    /// Its bytes in the source.
    pub flat_bytes: usize,
    /// Its bytes in the file, tables aside.
    pub bytes: usize,
    /// [Order-0 entropy](crate::wcodec::Order0) in bits a weight, of all that the tensor holds: scales of blocks count
    /// with their weights.
    pub order0_entropy: f64,
    /// The tensor whose bytes it shares.
    pub copy_of: Option<usize>,
    /// Part by part.
    pub parts: Vec<PartInspection>,
}

/// What is known of a part.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PartInspection {
    /// What it is for.
    pub role: Role,
    /// Its codec: raw, pco, direct, bitplane.
    pub codec: &'static str,
    /// Symbols, words or bytes.
    pub elements: usize,
    /// Bytes of its groups.
    pub bytes: usize,
    /// Groups.
    pub groups: usize,
    /// Classes of symbols that are coded differently; 1 where there are none.
    pub classes: usize,
    /// What classes follow from: `rows`, `columns`, `blocks`, `zero points`.
    pub terms: Vec<&'static str>,
    /// Which two symbols are coded as one, where some are: `neighbours`, `neighbours in an order`, `rows`.
    pub pairs: Option<&'static str>,
    /// Whether rare symbols, or pairs, are said apart, without a slot in a table.
    pub escapes: bool,
    /// Tiles by predictor; parts without prediction count as NONE, by tiles of 16 × 16.
    pub predictors: Vec<(Predictor, u64)>,
    /// Sub-blocks by transform; empty where there are no sub-blocks.
    pub transforms: Vec<(Transform, u64)>,
}

impl TensorInspection {
    /// Bits a weight in the file.
    pub fn bits_per_weight(&self) -> f64 {
        if self.weights == 0 { 0.0 } else { self.bytes as f64 * 8.0 / self.weights as f64 }
    }
}

impl<S: ReadAt> Reader<S> {
    /// Looks into tensor `number`: decodes it, for its entropy.
    ///
    /// # Errors
    /// Those of [`Reader::tensor`].
    pub fn inspect(&self, number: usize) -> Result<TensorInspection> {
        let open = OpenTensor::open(self, number)?;
        let within = |e: crate::error::Error| e.within(self.place(number));
        open.check_whole().map_err(within)?;
        let entry = self.entry(number);
        let parts = open.descriptor.parts.iter().enumerate();
        let parts = parts.map(|(i, record)| part(&open, i, record)).collect::<Result<Vec<_>>>();
        let parts = parts.map_err(within)?;
        // Where what tells its packing is damaged, it is whole all the same.
        let (logical, packing) = match open.logical_layout(number) {
            Ok(layout) => (layout, layout.view.packing(entry.as_ref().map_or("", |e| e.dtype))),
            Err(e) if e.kind() == ErrorKind::Corrupt && !e.is_limit() => {
                (open.layout, "untold".to_owned())
            }
            Err(e) => return Err(within(e)),
        };
        // Of what it means, however it is stored.
        let mut order0 = Order0::new(&logical);
        open.write(&mut order0).map_err(within)?;
        let weights = logical.weights(entry.as_ref().map_or(&[], |e| &e.shape));
        let dtype = entry.as_ref().map_or("", |e| e.dtype);
        Ok(TensorInspection {
            number,
            name: entry.as_ref().map_or_else(String::new, |e| e.name.clone()),
            dtype: dtype.to_owned(),
            shape: entry.as_ref().map_or_else(Vec::new, |e| e.shape.clone()),
            packing,
            view: open.descriptor.view.name(),
            weights,
            rows: logical.rows,
            cols: logical.cols,
            flat_bytes: entry.as_ref().map_or(0, |e| e.length),
            bytes: entry.as_ref().map_or(0, |e| e.stored),
            order0_entropy: order0.bits() / weights.max(1) as f64,
            copy_of: entry.and_then(|e| e.copy_of),
            parts,
        })
    }
}

fn part<S: ReadAt>(
    open: &OpenTensor<'_, S>,
    number: usize,
    record: &PartRecord,
) -> Result<PartInspection> {
    let mut inspection = PartInspection {
        role: record.role,
        codec: record.codec.name(),
        elements: record.shape.count(),
        bytes: record.groups.iter().map(|g| g.length).sum(),
        groups: record.groups.len(),
        classes: 1,
        terms: Vec::new(),
        pairs: None,
        escapes: false,
        predictors: Vec::new(),
        transforms: Vec::new(),
    };
    let (Codec::Direct(symbols) | Codec::Bitplane(symbols)) = &record.codec else {
        return Ok(inspection);
    };
    inspection.escapes = symbols.escape.is_some();
    inspection.pairs = pairs(symbols);
    if let Some(rule) = &symbols.classes {
        (inspection.classes, inspection.terms) = (classes(rule), terms(rule));
    }
    let (predictors, transforms) = match &symbols.prediction {
        Some(prediction) => counts(open, number, symbols, prediction, record.groups.len())?,
        None => (unpredicted(symbols, record.groups.len()), Default::default()),
    };
    let counted = Predictor::ALL.into_iter().zip(predictors);
    inspection.predictors = counted.filter(|(_, n)| *n > 0).collect();
    let counted = Transform::ALL.into_iter().zip(transforms);
    inspection.transforms = counted.filter(|(_, n)| *n > 0).collect();
    Ok(inspection)
}

/// Which two symbols are coded as one.
fn pairs(symbols: &Symbols) -> Option<&'static str> {
    match (symbols.pairs, &symbols.order, &symbols.stack) {
        (false, ..) => None,
        (true, None, None) => Some("neighbours"),
        (true, Some(_), _) => Some("neighbours in an order"),
        (true, None, Some(_)) => Some("rows"),
    }
}

/// How many classes a rule tells.
fn classes(rule: &ClassRule) -> usize {
    let mut used = [false; 256];
    rule.maps.iter().flatten().for_each(|&class| used[usize::from(class)] = true);
    used.iter().filter(|&&u| u).count()
}

/// What they follow from.
fn terms(rule: &ClassRule) -> Vec<&'static str> {
    let terms = [
        (!rule.rows.is_empty(), "rows"),
        (!rule.cols.is_empty(), "columns"),
        (!rule.levels.is_empty(), "blocks"),
        (rule.zero.is_some(), "zero points"),
    ];
    terms.into_iter().filter(|(used, _)| *used).map(|t| t.1).collect()
}

/// Tiles by predictor, and sub-blocks by transform.
type Counts = ([u64; Predictor::ALL.len()], [u64; Transform::ALL.len()]);

/// Those of so many groups.
fn counts<S: ReadAt>(
    open: &OpenTensor<'_, S>,
    number: usize,
    symbols: &Symbols,
    prediction: &Prediction,
    groups: usize,
) -> Result<Counts> {
    let (mut predictors, mut transforms) = Counts::default();
    let size = tile_size(prediction)?;
    for group in 0..groups {
        let tiles = tiles(open, number, symbols, prediction, group)?;
        let rows = symbols.group_range(group).len() / symbols.cols.max(1);
        match tiles.predictors.as_slice() {
            [one] => predictors[usize::from(one.id())] += size.count(rows, symbols.cols) as u64,
            each => each.iter().for_each(|p| predictors[usize::from(p.id())] += 1),
        }
        tiles.codes.iter().for_each(|t| transforms[usize::from(t.id())] += 1);
    }
    Ok((predictors, transforms))
}

/// As many tiles as there would be, so that parts can be weighed against each other.
fn unpredicted(symbols: &Symbols, groups: usize) -> [u64; Predictor::ALL.len()] {
    let count = |group: usize| {
        let rows = symbols.group_range(group).len().div_ceil(symbols.cols.max(1));
        TileSize::SQUARE.count(rows, symbols.cols) as u64
    };
    let mut predictors = [0; Predictor::ALL.len()];
    predictors[usize::from(Predictor::None.id())] = (0..groups).map(count).sum();
    predictors
}

/// The tiles of a group; its bytes are read only where they say more than the descriptor.
fn tiles<S: ReadAt>(
    open: &OpenTensor<'_, S>,
    number: usize,
    symbols: &Symbols,
    prediction: &Prediction,
    group: usize,
) -> Result<Tiles> {
    let rows = symbols.group_range(group).len() / symbols.cols.max(1);
    let mut bytes = Vec::new();
    let mut held = None;
    if prediction.predictor == BY_TILE || prediction.transform {
        held = open.stored(number, group, &mut bytes)?;
    }
    let read = Tiles::read(prediction, rows, symbols.cols, held.unwrap_or(&bytes));
    Ok(read.map_err(|e| open.places(number).locate(group, e))?.0)
}
