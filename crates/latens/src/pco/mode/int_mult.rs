//! IntMult: `latent = primary · base + secondary`, mod 2^k.

use crate::number::Latent;
use crate::pco::mode::float_mult::WHOLE;
use crate::pco::mode::variables::{Secondary, Variables};
use crate::spare;
use latens_kernels::dispatch::Present;

/// Quotients and remainders of ordered latents; the base is not 0. Long, and called from several places.
#[inline(never)]
pub(crate) fn split<L: Latent>(mut latents: Vec<L>, base: L) -> (Vec<L>, Vec<L>) {
    if base <= L::ONE {
        let rests = spare::filled(L::ZERO, latents.len());
        return (latents, rests);
    }
    let divisor = base.to_u64();
    // 2^64 / base rounded down: a product's upper half is the quotient or one less.
    let inverse = (u64::MAX / divisor).saturating_add(divisor.is_power_of_two().into());
    let of_any = |all: u64| {
        let least = ((u128::from(all) * u128::from(inverse)) >> 64) as u64;
        let over = all - least * divisor;
        let is_short = u64::from(over >= divisor);
        (least + is_short, over - divisor * is_short)
    };
    let mut rests = spare::take(latents.len());
    let mut block = [L::ZERO; BLOCK];
    Present::in_use().call(
        #[inline(always)]
        || {
            let bounds = |(min, max): (L, L), &x: &L| (min.min(x), max.max(x));
            for xs in latents.chunks_mut(BLOCK) {
                let (min, max) = xs.iter().fold((L::MAX, L::ZERO), bounds);
                let (quotient, rest) = of_any(min.to_u64());
                let (origin, span) = (min.to_u64() - rest, max.sub(min).to_u64());
                if span <= NEAR && divisor <= NEAR {
                    #[expect(clippy::cast_precision_loss, reason = "2^50 at most")]
                    let inverse = 1.0 / divisor as f64;
                    for (x, rest) in xs.iter_mut().zip(&mut block) {
                        let (least, over) = of_near(x.to_u64() - origin, divisor, inverse);
                        (*x, *rest) = (L::truncate(quotient + least), L::truncate(over));
                    }
                } else {
                    for (x, rest) in xs.iter_mut().zip(&mut block) {
                        let (all, over) = of_any(x.to_u64());
                        (*x, *rest) = (L::truncate(all), L::truncate(over));
                    }
                }
                rests.extend_from_slice(&block[..xs.len()]);
            }
        },
    );
    (latents, rests)
}

/// Latents that are split as doubles, which vectors have products of, where they lie within [`NEAR`].
const BLOCK: usize = 256;
const NEAR: u64 = 1 << 50;

/// Quotient and remainder of a number of up to twice [`NEAR`].
#[inline(always)]
fn of_near(all: u64, divisor: u64, inverse: f64) -> (u64, u64) {
    // Whole numbers behind it are the low bits of a double.
    let value = f64::from_bits(all | WHOLE.to_bits()) - WHOLE;
    // Rounded to the nearest, so the quotient or one more.
    let near = (value * inverse + WHOLE).to_bits() - WHOLE.to_bits();
    let over = all.wrapping_sub(near.wrapping_mul(divisor));
    // All ones where it is one more.
    let is_more = (over.cast_signed() >> 63).cast_unsigned();
    (near.wrapping_add(is_more), over.wrapping_add(divisor & is_more))
}

/// Joins; none if a secondary latent is not below the base.
#[inline(always)]
pub(crate) fn join<L: Latent>(variables: Variables<'_, L>, base: L) -> bool {
    let is_sound = match variables.secondary {
        Secondary::Constant(rest) => rest < base,
        Secondary::Latents(all) => {
            let mut all_are = true;
            for &rest in all {
                all_are &= rest < base;
            }
            all_are
        }
    };
    if is_sound {
        let flip = variables.flip();
        variables.join(
            #[inline(always)]
            move |x, rest| x.mul(base).add(rest),
            #[inline(always)]
            move |x| x ^ flip,
        );
    }
    is_sound
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_divide_as_divisions_do() {
        fn check<L: Latent>(base: u64) {
            let near = |x: u64| [x.wrapping_sub(1), x, x.wrapping_add(1)];
            let latents: Vec<L> = (0..200u64)
                .flat_map(|i| near(base.wrapping_mul(i.wrapping_mul(i))))
                .chain([0, u64::MAX, 1 << 63, u64::MAX / base * base])
                .map(L::truncate)
                .collect();
            let base = L::truncate(base);
            let (quotients, rests) = split(latents.clone(), base);
            for ((x, quotient), rest) in latents.into_iter().zip(quotients).zip(rests) {
                assert_eq!((Some(quotient), Some(rest)), (x.div(base), x.rem(base)), "{x} {base}");
            }
        }
        for base in [1, 2, 3, 7, 64, 100, 255] {
            check::<u8>(base);
            check::<u64>(base);
        }
        for base in [60_000_000, (1 << 32) - 1, 1 << 31] {
            check::<u32>(base);
            check::<u64>(base);
        }
        for base in [u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) + 1] {
            check::<u64>(base);
        }
    }
}
