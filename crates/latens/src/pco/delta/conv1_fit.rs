//! The weights of Conv1 for given latents: least squares, then fixed point.

use crate::number::Latent;
use crate::pco::layout::delta::Conv1;

/// Latents that the fit looks at, at most.
const SAMPLE: usize = 1 << 15;

/// The linear prediction with the least squared error, of `order` 1 to 32, for latents of at
/// most 32 bits. Latents that say nothing (too few, or constant) give weight 1 to the newest.
pub(crate) fn fit<L: Latent>(latents: &[L], order: usize) -> Conv1 {
    let found = fits(latents, &[order]).pop();
    found.unwrap_or(Conv1 { quantization: 0, bias: 0, weights: vec![0; order] })
}

/// The same for several orders, at about the price of the highest.
pub(crate) fn fits<L: Latent>(latents: &[L], orders: &[usize]) -> Vec<Conv1> {
    let from = (latents.len() - latents.len().min(SAMPLE)) / 2;
    let sample = &latents[from..(from + SAMPLE).min(latents.len())];
    let mean = mean(sample);
    let highest = orders.iter().copied().max().unwrap_or(1);
    let products = Products::new(sample, mean, highest);
    let to_fit = |&order: &usize| {
        let weights = products.weights(order).unwrap_or_else(|| {
            let mut weights = vec![0.0; order];
            weights[order - 1] = 1.0;
            weights
        });
        quantize::<L>(&weights, mean)
    };
    orders.iter().map(to_fit).collect()
}

#[expect(clippy::cast_precision_loss, reason = "statistics")]
fn mean<L: Latent>(latents: &[L]) -> f64 {
    latents.iter().map(|x| x.to_u64() as f64).sum::<f64>() / latents.len().max(1) as f64
}

/// Sums of products of centred latents with those before them.
struct Products {
    /// One more than the highest order; 0 where there are too few latents for it.
    width: usize,
    /// At `a, b`: of the latent `a` places before with the one `b` places before.
    sums: Vec<f64>,
}

impl Products {
    #[expect(clippy::cast_precision_loss, reason = "statistics")]
    fn new<L: Latent>(latents: &[L], center: f64, order: usize) -> Self {
        if latents.len() < 2 * order + 2 {
            return Self { width: 0, sums: Vec::new() };
        }
        let xs: Vec<f64> = latents.iter().map(|x| x.to_u64() as f64 - center).collect();
        let width = order + 1;
        let mut sums = vec![0.0; width * width];
        for a in 0..width {
            let first = dot(&xs[order..], &xs[order - a..]);
            sums[a] = first;
            // Along a diagonal the sums differ by one product at either end.
            let mut sum = first;
            for b in 1..width - a {
                let (old, new) = (xs.len() - b, order - b);
                sum += xs[new] * xs[new - a] - xs[old] * xs[old - a];
                sums[b * width + a + b] = sum;
            }
        }
        Self { width, sums }
    }

    /// Weights, oldest first, by the normal equations.
    #[expect(clippy::cast_precision_loss, reason = "statistics")]
    fn weights(&self, order: usize) -> Option<Vec<f64>> {
        if order >= self.width {
            return None;
        }
        let mut matrix = vec![0.0; order * order];
        for a in 0..order {
            for b in a..order {
                let p = self.sums[(a + 1) * self.width + b + 1];
                matrix[a * order + b] = p;
                matrix[b * order + a] = p;
            }
        }
        let target: Vec<f64> = self.sums[1..=order].to_vec();
        let trace: f64 = (0..order).map(|a| matrix[a * order + a]).sum();
        if trace <= 0.0 {
            return None;
        }
        for a in 0..order {
            matrix[a * order + a] += trace / order as f64 * 1e-9 + 1e-3;
        }
        let mut weights = solve(matrix, target, order)?;
        weights.reverse();
        Some(weights)
    }
}

/// The sum of products, by eight sums that do not wait for each other.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a, a_rest) = a.as_chunks::<8>();
    let (b, b_rest) = b[..b.len().min(a.len() * 8 + a_rest.len())].as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for (sum, (x, y)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += x * y;
        }
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum::<f64>()
}

/// Solves a symmetric positive definite system by Cholesky.
fn solve(mut matrix: Vec<f64>, mut x: Vec<f64>, n: usize) -> Option<Vec<f64>> {
    for j in 0..n {
        for k in 0..j {
            let factor = matrix[j * n + k];
            for i in j..n {
                matrix[i * n + j] -= matrix[i * n + k] * factor;
            }
        }
        let pivot = matrix[j * n + j];
        if pivot.is_nan() || pivot <= 0.0 {
            return None;
        }
        let root = pivot.sqrt();
        for i in j..n {
            matrix[i * n + j] /= root;
        }
    }
    for i in 0..n {
        for k in 0..i {
            x[i] -= matrix[i * n + k] * x[k];
        }
        x[i] /= matrix[i * n + i];
    }
    for i in (0..n).rev() {
        for k in i + 1..n {
            x[i] -= matrix[k * n + i] * x[k];
        }
        x[i] /= matrix[i * n + i];
    }
    x.iter().all(|w| w.is_finite()).then_some(x)
}

/// Fixed-point weights with as many fractional bits as cannot overflow.
#[expect(clippy::cast_possible_truncation, reason = "clamped to the types' ranges before")]
fn quantize<L: Latent>(weights: &[f64], mean: f64) -> Conv1 {
    let sum: f64 = weights.iter().sum();
    for quantization in (0..=31u32.min(2 * L::BITS - 1)).rev() {
        let one = f64::from(quantization).exp2();
        if weights.iter().any(|w| (w * one).abs() >= f64::from(i32::MAX)) {
            continue;
        }
        let bias = ((mean * (1.0 - sum) + 0.5) * one).round();
        let weights = weights.iter().map(|w| (w * one).round() as i32).collect();
        let conv = Conv1 { quantization, bias: bias as i64, weights };
        if bias.abs() < 9e18 && conv.check(L::BITS).is_ok() {
            return conv;
        }
    }
    Conv1 { quantization: 0, bias: 0, weights: vec![0; weights.len()] }
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
