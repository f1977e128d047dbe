//! Pairs of neighbours to pairs of two rows, in the order in which these are coded.

use crate::wcodec::class::Terms;
use crate::wcodec::stack::{Rows, Stack, pairs_of};
use latens_kernels::dispatch::Present;
use std::ops::Range;

/// A group as it is coded.
#[derive(Debug, Default)]
pub(crate) struct Stacked {
    rows: Rows,
    order: Vec<u32>,
    pub(crate) coded: Vec<u8>,
    pub(crate) classes: Vec<u8>,
}

impl Stacked {
    /// Takes the symbols of `rows` of `cols`, two neighbours a byte.
    pub(crate) fn join(
        &mut self,
        stack: &Stack,
        terms: &Terms<'_>,
        rows: Range<usize>,
        cols: usize,
        neighbours: &[u8],
    ) {
        let Self { rows: sorted, order, coded, classes } = self;
        let (pairs, map) = (pairs_of(rows.clone()), terms.rule.maps.first().unwrap_or(&[0; 256]));
        classes.clear();
        coded.resize(cols * pairs, 0);
        let mut left = &mut coded[..];
        for span in stack.spans() {
            order.clear();
            sorted.sort(terms, rows.clone(), &span, order);
            sorted.classes(map, &span, classes);
            let lines = left.split_off_mut(..span.len(pairs)).unwrap_or_default();
            if let Some((pairing, place)) = span.pairing(order, rows.len(), cols) {
                pairing.join(Present::in_use(), neighbours, place, lines);
            }
        }
    }
}
