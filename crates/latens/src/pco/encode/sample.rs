//! Parts of a chunk that stand for all of it.

use crate::number::Latent;
use std::ops::Range;

/// Latents of a stripe.
const STRIPE: usize = 1 << 9;

/// Ranges of `0..n` that hold about `wanted` in all, evenly spread; all of it where it is short.
pub(crate) fn stripes(n: usize, wanted: usize) -> Vec<Range<usize>> {
    let stripes = wanted.div_ceil(STRIPE).max(2);
    if n <= STRIPE * stripes {
        return std::iter::once(0..n).collect();
    }
    (0..stripes)
        .map(|i| i * (n - STRIPE) / (stripes - 1))
        .map(|start| start..start + STRIPE)
        .collect()
}

/// Some stripes of a chunk, end to end.
#[derive(Debug)]
pub(crate) struct Sample<L> {
    pub(crate) latents: Vec<L>,
    /// Where each stripe lies in `latents`.
    pub(crate) stripes: Vec<Range<usize>>,
    /// Where each stripe lies in the chunk.
    pub(crate) ranges: Vec<Range<usize>>,
}

impl<L: Latent> Sample<L> {
    /// The given ranges of `all`.
    pub(crate) fn new(all: &[L], ranges: Vec<Range<usize>>) -> Self {
        let mut latents = Vec::with_capacity(ranges.iter().map(ExactSizeIterator::len).sum());
        let mut stripes = Vec::with_capacity(ranges.len());
        for range in &ranges {
            let start = latents.len();
            latents.extend_from_slice(&all[range.clone()]);
            stripes.push(start..latents.len());
        }
        Self { latents, stripes, ranges }
    }
}
