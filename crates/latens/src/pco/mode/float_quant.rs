//! FloatQuant: the `q` lowest mantissa bits apart, counted away from zero.

use crate::bits::low_mask;
use crate::number::Latent;
use crate::spare;
use latens_kernels::dispatch::Present;

/// High parts and distances from the value with `q` zero bits.
pub(crate) fn split<L: Latent>(mut latents: Vec<L>, q: u32) -> (Vec<L>, Vec<L>) {
    let low = L::truncate(low_mask(q));
    let mut rests = spare::stale(latents.len());
    Present::in_use().call(
        #[inline(always)]
        || {
            for (x, rest) in latents.iter_mut().zip(&mut rests) {
                let part = *x & low;
                *rest = if *x >= L::MID { part } else { low.sub(part) };
                *x = *x >> q;
            }
        },
    );
    (latents, rests)
}

/// Joins in place; false if a primary latent has more than `k − q` bits or a secondary one more
/// than `q`.
#[inline(always)]
pub(crate) fn join<L: Latent>(
    primary: &mut [L],
    secondary: impl Iterator<Item = L>,
    q: u32,
) -> bool {
    let low = L::truncate(low_mask(q));
    let zero = L::MID >> q;
    let high = L::MAX >> q;
    let mut ok = true;
    for (x, rest) in primary.iter_mut().zip(secondary) {
        ok &= (*x <= high) & (rest <= low);
        let part = if *x >= zero { rest } else { low.sub(rest) };
        *x = (*x << q).add(part);
    }
    ok
}
