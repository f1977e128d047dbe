//! Weights of Conv1 fitted to what residuals cost, not to their squares.
//!
//! A residual costs what is unlikely about it, so that large ones count for less than in least
//! squares. Each step solves least squares again, with weights that bring the last step's residuals
//! to where they are felt under the distribution that they seem to have.

use crate::number::Latent;
use crate::pco::delta::conv1_fit::spread;
use crate::pco::delta::conv1_products::{Products, dot};
use crate::pco::delta::conv1_quantize::quantize;
use crate::pco::delta::conv1_student::Student;
use crate::pco::layout::delta::Conv1;

/// Latents that fits look at, at most.
const SAMPLE: usize = 1 << 15;
/// Steps: photographs take eight until their weights stand still, other signals fewer.
const STEPS: usize = 10;

/// Predictions of each of some orders that may cost least: those of least squares, and those fitted to
/// what residuals cost. All orders share the weights that the highest one's residuals have.
pub(crate) fn fits<L: Latent>(latents: &[L], orders: &[usize]) -> Vec<Vec<Conv1>> {
    let highest = orders.iter().copied().max().unwrap_or(1);
    let stripes: Vec<Vec<f64>> = spread(latents.len(), SAMPLE)
        .into_iter()
        .filter(|range| range.len() > 2 * highest)
        .map(|range| latents[range].iter().map(|x| to_f64(*x)).collect())
        .collect();
    let quantized = |fit: &Fit| -> Vec<Conv1> {
        let of_order = |&order: &usize| {
            let weights = fit.products.weights(order)?;
            Some(quantize::<L>(&weights, fit.mean, fit.shift, &fit.products))
        };
        orders.iter().filter_map(of_order).collect()
    };
    let mut found = Vec::new();
    let mut fit: Option<Fit> = None;
    for step in 0..=STEPS {
        let Some(next) = Fit::new(&stripes, highest, fit.as_ref()) else { break };
        if step == 0 || step == STEPS {
            found.push(quantized(&next));
        }
        fit = Some(next);
    }
    found
}

#[expect(clippy::cast_precision_loss, reason = "statistics")]
fn to_f64<L: Latent>(x: L) -> f64 {
    x.to_u64() as f64
}

struct Fit {
    /// Oldest first.
    weights: Vec<f64>,
    mean: f64,
    /// How far latents lie above what the weights predict about the mean, on the weighted average.
    shift: f64,
    products: Products,
}

impl Fit {
    /// Weighted by the residuals of the fit before; all alike without one.
    fn new(stripes: &[Vec<f64>], order: usize, before: Option<&Self>) -> Option<Self> {
        let counts: Vec<Vec<f64>> = match before {
            None => stripes.iter().map(|stripe| vec![1.0; stripe.len() - order]).collect(),
            Some(fit) => fit.counts(stripes),
        };
        let (mut sum, mut total) = (0.0, 0.0);
        for (stripe, counts) in stripes.iter().zip(&counts) {
            sum += dot(&stripe[order..], counts);
            total += counts.iter().sum::<f64>();
        }
        let mean = if total > 0.0 { sum / total } else { 0.0 };
        let mut products = Products::new(order);
        for (stripe, counts) in stripes.iter().zip(&counts) {
            let centred: Vec<f64> = stripe.iter().map(|x| x - mean).collect();
            products.add_weighted(&centred, counts);
        }
        let mut fit = Self { weights: products.weights(order)?, mean, shift: 0.0, products };
        if before.is_some() {
            let residuals = fit.residuals(stripes);
            let sum: f64 = residuals.iter().zip(&counts).map(|(r, counts)| dot(r, counts)).sum();
            fit.shift = if total > 0.0 { sum / total } else { 0.0 };
        }
        Some(fit)
    }

    fn residuals(&self, stripes: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let constant = self.mean * (1.0 - self.weights.iter().sum::<f64>()) + self.shift;
        let of_stripe = |stripe: &Vec<f64>| {
            let predicted = &stripe[self.weights.len()..];
            let mut residuals: Vec<f64> = predicted.iter().map(|x| x - constant).collect();
            for (j, weight) in self.weights.iter().enumerate() {
                residuals.iter_mut().zip(&stripe[j..]).for_each(|(r, x)| *r -= weight * x);
            }
            residuals
        };
        stripes.iter().map(of_stripe).collect()
    }

    fn counts(&self, stripes: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let mut counts = self.residuals(stripes);
        let sizes: Vec<f64> = counts.iter().flatten().step_by(7).map(|r| r.abs()).collect();
        let Some(student) = Student::of(&sizes) else { return counts };
        for residual in counts.iter_mut().flatten() {
            *residual = student.weight(*residual);
        }
        // As if each latent counted once on the average.
        let n = counts.iter().map(Vec::len).sum::<usize>();
        #[expect(clippy::cast_precision_loss, reason = "statistics")]
        let scale = n as f64 / counts.iter().flatten().sum::<f64>();
        counts.iter_mut().flatten().for_each(|count| *count *= scale);
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pco::delta::conv1;

    /// Where most residuals are none and few are wild, the wild ones do not decide.
    #[test]
    fn few_wild_residuals_do_not_spoil_a_fit() {
        let mut latents = vec![30_000u16, 30_500];
        for i in 2..20_000usize {
            let wild = if i % 50 == 0 { 3000 } else { 0 };
            let next = 10_000 + (i32::from(latents[i - 1]) * 3 / 4 - i32::from(latents[i - 2]) / 4);
            latents.push(u16::try_from(next + 5_000 + wild).unwrap());
        }
        let middle = |conv: &Conv1| {
            let mut residuals = latents.clone();
            conv1::encode(conv, &mut residuals);
            let mut sizes: Vec<u16> = residuals.iter().map(|x| x.abs_diff(u16::MID)).collect();
            sizes.sort_unstable();
            sizes[sizes.len() / 2]
        };
        let middles: Vec<u16> = fits(&latents, &[2]).iter().flatten().map(middle).collect();
        assert_eq!(middles.len(), 2);
        assert!(middles[1] <= 20 && middles[0] > 30, "{middles:?}");
    }

    #[test]
    fn whatever_comes_the_weights_are_legal() {
        for latents in [vec![], vec![7u8], vec![9; 100], (0..=255).cycle().take(1000).collect()] {
            for convs in fits(&latents, &[1, 2, 8, 32]) {
                for (conv, order) in convs.iter().zip([1, 2, 8, 32]) {
                    assert_eq!(conv.weights.len(), order);
                    assert_eq!(conv.check(8), Ok(()));
                }
            }
        }
    }
}
