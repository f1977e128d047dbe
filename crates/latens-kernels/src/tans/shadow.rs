//! What is unpacked in the shadow of a walk.
//!
//! A walk waits for its own loads most of the time: half of what the processor could do in a cycle
//! is free. Unpacking by vectors needs their registers and, for a moment, one or two of the others, so
//! that both go into one loop.

use crate::latent::Latent;
use crate::tans::Map;
#[cfg(target_arch = "x86_64")]
use crate::tans::Multiples;
use crate::tans::codes::Codes;
use crate::tans::slot::Lowers;
use crate::tans::stream::{BATCH, Stream};
#[cfg(target_arch = "x86_64")]
use std::{mem, ptr};

pub(crate) struct Shadow<'a, L> {
    pub(crate) lowers: &'a Lowers<L>,
    /// A whole batch.
    pub(crate) visited: &'a Codes,
    pub(crate) stream: Stream<'a>,
    pub(crate) dst: &'a mut [L; BATCH],
    /// No offset has more bits. Where there are none they may be looked for, and must be where numbers
    /// are floats.
    pub(crate) max_offset_bits: u8,
    /// What running sums begin with, [`MOST_SUMS`] at most; the last one's come first.
    pub(crate) moments: &'a mut [L],
    /// What latents are added to, before the map for floats.
    #[cfg(target_arch = "x86_64")]
    pub(crate) multiples: Option<Multiples<'a, L>>,
    pub(crate) map: Map,
}

/// Running sums of latents that are made beside a walk.
pub(crate) const MOST_SUMS: usize = 2;

impl<L: Latent> Shadow<'_, L> {
    /// Where offsets are looked for.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn has_offsets(&self) -> bool {
        self.max_offset_bits > 0 || (self.map == Map::Float && self.multiples.is_none())
    }

    /// Has the codes say where all is that a loop has no registers for, and returns where they say so:
    /// the ends of the nodes and of the latents, lower bounds, the stream, and the end of the multiples.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn note(&mut self, codes: &mut Codes) -> *mut [usize; 5] {
        codes.beside = [
            // By way of all of them, as a kernel may look at what lies behind its nodes.
            ptr::from_ref(self.visited).expose_provenance() + mem::offset_of!(Codes, beside),
            self.dst.as_mut_ptr_range().end.expose_provenance(),
            match self.lowers {
                Lowers::Near(_) => 0,
                Lowers::Far(lowers) => lowers.as_ptr().expose_provenance(),
            },
            self.stream.bytes.as_ptr().expose_provenance(),
            self.multiples.map_or(0, |of| of.whole.as_ptr_range().end.expose_provenance()),
        ];
        let all: *mut Codes = codes;
        // SAFETY: the field that follows the nodes.
        unsafe { &raw mut (*all).beside }
    }

    /// What lower bounds that are near each other are added to.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn least(&self) -> L {
        match self.lowers {
            Lowers::Near(least) => *least,
            Lowers::Far(_) => L::default(),
        }
    }

    /// The bits that the map inverts, or the one that it looks at.
    pub(crate) fn flip(&self) -> L {
        L::from_low(match self.map {
            Map::Flip(bits) => bits,
            Map::Float => 1 << (L::WIDTH - 1),
        })
    }

    /// What the sums of latents that come last and first begin with, as far as there are such.
    pub(crate) fn sums(&self) -> [L; MOST_SUMS] {
        // A loop over so few becomes vectors under masks, which are waited for.
        match *self.moments {
            [] => [L::default(); MOST_SUMS],
            [last] => [last, L::default()],
            [.., first, last] => [last, first],
        }
    }
}

impl<L: Latent> Shadow<'_, L> {
    /// Takes the sums back, in the order of [`Shadow::sums`].
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn take_sums(&mut self, sums: impl FnOnce() -> [L; MOST_SUMS]) {
        match self.moments {
            [] => {}
            [moment] => [*moment, _] = sums(),
            [.., first, last] => [*last, *first] = sums(),
        }
    }
}

/// `$body` for each order of sums, and each map or a given one.
#[cfg(target_arch = "x86_64")]
macro_rules! finished {
    ($order:expr, $map:tt => $body:ident, $($what:tt),*) => {
        match $order {
            0 => $body!($($what,)* 0, $map),
            1 => $body!($($what,)* 1, $map),
            _ => $body!($($what,)* 2, $map),
        }
    };
    ($order:expr, match $map:expr => $body:ident, $($what:tt),*) => {
        match $map {
            Map::NONE => finished!($order, none => $body, $($what),*),
            Map::Flip(_) => finished!($order, flip => $body, $($what),*),
            Map::Float => finished!($order, float => $body, $($what),*),
        }
    };
}
#[cfg(target_arch = "x86_64")]
pub(crate) use finished;
