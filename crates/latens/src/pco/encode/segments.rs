//! Where a chunk is worth cutting: neighbouring blocks are joined as long as that saves bits.
//!
//! Each block is known by histograms of what it would store under some delta encodings, over cells
//! that all blocks share, so that blocks are joined by adding counts. A segment costs what bins
//! chosen for it cost under the best of the encodings, and its metadata.

mod view;

use crate::number::Latent;
use crate::pco::delta::conv1_products::Products;
use crate::pco::encode::plan::{ModeChoice, ModeLatents};
use crate::pco::layout::delta::DeltaPayload;
use std::mem::take;
use std::ops::Range;
use view::View;

/// Numbers in a block, at least.
const BLOCK: usize = 1 << 10;
/// Blocks of a chunk, at most.
const BLOCKS: usize = 1 << 10;
/// Neighbouring blocks.
struct Segment {
    blocks: Range<usize>,
    /// By view and variable, counts by cell.
    counts: Vec<Vec<Vec<u32>>>,
    /// By view, where it is fitted.
    products: Vec<Option<Products>>,
    /// By view, the values that occur, where there is a dictionary.
    values: Vec<Option<Vec<u32>>>,
    bits: f64,
}

impl Segment {
    /// A block, of which the views then know nothing more.
    fn new(views: &mut [View], block: usize) -> Self {
        let counts_of =
            |view: &mut View| view.variables.iter_mut().map(|all| all.take(block)).collect();
        let products_of = |view: &mut View| view.fit.as_mut()?.by_block.get_mut(block)?.take();
        let values_of =
            |view: &mut View| Some(take(view.values.as_mut()?.by_block.get_mut(block)?));
        let mut segment = Self {
            blocks: block..block + 1,
            counts: views.iter_mut().map(counts_of).collect(),
            products: views.iter_mut().map(products_of).collect(),
            values: views.iter_mut().map(values_of).collect(),
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
            values: (self.values.iter().zip(&next.values))
                .map(|(a, b)| Some(either(a.as_ref()?, b.as_ref()?)))
                .collect(),
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

    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn weigh(&mut self, views: &[View]) {
        let mut least = f64::INFINITY;
        for (i, view) in views.iter().enumerate() {
            let (counts, products) = (&self.counts[i], &self.products[i]);
            let mut bits = view.head;
            if let (Some(all), Some(values)) = (&view.values, &self.values[i]) {
                bits += values.len() as f64 * all.bits;
            }
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

/// A chunk in one mode.
pub(crate) struct Encodings<L> {
    pub(crate) mode: ModeChoice<L>,
    /// The delta encodings it may have.
    pub(crate) deltas: Vec<DeltaPayload>,
}

/// What is in either of two ascending lists.
fn either(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut all = Vec::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    while let (Some(&x), Some(&y)) = (a.peek(), b.peek()) {
        if x <= y {
            a.next();
        }
        if y <= x {
            b.next();
        }
        all.push(x.min(y));
    }
    all.extend(a.chain(b));
    all.shrink_to_fit();
    all
}

/// A segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    /// Numbers in it.
    pub(crate) n: usize,
    /// By what part more it seems to take together with the one before.
    pub(crate) joining_costs: f64,
}

/// Neighbours joined as long as that saves bits, those first where it saves most.
fn joined(mut segments: Vec<Segment>, views: &[View]) -> Vec<Segment> {
    let saves = |a: &Segment, b: &Segment| a.bits + b.bits - a.joined(b, views).bits;
    // By segment, what joining it and the next one saves.
    let mut savings: Vec<f64> = segments.windows(2).map(|pair| saves(&pair[0], &pair[1])).collect();
    loop {
        let best = savings.iter().enumerate().fold((0.0, None), |best, (i, &bits)| {
            if bits > best.0 { (bits, Some(i)) } else { best }
        });
        let (_, Some(i)) = best else { return segments };
        segments[i] = segments[i].joined(&segments[i + 1], views);
        segments.remove(i + 1);
        savings.remove(i);
        for i in i.saturating_sub(1)..(i + 1).min(savings.len()) {
            savings[i] = saves(&segments[i], &segments[i + 1]);
        }
    }
}

/// The segments of a chunk of `n` numbers, for the modes and delta encodings that it may have. One
/// segment where cutting seems to save nothing.
pub(crate) fn find<L: Latent>(
    n: usize,
    encodings: &[Encodings<L>],
    latents: &dyn Fn() -> Vec<L>,
) -> Vec<Cut> {
    let block = n.div_ceil(BLOCKS).max(BLOCK);
    let blocks = n.div_ceil(block);
    let mut views: Vec<View> = (encodings.iter())
        .flat_map(|Encodings { mode, deltas }| deltas.iter().map(move |delta| (*mode, delta)))
        .filter_map(|(mode, delta)| Some((ModeLatents::split(latents(), mode)?, delta)))
        .map(|(split, delta)| View::new(split, delta, block, blocks))
        .collect();
    let blocks: Vec<Segment> = (0..blocks).map(|i| Segment::new(&mut views, i)).collect();
    let segments = joined(blocks, &views);
    // By what part more each segment but the first takes with the one before it.
    let costs = segments.windows(2).map(|pair| {
        let joined = pair[0].joined(&pair[1], &views);
        (joined.bits - pair[0].bits - pair[1].bits) / joined.bits
    });
    let len =
        |segment: &Segment| (segment.blocks.end * block).min(n) - segment.blocks.start * block;
    // The first has none before it.
    let costs = std::iter::once(f64::INFINITY).chain(costs);
    segments.iter().zip(costs).map(|(s, joining_costs)| Cut { n: len(s), joining_costs }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lens(latents: Vec<u32>) -> Vec<usize> {
        let n = latents.len();
        let encodings = Encodings { mode: ModeChoice::Classic, deltas: vec![DeltaPayload::None] };
        find(n, &[encodings], &|| latents.clone()).iter().map(|cut| cut.n).collect::<Vec<_>>()
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
