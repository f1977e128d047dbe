//! Where a chunk is worth cutting: neighbouring blocks are joined as long as that saves bits.
//!
//! Each block is known by histograms of what it would store under some delta encodings, over cells
//! that all blocks share, so that blocks are joined by adding counts. A segment costs what bins
//! chosen for it cost under the best of the encodings, and its metadata.

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
use std::ops::Range;

/// Numbers in a block, at least.
const BLOCK: usize = 1 << 10;
/// Blocks of a chunk, at most.
const BLOCKS: usize = 256;
/// Cells of a histogram, about.
const CELLS: usize = 128;
/// Orders of a linear prediction that is fitted to each segment, at most.
const ORDER: usize = 16;

/// One variable under one delta encoding.
trait Variable {
    /// Counts by cell, of a block.
    fn counts(&self, block: usize) -> Vec<u32>;
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
    fn counts(&self, block: usize) -> Vec<u32> {
        self.by_block[block].clone()
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
struct View {
    variables: Vec<Box<dyn Variable>>,
    /// Bits that a chunk takes beside its variables.
    head: f64,
    /// Linear predictions are fitted to each segment.
    fit: Option<Fit>,
}

/// How much better a prediction gets when it is fitted to a segment.
struct Fit {
    by_block: Vec<Products>,
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
        Some(Self { weights: all.weights(order)?, by_block })
    }

    /// Bits a number that a prediction of the segment's own saves.
    fn saves(&self, products: &Products) -> f64 {
        let Some(own) = products.weights(self.weights.len()) else { return 0.0 };
        // Residuals are whole: their errors are not less than those of rounding.
        let error = |weights: &[f64]| products.error(weights) + 1.0 / 12.0;
        (error(&self.weights) / error(&own)).log2() / 2.0
    }
}

impl View {
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn new<L: Latent>(
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
        let meta = latents.mode.written_bits() + delta.written_bits();
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
        Self { variables, head, fit }
    }
}

/// Neighbouring blocks.
struct Segment {
    blocks: Range<usize>,
    /// By view and variable, counts by cell.
    counts: Vec<Vec<Vec<u32>>>,
    /// By view, where it is fitted.
    products: Vec<Option<Products>>,
    bits: f64,
}

impl Segment {
    fn new(views: &[View], block: usize) -> Self {
        let counts_of =
            |view: &View| view.variables.iter().map(|variable| variable.counts(block)).collect();
        let products_of = |view: &View| view.fit.as_ref()?.by_block.get(block).cloned();
        let mut segment = Self {
            blocks: block..block + 1,
            counts: views.iter().map(counts_of).collect(),
            products: views.iter().map(products_of).collect(),
            bits: 0.0,
        };
        segment.weigh(views);
        segment
    }

    fn joined(&self, next: &Self, views: &[View]) -> Self {
        let sum = |(a, b): (&Vec<u32>, &Vec<u32>)| a.iter().zip(b).map(|(a, b)| a + b).collect();
        let mut joined = Self {
            blocks: self.blocks.start..next.blocks.end,
            counts: (self.counts.iter().zip(&next.counts))
                .map(|(a, b)| a.iter().zip(b).map(sum).collect())
                .collect(),
            products: self.products.clone(),
            bits: 0.0,
        };
        for (products, next) in joined.products.iter_mut().zip(&next.products) {
            if let (Some(products), Some(next)) = (products, next) {
                products.merge(next);
            }
        }
        joined.weigh(views);
        joined
    }

    fn weigh(&mut self, views: &[View]) {
        let mut least = f64::INFINITY;
        for ((view, counts), products) in views.iter().zip(&self.counts).zip(&self.products) {
            let mut bits = view.head;
            for (variable, counts) in view.variables.iter().zip(counts) {
                bits += variable.bits(counts);
            }
            if let (Some(fit), Some(products), Some(counts)) = (&view.fit, products, counts.last())
            {
                bits -= fit.saves(products) * f64::from(counts.iter().sum::<u32>());
            }
            least = least.min(bits);
        }
        self.bits = least;
    }
}

/// A segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    /// Numbers in it.
    pub(crate) n: usize,
    /// By what part more it seems to take together with the one before.
    pub(crate) joining_costs: f64,
}

/// The segments of a chunk of `latents`, for the delta encodings that its numbers may have. One
/// segment where cutting seems to save nothing.
pub(crate) fn find<L: Latent>(latents: &ModeLatents<L>, deltas: &[DeltaPayload]) -> Vec<Cut> {
    let n = latents.len();
    let block = n.div_ceil(BLOCKS).max(BLOCK);
    let blocks = n.div_ceil(block);
    let views: Vec<View> =
        deltas.iter().map(|delta| View::new(latents.clone(), delta, block, blocks)).collect();
    let mut segments: Vec<Segment> = (0..blocks).map(|i| Segment::new(&views, i)).collect();
    let saves = |joined: &Segment, a: &Segment, b: &Segment| a.bits + b.bits - joined.bits;
    // By segment, what it and the next one make together.
    let mut joins: Vec<Segment> =
        segments.windows(2).map(|pair| pair[0].joined(&pair[1], &views)).collect();
    loop {
        let best = (joins.iter().zip(segments.windows(2)).enumerate())
            .map(|(i, (joined, pair))| (saves(joined, &pair[0], &pair[1]), i))
            .fold(
                (0.0, None),
                |best, (bits, i)| {
                    if bits > best.0 { (bits, Some(i)) } else { best }
                },
            );
        let Some(i) = best.1 else { break };
        segments[i] = joins.remove(i);
        segments.remove(i + 1);
        if i > 0 {
            joins[i - 1] = segments[i - 1].joined(&segments[i], &views);
        }
        if i < joins.len() {
            joins[i] = segments[i].joined(&segments[i + 1], &views);
        }
    }
    let len =
        |segment: &Segment| (segment.blocks.end * block).min(n) - segment.blocks.start * block;
    // The first has none before it.
    let costs = segments
        .windows(2)
        .zip(&joins)
        .map(|(pair, joined)| -saves(joined, &pair[0], &pair[1]) / joined.bits);
    let costs = std::iter::once(f64::INFINITY).chain(costs);
    segments.iter().zip(costs).map(|(s, joining_costs)| Cut { n: len(s), joining_costs }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pco::encode::plan::ModeChoice;

    fn lens(latents: Vec<u32>) -> Vec<usize> {
        let split = ModeLatents::split(latents, ModeChoice::Classic).unwrap();
        find(&split, &[DeltaPayload::None]).iter().map(|cut| cut.n).collect::<Vec<_>>()
    }

    fn noise(i: u32) -> u32 {
        (i ^ i >> 7).wrapping_mul(0x9e37_79b9) >> 8
    }

    #[test]
    fn a_change_is_found_to_a_block() {
        let latents = (0..60_000).map(|i| if i < 20_000 { noise(i) } else { noise(i) % 100 });
        let lens = lens(latents.collect());
        // The block that has both may stand alone.
        assert!((2..=3).contains(&lens.len()), "{lens:?}");
        assert!(lens[0].abs_diff(20_000) <= BLOCK, "{lens:?}");
        assert_eq!(lens.iter().sum::<usize>(), 60_000);
    }

    #[test]
    fn what_is_alike_stays_whole() {
        assert_eq!(lens((0..60_000).map(noise).collect()), [60_000]);
        assert_eq!(lens(vec![7; 50_000]), [50_000]);
        assert_eq!(lens(vec![7; 3]), [3]);
    }
}
