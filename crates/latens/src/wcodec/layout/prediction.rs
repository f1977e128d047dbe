//! How symbols are predicted, and transformed: tiles, and what their predictors need.
//!
//! | field | form |
//! |---|---|
//! | tile rows, tile columns | two varints, 1 to 4096 |
//! | predictor | u8: 0 to 8, or 255 where each tile has its own |
//! | centre | u8, a symbol |
//! | sides | u8: 1 means, 2 reference, 4 weights |
//! | means | a short stream: a symbol for each column |
//! | reference | an entry's part |
//! | weights | LINEAR: their reach, varint, and a short stream |

use crate::bits::varint;
use crate::error::{Error, Result};
use crate::wcodec::layout::fields::Fields;
use crate::wcodec::layout::short_stream;
use crate::wcodec::layout::source::PartOf;
use crate::wcodec::predictor::linear::Weights;

/// Largest side of a tile.
const MAX_TILE: u64 = 4096;
/// The predictor byte where each tile has its own.
pub(crate) const BY_TILE: u8 = 255;
/// The predictor that predicts nothing.
pub(crate) const NONE: u8 = 0;
/// The predictor that subtracts the column's mean.
pub(crate) const COLUMN: u8 = 6;
/// The predictor that subtracts another plane.
pub(crate) const REFERENCE: u8 = 7;
/// The predictor that leans on the first columns of the row.
pub(crate) const LINEAR: u8 = 8;
/// Predictors that exist.
const PREDICTORS: u8 = 9;

/// Tiles and how they are predicted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prediction {
    pub(crate) tile_rows: u16,
    pub(crate) tile_cols: u16,
    /// 0 to 8, or [`BY_TILE`].
    pub(crate) predictor: u8,
    /// The symbol whose value is 0.
    pub(crate) centre: u8,
    /// Whether blocks may be transformed.
    pub(crate) transform: bool,
    /// By column, for COLUMN and LINEAR.
    pub(crate) means: Option<Vec<u8>>,
    /// For LINEAR.
    pub(crate) weights: Option<Weights>,
    /// For REFERENCE.
    pub(crate) reference: Option<PartOf>,
}

impl Prediction {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        varint::write(u64::from(self.tile_rows), out);
        varint::write(u64::from(self.tile_cols), out);
        out.push(self.predictor);
        out.push(self.centre);
        let side = |is_there: bool, bit: u8| u8::from(is_there) << bit;
        let sides = side(self.means.is_some(), 0) | side(self.reference.is_some(), 1);
        out.push(sides | side(self.weights.is_some(), 2));
        if let Some(means) = &self.means {
            short_stream::write(means, out);
        }
        if let Some(reference) = &self.reference {
            reference.write(out);
        }
        if let Some(weights) = &self.weights {
            varint::write(weights.reach() as u64, out);
            short_stream::write(&weights.bytes(), out);
        }
    }

    pub(super) fn read(
        fields: &mut Fields<'_>,
        bits: u32,
        cols: usize,
        transform: bool,
    ) -> Result<Self> {
        let at = fields.at();
        let mut side = || fields.varint("a tile's side");
        let (tile_rows, tile_cols) = (side()?, side()?);
        let predictor = fields.u8("the predictor")?;
        let centre = fields.u8("the centre")?;
        let sides = fields.u8("what predictors need")?;
        let bad = [tile_rows, tile_cols].iter().any(|s| *s == 0 || *s > MAX_TILE)
            || (predictor >= PREDICTORS && predictor != BY_TILE)
            || u32::from(centre) >> bits != 0
            || sides > 7
            || (sides & 4 != 0) != (predictor == LINEAR);
        if bad {
            return Err(Error::corrupt(at, "tiles or predictors that do not exist"));
        }
        let means = match sides & 1 {
            0 => None,
            _ => Some(short_stream::read(fields, cols, "means of columns")?),
        };
        if means.iter().flatten().any(|&mean| u32::from(mean) >> bits != 0) {
            return Err(Error::corrupt(at, format!("means that are no symbols of {bits} bits")));
        }
        let reference = if sides & 2 == 0 { None } else { Some(PartOf::read(fields)?) };
        let weights = if sides & 4 == 0 { None } else { Some(read_weights(fields, cols)?) };
        let side = |side: u64| u16::try_from(side).unwrap_or(u16::MAX);
        let (tile_rows, tile_cols) = (side(tile_rows), side(tile_cols));
        let needs = |id: u8| predictor == id;
        let needs_means = needs(COLUMN) || needs(LINEAR);
        if (needs_means && means.is_none()) || (needs(REFERENCE) && reference.is_none()) {
            return Err(Error::corrupt(at, "a predictor without what it needs"));
        }
        Ok(Self { tile_rows, tile_cols, predictor, centre, transform, means, weights, reference })
    }
}

fn read_weights(fields: &mut Fields<'_>, cols: usize) -> Result<Weights> {
    let at = fields.at();
    let reach = fields.size("the reach of weights")?;
    let wrong = || Error::corrupt(at, format!("weights for {reach} of {cols} columns"));
    let count = Weights::count(reach, cols).ok_or_else(wrong)?;
    let bytes = short_stream::read(fields, count, "weights of columns")?;
    Weights::new(reach, cols, &bytes).ok_or_else(wrong)
}
