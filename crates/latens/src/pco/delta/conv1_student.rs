//! The Student distribution that residuals are likeliest under: how heavy their tails are says how much
//! large ones are to count when weights are fitted.

use std::f64::consts::PI;

/// Degrees of freedom that are tried, with ln Γ((v + 1) / 2) − ln Γ(v / 2). One is Cauchy's
/// distribution, many are a normal one.
const FREEDOMS: [(f64, f64); 7] = [
    (1.0, -0.572_364_943),
    (2.0, -0.120_782_238),
    (3.0, 0.120_782_238),
    (4.0, 0.284_682_870),
    (6.0, 0.507_826_422),
    (10.0, 0.779_760_137),
    (16.0, 1.024_105_896),
];
/// Steps towards the scale.
const STEPS: usize = 20;

/// Residuals about 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Student {
    /// Degrees of freedom times the scale's square.
    width: f64,
}

impl Student {
    /// For residuals of such sizes, which are rounded to whole numbers; none where there are no sizes.
    #[expect(clippy::cast_precision_loss, reason = "statistics")]
    pub(super) fn of(sizes: &[f64]) -> Option<Self> {
        let n = sizes.len() as f64;
        let mean =
            |of: &dyn Fn(f64) -> f64| sizes.iter().map(|size| of(size * size)).sum::<f64>() / n;
        let with = |&(freedom, gammas): &(f64, f64)| {
            // Squares of what rounding adds.
            let least = 1.0 / 12.0;
            let mut scale = mean(&|square| square) / 4.0 + least;
            for _ in 0..STEPS {
                scale =
                    least + mean(&|square| square * (freedom + 1.0) / (freedom + square / scale));
            }
            let width = freedom * scale;
            let tails = mean(&|square| (1.0 + square / width).ln()) * (freedom + 1.0) / 2.0;
            (gammas - (PI * width).ln() / 2.0 - tails, width)
        };
        if sizes.is_empty() {
            return None;
        }
        let likeliest = FREEDOMS.iter().map(with).max_by(|a, b| a.0.total_cmp(&b.0));
        likeliest.map(|(_, width)| Self { width })
    }

    /// How much a residual's square is to count.
    pub(super) fn weight(self, residual: f64) -> f64 {
        1.0 / (self.width + residual * residual)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pco::noise::mix;

    /// Sizes of Cauchy's distribution count for far less than those that no tail has.
    #[test]
    fn heavy_tails_are_told_from_light_ones() {
        #[expect(clippy::cast_precision_loss, reason = "53 bits")]
        let unit = |i: u64| ((mix(i) >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        let cauchy: Vec<f64> = (0..5000).map(|i| 10.0 * (PI / 2.0 * unit(i)).tan()).collect();
        let even: Vec<f64> = (0..5000).map(|i| 30.0 * unit(i)).collect();
        let ratio = |sizes: &[f64]| {
            let student = Student::of(sizes).unwrap();
            student.weight(0.0) / student.weight(30.0)
        };
        assert!((7.0..13.0).contains(&ratio(&cauchy)), "{}", ratio(&cauchy));
        assert!(ratio(&even) < 2.0, "{}", ratio(&even));
        assert!(Student::of(&[]).is_none());
        assert!(Student::of(&[0.0; 9]).unwrap().weight(0.0).is_finite());
    }
}
