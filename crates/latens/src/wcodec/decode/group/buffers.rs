//! Memory that groups use one after the other.

use crate::wcodec::class::RowSums;

/// What groups that are decoded one after the other may use again.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    pub(super) classes: OfSymbols,
    pub(super) pairs: Vec<u8>,
}

/// What says which classes symbols have.
#[derive(Debug, Default)]
pub(super) struct OfSymbols {
    /// One by one, and what rows have in common.
    pub(super) each: Vec<u8>,
    pub(super) sums: RowSums,
    /// Where windows begin.
    pub(super) starts: Vec<u16>,
}

/// Most groups that are decoded side by side.
pub(crate) const TOGETHER: usize = 4;

/// Those of groups side by side.
#[derive(Debug, Default)]
pub(crate) struct Buffers(pub(super) [Buffer; TOGETHER]);

impl Buffers {
    /// Makes them ready for another tensor, whose rows have sums of their own.
    pub(crate) fn forget(&mut self) {
        self.0.iter_mut().for_each(|buffer| buffer.classes.sums = RowSums::default());
    }

    /// Bytes that they keep.
    pub(crate) fn bytes(&self) -> usize {
        let of = |b: &Buffer| {
            b.classes.each.capacity() + 2 * b.classes.starts.capacity() + b.pairs.capacity()
        };
        self.0.iter().map(of).sum()
    }
}
