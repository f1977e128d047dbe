//! Groups that are restored as a whole: coefficients and bitplanes.

use super::SymbolDecoder;
use super::opened::Opened;
use crate::error::{Error, Result};
use crate::wcodec::bitplane::{self, Ends, Order, Values, kinds_of, order_of, plane_ends};
use crate::wcodec::class::RowSums;
use crate::wcodec::predictor::Predictor;
use crate::wcodec::tiled::{Tiles, tile_size};
use crate::wcodec::transform;
use latens_kernels::rans::{Classes, Group, Spacing};

/// The symbol of a number of 255 or more; the excess follows the words.
const ESCAPE: u8 = 255;
impl SymbolDecoder<'_> {
    /// Symbols that stand for signed numbers by zigzag, larger ones with an escape.
    pub(super) fn coefficients(
        &self,
        group: usize,
        mut opened: Opened<'_>,
        out: &mut [u8],
    ) -> Result<()> {
        let Some(prediction) = &self.symbols.prediction else { return Err(misplaced()) };
        let shape = (self.rows(out.len()), self.symbols.cols);
        let kinds = kinds_of(&opened.tiles.codes, tile_size(prediction)?, shape, &[0])?;
        let (words, states, count) = (opened.words, opened.states, opened.of_words(out.len()));
        let classes = Classes::PerSymbol(&kinds).first(count);
        let spacing = Spacing::NONE;
        let mut coded = Group { words, states, classes, out: &mut out[..count], spacing };
        let [read] = self.decode_groups([&mut coded])?;
        opened.go_on(coded.states, read, out, spacing)?;
        opened.check_states()?;
        let read = opened.read;
        let mut escapes = opened.words[read..].as_chunks::<2>().0.iter();
        let mut data = vec![0i16; out.len()];
        for (value, &symbol) in data.iter_mut().zip(&*out) {
            let mut u = u16::from(symbol);
            if symbol == ESCAPE {
                let end = (opened.at + opened.words.len()) as u64;
                let none = || Error::corrupt(end, "an escape without its number");
                let large = || Error::corrupt(end, "an escape to a number beyond 65535");
                let more = u16::from_le_bytes(*escapes.next().ok_or_else(none)?);
                u = u.checked_add(more).ok_or_else(large)?;
            }
            *value = (u >> 1).cast_signed() ^ -(u & 1).cast_signed();
        }
        if escapes.len() > 0 {
            return Err(Error::corrupt(
                (opened.at + read) as u64,
                format!("{} numbers too many in a group", escapes.len()),
            ));
        }
        self.whole(group, &opened.tiles, data, out)
    }

    /// Undoes transforms and predictions of signed numbers.
    pub(super) fn whole(
        &self,
        group: usize,
        tiles: &Tiles,
        mut data: Vec<i16>,
        out: &mut [u8],
    ) -> Result<()> {
        let Some(prediction) = &self.symbols.prediction else { return Err(misplaced()) };
        let cols = self.symbols.cols;
        if prediction.transform {
            transform::inverse(&tiles.codes, tile_size(prediction)?, cols, &mut data)?;
        }
        let (rows, reference) = (self.rows(out.len()), self.reference_of(group, out.len())?);
        let band = tiles.band(prediction, self.bits, rows, cols, &reference)?;
        band.restore_whole(&data, out)
    }

    pub(super) fn bitplanes(&self, group: usize, stored: &[u8], out: &mut [u8]) -> Result<()> {
        let Some(prediction) = &self.symbols.prediction else { return Err(misplaced()) };
        let (tiles, at) = self.tiles(stored, out.len())?;
        let (rows, cols) = (self.rows(out.len()), self.symbols.cols);
        let mut kinds = vec![0];
        if let Some(terms) = &self.terms {
            kinds.resize(out.len(), 0);
            let first = group * self.symbols.group_rows;
            self.classes(terms, first, &mut RowSums::default(), &mut kinds);
        }
        let mut order = Order::Raster;
        if prediction.transform {
            (order, kinds) = order_of(&tiles.codes, tile_size(prediction)?, (rows, cols), &kinds)?;
        }
        let values = Values { rows, cols, kinds: &kinds, order: &order };
        let (mut data, planes) = (vec![0i16; out.len()], &stored[at..]);
        let most = match self.without_planes {
            0 => Ok(usize::MAX),
            low => plane_ends(planes).map(|ends| (ends.len() - 1).saturating_sub(low)),
        };
        let missing = most.and_then(|most| bitplane::decode(&values, planes, most, &mut data));
        let missing = missing.map_err(|e| e.offset_by(at as u64))?;
        if missing > 0 && !prediction.transform {
            // The middle of what missing planes can hold may lie beyond all residuals, and where nothing is
            // predicted beyond the ends of symbols, which are next to each other as residuals are taken.
            let ends = Ends::new(self.bits, self.least, prediction.centre);
            let predicted = tiles.predictors.iter().any(|&p| p != Predictor::None);
            data.iter_mut().for_each(|x| *x = ends.keep(*x, missing, predicted));
        }
        self.whole(group, &tiles, data, out)
    }
}

fn misplaced() -> Error {
    Error::corrupt(0, "coefficients without a prediction")
}
