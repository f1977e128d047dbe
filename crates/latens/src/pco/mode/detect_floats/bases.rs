//! Bases that are tried: decimal ones, and those that values have in common.

use latens_kernels::dispatch::Present;

/// A divisor that the values have in common is known no better than this.
const SAME: f64 = 1e-9;
/// Pairs of values whose common divisor is looked for, at most.
const PAIRS: usize = 200;
/// Pairs that are looked at first, and one in so many must have a common divisor.
const FIRST: usize = 32;
const RARE: usize = 10;
/// Pairs that are looked at together.
const LANES: usize = 8;

/// All bases that are tried on `values`, the greatest first.
pub(super) fn bases(values: &[f64], digits: f64) -> Vec<f64> {
    let mut bases = DECIMAL.to_vec();
    for divisor in common_divisors(values, digits) {
        if is_new(divisor) {
            let place = bases.partition_point(|base| *base > divisor);
            bases.insert(place, divisor);
        }
    }
    bases
}

/// Whether a base is no decimal one: what is as good as decimal is decimal.
fn is_new(base: f64) -> bool {
    DECIMAL.iter().all(|decimal| (base / decimal - 1.0).abs() > SAME)
}

/// As many digits as programs print of a double near 1.
const DIGITS: usize = 15;
/// Powers of ten that are 1 or greater.
const WHOLE: usize = 7;
const DECIMAL: [f64; 4 * (DIGITS + WHOLE)] = decimal_bases();

const fn decimal_bases() -> [f64; 4 * (DIGITS + WHOLE)] {
    let mut bases = [0.0; 4 * (DIGITS + WHOLE)];
    let mut at = 0;
    while at < bases.len() {
        let digit = [5.0, 2.5, 2.0, 1.0][at % 4];
        let (mut power, mut i) = (1.0, 0);
        while i < (WHOLE - 1).abs_diff(at / 4) {
            power *= 10.0;
            i += 1;
        }
        bases[at] = if at / 4 < WHOLE { digit * power } else { digit / power };
        at += 1;
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
            for (done, pairs) in values[..2 * pairs].chunks(2 * LANES).enumerate() {
                if done == FIRST / LANES && found.len() * RARE < FIRST {
                    return;
                }
                let (mut a, mut b, mut tolerance) = ([0.0; LANES], [0.0; LANES], [1.0; LANES]);
                for (lane, pair) in pairs.chunks_exact(2).enumerate() {
                    (a[lane], b[lane]) = (pair[0].max(pair[1]), pair[0].min(pair[1]));
                    tolerance[lane] = a[lane] * least;
                }
                // Side by side, as each division waits for the one before.
                while (0..LANES).fold(false, |any, lane| any | (b[lane] > tolerance[lane])) {
                    for lane in 0..LANES {
                        let (x, y) = (a[lane], b[lane]);
                        let rest = x - y * (x / y).floor();
                        let rest = if y - rest < tolerance[lane] { 0.0 } else { rest };
                        let is_open = y > tolerance[lane];
                        a[lane] = if is_open { y } else { x };
                        b[lane] = if is_open { rest } else { y };
                    }
                }
                for lane in 0..pairs.len() / 2 {
                    if a[lane] > 64.0 * tolerance[lane] {
                        found.push(a[lane]);
                    }
                }
            }
        },
    );
    found.sort_unstable_by(f64::total_cmp);
    let Some(&rough) = found.get(found.len() / 2) else { return Vec::new() };
    if found.len() * RARE < pairs || !is_new(rough) {
        return Vec::new();
    }
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
