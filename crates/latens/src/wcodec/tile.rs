//! Tiles: the rectangles that a band of rows is cut into for prediction and transforms.

use std::ops::Range;
use std::str::FromStr;

use crate::error::{Error, Result};

/// Rows and columns of a tile, each 1 to [`TileSize::MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TileSize {
    rows: u16,
    cols: u16,
}

impl TileSize {
    /// The most rows or columns that a tile may have.
    pub const MAX: u16 = 4096;
    /// 16 rows × 16 columns, the default.
    pub const SQUARE: TileSize = TileSize { rows: 16, cols: 16 };
    /// 8 rows × 32 columns.
    pub const WIDE: TileSize = TileSize { rows: 8, cols: 32 };
    /// 32 rows × 8 columns.
    pub const TALL: TileSize = TileSize { rows: 32, cols: 8 };

    /// # Errors
    /// Invalid argument, where a side is 0 or above [`TileSize::MAX`].
    pub fn new(rows: u64, cols: u64) -> Result<Self> {
        let side = |n: u64| u16::try_from(n).ok().filter(|n| (1..=Self::MAX).contains(n));
        match (side(rows), side(cols)) {
            (Some(rows), Some(cols)) => Ok(Self { rows, cols }),
            _ => Err(Error::invalid(format!("a tile of {rows} × {cols}, sides are 1 to 4096"))),
        }
    }

    /// Rows of a tile that is not cropped.
    pub fn rows(self) -> usize {
        self.rows.into()
    }

    /// Columns of a tile that is not cropped.
    pub fn cols(self) -> usize {
        self.cols.into()
    }

    /// Rows and columns, as a file says them.
    pub(crate) fn sides(self) -> [u16; 2] {
        [self.rows, self.cols]
    }

    /// Rows and columns of tiles that cover a band of `rows` × `cols` symbols.
    pub fn grid(self, rows: usize, cols: usize) -> (usize, usize) {
        (rows.div_ceil(self.rows()), cols.div_ceil(self.cols()))
    }

    /// How many tiles cover a band of `rows` × `cols` symbols.
    pub fn count(self, rows: usize, cols: usize) -> usize {
        let (down, across) = self.grid(rows, cols);
        down.saturating_mul(across)
    }

    /// The tiles of a band, in raster order. Those at the right and bottom edges are cropped.
    pub fn tiles(self, rows: usize, cols: usize) -> impl Iterator<Item = Tile> {
        let (down, across) = self.grid(rows, cols);
        (0..down).flat_map(move |y| {
            let row = y * self.rows();
            (0..across).map(move |x| {
                let col = x * self.cols();
                let (rows, cols) = (self.rows().min(rows - row), self.cols().min(cols - col));
                Tile { row, col, rows, cols }
            })
        })
    }
}

impl FromStr for TileSize {
    type Err = Error;

    /// Rows and columns, as in `16x16`.
    fn from_str(text: &str) -> Result<Self> {
        let sides = text.split_once('x');
        let sides = sides.and_then(|(rows, cols)| rows.parse().ok().zip(cols.parse().ok()));
        let wrong = || Error::invalid(format!("{text:?} is no size of tiles, as 8x32 is"));
        sides.ok_or_else(wrong).and_then(|(rows, cols)| Self::new(rows, cols))
    }
}

impl Default for TileSize {
    fn default() -> Self {
        Self::SQUARE
    }
}

/// A tile within its band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// The first row.
    pub row: usize,
    /// The first column.
    pub col: usize,
    /// Rows; never 0.
    pub rows: usize,
    /// Columns; never 0.
    pub cols: usize,
}

impl Tile {
    /// The indices of the tile's row `i` in a band of `band_cols` columns.
    #[inline]
    pub fn line(self, i: usize, band_cols: usize) -> Range<usize> {
        let start = (self.row + i) * band_cols + self.col;
        start..start + self.cols
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_every_symbol_once() {
        for (tile_rows, tile_cols) in [(1, 1), (16, 16), (8, 32), (32, 8), (3, 7), (4096, 4096)] {
            let size = TileSize::new(tile_rows, tile_cols).unwrap();
            for (rows, cols) in [(0, 5), (5, 0), (1, 1), (16, 16), (33, 47), (7, 100)] {
                let mut seen = vec![0; rows * cols];
                let mut count = 0;
                for tile in size.tiles(rows, cols) {
                    count += 1;
                    assert!(tile.rows > 0 && tile.cols > 0);
                    for i in 0..tile.rows {
                        seen[tile.line(i, cols)].iter_mut().for_each(|n| *n += 1);
                    }
                }
                assert!(seen.iter().all(|&n| n == 1), "{size:?} {rows} {cols}");
                assert_eq!(count, size.count(rows, cols));
            }
        }
    }

    #[test]
    fn sides_out_of_range_are_refused() {
        for (rows, cols) in [(0, 16), (16, 0), (4097, 1), (1, u64::MAX)] {
            assert!(TileSize::new(rows, cols).is_err());
        }
        assert_eq!(TileSize::new(16, 16).unwrap(), TileSize::default());
    }
}
