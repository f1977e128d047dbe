//! Whole multiples of a float, which latents are distances from.

use super::stream::BATCH;
use crate::dispatch::Present;
#[cfg(target_arch = "x86_64")]
use crate::dispatch::Simd;
use crate::latent::Latent;

/// Of latents of 64 bits: whole numbers and the float that they are multiplied by. A latent is how many floats
/// behind such a product, rounded to the nearest, a number is.
#[derive(Clone, Copy, Debug)]
pub struct Multiples<'a, L> {
    /// Each 2^63 + `v` or, for negative numbers and −0, 2^63 − 1 − |`v`|, with `|v|` below 2^52: others give
    /// anything.
    pub whole: &'a [L; BATCH],
    /// The float's bits.
    pub base: L,
}

impl<L: Latent> Multiples<'_, L> {
    /// Whether products are made beside a walk.
    #[inline]
    pub fn are_fast(present: Present) -> bool {
        #[cfg(target_arch = "x86_64")]
        if present.simd() == Simd::Avx512 {
            return L::WIDTH == 64;
        }
        let _ = present;
        false
    }

    /// Latents to the ordered latents of numbers.
    pub(super) fn add_to(&self, latents: &mut [L]) {
        const TOP: u64 = 1 << 63;
        let base = f64::from_bits(self.base.widen());
        for (x, whole) in latents.iter_mut().zip(self.whole) {
            let signed = whole.widen() ^ TOP;
            let is_negative = signed & TOP != 0;
            let magnitude = if is_negative { !signed } else { signed };
            #[expect(clippy::cast_precision_loss, reason = "2^52 at most")]
            let value = magnitude.cast_signed() as f64;
            let product = (if is_negative { -value } else { value } * base).to_bits();
            // With 2^63 more, which distances have too.
            let ordered = if product & TOP == 0 { product } else { product ^ !TOP };
            *x = x.plus_low(ordered);
        }
    }
}
