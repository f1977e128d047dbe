//! Bases that are tried: decimal ones, and those that values have in common.

use latens_kernels::dispatch::Present;

/// A divisor that the values have in common is known no better than this.
const SAME: f64 = 1e-9;
/// Pairs of values whose common divisor is looked for, at most.
const PAIRS: usize = 200;

/// All bases that are tried on `values`.
pub(super) fn bases(values: &[f64], digits: f64) -> Vec<f64> {
    let mut bases = decimal_bases();
    for divisor in common_divisors(values, digits) {
        // What is as good as decimal is decimal.
        if bases.iter().all(|base| (divisor / base - 1.0).abs() > SAME) {
            bases.push(divisor);
        }
    }
    bases
}

fn decimal_bases() -> Vec<f64> {
    let mut bases: Vec<f64> = Vec::new();
    // As many digits as programs print of a double near 1.
    for exponent in -15i32..=6 {
        let power = 10f64.powi(exponent.abs());
        let of = |digit: f64| if exponent < 0 { digit / power } else { digit * power };
        bases.extend([of(1.0), of(2.0), of(5.0), of(2.5)]);
    }
    bases
}

/// Greatest common divisors of neighbouring values, as far as rounding allows, made precise by
/// the values themselves.
fn common_divisors(values: &[f64], digits: f64) -> Vec<f64> {
    let mut found: Vec<f64> = Vec::new();
    let least = (8.0 - digits).exp2();
    let pairs = (values.len() / 4).min(PAIRS);
    Present::in_use().call(
        #[inline(always)]
        || {
            for pair in values.chunks_exact(2).take(pairs) {
                let (mut a, mut b) = (pair[0].max(pair[1]), pair[0].min(pair[1]));
                let tolerance = a * least;
                while b > tolerance {
                    (a, b) = (b, a - b * (a / b).floor());
                    if a - b < tolerance {
                        b = 0.0;
                    }
                }
                if a > 64.0 * tolerance {
                    found.push(a);
                }
            }
        },
    );
    found.sort_unstable_by(f64::total_cmp);
    let Some(&rough) = found.get(found.len() / 2) else { return Vec::new() };
    // The greatest multiple tells the base best.
    let mut base = rough;
    for &v in values {
        let multiple = (v / base).round();
        if multiple >= 1.0
            && (v / base - multiple).abs() < 0.05
            && multiple * (2.0 - digits).exp2() < 0.05
        {
            base = v / multiple;
        }
    }
    let inverse = (1.0 / base).round();
    let mut bases = vec![base];
    if inverse >= 1.0 && ((1.0 / base) / inverse - 1.0).abs() < 1e-6 {
        bases.push(1.0 / inverse);
    }
    bases
}
