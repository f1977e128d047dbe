//! What a decoder elsewhere, on a GPU, needs to know of a tensor.
//!
//! A [`TensorPlan`] holds everything that the file's records say of a tensor, read and checked:
//! tables as frequencies, classes as the levels that they follow from, and for each group where its
//! bytes are. Who decodes by a plan needs no parser; what is left to check are the groups' own bytes,
//! by the rules of the specification:
//!
//! * stored bytes have the CRC that stands beside them, and zeros behind them up to four bytes;
//! * states, words, escapes and the records of tiles are as chapters 7 and 10 of `specs/wcodec.md` have
//!   them, planes as chapter 5 of `specs/wcodec-tiles.md`.
//!
//! Parts that are words, raw bytes or small are decoded here, and the plan holds their elements.

mod parts;
mod stack;
mod symbols;

use crate::error::{Error, Result};
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::config::Coder;
use crate::wcodec::open_tensor::OpenTensor;
use crate::wcodec::predictor::Predictor;
use crate::wcodec::reader::Reader;
use crate::wcodec::tile::TileSize;
use crate::wcodec::view::Layout;
use std::ops::Range;

/// A tensor, or rows of one.
#[derive(Clone, Debug)]
pub struct TensorPlan {
    /// How its bytes are made of its parts.
    pub layout: Layout,
    /// The rows of the layout's matrix that the parts hold.
    pub rows: Range<u64>,
    /// Its parts, in the order of the layout.
    pub parts: Vec<PartPlan>,
}

/// A part of a tensor.
#[derive(Clone, Debug)]
pub enum PartPlan {
    /// Its elements: a byte a symbol, words, bytes.
    Decoded(Vec<u8>),
    /// Symbols that are to be decoded.
    Symbols(Box<SymbolPlan>),
}

/// Symbols, and all that their groups have in common.
#[derive(Clone, Debug)]
pub struct SymbolPlan {
    /// Bits a symbol, 1 to 8.
    pub bits: u32,
    /// Symbols a row as they are coded, 1 or more.
    pub cols: usize,
    /// Whether two symbols are coded as one of eight bits, the first lowest; neighbours, where neither `order` nor
    /// `stack` says otherwise.
    pub pairs: bool,
    /// The order in which columns are coded, where that is not their own: for each place of a row the column less
    /// the first one of its 32.
    pub order: Option<Vec<u8>>,
    /// Where pairs are of two rows and one column: which ones, in what order.
    pub stack: Option<StackPlan>,
    /// The coder.
    pub coder: Coder,
    /// The coded symbol in whose place others are said apart: groups begin with the list of these, behind the records
    /// of tiles.
    pub escape: Option<u8>,
    /// Whether groups of the direct coder have compact states, which hold their last symbols.
    pub compact: bool,
    /// Tiles and their predictors.
    pub prediction: Option<PredictionPlan>,
    /// log2 of the size of each table.
    pub table_bits: u32,
    /// By class: the frequency of each symbol (of 8 bits for pairs and coefficients). None for
    /// bitplanes.
    pub tables: Vec<Vec<u16>>,
    /// Where symbols have classes; else all are of class 0.
    pub classes: Option<ClassPlan>,
    /// The groups, in order: none is missing between them.
    pub groups: Vec<GroupPlan>,
    /// Which of the groups' symbols are those asked for, counted from the first group's first.
    pub wanted: Range<usize>,
}

/// Pairs of two rows of a group, in a column of their own: in what order they are coded.
///
/// Columns come in spans. Each has an order of its columns, which is that of all groups, and for each group an order of
/// the group's rows, two by two. Coded are, span by span and column by column, all pairs of rows; the lower four bits
/// are the first one's. Pair `p` of span `s` in group `g`, of `n` pairs, is number `s · n + p` behind those of the groups
/// before. The class of a pair is that of `sums` and the level of its column.
#[derive(Clone, Debug)]
pub struct StackPlan {
    /// Where spans end, as columns and as places in `columns`.
    pub ends: Vec<usize>,
    /// All columns, in the order in which they are coded.
    pub columns: Vec<u32>,
    /// For each group, for each span, for each pair its rows, counted from the group's first one. The last one of an odd
    /// number is paired with itself, and must then be the same in both halves.
    pub rows: Vec<[u16; 2]>,
    /// For each of these what it adds to the level of a column, the bias being part of it: −255 to 255, as what is
    /// beyond that makes no difference.
    pub sums: Vec<i16>,
}

/// How the tiles of a group are predicted and transformed.
#[derive(Clone, Debug)]
pub struct PredictionPlan {
    /// Size of a tile that is not cropped.
    pub tile: TileSize,
    /// The predictor of all tiles; `None` where each has its own.
    pub predictor: Option<Predictor>,
    /// The symbol whose value is 0.
    pub centre: u8,
    /// Whether sub-blocks may be transformed.
    pub transform: bool,
    /// A symbol for each column, where there are means.
    pub means: Option<Vec<u8>>,
    /// A symbol for each symbol of the groups, where there is a reference.
    pub reference: Option<Vec<u8>>,
}

/// How classes follow from what is known of a symbol's row, column and blocks.
///
/// `class = maps[z][clamp(bias + rows[r] + cols[c] − Σ levels, 0, 255)]`, `z` being the zero point,
/// at most the last map's number. Pairs have one class, that of their first symbol; with a [`StackPlan`] it is
/// `maps[0][clamp(sums[pair] + cols[c], 0, 255)]`.
#[derive(Clone, Debug)]
pub struct ClassPlan {
    /// Added to all.
    pub bias: i32,
    /// By row of the tensor; empty if rows have no levels.
    pub rows: Vec<u8>,
    /// By coded column, with a [`StackPlan`] by column; empty if columns have no levels.
    pub cols: Vec<u8>,
    /// At most four.
    pub levels: Vec<BlockPlan>,
    /// Zero points.
    pub zero: Option<BlockPlan>,
    /// 1 to 256 maps of sums to classes.
    pub maps: Vec<[u8; 256]>,
}

/// Numbers of blocks of symbols; that of symbol (r, c) is
/// `values[block row · stride + c / block_cols]`, or 0 where there is none.
#[derive(Clone, Debug)]
pub struct BlockPlan {
    /// Levels, 0 to 4095, less than 0 where they are added; or zero points, 0 to 255.
    pub values: Vec<i16>,
    /// Rows of a block: the block row is `r / block_rows` where there is no map.
    pub block_rows: usize,
    /// Columns of a block.
    pub block_cols: usize,
    /// Blocks in a row of blocks.
    pub stride: usize,
    /// The block row of each row, where there is a map.
    pub row_map: Option<Vec<u32>>,
}

/// A group as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupPlan {
    /// Its number in the part.
    pub number: usize,
    /// Where its bytes begin in the file.
    pub at: u64,
    /// How many there are, without padding to four bytes.
    pub length: usize,
    /// Their CRC-32.
    pub crc: u32,
    /// Its first row, in coded rows of the part.
    pub row: usize,
    /// How many symbols it holds.
    pub count: usize,
}

impl<S: ReadAt> Reader<S> {
    /// The plan of a whole tensor.
    ///
    /// # Errors
    /// Those of [`Reader::tensor`], as far as they do not come from groups that the plan leaves to
    /// decode.
    pub fn plan(&self, number: usize) -> Result<TensorPlan> {
        let open = OpenTensor::open(self, number)?;
        let plan = open.check_whole().and_then(|()| open.plan(0..open.layout.rows));
        plan.map_err(|e| e.within(self.place(number)))
    }

    /// The plan of rows of the logical weights of a tensor, as [`Reader::rows`] has them.
    ///
    /// # Errors
    /// Those of [`Reader::plan`]; invalid argument where there are no such rows.
    pub fn plan_rows(&self, number: usize, rows: Range<u64>) -> Result<TensorPlan> {
        let open = OpenTensor::open(self, number)?;
        let plan = || {
            let layout = open.logical_layout(number)?;
            self.check_weights(&layout, &rows, layout.cols)?;
            if layout == open.layout {
                return open.plan(rows);
            }
            let parts = open.logical_parts(number, &layout, rows.clone())?;
            let parts = parts.into_iter().map(PartPlan::Decoded).collect();
            Ok(TensorPlan { layout, rows, parts })
        };
        plan().map_err(|e: Error| e.within(self.place(number)))
    }

    /// Fills `out` with the file's bytes from `at` on, as they are.
    ///
    /// # Errors
    /// I/O; truncated where the file has not so many.
    pub fn stored_bytes(&self, at: u64, out: &mut [u8]) -> Result<()> {
        self.open.source.read_exact_at(out, at).map_err(|e| Error::from(e).at_byte(at))
    }
}
