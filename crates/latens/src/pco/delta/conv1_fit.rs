//! The weights of Conv1 for given latents: least squares, then fixed point.

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
    let stripes: Vec<&[L]> = stripes.iter().map(|range| &latents[range.clone()]).collect();
    let mean = mean(&stripes);
    let highest = orders.iter().copied().max().unwrap_or(1);
    let mut products = Products::new(highest);
    for stripe in stripes {
        products.add(stripe, mean);
    }
    let to_fit = |&order: &usize| {
        let weights = products.weights(order).unwrap_or_else(|| {
            let mut weights = vec![0.0; order];
            weights[order - 1] = 1.0;
            weights
        });
        quantize::<L>(&weights, mean, 0.0, &products)
    };
    orders.iter().map(to_fit).collect()
}

#[expect(clippy::cast_precision_loss, reason = "statistics")]
pub(crate) fn mean<L: Latent>(stripes: &[&[L]]) -> f64 {
    let n: usize = stripes.iter().map(|stripe| stripe.len()).sum();
    let sum = |stripe: &&[L]| stripe.iter().map(|x| x.to_u64() as f64).sum::<f64>();
    stripes.iter().map(sum).sum::<f64>() / n.max(1) as f64
}

/// Sums of products of centred latents with those before them.
#[derive(Clone, Debug)]
pub(crate) struct Products {
    /// One more than the highest order.
    width: usize,
    /// At `a, b`: of the latent `a` places before with the one `b` places before.
    sums: Vec<f64>,
    /// Latents that were predicted.
    n: usize,
}

impl Products {
    /// Of nothing, for predictions of orders up to `order`.
    pub(crate) fn new(order: usize) -> Self {
        let width = order + 1;
        Self { width, sums: vec![0.0; width * width], n: 0 }
    }

    /// Adds those of a stripe.
    #[expect(clippy::cast_precision_loss, reason = "statistics")]
    pub(crate) fn add<L: Latent>(&mut self, latents: &[L], center: f64) {
        let (width, order) = (self.width, self.width - 1);
        if latents.len() <= order {
            return;
        }
        self.n += latents.len() - order;
        let xs: Vec<f64> = latents.iter().map(|x| x.to_u64() as f64 - center).collect();
        for a in 0..width {
            let mut sum = dot(&xs[order..], &xs[order - a..]);
            self.sums[a] += sum;
            // Along a diagonal the sums differ by one product at either end.
            for b in 1..width - a {
                let (old, new) = (xs.len() - b, order - b);
                sum += xs[new] * xs[new - a] - xs[old] * xs[old - a];
                self.sums[b * width + a + b] += sum;
            }
        }
    }

    /// Weights, oldest first, by the normal equations.
    #[expect(clippy::cast_precision_loss, reason = "statistics")]
    pub(crate) fn weights(&self, order: usize) -> Option<Vec<f64>> {
        if self.n < order + 2 {
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

/// What tells where a prediction should change, and what fits by weights.
impl Products {
    /// Adds those of centred latents, of which those behind the first `order` count as often as
    /// said.
    pub(crate) fn add_weighted(&mut self, xs: &[f64], counts: &[f64]) {
        let (width, order) = (self.width, self.width - 1);
        self.n += counts.len();
        let mut weighted = vec![0.0; counts.len()];
        for a in 0..width {
            for ((to, x), count) in weighted.iter_mut().zip(&xs[order - a..]).zip(counts) {
                *to = x * count;
            }
            for b in a..width {
                self.sums[a * width + b] += dot(&weighted, &xs[order - b..]);
            }
        }
    }

    /// Takes those of other stripes in.
    pub(crate) fn merge(&mut self, others: &Self) {
        self.n += others.n;
        self.sums.iter_mut().zip(&others.sums).for_each(|(sum, other)| *sum += other);
    }

    /// The mean squared error of a prediction by weights, oldest first.
    #[expect(clippy::cast_precision_loss, reason = "statistics")]
    pub(crate) fn error(&self, weights: &[f64]) -> f64 {
        let order = weights.len();
        let at = |a: usize, b: usize| self.sums[a.min(b) * self.width + a.max(b)];
        let mut error = at(0, 0);
        for a in 1..=order {
            let weight = weights[order - a];
            let others: f64 = (1..=order).map(|b| weights[order - b] * at(a, b)).sum();
            error += weight * (others - 2.0 * at(0, a));
        }
        error.max(0.0) / self.n.max(1) as f64
    }
}

/// The sum of products, by eight sums that do not wait for each other.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
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

/// The lower triangle whose product with its transpose a symmetric positive definite matrix is.
fn cholesky(mut matrix: Vec<f64>, n: usize) -> Option<Vec<f64>> {
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
    Some(matrix)
}

/// Solves a symmetric positive definite system.
fn solve(matrix: Vec<f64>, mut x: Vec<f64>, n: usize) -> Option<Vec<f64>> {
    let lower = cholesky(matrix, n)?;
    for i in 0..n {
        for k in 0..i {
            x[i] -= lower[i * n + k] * x[k];
        }
        x[i] /= lower[i * n + i];
    }
    for i in (0..n).rev() {
        for k in i + 1..n {
            x[i] -= lower[k * n + i] * x[k];
        }
        x[i] /= lower[i * n + i];
    }
    x.iter().all(|w| w.is_finite()).then_some(x)
}

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

/// With so few fractional bits what rounding adds to the error is felt.
const COARSE: u32 = 12;
/// Steps that settling may take, by order.
const STEPS: usize = 8;

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
