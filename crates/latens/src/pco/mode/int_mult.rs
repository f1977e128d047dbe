//! IntMult: `latent = primary · base + secondary`, mod 2^k.

use crate::number::Latent;

/// Quotients and remainders of ordered latents; the base is not 0.
pub(crate) fn split<L: Latent>(mut latents: Vec<L>, base: L) -> (Vec<L>, Vec<L>) {
    let part = |x: &mut L| {
        let quotient = x.div(base).unwrap_or(L::ZERO);
        let rest = x.sub(quotient.mul(base));
        *x = quotient;
        rest
    };
    let rests = latents.iter_mut().map(part).collect();
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
