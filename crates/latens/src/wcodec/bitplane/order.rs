//! In which order the values of a band are coded.

use crate::error::{Error, Result};
use crate::wcodec::context::{PLAIN_KINDS, coefficient_kind};
use crate::wcodec::scan::{SIDE, ZIGZAG};
use crate::wcodec::tile::TileSize;
use crate::wcodec::transform::{self, Transform};

/// An order of the values of a band.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Row by row: bands without transforms.
    Raster,
    /// Each place once, as its number in raster order; made by [`order_of`].
    Listed(Vec<u32>),
}

impl Order {
    /// Whether this is an order of `len` values.
    pub(super) fn fits(&self, len: usize) -> bool {
        match self {
            Order::Raster => true,
            Order::Listed(list) => list.len() == len && list.iter().all(|&i| (i as usize) < len),
        }
    }
}

/// The order of a band with transforms, and the kinds of its values ([`kinds_of`]).
///
/// Tile by tile: the tile's sub-blocks in raster order, transformed ones along the zig-zag and others
/// row by row; then what belongs to no sub-block, row by row.
///
/// # Errors
/// Those of [`kinds_of`].
pub fn order_of(
    codes: &[Transform],
    size: TileSize,
    (rows, cols): (usize, usize),
    classes: &[u8],
) -> Result<(Order, Vec<u8>)> {
    let kinds = kinds_of(codes, size, (rows, cols), classes)?;
    let mut list = Vec::with_capacity(kinds.len());
    let mut codes = codes.iter().copied();
    for tile in size.tiles(rows, cols) {
        for (row, col) in transform::of_tile(tile) {
            let code = codes.next().unwrap_or_default();
            for rank in 0..64u8 {
                let place = if code == Transform::None { rank } else { ZIGZAG[usize::from(rank)] };
                let (r, c) = (usize::from(place) / SIDE, usize::from(place) % SIDE);
                push(&mut list, (row + r) * cols + col + c);
            }
        }
        let (down, across) = (tile.rows / SIDE * SIDE, tile.cols / SIDE * SIDE);
        for r in 0..tile.rows {
            let from = if r < down { across } else { 0 };
            let line = tile.line(r, cols);
            (line.start + from..line.end).for_each(|i| push(&mut list, i));
        }
    }
    Ok((Order::Listed(list), kinds))
}

/// The kinds of the values of a band with transforms. `classes` are those of plain values, 0 to 7 (higher bits are
/// ignored), one for all or one each; coefficients get kinds of their own.
///
/// # Errors
/// Invalid argument, where `codes` are not as many as sub-blocks, `classes` not as many as values, or
/// there are more than 2^32 − 1 values.
pub fn kinds_of(
    codes: &[Transform],
    size: TileSize,
    (rows, cols): (usize, usize),
    classes: &[u8],
) -> Result<Vec<u8>> {
    let len = rows.checked_mul(cols).filter(|&len| u32::try_from(len).is_ok());
    let Some(len) = len else { return Err(Error::invalid("bitplanes: a band too large")) };
    if codes.len() != transform::sub_block_count(size, rows, cols)
        || (classes.len() != 1 && classes.len() != len)
    {
        return Err(Error::invalid("bitplanes: codes or classes that do not fit"));
    }
    let mut kinds: Vec<u8> = match classes {
        [one] => vec![one % PLAIN; len],
        all => all.iter().map(|class| class % PLAIN).collect(),
    };
    let of_block = Transform::ALL.map(|code| {
        let mut block = [[0; SIDE]; SIDE];
        for (place, kind) in (0..).zip(block.as_flattened_mut()) {
            *kind = if code == Transform::None { 0 } else { coefficient_kind(code, place) };
        }
        block
    });
    for ((row, col), &code) in transform::sub_blocks(size, rows, cols).zip(codes) {
        if code != Transform::None {
            for (r, line) in of_block[usize::from(code.id())].iter().enumerate() {
                kinds[(row + r) * cols + col..][..SIDE].copy_from_slice(line);
            }
        }
    }
    Ok(kinds)
}

#[expect(clippy::cast_possible_truncation, reason = "8 kinds")]
const PLAIN: u8 = PLAIN_KINDS as u8;

#[expect(clippy::cast_possible_truncation, reason = "places of a band are below 2^32, as checked")]
fn push(list: &mut Vec<u32>, i: usize) {
    list.push(i as u32);
}
