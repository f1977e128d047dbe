//! Parts of a chunk that stand for all of it.

use crate::number::Latent;
use std::ops::Range;

/// Latents of a stripe, and stripes of a sample.
const STRIPE: usize = 1 << 9;
const STRIPES: usize = 32;

/// Evenly spread ranges of `0..n`, all of it where it is short.
pub(crate) fn stripes(n: usize) -> Vec<Range<usize>> {
    if n <= STRIPE * STRIPES {
        return std::iter::once(0..n).collect();
    }
    (0..STRIPES)
        .map(|i| i * (n - STRIPE) / (STRIPES - 1))
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
        let mut latents = Vec::new();
        let mut stripes = Vec::new();
        for range in &ranges {
            let start = latents.len();
            latents.extend_from_slice(&all[range.clone()]);
            stripes.push(start..latents.len());
        }
        Self { latents, stripes, ranges }
    }
}

/// About how many bits the differences of each order take, by their lengths in bits alone: good
/// enough to tell which orders are worth measuring. Stops two orders behind the best.
pub(crate) fn rough_bits_by_order<L: Latent>(
    latents: &[L],
    stripes: &[Range<usize>],
    most: u32,
) -> Vec<f64> {
    let mut stripes: Vec<Vec<L>> =
        stripes.iter().map(|range| latents[range.clone()].to_vec()).collect();
    let mut found = Vec::new();
    let mut least = f64::INFINITY;
    let mut since = 0;
    for _ in 0..most {
        let mut lengths = [0u32; 65];
        for stripe in &mut stripes {
            for i in 1..stripe.len() {
                stripe[i - 1] = stripe[i].sub(stripe[i - 1]);
            }
            stripe.pop();
            for &x in &*stripe {
                let length = x.bit_length().min(L::ZERO.sub(x).bit_length());
                lengths[length as usize] += 1;
            }
        }
        let total = f64::from(lengths.iter().sum::<u32>().max(1));
        let cost = |(length, &count): (u32, &u32)| {
            let count = f64::from(count);
            if count > 0.0 { count * ((total / count).log2() + f64::from(length)) } else { 0.0 }
        };
        let bits = (0u32..).zip(&lengths).map(cost).sum::<f64>() / total;
        found.push(bits);
        since = if bits < least { 0 } else { since + 1 };
        least = least.min(bits);
        if since == 2 {
            break;
        }
    }
    found
}
