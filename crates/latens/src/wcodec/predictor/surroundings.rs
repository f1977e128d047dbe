//! What lies around a tile, and the prediction that follows.

use super::{Band, Predictor};
use crate::wcodec::tile::Tile;

/// Rows and columns of values around a tile, and the prediction that follows.
#[derive(Default)]
pub(super) struct Surroundings {
    /// One of each row of the tile.
    left: Vec<i16>,
    /// One of each column of the tile.
    top: Vec<i16>,
    /// One row of the tile.
    row: Vec<i16>,
}

impl Surroundings {
    /// Takes what the predictor needs from around a tile; in `symbols` all tiles before it are
    /// there. A side that does not exist is replaced by the other side, both by value 0.
    ///
    /// Returns the predictor that this comes to; [`Predictor::None`] where all rows are alike.
    pub(super) fn surround(
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
    pub(super) fn line(
        &mut self,
        band: &Band<'_>,
        tile: Tile,
        predictor: Predictor,
        i: usize,
    ) -> &[i16] {
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
