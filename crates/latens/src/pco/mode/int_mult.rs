//! IntMult: `latent = primary · base + secondary`, mod 2^k.

use crate::number::Latent;
use latens_kernels::dispatch::Present;

/// Quotients and remainders of ordered latents; the base is not 0.
pub(crate) fn split<L: Latent>(mut latents: Vec<L>, base: L) -> (Vec<L>, Vec<L>) {
    if base <= L::ONE {
        let rests = vec![L::ZERO; latents.len()];
        return (latents, rests);
    }
    let divisor = base.to_u64();
    // 2^64 / base rounded down: a product's upper half is the quotient or one less.
    let inverse = (u64::MAX / divisor).saturating_add(divisor.is_power_of_two().into());
    let mut rests = vec![L::ZERO; latents.len()];
    Present::in_use().call(
        #[inline(always)]
        || {
            for (x, rest) in latents.iter_mut().zip(&mut rests) {
                let all = x.to_u64();
                let least = ((u128::from(all) * u128::from(inverse)) >> 64) as u64;
                let over = all - least * divisor;
                let is_short = over >= divisor;
                *x = L::truncate(least + u64::from(is_short));
                *rest = L::truncate(if is_short { over - divisor } else { over });
            }
        },
    );
    (latents, rests)
}

/// Joins in place; false if a secondary latent is not below the base.
#[inline(always)]
pub(crate) fn join<L: Latent>(
    primary: &mut [L],
    secondary: impl Iterator<Item = L>,
    base: L,
) -> bool {
    let mut ok = true;
    for (x, rest) in primary.iter_mut().zip(secondary) {
        ok &= rest < base;
        *x = x.mul(base).add(rest);
    }
    ok
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
