//! What weights of Conv1 are found by: sums of products, and the least squares that solve them.

use crate::number::Latent;
use latens_kernels::dispatch::Present;
use latens_kernels::products;

/// Sums of products of centred latents with those before them.
#[derive(Clone, Debug)]
pub(crate) struct Products {
    /// One more than the highest order.
    pub(super) width: usize,
    /// At `a, b`: of the latent `a` places before with the one `b` places before.
    pub(super) sums: Vec<f64>,
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
    pub(crate) fn add<L: Latent>(&mut self, latents: &[L], center: f64) {
        self.add_centred(&centred(latents, center));
    }

    /// The same where latents are centred already.
    pub(crate) fn add_centred(&mut self, xs: &[f64]) {
        let (width, order) = (self.width, self.width - 1);
        if xs.len() <= order {
            return;
        }
        self.n += xs.len() - order;
        for (a, mut sum) in with_those_before(xs, order).into_iter().enumerate() {
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

/// Latents about a mean.
#[expect(clippy::cast_precision_loss, reason = "statistics")]
pub(crate) fn centred<L: Latent>(latents: &[L], center: f64) -> Vec<f64> {
    latents.iter().map(|x| x.to_u64() as f64 - center).collect()
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

/// Sums of products that are taken together, so that one factor is loaded once.
const TOGETHER: usize = 4;

/// Sums of the products of numbers from the `order`-th on with those 0 to `order` places before.
fn with_those_before(xs: &[f64], order: usize) -> Vec<f64> {
    let present = Present::in_use();
    let places: Vec<&[f64]> = (0..=order).map(|place| &xs[order - place..]).collect();
    let (fours, rest) = places.as_chunks::<TOGETHER>();
    let fours = fours.iter().flat_map(|four| products::sums(present, &xs[order..], *four));
    let rest = rest.iter().flat_map(|one| products::sums(present, &xs[order..], [*one]));
    fours.chain(rest).collect()
}

/// The sum of products of two stretches, as far as both go.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let [sum] = products::sums(Present::in_use(), &a[..a.len().min(b.len())], [b]);
    sum
}

/// The lower triangle whose product with its transpose a symmetric positive definite matrix is.
pub(super) fn cholesky(mut matrix: Vec<f64>, n: usize) -> Option<Vec<f64>> {
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
