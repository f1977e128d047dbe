//! Which floats are multiples of a base, as far as rounding allows.

use crate::pco::logarithm::log2;
use latens_kernels::dispatch::Present;

/// How many values are multiples of a base.
pub(super) fn multiples(values: &[f64], base: f64, digits: f64) -> usize {
    Present::in_use().call(
        #[inline(always)]
        || {
            let inverse = 1.0 / base;
            values.iter().map(|&v| usize::from(is_whole(v * inverse, digits))).sum()
        },
    )
}

/// The sum of the logarithms of multiples of a base.
pub(super) fn logs_of_multiples(values: &[f64], logs: &[f64], base: f64, digits: f64) -> f64 {
    /// Sums side by side: none waits for the one before, and all are the same everywhere.
    const SUMS: usize = 8;
    Present::in_use().call(
        #[inline(always)]
        || {
            let inverse = 1.0 / base;
            let mut sums = [0.0; SUMS];
            for (values, logs) in values.chunks(SUMS).zip(logs.chunks(SUMS)) {
                for ((&v, &log), sum) in values.iter().zip(logs).zip(&mut sums) {
                    *sum += if is_whole(v * inverse, digits) { log } else { 0.0 };
                }
            }
            sums.iter().sum()
        },
    )
}

pub(super) fn logs(values: &[f64]) -> Vec<f64> {
    Present::in_use().call(
        #[inline(always)]
        || values.iter().map(|&v| log2(v)).collect(),
    )
}

/// Whether a quotient is within a few units in the last place of a whole number that is small enough for
/// that to mean something.
#[inline(always)]
fn is_whole(quotient: f64, digits: f64) -> bool {
    // Rounded by an addition; the quotient is small enough for that, or too large anyway.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let nearest = (quotient + ROUND) - ROUND;
    // Of all floats a quarter lie as near as an eighth.
    const NEAR: f64 = 0.125;
    // All of them at once: no branches, for vectors.
    (nearest >= 1.0)
        & (nearest <= power_of_two(digits - 3.0))
        & ((quotient - nearest).abs() <= (quotient * power_of_two(3.0 - digits)).min(NEAR))
}

/// A power of two with a small whole exponent.
#[expect(clippy::cast_possible_truncation, reason = "a whole number")]
fn power_of_two(exponent: f64) -> f64 {
    f64::from_bits(u64::from((exponent as i32 + 1023).unsigned_abs()) << 52)
}
