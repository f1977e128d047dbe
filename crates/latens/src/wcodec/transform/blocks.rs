//! The sub-blocks of a band: which there are, and transforming all of them.

use super::{Block, Transform};
use crate::error::{Error, Result};
use crate::wcodec::scan::SIDE;
use crate::wcodec::tile::{Tile, TileSize};
use latens_kernels::dispatch::Present;

/// The first row and column of each sub-block of a band of `rows` × `cols`: tile by tile, and in a
/// tile in raster order from its first symbol on. What is not wholly inside of its tile is none.
pub fn sub_blocks(
    size: TileSize,
    rows: usize,
    cols: usize,
) -> impl Iterator<Item = (usize, usize)> {
    size.tiles(rows, cols).flat_map(of_tile)
}

/// Those of one tile.
pub(crate) fn of_tile(tile: Tile) -> impl Iterator<Item = (usize, usize)> {
    let (down, across) = (tile.rows / SIDE, tile.cols / SIDE);
    (0..down)
        .flat_map(move |y| (0..across).map(move |x| (tile.row + y * SIDE, tile.col + x * SIDE)))
}

/// How many sub-blocks a band has.
pub fn sub_block_count(size: TileSize, rows: usize, cols: usize) -> usize {
    // Whole tiles, and the cropped ones of the last row and column of tiles.
    let along = |tile: usize, len: usize| {
        (len / tile).saturating_mul(tile / SIDE).saturating_add(len % tile / SIDE)
    };
    along(size.rows(), rows).saturating_mul(along(size.cols(), cols))
}

/// Transforms each sub-block of a band of `cols` columns by its code, in place.
///
/// # Errors
/// Invalid argument, where there are not as many codes as sub-blocks.
pub fn forward(codes: &[Transform], size: TileSize, cols: usize, data: &mut [i16]) -> Result<()> {
    each(codes, size, cols, data, Transform::forward)
}

/// Undoes [`forward`].
///
/// # Errors
/// Invalid argument, where there are not as many codes as sub-blocks.
pub fn inverse(codes: &[Transform], size: TileSize, cols: usize, data: &mut [i16]) -> Result<()> {
    each(codes, size, cols, data, Transform::inverse)
}

/// The one of `among` for each sub-block that costs least; see [`super::choose`].
pub fn choose_all(
    size: TileSize,
    cols: usize,
    data: &[i16],
    among: &[Transform],
) -> Vec<Transform> {
    let rows = data.len().checked_div(cols).unwrap_or(0);
    let blocks = sub_blocks(size, rows, cols);
    Present::in_use().call(
        #[inline(always)]
        || {
            let mut chosen = Vec::with_capacity(sub_block_count(size, rows, cols));
            for (row, col) in blocks {
                chosen.push(super::choose(&load(data, cols, row, col), among));
            }
            chosen
        },
    )
}

fn each(
    codes: &[Transform],
    size: TileSize,
    cols: usize,
    data: &mut [i16],
    f: impl Fn(Transform, &mut Block),
) -> Result<()> {
    let rows = data.len().checked_div(cols).unwrap_or(0);
    if codes.len() != sub_block_count(size, rows, cols) || rows * cols != data.len() {
        return Err(Error::invalid("transforms: one code for each sub-block of whole rows"));
    }
    let blocks = sub_blocks(size, rows, cols).zip(codes);
    for ((row, col), &code) in blocks.filter(|(_, code)| **code != Transform::None) {
        let mut block = load(data, cols, row, col);
        f(code, &mut block);
        for (i, line) in block.as_chunks::<SIDE>().0.iter().enumerate() {
            data[(row + i) * cols + col..][..SIDE].copy_from_slice(line);
        }
    }
    Ok(())
}

#[inline(always)]
fn load(data: &[i16], cols: usize, row: usize, col: usize) -> Block {
    let mut block = [0; SIDE * SIDE];
    for (i, line) in block.as_chunks_mut::<SIDE>().0.iter_mut().enumerate() {
        line.copy_from_slice(&data[(row + i) * cols + col..][..SIDE]);
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wcodec::predictor::tests::noise;

    #[test]
    #[expect(clippy::cast_possible_truncation, reason = "low bits of random numbers")]
    fn bands_of_any_shape_come_back() {
        let mut next = noise(21);
        for (tile_rows, tile_cols) in [(16, 16), (8, 32), (32, 8), (7, 9), (12, 20), (1, 1)] {
            let size = TileSize::new(tile_rows, tile_cols).unwrap();
            for (rows, cols) in [(16, 16), (33, 47), (8, 8), (7, 100), (0, 8), (64, 1)] {
                let count = sub_blocks(size, rows, cols).count();
                assert_eq!(count, sub_block_count(size, rows, cols));
                let codes: Vec<Transform> =
                    (0..count).map(|_| Transform::ALL[(next() >> 20) as usize % 3]).collect();
                let data: Vec<i16> =
                    (0..rows * cols).map(|_| (next() >> 30) as i16 % 256).collect();
                let mut there = data.clone();
                forward(&codes, size, cols, &mut there).unwrap();
                assert!(codes.iter().all(|&c| c == Transform::None) || there != data);
                inverse(&codes, size, cols, &mut there).unwrap();
                assert_eq!(there, data, "{size:?} {rows} {cols}");
                let mut more = codes.clone();
                more.push(Transform::None);
                assert!(forward(&more, size, cols, &mut there).is_err());
                assert_eq!(choose_all(size, cols, &data, &Transform::ALL).len(), count);
            }
        }
    }
}
