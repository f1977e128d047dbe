//! What becomes of latents behind a walk or beside it: sums of differences, products, the map to numbers.

use super::multiples::Multiples;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::{most_at_once, shadow};
use crate::dispatch::Present;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::dispatch::Simd;
use crate::latent::Latent;
#[cfg(target_arch = "x86_64")]
use crate::scalar::sums as scalar_sums;
use crate::sums;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::avx512_sums;

/// What latents are mapped by in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Map {
    /// The bits that are inverted.
    Flip(u64),
    /// Floats, ordered as integers are: the topmost bit is inverted where it is set, else all are.
    Float,
}

impl Map {
    /// Latents as they are.
    pub const NONE: Self = Self::Flip(0);

    /// What is added to latents where that is all, as it is for whole numbers.
    #[inline]
    pub fn shift<L: Latent>(self) -> Option<L> {
        match self {
            Self::Flip(bits) if bits == 0 || bits == 1 << (L::WIDTH - 1) => Some(L::from_low(bits)),
            _ => None,
        }
    }

    #[inline(always)]
    pub(crate) fn of<L: Latent>(self, x: L) -> L {
        let top = 1 << (L::WIDTH - 1);
        let bits = match self {
            Self::Flip(bits) => bits,
            Self::Float if x.widen() & top == 0 => u64::MAX,
            Self::Float => top,
        };
        L::from_low(x.widen() ^ bits)
    }
}

/// What becomes of latents that are unpacked.
#[derive(Debug)]
pub struct Finish<'a, L> {
    /// Of differences, as [`sums::undo`] takes them; none where latents are none.
    pub moments: &'a mut [L],
    /// What they are added to behind the sums.
    pub multiples: Option<Multiples<'a, L>>,
    /// Behind all that.
    pub map: Map,
}

impl<L: Latent> Finish<'_, L> {
    /// Whether nothing is left to be done behind a walk.
    #[inline]
    pub fn is_done_beside(&self, present: Present) -> bool {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if most_at_once(present).is_some() {
            let has_map = L::WIDTH >= 32 || self.map != Map::Float;
            let has_products = self.multiples.is_none()
                || (Multiples::<L>::are_fast(present)
                    && self.moments.is_empty()
                    && self.map == Map::Float);
            return has_map && has_products && self.sums_at_once(present) == self.moments.len();
        }
        let _ = present;
        false
    }

    /// How many of the sums, the last ones, cost less beside a walk than behind it.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    #[inline(always)]
    pub(super) fn sums_at_once(&self, present: Present) -> usize {
        let are_fast = L::WIDTH >= 32 || present.simd() == Simd::Avx512;
        if are_fast { self.moments.len().min(shadow::MOST_SUMS) } else { 0 }
    }

    /// What it makes of latents, in place of which anything may stand then, to a place of as many.
    ///
    /// # Panics
    /// Where there are not as many.
    pub fn run_to(self, present: Present, latents: &mut [L], dst: &mut [L]) {
        assert!(latents.len() == dst.len(), "as many");
        match self {
            #[cfg(target_arch = "x86_64")]
            Finish { moments, multiples: None, map }
                if present.simd() == Simd::Avx512
                    && sums::are_faster_one_by_one::<L>(moments.len())
                    && let Some(shift) = map.shift::<L>() =>
            {
                moments[0] = moments[0].plus_low(shift.widen());
                scalar_sums::undo_to(moments, latents, dst);
                moments[0] = moments[0].plus_low(shift.widen().wrapping_neg());
            }
            #[cfg(target_arch = "x86_64")]
            Finish { moments: [moment, others @ ..], multiples: None, map }
                if present.simd() == Simd::Avx512 =>
            {
                sums::undo(present, others, latents);
                let (n, dst) = (dst.len(), dst.as_mut_ptr());
                // SAFETY: the set is present; there are `n` latents as well.
                unsafe { avx512_sums::running(moment, latents.as_ptr(), map, dst, n) };
            }
            _ => {
                self.run(present, latents);
                dst.copy_from_slice(latents);
            }
        }
    }

    #[inline]
    pub(super) fn run(self, present: Present, latents: &mut [L]) {
        sums::undo(present, self.moments, latents);
        if let Some(multiples) = self.multiples {
            multiples.add_to(latents);
        }
        if self.map != Map::NONE {
            let map = self.map;
            present.call(
                #[inline(always)]
                || {
                    for x in latents {
                        *x = map.of(*x);
                    }
                },
            );
        }
    }
}
