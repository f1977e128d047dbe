//! Prediction of a tile from what lies left of it and above it, or from elsewhere.
//!
//! Predictors work on *values*: a symbol's value is its distance to the centre, mod 2^bits, taken
//! as −2^(bits−1) … 2^(bits−1) − 1. So two's complement (centre 0) and numbers with an offset
//! (centre 2^(bits−1)) are predicted alike. The residual is the value less the prediction; the
//! decoder adds it to the prediction mod 2^bits, so that it does not matter whether the residual
//! itself is kept mod 2^bits (where no transform follows) or whole.

mod choose;
pub mod linear;

pub use choose::{choose, magnitude_costs};
use linear::Weights;

use crate::error::{Error, Result};
use crate::wcodec::tile::{Tile, TileSize};

/// How a tile is predicted; the number is the id on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Predictor {
    /// Value 0: the centre.
    #[default]
    None = 0,
    /// Each row by the value left of the tile.
    Left = 1,
    /// Each column by the value above the tile.
    Top = 2,
    /// The mean of the two, rounded down.
    Avg = 3,
    /// Left + top − the value above and left of the tile, clamped.
    Planar = 4,
    /// The mean of all values left of the tile and above it, rounded.
    Dc = 5,
    /// The column's mean, which is told beside the tiles.
    Column = 6,
    /// The symbol at the same place of another plane.
    Reference = 7,
    /// The first columns of the row, with weights that are told beside the tiles: for all tiles or
    /// none.
    Linear = 8,
}

impl Predictor {
    /// All of them, by id.
    pub const ALL: [Predictor; 9] = [
        Predictor::None,
        Predictor::Left,
        Predictor::Top,
        Predictor::Avg,
        Predictor::Planar,
        Predictor::Dc,
        Predictor::Column,
        Predictor::Reference,
        Predictor::Linear,
    ];
    /// Those that one of several tiles may have.
    pub const OF_TILES: [Predictor; 8] = [
        Predictor::None,
        Predictor::Left,
        Predictor::Top,
        Predictor::Avg,
        Predictor::Planar,
        Predictor::Dc,
        Predictor::Column,
        Predictor::Reference,
    ];

    /// The id on the wire, 0 to 8.
    pub fn id(self) -> u8 {
        self as u8
    }

    /// The predictor of an id.
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.get(usize::from(id)).copied()
    }

    /// The name that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Predictor::None => "NONE",
            Predictor::Left => "LEFT",
            Predictor::Top => "TOP",
            Predictor::Avg => "AVG",
            Predictor::Planar => "PLANAR",
            Predictor::Dc => "DC",
            Predictor::Column => "COLUMN",
            Predictor::Reference => "REFERENCE",
            Predictor::Linear => "LINEAR",
        }
    }
}

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

/// Rows and columns of values around a tile, and the prediction that follows.
#[derive(Default)]
struct Prediction {
    /// One of each row of the tile.
    left: Vec<i16>,
    /// One of each column of the tile.
    top: Vec<i16>,
    /// One row of the tile.
    row: Vec<i16>,
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
                let step = self.cols.max(1);
                for (to, row) in out.chunks_mut(step).zip(symbols.chunks(step)) {
                    let row = row.iter().zip(self.means);
                    to.iter_mut().zip(row).for_each(|(to, (&s, &mean))| less(to, s, mean));
                }
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
                for row in data.chunks_mut(self.cols.max(1)) {
                    row.iter_mut().zip(self.means).for_each(|(x, &mean)| add(x, mean));
                }
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
    fn value(&self, symbol: u8) -> i16 {
        let shift = 8 - self.bits;
        i16::from((symbol.wrapping_sub(self.centre) << shift).cast_signed() >> shift)
    }

    fn mask(&self) -> u8 {
        0xff >> (8 - self.bits)
    }

    /// Whether everything is as long as the band needs it.
    fn check(&self, from: usize, to: usize) -> Result<()> {
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
    fn each_tile(&self, mut f: impl FnMut(&Self, &mut Prediction, Tile, Predictor)) {
        let mut prediction = Prediction::default();
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
fn low(value: i16) -> u8 {
    value.to_le_bytes()[0]
}

impl Prediction {
    /// Takes what the predictor needs from around a tile; in `symbols` all tiles before it are
    /// there. A side that does not exist is replaced by the other side, both by value 0.
    ///
    /// Returns the predictor that this comes to; [`Predictor::None`] where all rows are alike.
    fn surround(
        &mut self,
        band: &Band<'_>,
        tile: Tile,
        predictor: Predictor,
        symbols: &[u8],
    ) -> Predictor {
        let Self { left, top, row } = self;
        row.clear();
        row.resize(tile.cols, 0);
        match predictor {
            Predictor::None | Predictor::Reference | Predictor::Linear => return predictor,
            Predictor::Column => {
                for (p, &mean) in row.iter_mut().zip(&band.means[tile.col..]) {
                    *p = band.value(mean);
                }
                return Predictor::None;
            }
            _ => {}
        }
        left.clear();
        top.clear();
        if tile.col > 0 {
            let first = tile.row * band.cols + tile.col - 1;
            let column = symbols[first..].iter().step_by(band.cols).take(tile.rows);
            left.extend(column.map(|&s| band.value(s)));
        }
        if tile.row > 0 {
            let first = (tile.row - 1) * band.cols + tile.col;
            top.extend(symbols[first..first + tile.cols].iter().map(|&s| band.value(s)));
        }
        match (predictor, !left.is_empty(), !top.is_empty()) {
            (Predictor::Dc, _, _) => {
                let sum: i64 = left.iter().chain(&*top).map(|&v| i64::from(v)).sum();
                let count = i64::try_from(left.len() + top.len()).unwrap_or(i64::MAX);
                let mean = if count == 0 { 0 } else { (2 * sum + count).div_euclid(2 * count) };
                row.fill(i16::try_from(mean).unwrap_or(0));
                Predictor::None
            }
            (Predictor::Left, false, _) | (Predictor::Top, _, false) | (_, false, false) => {
                Predictor::None
            }
            (Predictor::Avg | Predictor::Planar, true, false) => Predictor::Left,
            (Predictor::Avg | Predictor::Planar, false, true) => Predictor::Top,
            (Predictor::Planar, true, true) => {
                let corner = band.value(symbols[(tile.row - 1) * band.cols + tile.col - 1]);
                top.iter_mut().for_each(|t| *t -= corner);
                Predictor::Planar
            }
            _ => predictor,
        }
    }

    /// The predicted values of the tile's row `i`.
    #[inline]
    fn line(&mut self, band: &Band<'_>, tile: Tile, predictor: Predictor, i: usize) -> &[i16] {
        let Self { left, top, row } = self;
        match predictor {
            Predictor::Left => row.fill(left[i]),
            Predictor::Top => return top,
            Predictor::Avg => {
                let left = left[i];
                row.iter_mut().zip(&*top).for_each(|(p, &t)| *p = (left + t) >> 1);
            }
            Predictor::Planar => {
                let (left, half) = (left[i], 1i16 << (band.bits - 1));
                let sums = row.iter_mut().zip(&*top);
                sums.for_each(|(p, &t)| *p = (left + t).clamp(-half, half - 1));
            }
            Predictor::Reference => {
                let from = &band.reference[tile.line(i, band.cols)];
                row.iter_mut().zip(from).for_each(|(p, &s)| *p = band.value(s));
            }
            Predictor::None | Predictor::Dc | Predictor::Column | Predictor::Linear => {}
        }
        row
    }
}

#[cfg(test)]
pub(crate) mod tests;
