//! Which bases of floats, and which zeros in their mantissas, are worth measuring for given latents.
//!
//! Only candidates, as those of [`detect`](super::detect).

mod bases;
mod multiples;
mod zeros;

use crate::number::Latent;
use crate::pco::mode::detect::MOST;
use bases::bases;
use multiples::{logs, logs_of_multiples, multiples};

pub(crate) use zeros::float_quant_bits;

/// Of how many floats bases are tried on all that are left: first, then, in the end.
const LOOK: usize = 40;
const FEW: usize = 1 << 8;
const FLOATS: usize = 1 << 10;
/// What part of the bits that the best base saves others must save.
const CLOSE_MULT: f64 = 0.85;
/// A base that fits no more than this part of floats more than a greater one fits as many.
const SAME_HITS: usize = 100;

/// Bases that many floats of the sample are near to multiples of, as ordered latents, and about how many bits
/// a float the best of them saves.
pub(crate) fn float_mult_bases<L: Latent>(sample: &[L]) -> (Vec<L>, f64) {
    let values = spread(sample, FEW);
    if values.len() < 4 {
        return (Vec::new(), 0.0);
    }
    let digits = f64::from(L::MANTISSA_DIGITS);
    let look = &values[..values.len().min(LOOK)];
    let mut tried: Vec<Tried> = Vec::new();
    for base in bases(&values, digits) {
        let base = L::bits_from_f64(base).bits_to_f64();
        // Most bases fail at once.
        let is_base = base.is_finite() && base != 0.0;
        if is_base && multiples(look, base, digits) * 5 > look.len() {
            let hits = multiples(&values, base, digits);
            tried.push(Tried { base, hits });
            // None that is smaller fits more.
            if hits == values.len() {
                break;
            }
        }
    }
    tried.retain(|tried| tried.hits * 5 > values.len() * 2);
    if tried.is_empty() {
        return (Vec::new(), 0.0);
    }
    // A base says nothing where a greater one fits about as many floats. Of the others the greatest is best
    // where all digits behind the point are as many; where digits are as many in all, one between may be.
    retain_fitting(&mut tried, 0);
    let values = spread(sample, FLOATS);
    for tried in &mut tried {
        tried.hits = multiples(&values, tried.base, digits);
    }
    retain_fitting(&mut tried, SAME_HITS);
    let logs = logs(&values);
    let saves_of = |Tried { base, hits }: Tried| {
        #[expect(clippy::cast_precision_loss, reason = "a sample")]
        let saves = hits as f64 * (digits - 1.0 + base.log2())
            - logs_of_multiples(&values, &logs, base, digits);
        (saves, L::bits_from_f64(base).order())
    };
    let mut found: Vec<(f64, L)> = tried.into_iter().map(saves_of).collect();
    found.retain(|&(_, base)| is_normal(base));
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let most = found.first().map_or(0.0, |best| best.0);
    found.retain(|&(saves, _)| saves >= most * CLOSE_MULT);
    #[expect(clippy::cast_precision_loss, reason = "a sample")]
    let of_each = most / values.len() as f64;
    (found.into_iter().take(MOST).map(|(_, base)| base).collect(), of_each)
}

/// Leaves out bases that fit at most one in so many more than a greater one does; these come first.
fn retain_fitting(tried: &mut Vec<Tried>, part: usize) {
    let mut fitting = 0usize;
    tried.retain(|base| {
        let more = fitting.checked_div(part).unwrap_or(0);
        let is_more = base.hits > fitting + more;
        fitting = fitting.max(base.hits);
        is_more
    });
}

/// Absolute values of about so many floats, spread over the sample, since what is near to each other is often alike.
fn spread<L: Latent>(sample: &[L], n: usize) -> Vec<f64> {
    let step = (sample.len() / n).max(1) | 1;
    let mut values: Vec<f64> =
        sample.iter().step_by(step).map(|x| x.ordered_to_f64().abs()).collect();
    let is_of_use = |v: f64| (f64::MIN_POSITIVE..1e300).contains(&v);
    if !values.iter().fold(true, |all, &v| all & is_of_use(v)) {
        values.retain(|&v| is_of_use(v));
    }
    values
}

/// A base that many floats are multiples of, and how many.
struct Tried {
    base: f64,
    hits: usize,
}

/// Old readers refuse bases that are not normal floats.
fn is_normal<L: Latent>(base: L) -> bool {
    let bits = base.unorder();
    let exponent_bits = L::BITS - L::MANTISSA_DIGITS;
    let exponent = (bits << 1) >> (L::MANTISSA_DIGITS);
    exponent != L::ZERO && exponent.to_u64() != (1u64 << exponent_bits) - 1
}

#[cfg(test)]
mod tests;
