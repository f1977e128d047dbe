//! FloatMult: the float nearest to a whole multiple of a base, and how many floats away.
//!
//! The multiple `v` is a whole number, stored as `MID + v` or, for negative ones and −0,
//! `MID − 1 − |v|`. From `2^M` on every float is a whole number, so there the latents simply
//! count floats on, through infinity and the NaNs (`M` is the mantissa's digits).

use crate::bits::low_mask;
use crate::number::Latent;
use crate::pco::layout::variable::Bin;
use crate::pco::mode::variables::{Secondary, Variables};
use crate::spare;
use latens_kernels::dispatch::Present;

/// The whole number (bits of a float) that a primary latent stands for.
#[inline(always)]
fn multiple_bits<L: Latent>(latent: L) -> L {
    let greatest = L::ONE << L::MANTISSA_DIGITS;
    let negative = latent < L::MID;
    let a = if negative { L::MID.sub(L::ONE).sub(latent) } else { latent.sub(L::MID) };
    let whole = a.min(greatest);
    let bits = whole.whole_to_bits().add(a.sub(whole));
    if negative { bits ^ L::MID } else { bits }
}

/// The inverse of [`multiple_bits`] for whole numbers, infinities and NaNs.
#[inline]
fn multiple_latent<L: Latent>(bits: L) -> L {
    let greatest = L::ONE << L::MANTISSA_DIGITS;
    let greatest_bits = greatest.whole_to_bits();
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
    // Whole numbers below this are exact in the type, and in a sum with `WHOLE`.
    let most = match L::MANTISSA_DIGITS {
        53 => WHOLE,
        24 => 16_777_216.0,
        _ => 2048.0,
    };
    let mut distances = spare::take(latents.len());
    let mut block = [L::ZERO; BLOCK];
    Present::in_use().call(
        #[inline(always)]
        || {
            for xs in latents.chunks_mut(BLOCK) {
                let is_near = |x: L| sum_of(x, inverse) < WHOLE + most;
                if xs.iter().fold(true, |all, &x| all & is_near(x)) {
                    split_block(xs, &mut block, |x| near_multiple(x, inverse, base_bits));
                } else {
                    split_block(xs, &mut block, |x| {
                        if is_near(x) {
                            near_multiple(x, inverse, base_bits)
                        } else {
                            far_multiple(x, inverse, base_bits)
                        }
                    });
                }
                distances.extend_from_slice(&block[..xs.len()]);
            }
        },
    );
    (latents, distances)
}

/// Latents that are split without a branch where all of them are near zero.
const BLOCK: usize = 64;

/// Latents to the multiples that are found for them, and the distances to their products.
#[inline(always)]
fn split_block<L: Latent>(xs: &mut [L], distances: &mut [L], multiple: impl Fn(L) -> (L, L)) {
    for (x, distance) in xs.iter_mut().zip(distances) {
        let (multiple, product) = multiple(*x);
        *distance = x.sub(product.order()).add(L::MID);
        *x = multiple;
    }
}

/// A quotient's magnitude, rounded by an addition after which the sum's low bits count the multiple.
#[inline(always)]
fn sum_of<L: Latent>(x: L, inverse: f64) -> f64 {
    (x.ordered_to_f64() * inverse).abs() + WHOLE
}

/// The nearest multiple, where it is exact in the type, and its product with the base.
#[inline(always)]
fn near_multiple<L: Latent>(x: L, inverse: f64, base_bits: L) -> (L, L) {
    let quotient = x.ordered_to_f64() * inverse;
    let sum = sum_of(x, inverse);
    let a = L::truncate(sum.to_bits().wrapping_sub(WHOLE.to_bits()));
    let is_negative = quotient.is_sign_negative();
    let multiple = if is_negative { L::MID.sub(L::ONE).sub(a) } else { L::MID.add(a) };
    let whole = (sum - WHOLE).copysign(quotient);
    (multiple, L::bits_from_f64(whole).mul_bits(base_bits))
}

/// From here on all floats are whole; smaller ones lose their fractions by its addition.
pub(super) const WHOLE: f64 = 4_503_599_627_370_496.0;

/// The multiple nearest to a number that is too far from zero for the short way, or none at all,
/// and its product with the base.
#[cold]
fn far_multiple<L: Latent>(x: L, inverse: f64, base_bits: L) -> (L, L) {
    let quotient = x.ordered_to_f64() * inverse;
    let multiple = if x.ordered_to_f64().is_nan() {
        // NaN bits pass through; rounding in f64 could change its payload.
        multiple_latent(x.unorder())
    } else {
        multiple_latent(L::bits_from_f64(quotient.round_ties_even()))
    };
    (multiple, multiple_bits(multiple).mul_bits(base_bits))
}

/// Joins; none if a multiple lies beyond the last NaN. `known_small` where [`are_small`] is known to hold.
#[inline(always)]
pub(crate) fn join<L: Latent>(variables: Variables<'_, L>, base: L, known_small: bool) -> bool {
    let base_bits = base.unorder();
    let factor = base_bits & !L::MID;
    if is_finite(factor) && (known_small || are_small(variables.primary)) {
        // Of multiples that are not negative; others, and all of these with a negative base.
        let flip = if factor == base_bits { L::MAX } else { L::ZERO };
        add_distances(
            variables,
            #[inline(always)]
            move |x| {
                let not_negative = x.sign_mask();
                let product = (x ^ not_negative ^ !L::MID).mul_small(factor);
                (product, not_negative ^ flip)
            },
        );
        return true;
    }
    // The last NaN of each sign.
    let most = multiple_latent(!L::MID);
    let least = multiple_latent(L::MAX);
    let mut is_sound = true;
    for &x in &*variables.primary {
        is_sound &= (least <= x) & (x <= most);
    }
    if is_sound {
        add_distances(
            variables,
            #[inline(always)]
            move |x| {
                let product = multiple_bits(x).mul_bits(base_bits);
                (product & !L::MID, product.sign_mask())
            },
        );
    }
    is_sound
}

/// Whether a float without a sign is neither infinite nor NaN.
#[inline(always)]
fn is_finite<L: Latent>(magnitude: L) -> bool {
    let infinity = !L::MID >> (L::MANTISSA_DIGITS - 1) << (L::MANTISSA_DIGITS - 1);
    magnitude < infinity
}

/// Joins multiples, of which `product` makes floats without a sign and masks of the negative ones, with the distances.
#[inline(always)]
fn add_distances<L: Latent>(variables: Variables<'_, L>, product: impl Fn(L) -> (L, L) + Copy) {
    match variables {
        Variables { primary, secondary: Secondary::Constant(none), place: Some(place) }
            if none == L::MID =>
        {
            for (bits, &mut x) in place.bits.iter_mut().zip(primary) {
                let (magnitude, negative) = product(x);
                *bits = magnitude ^ (negative & L::MID);
            }
        }
        _ => variables.join(
            #[inline(always)]
            move |x, ulps| {
                let (magnitude, negative) = product(x);
                // Its ordered latent, with MID added.
                (magnitude ^ negative).add(ulps)
            },
            #[inline(always)]
            |x| x.unorder(),
        ),
    }
}

/// Whether all multiples are whole numbers below half of `2^M`: no infinities and NaNs to look for.
#[inline(always)]
pub(crate) fn are_small<L: Latent>(primary: &[L]) -> bool {
    let half = L::ONE << (L::MANTISSA_DIGITS - 1);
    let mut all = L::ZERO;
    for &x in primary {
        all = all | signed(x).add(half);
    }
    all >> L::MANTISSA_DIGITS == L::ZERO
}

/// Whether that holds for all that bins can say.
pub(crate) fn bins_are_small<L: Latent>(bins: &[Bin<L>]) -> bool {
    bins.iter().all(|bin| {
        let last = bin.lower.add(L::truncate(low_mask(bin.offset_bits)));
        bin.lower <= last && are_small(&[bin.lower, last])
    })
}

/// The whole number as two's complement, less one if negative.
#[inline(always)]
fn signed<L: Latent>(latent: L) -> L {
    latent ^ L::MID
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::float_bits::FloatBits;
    use crate::number::{Number, f16};
    use crate::pco::mode::variables::Place;

    fn round_trip<T: Number>(numbers: &[T], base: T)
    where
        T::L: Latent,
    {
        let latents: Vec<T::L> = numbers.iter().map(|x| x.to_latent()).collect();
        let (mut primary, secondary) = split(latents.clone(), base.to_latent());
        let mut bits = latents.clone();
        for place in [Some(Place { map: T::MAP, bits: &mut bits }), None] {
            let secondary = Secondary::Latents(&secondary);
            let variables = Variables { primary: &mut primary, secondary, place };
            assert!(join(variables, base.to_latent(), false));
        }
        assert_eq!(primary, latents);
        assert_eq!(bits, latents.iter().map(|x| x.unorder()).collect::<Vec<_>>());
    }

    #[test]
    fn every_f16_comes_back() {
        let all: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
        for base in [1.0, 0.1, -0.25, 3.0, 60000.0, 6.1e-5] {
            round_trip(&all, f16::from_f64(base));
        }
    }

    #[test]
    fn the_short_way_leads_to_the_same_multiples() {
        let base = 0.1f64.to_latent();
        for i in -50_000i32..50_000 {
            let x = (f64::from(i) / 80.0).to_latent();
            let (multiple, product) = far_multiple(x, 1.0 / 0.1, base.unorder());
            let (multiples, distances) = split(vec![x], base);
            assert_eq!(multiples, [multiple], "{i}");
            assert_eq!(distances, [x.sub(product.order()).add(u64::MID)], "{i}");
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
    fn bins_say_whether_multiples_are_small() {
        let half = 1 << 52;
        for (lower, offset_bits, expected) in [
            (u64::MID - 5, 4, true),
            (u64::MID - half, 53, true),
            (u64::MID - half - 1, 0, false),
            (u64::MID - half + 1, 53, false),
            (u64::MID + half, 0, false),
            (u64::MAX, 1, false),
            (u64::MID, 64, false),
        ] {
            let bin = Bin { weight: 1, lower, offset_bits };
            assert_eq!(bins_are_small(&[bin]), expected, "{lower} {offset_bits}");
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
