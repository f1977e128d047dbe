//! What modes of two variables join: a batch of each.

use crate::number::Latent;
use latens_kernels::tans::Map;

/// Secondary latents of a batch.
#[derive(Clone, Copy)]
pub(crate) enum Secondary<'a, L> {
    /// All alike, as that of a good base often are.
    Constant(L),
    Latents(&'a [L]),
}

/// Where numbers go.
pub(crate) struct Place<'a, L> {
    /// From their ordered latents to their bits.
    pub(crate) map: Map,
    /// As many as there are latents.
    pub(crate) bits: &'a mut [L],
}

impl<L: Latent> Place<'_, L> {
    /// Numbers by their ordered latents.
    #[inline(always)]
    pub(crate) fn fill(self, latents: &[L]) {
        let places = self.bits.iter_mut().zip(latents);
        match self.map {
            Map::Flip(bits) => {
                let bits = L::truncate(bits);
                for (x, &latent) in places {
                    *x = latent ^ bits;
                }
            }
            Map::Float => {
                for (x, &latent) in places {
                    *x = latent.unorder();
                }
            }
        }
    }
}

/// Both variables of a batch, or the primary one.
pub(crate) struct Variables<'a, L> {
    pub(crate) primary: &'a mut [L],
    pub(crate) secondary: Secondary<'a, L>,
    /// Where numbers go; without it, their ordered latents take the primary latents' place.
    pub(crate) place: Option<Place<'a, L>>,
}

impl<L: Latent> Variables<'_, L> {
    /// Primary latents that are ordered ones to numbers, if these have a place.
    #[inline(always)]
    pub(crate) fn map(self) {
        if let Some(place) = self.place {
            place.fill(self.primary);
        }
    }

    /// The bits that integers' map inverts.
    pub(super) fn flip(&self) -> L {
        match self.place {
            Some(Place { map: Map::Flip(bits), .. }) => L::truncate(bits),
            _ => L::ZERO,
        }
    }

    /// What `join` makes of two latents, behind which `map` makes bits of them where they go to a place of
    /// their own.
    #[inline(always)]
    pub(super) fn join(self, join: impl Fn(L, L) -> L + Copy, map: impl Fn(L) -> L) {
        // By value: what is behind a reference is loaded anew for each latent.
        self.join_to(
            join,
            #[inline(always)]
            move |x, second| map(join(x, second)),
        );
    }

    /// What `ordered` makes of two latents, or `bits` where they go to a place of their own.
    #[inline(always)]
    pub(super) fn join_to(self, ordered: impl Fn(L, L) -> L, bits: impl Fn(L, L) -> L) {
        let Self { primary, secondary, place } = self;
        match (place, secondary) {
            (None, Secondary::Constant(second)) => {
                for x in primary {
                    *x = ordered(*x, second);
                }
            }
            (None, Secondary::Latents(all)) => {
                for (x, &second) in primary.iter_mut().zip(all) {
                    *x = ordered(*x, second);
                }
            }
            (Some(place), Secondary::Constant(second)) => {
                for (to, &mut x) in place.bits.iter_mut().zip(primary) {
                    *to = bits(x, second);
                }
            }
            (Some(place), Secondary::Latents(all)) => {
                for ((to, &mut x), &second) in place.bits.iter_mut().zip(primary).zip(all) {
                    *to = bits(x, second);
                }
            }
        }
    }
}
