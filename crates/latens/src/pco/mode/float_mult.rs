//! FloatMult: the float nearest to a whole multiple of a base, and how many floats away.
//!
//! The multiple `v` is a whole number, stored as `MID + v` or, for negative ones and −0,
//! `MID − 1 − |v|`. From `2^M` on every float is a whole number, so there the latents simply
//! count floats on, through infinity and the NaNs (`M` is the mantissa's digits).

use crate::number::Latent;

/// The whole number (bits of a float) that a primary latent stands for.
#[inline]
fn multiple_bits<L: Latent>(latent: L) -> L {
    let greatest = L::ONE << L::MANTISSA_DIGITS;
    let negative = latent < L::MID;
    let a = if negative { L::MID.sub(L::ONE).sub(latent) } else { latent.sub(L::MID) };
    let bits = if a < greatest {
        #[expect(clippy::cast_precision_loss, reason = "exact: below 2^53")]
        L::bits_from_f64(a.to_u64() as f64)
    } else {
        #[expect(clippy::cast_precision_loss, reason = "a power of two")]
        L::bits_from_f64(greatest.to_u64() as f64).add(a.sub(greatest))
    };
    if negative { bits ^ L::MID } else { bits }
}

/// The inverse of [`multiple_bits`] for whole numbers, infinities and NaNs.
#[inline]
fn multiple_latent<L: Latent>(bits: L) -> L {
    let greatest = L::ONE << L::MANTISSA_DIGITS;
    #[expect(clippy::cast_precision_loss, reason = "a power of two")]
    let greatest_bits = L::bits_from_f64(greatest.to_u64() as f64);
    let magnitude = bits & !L::MID;
    let a = if magnitude < greatest_bits {
        #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^53")]
        #[expect(clippy::cast_sign_loss, reason = "a magnitude")]
        L::truncate(magnitude.bits_to_f64() as u64)
    } else {
        greatest.add(magnitude.sub(greatest_bits))
    };
    if bits & L::MID == L::ZERO { L::MID.add(a) } else { L::MID.sub(L::ONE).sub(a) }
}

/// The nearest multiples of the base (an ordered latent) and the distances to them.
pub(crate) fn split<L: Latent>(mut latents: Vec<L>, base: L) -> (Vec<L>, Vec<L>) {
    let base_bits = base.unorder();
    let inverse = 1.0 / base_bits.bits_to_f64();
    let part = |x: &mut L| {
        let value = x.ordered_to_f64();
        let multiple = if value.is_nan() {
            // NaN bits pass through; rounding in f64 could change its payload.
            multiple_latent(x.unorder())
        } else {
            multiple_latent(L::bits_from_f64(round(value * inverse)))
        };
        let product = multiple_bits(multiple).mul_bits(base_bits).order();
        let distance = x.sub(product).add(L::MID);
        *x = multiple;
        distance
    };
    let distances = latents.iter_mut().map(part).collect();
    (latents, distances)
}

/// The nearest whole number, of two the even one; without a call into a library where processors
/// of the oldest kind have no instruction for it.
#[inline]
fn round(x: f64) -> f64 {
    // From here on all floats are whole, and added to smaller ones it leaves no room for fractions.
    const WHOLE: f64 = 4_503_599_627_370_496.0;
    if x.abs() < WHOLE { ((x.abs() + WHOLE) - WHOLE).copysign(x) } else { x }
}

/// Joins in place; false if a multiple lies beyond the last NaN.
#[inline]
pub(crate) fn join<L: Latent>(primary: &mut [L], secondary: &[L], base: L) -> bool {
    let base_bits = base.unorder();
    // The last NaN of each sign.
    let most = multiple_latent(!L::MID);
    let least = multiple_latent(L::MAX);
    let mut ok = true;
    for (x, &ulps) in primary.iter_mut().zip(secondary) {
        ok &= (least <= *x) & (*x <= most);
        *x = multiple_bits(*x).mul_bits(base_bits).order().add(ulps).add(L::MID);
    }
    ok
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::{Number, f16};

    fn round_trip<T: Number>(numbers: &[T], base: T)
    where
        T::L: Latent,
    {
        let latents: Vec<T::L> = numbers.iter().map(|x| x.to_latent()).collect();
        let (mut primary, secondary) = split(latents.clone(), base.to_latent());
        assert!(join(&mut primary, &secondary, base.to_latent()));
        assert_eq!(primary, latents);
    }

    #[test]
    fn every_f16_comes_back() {
        let all: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
        for base in [1.0, 0.1, -0.25, 3.0, 60000.0, 6.1e-5] {
            round_trip(&all, f16::from_f64(base));
        }
    }

    #[test]
    fn rounding_is_that_of_the_library() {
        for i in 0..100_000u32 {
            let x = (f64::from(i) - 50_000.0) / 8.0;
            assert_eq!(round(x).to_bits(), x.round_ties_even().to_bits(), "{x}");
        }
        for x in [4503599627370495.5, -4503599627370495.5, 4503599627370497.0, 1e300, f64::INFINITY] {
            assert_eq!(round(x), x.round_ties_even());
        }
    }

    #[test]
    fn special_floats_come_back() {
        let mut numbers =
            vec![0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 5e-324, 1e300];
        numbers.extend([f64::from_bits(0x7ff0_0000_0000_0001), f64::from_bits(u64::MAX), -1e-310]);
        numbers.extend((0..1000).map(|i| f64::from(i - 500) * 0.1));
        numbers.extend([9007199254740991.0, 9007199254740992.0, 9007199254740994.0]);
        for base in [1.0, 0.1, -0.1, 1e300, 1e-300] {
            round_trip(&numbers, base);
        }
    }

    #[test]
    fn decimals_have_no_distance() {
        let numbers: Vec<f64> = (0..1000).map(|i| f64::from(i) * 0.01).collect();
        let latents: Vec<u64> = numbers.iter().map(|x| x.to_latent()).collect();
        let (_, secondary) = split(latents, 0.01f64.to_latent());
        assert!(secondary.iter().all(|&ulps| ulps == u64::MID));
    }
}
