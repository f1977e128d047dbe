//! What is unpacked in the shadow of a walk.
//!
//! A walk waits for its own loads most of the time: half of what the processor could do in a cycle
//! is free. Unpacking by vectors needs their registers and, for a moment, one or two of the others, so
//! that both go into one loop.

use crate::latent::Latent;
use crate::tans::Map;
#[cfg(target_arch = "x86_64")]
use crate::tans::Multiples;
#[cfg(target_arch = "x86_64")]
use crate::tans::codes::Beside;
use crate::tans::codes::Codes;
use crate::tans::slot::Lowers;
#[cfg(target_arch = "x86_64")]
use crate::tans::stream::BATCH;
use crate::tans::stream::Stream;
#[cfg(target_arch = "x86_64")]
use std::mem;

pub(crate) struct Shadow<'a, L> {
    pub(crate) lowers: &'a Lowers<L>,
    /// A whole batch.
    #[cfg(target_arch = "aarch64")]
    pub(crate) visited: &'a Codes,
    pub(crate) stream: Stream<'a>,
    /// Room for a batch, in a row for as many as there are.
    pub(crate) dst: &'a mut [L],
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

/// Batches one after the other, each of which is unpacked beside the walk over the next one's codes, which begin where
/// its offsets end.
#[cfg(target_arch = "x86_64")]
pub(crate) struct Row {
    /// How many, one at least; their latents lie one behind the other.
    pub(crate) count: usize,
    /// The last byte that codes may begin in.
    pub(crate) last: usize,
    /// Whether memory for latents is fetched a batch ahead.
    pub(crate) fetches: bool,
}

#[cfg(target_arch = "x86_64")]
impl Row {
    /// No row.
    pub(crate) const SINGLE: Self = Self { count: 1, last: 0, fetches: false };
}

/// Running sums of latents that are made beside a walk.
pub(crate) const MOST_SUMS: usize = 2;

impl<L: Latent> Shadow<'_, L> {
    /// Where offsets are looked for.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn has_offsets(&self) -> bool {
        self.max_offset_bits > 0 || (self.map == Map::Float && self.multiples.is_none())
    }

    /// What a kernel has no registers for, behind the nodes of the codes that are walked: where the ends of `visited`
    /// and of the latents are, lower bounds, the stream, and the end of the multiples; then what a row of batches needs, see
    /// [`Row`].
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn beside(&mut self, visited: *const Codes, row: &Row) -> Beside {
        // By way of all of them, as a kernel may look at what lies behind its nodes.
        let visited = visited.expose_provenance() + mem::offset_of!(Codes, beside);
        let dst = self.dst.as_mut_ptr().wrapping_add(BATCH).expose_provenance();
        let lowers = match self.lowers {
            Lowers::Near(_) => 0,
            Lowers::Far(lowers) => lowers.as_ptr().expose_provenance(),
        };
        let stream = self.stream.bytes.as_ptr().expose_provenance();
        let multiples =
            self.multiples.map_or(0, |of| of.whole.as_ptr_range().end.expose_provenance());
        let bytes = BATCH * size_of::<L>();
        let fetched = if row.fetches { bytes } else { 0 };
        [visited, dst, lowers, stream, multiples, row.count, row.last, bytes, fetched, 0]
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

    /// What its sums begin with, see [`first_sums`].
    pub(crate) fn sums(&self) -> [L; MOST_SUMS] {
        first_sums(self.moments)
    }
}

impl<L: Latent> Shadow<'_, L> {
    /// Takes the sums back, see [`take_sums`].
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn take_sums(&mut self, sums: impl FnOnce() -> [L; MOST_SUMS]) {
        take_sums(self.moments, sums);
    }
}

/// What the sums of latents that come last and first begin with, as far as there are such.
#[inline(always)]
pub(crate) fn first_sums<L: Latent>(moments: &[L]) -> [L; MOST_SUMS] {
    // A loop over so few becomes vectors under masks, which are waited for.
    match *moments {
        [] => [L::default(); MOST_SUMS],
        [last] => [last, L::default()],
        [.., first, last] => [last, first],
    }
}

/// Takes sums back, in the order of [`first_sums`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn take_sums<L: Latent>(moments: &mut [L], sums: impl FnOnce() -> [L; MOST_SUMS]) {
    match moments {
        [] => {}
        [moment] => [*moment, _] = sums(),
        [.., first, last] => [*last, *first] = sums(),
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
