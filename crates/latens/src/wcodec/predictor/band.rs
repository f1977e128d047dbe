//! A band of rows, whose tiles are predicted one after the other.

use super::Predictor;
use super::linear::{self, Weights};
use super::surroundings::Surroundings;
use crate::error::{Error, Result};
use crate::wcodec::by_rows::by_rows;
use crate::wcodec::tile::{Tile, TileSize};

/// A band of rows, and all that its tiles are predicted with. Neighbours outside of it do not
/// exist.
#[derive(Clone, Copy, Debug)]
pub struct Band<'a> {
    /// Rows.
    pub rows: usize,
    /// Symbols a row.
    pub cols: usize,
    /// Bits a symbol, 1 to 8.
    pub bits: u32,
    /// The symbol whose value is 0.
    pub centre: u8,
    /// Tiles.
    pub tile: TileSize,
    /// One predictor for all tiles, or one for each in raster order.
    pub predictors: &'a [Predictor],
    /// A symbol for each column, or nothing where nothing is predicted by COLUMN or LINEAR.
    pub means: &'a [u8],
    /// A symbol for each of the band, or nothing where no tile is predicted by REFERENCE.
    pub reference: &'a [u8],
    /// The weights of LINEAR.
    pub linear: Option<&'a Weights>,
}

impl Band<'_> {
    /// Residuals of `symbols`, mod 2^bits.
    ///
    /// # Errors
    /// Invalid argument, where lengths do not fit.
    pub fn residual_symbols(&self, symbols: &[u8], out: &mut [u8]) -> Result<()> {
        self.check(symbols.len(), out.len())?;
        let mask = self.mask();
        // Where tiles do not matter, the prediction is a symbol for each symbol.
        let less = |to: &mut u8, symbol: u8, p: u8| *to = symbol.wrapping_sub(p) & mask;
        match self.predictors {
            [Predictor::None] => {
                out.iter_mut().zip(symbols).for_each(|(to, &s)| less(to, s, self.centre));
                return Ok(());
            }
            [Predictor::Column] => {
                out.copy_from_slice(symbols);
                by_rows(
                    out,
                    self.means,
                    #[inline(always)]
                    move |symbol, mean| symbol.wrapping_sub(mean) & mask,
                );
                return Ok(());
            }
            [Predictor::Reference] => {
                let pairs = symbols.iter().zip(self.reference);
                out.iter_mut().zip(pairs).for_each(|(to, (&s, &p))| less(to, s, p));
                return Ok(());
            }
            [Predictor::Linear] => {
                let predicted = self.predicted(symbols);
                let pairs = symbols.iter().zip(&predicted);
                let value = |s: u8| s.wrapping_sub(self.centre);
                out.iter_mut().zip(pairs).for_each(|(to, (&s, &p))| less(to, value(s), low(p)));
                return Ok(());
            }
            _ => {}
        }
        self.each_tile(|band, prediction, tile, predictor| {
            let predictor = prediction.surround(band, tile, predictor, symbols);
            for i in 0..tile.rows {
                let line = tile.line(i, band.cols);
                let row = prediction.line(band, tile, predictor, i);
                let to = out[line.clone()].iter_mut();
                for ((to, &symbol), &p) in to.zip(&symbols[line]).zip(row) {
                    *to = symbol.wrapping_sub(band.centre).wrapping_sub(low(p)) & mask;
                }
            }
        });
        Ok(())
    }

    /// Residuals of `symbols`, whole: −255 to 255.
    ///
    /// # Errors
    /// Invalid argument, where lengths do not fit.
    pub fn residuals(&self, symbols: &[u8], out: &mut [i16]) -> Result<()> {
        self.check(symbols.len(), out.len())?;
        if self.predictors == [Predictor::Linear] {
            let predicted = self.predicted(symbols);
            let pairs = symbols.iter().zip(&predicted);
            out.iter_mut().zip(pairs).for_each(|(to, (&s, &p))| *to = self.value(s) - p);
            return Ok(());
        }
        self.each_tile(|band, prediction, tile, predictor| {
            let predictor = prediction.surround(band, tile, predictor, symbols);
            for i in 0..tile.rows {
                let line = tile.line(i, band.cols);
                let row = prediction.line(band, tile, predictor, i);
                let to = out[line.clone()].iter_mut();
                for ((to, &symbol), &p) in to.zip(&symbols[line]).zip(row) {
                    *to = band.value(symbol) - p;
                }
            }
        });
        Ok(())
    }

    /// Puts the symbols in place of their residuals mod 2^bits.
    ///
    /// # Errors
    /// Invalid argument, where lengths do not fit.
    pub fn restore(&self, data: &mut [u8]) -> Result<()> {
        self.check(data.len(), data.len())?;
        let mask = self.mask();
        let add = |x: &mut u8, p: u8| *x = x.wrapping_add(p) & mask;
        match self.predictors {
            [Predictor::None] => {
                data.iter_mut().for_each(|x| add(x, self.centre));
                return Ok(());
            }
            [Predictor::Column] => {
                by_rows(
                    data,
                    self.means,
                    #[inline(always)]
                    move |symbol, mean| symbol.wrapping_add(mean) & mask,
                );
                return Ok(());
            }
            [Predictor::Reference] => {
                data.iter_mut().zip(self.reference).for_each(|(x, &p)| add(x, p));
                return Ok(());
            }
            [Predictor::Linear] => {
                self.linear.into_iter().for_each(|linear| linear::restore(self, linear, data));
                return Ok(());
            }
            _ => {}
        }
        self.each_tile(|band, prediction, tile, predictor| {
            let predictor = prediction.surround(band, tile, predictor, data);
            for i in 0..tile.rows {
                let row = prediction.line(band, tile, predictor, i);
                for (x, &p) in data[tile.line(i, band.cols)].iter_mut().zip(row) {
                    *x = x.wrapping_add(low(p)).wrapping_add(band.centre) & mask;
                }
            }
        });
        Ok(())
    }

    /// The symbols of whole residuals. Residuals that no symbols have give symbols as well: sums
    /// are taken mod 2^bits.
    ///
    /// # Errors
    /// Invalid argument, where lengths do not fit.
    pub fn restore_whole(&self, residuals: &[i16], out: &mut [u8]) -> Result<()> {
        self.check(residuals.len(), out.len())?;
        for (to, &residual) in out.iter_mut().zip(residuals) {
            *to = low(residual);
        }
        self.restore(out)
    }

    /// What LINEAR predicts.
    fn predicted(&self, symbols: &[u8]) -> Vec<i16> {
        let mut predicted = vec![0; symbols.len()];
        if let Some(linear) = self.linear {
            linear::predict(self, linear, symbols, &mut predicted);
        }
        predicted
    }

    /// The value of a symbol.
    #[inline(always)]
    pub(super) fn value(&self, symbol: u8) -> i16 {
        let shift = 8 - self.bits;
        i16::from((symbol.wrapping_sub(self.centre) << shift).cast_signed() >> shift)
    }

    pub(super) fn mask(&self) -> u8 {
        0xff >> (8 - self.bits)
    }

    /// Whether everything is as long as the band needs it.
    pub(super) fn check(&self, from: usize, to: usize) -> Result<()> {
        let wrong = |what: &str| Err(Error::invalid(format!("prediction of a band: {what}")));
        let Some(len) = self.rows.checked_mul(self.cols) else { return wrong("its size") };
        if !(1..=8).contains(&self.bits) || self.centre > self.mask() {
            return wrong("bits or centre");
        }
        if from != len || to != len {
            return wrong("as many symbols as it has places");
        }
        let uses = |p: Predictor| self.predictors.contains(&p);
        if self.predictors.len() != 1
            && self.predictors.len() != self.tile.count(self.rows, self.cols)
        {
            return wrong("one predictor, or one for each tile");
        }
        if (uses(Predictor::Column) || uses(Predictor::Linear)) && self.means.len() != self.cols {
            return wrong("a mean for each column");
        }
        if uses(Predictor::Reference) && self.reference.len() != len {
            return wrong("a reference for each symbol");
        }
        let has_weights = self.linear.is_some_and(|weights| weights.cols() == self.cols);
        if uses(Predictor::Linear) && !(self.predictors.len() == 1 && has_weights) {
            return wrong("LINEAR for all tiles, with its weights");
        }
        Ok(())
    }

    /// Calls `f` for each tile, in raster order.
    fn each_tile(&self, mut f: impl FnMut(&Self, &mut Surroundings, Tile, Predictor)) {
        let mut prediction = Surroundings::default();
        let one = match self.predictors {
            [one] => Some(*one),
            _ => None,
        };
        for (index, tile) in self.tile.tiles(self.rows, self.cols).enumerate() {
            let predictor = one.or_else(|| self.predictors.get(index).copied()).unwrap_or_default();
            f(self, &mut prediction, tile, predictor);
        }
    }
}

/// Low bits of a value.
#[inline(always)]
pub(super) fn low(value: i16) -> u8 {
    value.to_le_bytes()[0]
}
