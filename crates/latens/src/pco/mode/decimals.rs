//! Steps of floats: decimal fractions that many floats are multiples of, large ones among them: six decimals in an
//! f32 save bits up to the size where floats lie as far apart as the decimals. Minutes and seconds of
//! arc and time have fractions too.

use crate::number::Latent;

/// Floats that are looked at.
const FLOATS: usize = 1 << 10;
/// Bits that a float must save on the average.
const LEAST: f64 = 0.25;
/// Bits that tell a float at the multiple from those beside it.
const HIT: f64 = 1.58;
/// Bits that a float costs that is no multiple.
const MISS: f64 = 1.0;
/// How far rounding to some digits moves a float, in parts of it.
const ROUNDED: f64 = 4e-5;
/// Units, as parts of one and of its decimal fractions.
const UNITS: [f64; 5] = [1.0, 2.0, 4.0, 6.0, 36.0];

/// At most two bases, as ordered latents; the one that seems to save most first.
#[expect(clippy::cast_precision_loss, reason = "a score")]
pub(crate) fn bases<L: Latent>(sample: &[L]) -> Vec<L> {
    let floats: Vec<L> = sample
        .iter()
        .step_by((sample.len() / FLOATS).max(1) | 1)
        .copied()
        .filter(|x| x.ordered_to_f64().is_normal())
        .collect();
    let score = |base: f64| {
        let bits = L::bits_from_f64(base);
        let base = bits.bits_to_f64();
        let saved: f64 = floats.iter().map(|&x| saves(x, base)).sum();
        (saved / floats.len() as f64, bits.order())
    };
    let parts = (0..=12).flat_map(|exponent| UNITS.map(|unit| unit * 10f64.powi(exponent)));
    let sizes: Vec<f64> = floats.iter().map(|x| x.ordered_to_f64().abs()).collect();
    let mut found: Vec<(f64, L)> = parts
        .map(|parts| 1.0 / parts)
        .chain(common_step(&sizes))
        .map(score)
        .filter(|base| base.0 > LEAST)
        .collect();
    found.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().take(2).map(|(_, base)| base).collect()
}

/// Bits that a float takes less as a multiple and a distance from it.
fn saves<L: Latent>(x: L, base: f64) -> f64 {
    let value = x.ordered_to_f64();
    let spacing = (x.add(L::ONE).ordered_to_f64() - value).abs();
    let multiple = (value / base).round();
    if multiple.abs() >= f64::from(L::MANTISSA_DIGITS - 1).exp2() || spacing <= 0.0 {
        return -MISS;
    }
    let product = L::bits_from_f64(multiple * base).order();
    #[expect(clippy::cast_precision_loss, reason = "a score")]
    let distance = product.sub(x).min(x.sub(product)).to_u64() as f64;
    ((base / spacing).log2().max(0.0) - (1.0 + 2.0 * distance).log2() - HIT).max(-MISS)
}

/// The step that sizes seem to be multiples of, whatever it is, where they are rounded to some digits:
/// a sensor's step in physical units.
#[expect(clippy::cast_precision_loss, reason = "a count")]
fn common_step(sizes: &[f64]) -> Option<f64> {
    let mut divisors: Vec<f64> = Vec::new();
    for pair in sizes.chunks_exact(2) {
        let (mut a, mut b) = (pair[0].max(pair[1]), pair[0].min(pair[1]));
        let tolerance = a * ROUNDED;
        while b > tolerance {
            (a, b) = (b, a - b * (a / b).floor());
            b = if a - b < tolerance { 0.0 } else { b };
        }
        if a > 32.0 * tolerance {
            divisors.push(a);
        }
    }
    divisors.sort_unstable_by(f64::total_cmp);
    let mut step = *divisors.get(divisors.len() / 4)?;
    // Small multiples tell the step well enough to count larger ones, which tell it better.
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (mut products, mut squares, mut fitting) = (0.0, 0.0, 0usize);
    for size in sorted {
        let multiple = (size / step).round();
        if multiple >= 1.0 && (size / step - multiple).abs() < 0.1 {
            products += size * multiple;
            squares += multiple * multiple;
            fitting += 1;
            step = products / squares;
        }
    }
    (fitting as f64 > 0.6 * sizes.len() as f64).then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Number;

    #[test]
    #[expect(clippy::cast_possible_truncation, reason = "to be rounded")]
    fn six_decimals_in_single_floats_are_found() {
        let sample: Vec<u32> = (1..900u32)
            .map(|i| ((f64::from(i * 7919 % 3_000_017) - 1e6) * 1e-6) as f32)
            .map(|x| x.to_latent())
            .collect();
        assert_eq!(bases(&sample).first(), Some(&1e-6f32.to_latent()));
    }

    #[test]
    #[expect(clippy::cast_possible_truncation, reason = "to be rounded")]
    fn tenths_of_seconds_of_arc_are_found() {
        let sample: Vec<u32> = (1..900u32)
            .map(|i| (f64::from(i * 7919 % 900_001 + 36 * 9000) / 36_000.0) as f32)
            .map(|x| x.to_latent())
            .collect();
        assert_eq!(bases(&sample).first(), Some(&(1.0 / 36_000.0f32).to_latent()));
    }

    #[test]
    fn a_rounded_step_is_found() {
        let sample: Vec<u32> = (1..900u32)
            .map(|i| f64::from(i * 7919 % 2003) * 0.596_274_3)
            .map(|x| format!("{x:.4}").parse::<f32>().unwrap())
            .map(|x| x.to_latent())
            .collect();
        let found = bases(&sample).first().map(|base| f32::from_latent(*base));
        assert!(found.is_some_and(|base| (base / 0.596_274_3 - 1.0).abs() < 1e-6), "{found:?}");
    }

    #[test]
    fn other_floats_are_left_alone() {
        let mix = |x: u64| (x ^ x >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let float = |i: u64| f64::from_bits((1020 + i % 12) << 52 | mix(mix(i)) >> 12);
        let sample: Vec<u64> = (1..900).map(|i| float(i).to_latent()).collect();
        assert!(bases(&sample).is_empty());
        assert!(bases::<u32>(&[]).is_empty());
    }
}
