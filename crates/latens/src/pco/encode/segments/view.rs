//! What blocks of a chunk would store under one mode and delta encoding.

use crate::number::Latent;
use crate::pco::binning::buckets::{Bucket, Grain};
use crate::pco::binning::estimate_buckets;
use crate::pco::binning::histogram::Histogram;
use crate::pco::delta::conv1_fit;
use crate::pco::delta::conv1_products::Products;
use crate::pco::encode::plan::ModeLatents;
use crate::pco::encode::split::{self, Stored};
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::layout::delta::DeltaPayload;
use std::mem::take;

/// Cells of a histogram, about.
const CELLS: usize = 128;
/// Orders of a linear prediction that is fitted to each segment, at most.
const ORDER: usize = 16;

/// One variable under one delta encoding.
pub(super) trait Variable {
    /// Counts by cell, of a block, which are not kept.
    fn take(&mut self, block: usize) -> Vec<u32>;
    /// Bits of a segment with such counts.
    fn bits(&self, counts: &[u32]) -> f64;
}

struct Cells<V> {
    cells: Vec<Bucket<V>>,
    by_block: Vec<Vec<u32>>,
}

impl<V: Latent> Cells<V> {
    fn new(stored: &Stored<V>, block: usize, blocks: usize) -> Self {
        let histogram = Histogram::new(&stored.latents, Grain::even(CELLS));
        let cells = histogram.buckets.clone();
        let cell_of = histogram.symbols(&stored.latents, &cells);
        let mut by_block: Vec<Vec<u32>> = vec![vec![0; cells.len()]; blocks];
        for (counts, symbols) in by_block.iter_mut().zip(cell_of.chunks(block)) {
            symbols.iter().for_each(|&cell| counts[usize::from(cell)] += 1);
        }
        Self { cells, by_block }
    }
}

impl<V: Latent> Variable for Cells<V> {
    fn take(&mut self, block: usize) -> Vec<u32> {
        take(&mut self.by_block[block])
    }

    fn bits(&self, counts: &[u32]) -> f64 {
        let used: Vec<Bucket<V>> = self
            .cells
            .iter()
            .zip(counts)
            .filter(|&(_, &count)| count > 0)
            .map(|(cell, &count)| Bucket { count, ..*cell })
            .collect();
        let n = counts.iter().sum::<u32>() as usize;
        // The lanes of its page beside the variable itself.
        estimate_buckets(&used, n, n) + 4.0 * 10.0
    }
}

/// A delta encoding, and what all blocks store under it.
pub(super) struct View {
    pub(super) variables: Vec<Box<dyn Variable>>,
    /// Bits that a chunk takes beside its variables and a dictionary.
    pub(super) head: f64,
    /// Linear predictions are fitted to each segment.
    pub(super) fit: Option<Fit>,
    /// A chunk's dictionary has only what occurs in it.
    pub(super) values: Option<Values>,
}

/// Which values of a dictionary occur.
pub(super) struct Values {
    /// By block, in their order.
    pub(super) by_block: Vec<Vec<u32>>,
    /// Bits of a value.
    pub(super) bits: f64,
}

impl Values {
    fn new(indices: &[u32], bits: u32, block: usize) -> Self {
        let of = |indices: &[u32]| {
            let mut values = indices.to_vec();
            values.sort_unstable();
            values.dedup();
            values.shrink_to_fit();
            values
        };
        Self { by_block: indices.chunks(block).map(of).collect(), bits: f64::from(bits) }
    }
}

/// How much better a prediction gets when it is fitted to a segment.
pub(super) struct Fit {
    pub(super) by_block: Vec<Option<Products>>,
    /// The weights for all blocks together.
    weights: Vec<f64>,
}

impl Fit {
    fn new<V: Latent>(primary: &[V], order: usize, block: usize) -> Option<Self> {
        let mean = conv1_fit::mean(&[primary]);
        let products = |latents: &[V]| {
            let mut products = Products::new(order);
            products.add(latents, mean);
            products
        };
        let by_block: Vec<Products> = primary.chunks(block).map(products).collect();
        let mut all = Products::new(order);
        by_block.iter().for_each(|block| all.merge(block));
        let by_block = by_block.into_iter().map(Some).collect();
        Some(Self { weights: all.weights(order)?, by_block })
    }

    /// Bits a number that a prediction of the segment's own saves.
    pub(super) fn saves(&self, products: &Products) -> f64 {
        let Some(own) = products.weights(self.weights.len()) else { return 0.0 };
        // Residuals are whole: their errors are not less than those of rounding.
        let error = |weights: &[f64]| products.error(weights) + 1.0 / 12.0;
        (error(&self.weights) / error(&own)).log2() / 2.0
    }
}

impl View {
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(super) fn new<L: Latent>(
        latents: ModeLatents<L>,
        delta: &DeltaPayload,
        block: usize,
        blocks: usize,
    ) -> Self {
        let fit = match (delta, &latents.primary) {
            (DeltaPayload::Conv1(conv), Primary::Latents(primary)) => {
                Fit::new(primary, conv.weights.len().min(ORDER), block)
            }
            (DeltaPayload::Conv1(conv), Primary::Indices(indices)) => {
                Fit::new(indices, conv.weights.len().min(ORDER), block)
            }
            _ => None,
        };
        let values = match &latents.primary {
            Primary::Latents(_) => None,
            Primary::Indices(indices) => Some(Values::new(indices, L::BITS, block)),
        };
        let meta = latents.mode.without_dict().written_bits() + delta.written_bits();
        let head = (meta + delta.state_n() * L::BITS as usize) as f64 + 40.0;
        let page = split::whole(latents, delta);
        let mut variables: Vec<Box<dyn Variable>> = Vec::new();
        if let Some(stored) = &page.delta {
            variables.push(Box::new(Cells::new(stored, block, blocks)));
        }
        match &page.primary {
            Primary::Latents(stored) => {
                variables.push(Box::new(Cells::new(stored, block, blocks)));
            }
            Primary::Indices(stored) => {
                variables.push(Box::new(Cells::new(stored, block, blocks)));
            }
        }
        if let Some(stored) = &page.secondary {
            variables.push(Box::new(Cells::new(stored, block, blocks)));
        }
        Self { variables, head, fit, values }
    }
}
