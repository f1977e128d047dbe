//! Which modes are worth measuring for given latents.
//!
//! Only candidates: the encoder measures each on a sample and takes what is smallest.

use crate::number::Latent;
use std::collections::HashMap;

/// Candidates of a kind, at most.
const MOST: usize = 3;
/// With fewer uneven steps than this, even ones count.
const MOST_STEPS: u32 = 16;
/// Samples of integers from which on every triple is looked at, and about how many of a shorter one are.
const LONG: usize = 1 << 11;
const TRIPLES: usize = 128;
/// Floats that bases are tried on, and how many of them first.
const FLOATS: usize = 1 << 10;
const LOOK: usize = 40;

/// The most frequent keys, more frequent than `least`, the most frequent first.
fn frequent<K: std::hash::Hash + Ord + Copy>(
    counts: HashMap<K, u32>,
    least: u32,
    most: usize,
) -> Vec<K> {
    let mut by_count: Vec<(K, u32)> = counts.into_iter().filter(|&(_, n)| n > least).collect();
    by_count.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    by_count.into_iter().take(most).map(|(key, _)| key).collect()
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Bases that many differences of the sample have in common.
pub(crate) fn int_mult_bases<L: Latent>(sample: &[L]) -> Vec<L> {
    let mut counts: HashMap<u64, u32> = HashMap::new();
    let mut triples = 0;
    // Repeats say nothing.
    let mut values = sample.to_vec();
    values.dedup();
    let mut steps = Vec::new();
    // All of a long sample, as many of a short one as tell.
    let step = if values.len() < LONG { (values.len() / TRIPLES).max(3) } else { 3 };
    for window in values.windows(3).step_by(step) {
        let ordered = [window[0].to_u64(), window[1].to_u64(), window[2].to_u64()];
        let (a, b) = (ordered[0].abs_diff(ordered[1]), ordered[1].abs_diff(ordered[2]));
        if a == 0 || b == 0 {
            continue;
        }
        if a == b {
            steps.push(a);
            continue;
        }
        triples += 1;
        let divisor = gcd(a, b);
        if divisor > 1 {
            *counts.entry(divisor).or_default() += 1;
        }
    }
    // Even steps are a base only where there is hardly anything else.
    if triples < MOST_STEPS {
        for step in steps {
            triples += 1;
            *counts.entry(step).or_default() += 1;
        }
    }
    // Multiples of a base hide it: give each frequent divisor the votes of its multiples.
    let seen: Vec<(u64, u32)> = counts.iter().map(|(&d, &n)| (d, n)).collect();
    let heard: HashMap<u64, u32> = seen
        .iter()
        .filter(|&&(_, n)| n > 1)
        .map(|&(d, _)| (d, seen.iter().filter(|(m, _)| m.is_multiple_of(d)).map(|(_, n)| n).sum()))
        .collect();
    // Of random triples 1 − 6/π² = 39 % share a divisor, and 1 / d² of them the divisor d.
    let mut weighted: Vec<(u64, f64)> = heard
        .into_iter()
        .filter(|&(d, n)| f64::from(n) > 4.0 + 2.5 * f64::from(triples) / (d as f64 * d as f64))
        .map(|(d, n)| (d, f64::from(n) * (d as f64).log2()))
        .collect();
    weighted.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    weighted.into_iter().take(MOST).map(|(d, _)| L::truncate(d)).filter(|&d| d > L::ONE).collect()
}

/// Counts of low mantissa bits that are zero in many latents of the sample.
pub(crate) fn float_quant_bits<L: Latent>(sample: &[L]) -> Vec<u32> {
    let mantissa = L::MANTISSA_DIGITS - 1;
    let mut counts: HashMap<u32, u32> = HashMap::new();
    let mut finite = 0u32;
    for &x in sample {
        let bits = x.unorder();
        if bits << 1 == L::ZERO {
            continue;
        }
        finite += 1;
        *counts.entry(bits.trailing_zeros().min(mantissa)).or_default() += 1;
    }
    let mut found: Vec<u32> = Vec::new();
    let mut at_least = 0;
    for q in (3..=mantissa).rev() {
        at_least += counts.get(&q).copied().unwrap_or(0);
        // Where at least half have q zero bits, and half of those no more.
        if at_least * 2 > finite && counts.get(&q).copied().unwrap_or(0) * 4 > at_least {
            found.push(q);
        }
    }
    found.truncate(2);
    found
}

/// Bases that many floats of the sample are near to multiples of, as ordered latents.
pub(crate) fn float_mult_bases<L: Latent>(sample: &[L]) -> Vec<L> {
    // Spread over the sample, since what is near to each other is often alike.
    let values: Vec<f64> = sample
        .iter()
        .step_by((sample.len() / FLOATS).max(1) | 1)
        .map(|x| x.ordered_to_f64().abs())
        .filter(|v| v.is_normal() && *v < 1e300)
        .collect();
    if values.len() < 4 {
        return Vec::new();
    }
    let digits = f64::from(L::MANTISSA_DIGITS);
    let few = &values[..values.len().min(LOOK)];
    let mut counts: HashMap<u64, u32> = HashMap::new();
    for base in decimal_bases().into_iter().chain(common_divisors(&values, digits)) {
        let bits = L::bits_from_f64(base);
        let base = bits.bits_to_f64();
        if !base.is_finite() || base == 0.0 {
            continue;
        }
        let hits = |values: &[f64]| {
            let is_hit = |&&v: &&f64| is_multiple(v, base, digits);
            values.iter().filter(is_hit).count()
        };
        // Most bases fail at once.
        if hits(few) * 5 <= few.len() {
            continue;
        }
        let hits = hits(&values);
        #[expect(clippy::cast_possible_truncation, reason = "a sample")]
        if hits * 5 > values.len() * 2 {
            counts.insert(bits.order().to_u64(), hits as u32);
        }
    }
    // The greatest base of those that fit about equally well says most.
    let best = counts.values().copied().max().unwrap_or(0);
    let mut found: Vec<L> = counts
        .iter()
        .filter(|&(_, &n)| n * 20 >= best * 17)
        .map(|(&latent, _)| L::truncate(latent))
        .collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    let rest = frequent(counts, 0, 1).into_iter().map(L::truncate);
    found.truncate(MOST - 1);
    found.extend(rest);
    found.dedup();
    found.into_iter().filter(|base| is_normal(*base)).collect()
}

/// Old readers refuse bases that are not normal floats.
fn is_normal<L: Latent>(base: L) -> bool {
    let bits = base.unorder();
    let exponent_bits = L::BITS - L::MANTISSA_DIGITS;
    let exponent = (bits << 1) >> (L::MANTISSA_DIGITS);
    exponent != L::ZERO && exponent.to_u64() != (1u64 << exponent_bits) - 1
}

/// Whether `v` is within a few units in the last place of a multiple of `base`, and the multiple
/// is small enough for that to mean something.
fn is_multiple(v: f64, base: f64, digits: f64) -> bool {
    let quotient = v / base;
    // Rounded by an addition; the quotient is small enough for that, or too large anyway.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let nearest = (quotient + ROUND) - ROUND;
    // A multiple of 2^(digits − 6) or more lies that near by chance.
    nearest >= 1.0
        && nearest <= power_of_two(digits - 6.0)
        && (quotient - nearest).abs() <= quotient * power_of_two(3.0 - digits)
}

/// A power of two with a small whole exponent.
#[expect(clippy::cast_possible_truncation, reason = "a whole number")]
fn power_of_two(exponent: f64) -> f64 {
    f64::from_bits(u64::from((exponent as i32 + 1023).unsigned_abs()) << 52)
}

fn decimal_bases() -> Vec<f64> {
    let mut bases: Vec<f64> = Vec::new();
    let mut power = 1e-12;
    for exponent in -12i32..=6 {
        power = if exponent < 0 { 1.0 / 10f64.powi(-exponent) } else { 10f64.powi(exponent) };
        bases.extend([power, power * 5.0, power * 2.5]);
    }
    let _ = power;
    bases
}

/// Greatest common divisors of neighbouring values, as far as rounding allows, made precise by
/// the values themselves.
fn common_divisors(values: &[f64], digits: f64) -> Vec<f64> {
    let mut found: Vec<f64> = Vec::new();
    for pair in values.chunks_exact(2).take(200) {
        let (mut a, mut b) = (pair[0].max(pair[1]), pair[0].min(pair[1]));
        let tolerance = a * (8.0 - digits).exp2();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Number;

    #[test]
    fn a_common_factor_is_found() {
        let sample: Vec<u64> =
            (1..600u64).map(|i| 1_700_000_000_000_000 + i * i % 997 * 60_000_000).collect();
        assert!(int_mult_bases(&sample).contains(&60_000_000));
        let mix = |x: u64| (x ^ x >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash = |i: u64| mix(mix(mix(i + 1))) >> 24;
        let random: Vec<u64> = (0..999).map(hash).collect();
        assert!(int_mult_bases(&random).is_empty());
    }

    #[test]
    fn decimals_and_fractions_are_found() {
        let cents: Vec<u64> =
            (1..500).map(|i| (f64::from(i * 37 % 1000) / 100.0).to_latent()).collect();
        assert!(float_mult_bases(&cents).contains(&0.01f64.to_latent()));
        let sevenths: Vec<u64> =
            (1..500).map(|i| (f64::from(i * 37 % 1000) / 7.0).to_latent()).collect();
        assert!(float_mult_bases(&sevenths).contains(&(1.0 / 7.0f64).to_latent()));
        let random: Vec<u64> =
            (1..500).map(|i| (f64::from(i) * 0.7231).sin().to_latent()).collect();
        assert!(float_mult_bases(&random).is_empty());
    }

    #[test]
    fn narrow_floats_in_wide_ones_are_found() {
        let sample: Vec<u64> = (1..500).map(|i| f64::from((i as f32).sqrt()).to_latent()).collect();
        assert!(float_quant_bits(&sample).contains(&29));
    }
}
