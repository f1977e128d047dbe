//! FloatQuant: the `q` lowest mantissa bits apart, counted away from zero.

use crate::bits::low_mask;
use crate::number::Latent;
use crate::pco::mode::variables::{Secondary, Variables};
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

/// Joins; none if a primary latent has more than `k − q` bits or a secondary one more than `q`.
#[inline(always)]
pub(crate) fn join<L: Latent>(variables: Variables<'_, L>, q: u32) -> bool {
    let low = L::truncate(low_mask(q));
    let high = L::MAX >> q;
    let mut beyond = L::ZERO;
    for &x in &*variables.primary {
        beyond = beyond | (x & !high);
    }
    match variables.secondary {
        Secondary::Constant(rest) => beyond = beyond | (rest & !low),
        Secondary::Latents(all) => {
            for &rest in all {
                beyond = beyond | (rest & !low);
            }
        }
    }
    let is_sound = beyond == L::ZERO;
    if is_sound {
        variables.join_to(
            #[inline(always)]
            move |x, rest| {
                let x = x << q;
                x | (rest ^ (low & !x.sign_mask()))
            },
            // Counted away from zero the rest is what the bits end with, whatever the sign.
            #[inline(always)]
            move |x, rest| {
                let x = x << q;
                ((x ^ (L::MID | !x.sign_mask())) & !low) | rest
            },
        );
    }
    is_sound
}
