//! Decimal fractions that many floats are multiples of, large ones among them: six decimals in an
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
    let score = |parts: f64| {
        let bits = L::bits_from_f64(1.0 / parts);
        let base = bits.bits_to_f64();
        let saved: f64 = floats.iter().map(|&x| saves(x, base)).sum();
        (saved / floats.len() as f64, bits.order())
    };
    let parts = (0..=12).flat_map(|exponent| UNITS.map(|unit| unit * 10f64.powi(exponent)));
    let mut found: Vec<(f64, L)> = parts.map(score).filter(|base| base.0 > LEAST).collect();
    found.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().take(2).map(|(_, base)| base).collect()
}

/// Bits that a float takes less as a multiple.
fn saves<L: Latent>(x: L, base: f64) -> f64 {
    let value = x.ordered_to_f64();
    let spacing = (x.add(L::ONE).ordered_to_f64() - value).abs();
    let multiple = (value / base).round();
    let product = L::bits_from_f64(multiple * base).order();
    let is_exact = multiple.abs() < f64::from(L::MANTISSA_DIGITS - 1).exp2()
        && product.sub(x).add(L::ONE).to_u64() <= 2;
    match is_exact && spacing > 0.0 {
        true => (base / spacing).log2().max(0.0) - HIT,
        false => -MISS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Number;

    #[test]
    fn six_decimals_in_single_floats_are_found() {
        let sample: Vec<u32> = (1..900u32)
            .map(|i| ((f64::from(i * 7919 % 3_000_017) - 1e6) * 1e-6) as f32)
            .map(|x| x.to_latent())
            .collect();
        assert_eq!(bases(&sample).first(), Some(&1e-6f32.to_latent()));
    }

    #[test]
    fn tenths_of_seconds_of_arc_are_found() {
        let sample: Vec<u32> = (1..900u32)
            .map(|i| (f64::from(i * 7919 % 900_001 + 36 * 9000) / 36_000.0) as f32)
            .map(|x| x.to_latent())
            .collect();
        assert_eq!(bases(&sample).first(), Some(&(1.0 / 36_000.0f32).to_latent()));
    }

    #[test]
    fn other_floats_are_left_alone() {
        let sample: Vec<u64> =
            (1..900).map(|i| (f64::from(i) * 0.7231).sin().to_latent()).collect();
        assert!(bases(&sample).is_empty());
        assert!(bases::<u32>(&[]).is_empty());
    }
}
