//! What stands before the coded symbols of a group: how its tiles are predicted and its sub-blocks
//! transformed.
//!
//! | bits | field |
//! |---|---|
//! | 3 each | predictor of each tile, where each has its own; padded to a byte |
//! | 8 | TRANSFORM: 1 if codes follow, 0 if there are none in this group |
//! | 2 each | code of each sub-block; padded to a byte |

use crate::bits::reader::BitReader;
use crate::bits::writer::BitWriter;
use crate::error::{Error, Result};
use crate::wcodec::data::Data;
use crate::wcodec::layout::prediction::{BY_TILE, Prediction};
use crate::wcodec::predictor::{Band, Predictor};
use crate::wcodec::tile::TileSize;
use crate::wcodec::transform::{self, Transform};
use std::borrow::Cow;
use std::ops::Range;

/// The records of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tiles {
    /// One for all tiles, or one each.
    pub(crate) predictors: Vec<Predictor>,
    /// One for each sub-block, where there may be transforms.
    pub(crate) codes: Vec<Transform>,
}

/// The size of tiles.
pub(crate) fn tile_size(prediction: &Prediction) -> Result<TileSize> {
    TileSize::new(prediction.tile_rows.into(), prediction.tile_cols.into())
}

/// The symbols of a reference for those of `range`: 0 where it has none.
pub(crate) fn of_reference(reference: Data<'_>, range: Range<usize>) -> Result<Cow<'_, [u8]>> {
    let end = range.end.min(reference.len());
    let there = range.start.min(end)..end;
    if let Data::Held(bytes) = reference
        && there == range
    {
        return Ok(Cow::Borrowed(&bytes[range]));
    }
    let mut some = Vec::new();
    reference.read(there, &mut some)?;
    some.resize(range.len(), 0);
    Ok(Cow::Owned(some))
}

impl Tiles {
    /// Those of one predictor for all tiles, without transforms.
    pub(crate) fn of_all(prediction: &Prediction) -> Result<Self> {
        let id = prediction.predictor;
        let one = Predictor::from_id(id);
        let one =
            one.ok_or_else(|| Error::invalid(format!("{id} is no predictor of all tiles")))?;
        Ok(Self { predictors: vec![one], codes: Vec::new() })
    }

    /// Appends the records.
    pub(crate) fn write(&self, prediction: &Prediction, out: Vec<u8>) -> Vec<u8> {
        let mut bits = BitWriter::append_to(out);
        if prediction.predictor == BY_TILE {
            self.predictors.iter().for_each(|p| bits.write(u64::from(p.id()), 3));
            bits.align();
        }
        if prediction.transform {
            let any = self.codes.iter().any(|&code| code != Transform::None);
            bits.write(u64::from(any), 8);
            if any {
                self.codes.iter().for_each(|code| bits.write(u64::from(code.id()), 2));
            }
        }
        bits.finish()
    }

    /// Reads the records of a group of `rows` × `cols` symbols; also returns how many bytes they
    /// take.
    pub(crate) fn read(
        prediction: &Prediction,
        rows: usize,
        cols: usize,
        bytes: &[u8],
    ) -> Result<(Self, usize)> {
        let size = tile_size(prediction)?;
        let mut r = BitReader::new(bytes, 0);
        let mut tiles = match prediction.predictor {
            BY_TILE => Self::default(),
            _ => Self::of_all(prediction)?,
        };
        let enough = |r: &BitReader<'_>, count: usize, each: usize| {
            if count.saturating_mul(each) > r.bits_left() {
                return Err(Error::truncated(
                    bytes.len() as u64,
                    "the group ends inside of its tiles",
                ));
            }
            Ok(())
        };
        if prediction.predictor == BY_TILE {
            let count = size.count(rows, cols);
            enough(&r, count, 3)?;
            for _ in 0..count {
                let at = r.byte();
                let id = r.read_u32(3, "a tile's predictor")?;
                let predictor = u8::try_from(id).ok().and_then(Predictor::from_id);
                tiles.predictors.push(
                    predictor
                        .ok_or_else(|| Error::corrupt(at, format!("{id} is not a predictor")))?,
                );
            }
            r.align("the predictors")?;
        }
        if prediction.transform {
            let count = transform::sub_block_count(size, rows, cols);
            let at = r.byte();
            match r.read(8, "whether there are transforms")? {
                0 => {
                    // A band has no more sub-blocks than symbols / 64.
                    tiles.codes = vec![Transform::None; count];
                }
                1 => {
                    enough(&r, count, 2)?;
                    for _ in 0..count {
                        let at = r.byte();
                        let id = r.read_u32(2, "a transform")?;
                        let code = u8::try_from(id).ok().and_then(Transform::from_id);
                        tiles.codes.push(code.ok_or_else(|| {
                            Error::corrupt(at, format!("{id} is not a transform"))
                        })?);
                    }
                    r.align("the transforms")?;
                }
                other => return Err(Error::corrupt(at, format!("{other} where 0 or 1 belongs"))),
            }
        }
        Ok((tiles, r.bit() / 8))
    }

    /// The band of a group; `reference` are the group's symbols of the reference, or none.
    pub(crate) fn band<'a>(
        &'a self,
        prediction: &'a Prediction,
        bits: u32,
        rows: usize,
        cols: usize,
        reference: &'a [u8],
    ) -> Result<Band<'a>> {
        Ok(Band {
            rows,
            cols,
            bits,
            centre: prediction.centre,
            tile: tile_size(prediction)?,
            predictors: &self.predictors,
            means: prediction.means.as_deref().unwrap_or_default(),
            reference,
            linear: prediction.weights.as_ref(),
        })
    }
}
