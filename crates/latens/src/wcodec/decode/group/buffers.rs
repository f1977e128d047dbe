//! Memory that groups use one after the other.

use crate::wcodec::class::RowSums;
use crate::wcodec::stack::Rows;

/// What groups that are decoded one after the other may use again.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    pub(super) classes: OfSymbols,
    pub(super) stacked: OfStack,
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

/// What it takes to decode pairs of two rows.
#[derive(Debug, Default)]
pub(super) struct OfStack {
    pub(super) rows: Rows,
    /// Rows in the order of each span.
    pub(super) orders: Vec<u32>,
    /// Classes one by one.
    pub(super) each: Vec<u8>,
    /// Classes in windows: where pairs have their places, and where the windows of columns begin.
    pub(super) places: Vec<u8>,
    pub(super) starts: Vec<u16>,
    /// Pairs as they are coded.
    pub(super) coded: Vec<u8>,
}

impl OfStack {
    fn bytes(&self) -> usize {
        let Self { rows, orders, each, places, starts, coded } = self;
        let [orders, starts] = [4 * orders.capacity(), 2 * starts.capacity()];
        let bytes: usize = [each, places, coded].map(Vec::capacity).into_iter().sum();
        rows.bytes() + orders + starts + bytes
    }
}

/// Groups that are decoded side by side.
pub(crate) const TOGETHER: usize = 4;
/// The most of them: one more, where it would be decoded alone else.
pub(crate) const MOST: usize = TOGETHER + 1;

/// Those of groups side by side.
#[derive(Debug, Default)]
pub(crate) struct Buffers(pub(super) [Buffer; MOST]);

impl Buffers {
    /// Makes them ready for another tensor, whose rows have sums of their own.
    pub(crate) fn forget(&mut self) {
        self.0.iter_mut().for_each(|buffer| buffer.classes.sums = RowSums::default());
    }

    /// Bytes that they keep.
    pub(crate) fn bytes(&self) -> usize {
        let of = |b: &Buffer| {
            let classes = b.classes.each.capacity() + 2 * b.classes.starts.capacity();
            classes + b.stacked.bytes() + b.pairs.capacity()
        };
        self.0.iter().map(of).sum()
    }
}
