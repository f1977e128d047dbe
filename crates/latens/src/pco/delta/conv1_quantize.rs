//! Weights of Conv1 in fixed point.

use super::conv1_products::{Products, cholesky};
use crate::number::Latent;
use crate::pco::layout::delta::Conv1;

/// With so few fractional bits what rounding adds to the error is felt.
const COARSE: u32 = 12;
/// Steps that settling may take, by order.
const STEPS: usize = 8;

/// Fixed-point weights with as many fractional bits as cannot overflow, for latents about a mean; what
/// they predict about it is moved by `shift`.
#[expect(clippy::cast_possible_truncation, reason = "clamped to the types' ranges before")]
pub(crate) fn quantize<L: Latent>(
    weights: &[f64],
    mean: f64,
    shift: f64,
    products: &Products,
) -> Conv1 {
    for quantization in (0..=31u32.min(2 * L::BITS - 1)).rev() {
        let one = f64::from(quantization).exp2();
        if weights.iter().any(|w| (w * one).abs() >= f64::from(i32::MAX)) {
            continue;
        }
        let conv_of = |scaled: &[f64]| {
            let sum: f64 = scaled.iter().sum::<f64>() / one;
            let bias = ((mean * (1.0 - sum) + shift + 0.5) * one).round();
            let weights = scaled.iter().map(|&w| w as i32).collect();
            let conv = Conv1 { quantization, bias: bias as i64, weights };
            (bias.abs() < 9e18 && conv.check(L::BITS).is_ok()).then_some(conv)
        };
        let mut scaled: Vec<f64> = weights.iter().map(|w| (w * one).round()).collect();
        let Some(rounded) = conv_of(&scaled) else { continue };
        if quantization > COARSE {
            return rounded;
        }
        products.settle(&mut scaled, one);
        let error = |scaled: &[f64]| {
            let weights: Vec<f64> = scaled.iter().map(|w| w / one).collect();
            products.error(&weights)
        };
        // From another start it may end elsewhere.
        if let Some(mut other) = products.rounded(weights, one) {
            products.settle(&mut other, one);
            if error(&other) < error(&scaled)
                && let Some(conv) = conv_of(&other)
            {
                return conv;
            }
        }
        return conv_of(&scaled).unwrap_or(rounded);
    }
    Conv1 { quantization: 0, bias: 0, weights: vec![0; weights.len()] }
}

impl Products {
    /// Weights times `one` as whole numbers, rounded one by one from the newest to the oldest, each
    /// after what those before it have lost is made up for as well as it can (Babai's nearest
    /// plane).
    fn rounded(&self, weights: &[f64], one: f64) -> Option<Vec<f64>> {
        let n = weights.len();
        let at = |i: usize, j: usize| self.sums[(n - i.max(j)) * self.width + n - i.min(j)];
        let mut matrix: Vec<f64> = (0..n * n).map(|ij| at(ij / n, ij % n)).collect();
        for i in 0..n {
            matrix[i * n + i] *= 1.0 + 1e-9;
        }
        let lower = cholesky(matrix, n)?;
        let mut whole = vec![0.0; n];
        let mut lost = vec![0.0; n];
        for i in (0..n).rev() {
            let others: f64 = (i + 1..n).map(|j| lower[j * n + i] * lost[j]).sum();
            let exact = weights[i] * one;
            whole[i] = (exact - others / lower[i * n + i]).round();
            lost[i] = whole[i] - exact;
        }
        whole.iter().all(|w| w.abs() < f64::from(i32::MAX)).then_some(whole)
    }

    /// Moves whole-numbered weights (oldest first, `one` times too large) one at a time or two by
    /// two to where the squared error is least: neighbours stand for each other, so that what one
    /// loses in rounding others make up for.
    fn settle(&self, scaled: &mut [f64], one: f64) {
        let order = scaled.len();
        // Only what lies right of the diagonal has been summed.
        let at = |i: usize, j: usize| self.sums[(order - i.max(j)) * self.width + order - i.min(j)];
        // Half the gradient of the squared error.
        let mut slope: Vec<f64> = (0..order)
            .map(|i| {
                let sum: f64 = (0..order).map(|j| at(i, j) * scaled[j]).sum();
                sum - self.sums[order - i] * one
            })
            .collect();
        for _ in 0..STEPS * order {
            let (mut least, mut step) = (0.0, None);
            for i in 0..order {
                for by in [-1.0, 1.0] {
                    let alone = 2.0 * by * slope[i] + at(i, i);
                    if alone < least {
                        (least, step) = (alone, Some((i, by, i, 0.0)));
                    }
                    for (j, slope) in slope.iter().enumerate().take(i) {
                        for with in [-1.0, 1.0] {
                            let change = alone + 2.0 * with * (slope + by * at(i, j)) + at(j, j);
                            if change < least {
                                (least, step) = (change, Some((i, by, j, with)));
                            }
                        }
                    }
                }
            }
            let Some((i, by, j, with)) = step else { return };
            scaled[i] += by;
            scaled[j] += with;
            for (k, slope) in slope.iter_mut().enumerate() {
                *slope += by * at(i, k) + with * at(j, k);
            }
        }
    }
}
