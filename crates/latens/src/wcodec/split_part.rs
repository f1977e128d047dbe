//! A part of a tensor that is split off where it is wanted.

use crate::error::{Error, Result};
use crate::spare;
use crate::wcodec::data::{Data, Stretches};
use crate::wcodec::threads::Spare;
use crate::wcodec::view::Layout;
use std::ops::Range;

/// Bytes that are taken apart at a time.
const STRETCH: usize = 1 << 20;

/// A part that is split off a stretch at a time.
pub(crate) struct SplitPart<'a> {
    tensor: Data<'a>,
    /// The tensor as pieces that can be split on their own.
    pieces: Layout,
    /// Which part.
    index: usize,
    /// Bytes of the tensor, and of the part, that a piece has.
    piece: (usize, usize),
    /// Memory for bytes of the tensor: fresh one is dear.
    spare: Spare,
}

impl<'a> SplitPart<'a> {
    /// Part `index` of a tensor under a view. `None` where it cannot be split off by pieces.
    pub(crate) fn new(tensor: Data<'a>, layout: Layout, index: usize) -> Option<Self> {
        let pieces = layout.pieces();
        let whole = usize::try_from(pieces.unit_bytes).ok().filter(|&whole| whole > 0)?;
        let piece = (whole, pieces.part_bytes(index)?);
        let spare = Spare::default();
        let split = Self { tensor, pieces, index, piece, spare };
        tensor.len().is_multiple_of(whole).then_some(split)
    }
}

impl Stretches for SplitPart<'_> {
    fn len(&self) -> usize {
        let (whole, own) = self.piece;
        self.tensor.len().checked_div(whole).unwrap_or(0) * own
    }

    fn read(&self, range: Range<usize>, out: &mut Vec<u8>) -> Result<()> {
        let (whole, own) = (self.piece.0.max(1), self.piece.1.max(1));
        let (first, end) = (range.start / own, range.end.div_ceil(own));
        let step = (STRETCH / whole).max(1);
        let mut buffer = self.spare.take();
        let count = (end - first) * own;
        if out.capacity() < count {
            spare::give_bytes(std::mem::replace(out, spare::stale_bytes(count)));
        }
        out.resize(count, 0);
        for (from, out) in (first..end).step_by(step).zip(out.chunks_mut(step * own)) {
            let stretch = from * whole..end.min(from + step) * whole;
            let bytes = self.tensor.get(stretch, &mut buffer)?;
            if !self.pieces.split_part(bytes, self.index, out) {
                return Err(Error::invalid("a tensor that has no such part"));
            }
        }
        self.spare.give(buffer);
        out.truncate(range.end - first * own);
        out.drain(..range.start - first * own);
        Ok(())
    }
}
