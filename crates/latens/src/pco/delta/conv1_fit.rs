//! The weights of Conv1 for given latents: least squares, then fixed point.

use super::conv1_products::{Products, centred};
use super::conv1_quantize::quantize;
use crate::number::Latent;
use crate::pco::layout::delta::Conv1;
use std::ops::Range;

/// Latents that the fit for a chunk looks at, at most, and in how many stripes.
const SAMPLE: usize = 1 << 16;
const STRIPES: usize = 16;

/// The linear prediction with the least squared error, of `order` 1 to 32, for latents of at
/// most 32 bits. Latents that say nothing (too few, or constant) give weight 1 to the newest.
pub(crate) fn fit<L: Latent>(latents: &[L], order: usize) -> Conv1 {
    let found = fits(latents, &spread(latents.len(), SAMPLE), &[order]).pop();
    found.unwrap_or(Conv1 { quantization: 0, bias: 0, weights: vec![0; order] })
}

/// Stripes of `0..n` for a fit to all of it, with `most` latents at most.
pub(crate) fn spread(n: usize, most: usize) -> Vec<Range<usize>> {
    if n <= most {
        return std::iter::once(0..n).collect();
    }
    let stripe = most / STRIPES;
    (0..STRIPES).map(|i| i * (n - stripe) / (STRIPES - 1)).map(|at| at..at + stripe).collect()
}

/// The same for several orders, at about the price of the highest, and for stripes of the
/// latents.
pub(crate) fn fits<L: Latent>(
    latents: &[L],
    stripes: &[Range<usize>],
    orders: &[usize],
) -> Vec<Conv1> {
    let fit = Fit::new(latents, stripes, orders.iter().copied().max().unwrap_or(1));
    orders.iter().map(|&order| fit.quantized::<L>(order)).collect()
}

/// What weights of all orders up to a highest one are found by.
pub(crate) struct Fit {
    /// The latents of each stripe about their mean.
    pub(crate) stripes: Vec<Vec<f64>>,
    mean: f64,
    products: Products,
}

impl Fit {
    pub(crate) fn new<L: Latent>(latents: &[L], stripes: &[Range<usize>], highest: usize) -> Self {
        let stripes: Vec<&[L]> = stripes.iter().map(|range| &latents[range.clone()]).collect();
        let mean = mean(&stripes);
        let stripes: Vec<Vec<f64>> =
            stripes.into_iter().map(|stripe| centred(stripe, mean)).collect();
        let mut products = Products::new(highest);
        stripes.iter().for_each(|stripe| products.add_centred(stripe));
        Self { stripes, mean, products }
    }

    /// Weights, the oldest latent's first.
    pub(crate) fn weights(&self, order: usize) -> Vec<f64> {
        self.products.weights(order).unwrap_or_else(|| {
            let mut weights = vec![0.0; order];
            weights[order - 1] = 1.0;
            weights
        })
    }

    pub(crate) fn quantized<L: Latent>(&self, order: usize) -> Conv1 {
        quantize::<L>(&self.weights(order), self.mean, 0.0, &self.products)
    }
}

/// The mean of latents of at most 32 bits, of which no chunk has so many that their sum overflows.
#[expect(clippy::cast_precision_loss, reason = "statistics")]
pub(crate) fn mean<L: Latent>(stripes: &[&[L]]) -> f64 {
    let n: usize = stripes.iter().map(|stripe| stripe.len()).sum();
    let sum = |stripe: &&[L]| stripe.iter().map(|x| x.to_u64()).sum::<u64>() as f64;
    stripes.iter().map(sum).sum::<f64>() / n.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pco::delta::conv1;

    #[test]
    fn a_sine_is_predicted() {
        #[expect(clippy::cast_possible_truncation, reason = "11,000 to 29,000")]
        let wave = |i: u32| (20_000.0 + 9_000.0 * (f64::from(i) * 0.05).sin()) as u16;
        let mut latents: Vec<u16> = (0..4000).map(wave).collect();
        let conv = fit(&latents, 4);
        conv1::encode(&conv, &mut latents);
        let off = latents.iter().filter(|x| x.abs_diff(u16::MID) > 4).count();
        assert!(off < 40, "{off} residuals of more than 4 with {conv:?}");
    }

    #[test]
    fn whatever_comes_the_weights_are_legal() {
        for latents in [vec![], vec![7u8], vec![9; 100], (0..=255).cycle().take(1000).collect()] {
            for order in [1, 2, 8, 32] {
                let conv = fit(&latents, order);
                assert_eq!(conv.weights.len(), order);
                assert_eq!(conv.check(8), Ok(()));
            }
        }
        let wild: Vec<u32> = (0..5000u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
        assert_eq!(fit(&wild, 32).check(32), Ok(()));
    }
}
