//! Batches of two variables of 32 bits in a row, whatever is made of their latents.

use super::stream::BATCH;
use super::{Latent, PairsDone, Side};
use crate::dispatch::Present;
#[cfg(target_arch = "x86_64")]
use {
    super::shadow,
    super::slot::Lowers,
    super::stream::{LANES, Stream},
    super::{Codes, Unpack, Walk},
    crate::dispatch::Simd,
    crate::x86_64::avx512_walk::both as avx512,
};

/// Batches of two variables, by turns.
#[derive(Debug)]
pub struct Both<'a, A, B> {
    /// The one whose first codes have been walked.
    pub first: Side<'a, A>,
    /// What running sums make its latents of.
    pub moments: &'a mut [A],
    /// The other one.
    pub second: Side<'a, B>,
    /// Where the bits lie.
    pub bytes: &'a [u8],
    /// Where the first offsets begin.
    pub bit: usize,
    /// Where batches may end, at most.
    pub end: usize,
    /// Where latents go: as many whole batches of both, behind each of which as many codes of the first variable follow.
    pub dst: (&'a mut [A], &'a mut [B]),
    /// Where each batch ends.
    pub ends: &'a mut [usize],
}

impl<A: Latent, B: Latent> Both<'_, A, B> {
    /// Whether [`Both::run`] may do anything.
    #[inline]
    pub fn are_fast(present: Present) -> bool {
        #[cfg(target_arch = "x86_64")]
        if present.simd() == Simd::Avx512 {
            return (A::WIDTH, B::WIDTH) == (32, 32);
        }
        let _ = present;
        false
    }

    /// Batch after batch, as far as there are bytes enough, where that is faster in a row; `None` where it is not, or too few
    /// bytes are there for one batch: then nothing has changed.
    ///
    /// # Panics
    /// Where fields are not as they say.
    #[inline]
    pub fn run(self, present: Present) -> Option<PairsDone> {
        #[cfg(target_arch = "x86_64")]
        if Self::are_fast(present) && self.moments.len() <= shadow::MOST_SUMS {
            return self.with_avx512(present);
        }
        let _ = (present, BATCH);
        None
    }

    #[cfg(target_arch = "x86_64")]
    fn with_avx512(self, present: Present) -> Option<PairsDone> {
        let Self { first, moments, second, bytes, bit, end, dst, ends } = self;
        let ways = [first.table.ways(), second.table.ways()];
        let are_short = ways
            .iter()
            .all(|of| of.max_bits <= avx512::MOST_BITS && of.max_offset_bits <= avx512::SHORT);
        let (Lowers::Near(least), Lowers::Near(second_least)) =
            (&first.table.lowers, &second.table.lowers)
        else {
            return None;
        };
        let count = (dst.0.len() / BATCH).min(dst.1.len() / BATCH).min(ends.len());
        let window = ways[0].codes_window(BATCH)
            + first.table.offsets_window(BATCH)
            + ways[1].codes_window(BATCH)
            + second.table.offsets_window(BATCH);
        let at = Stream { bytes: bytes.get(bit / 8..)?, bit: bit % 8 };
        if !are_short || count == 0 || at.bytes.len() < window {
            return None;
        }
        let begin = bit + first.codes.offset_bits(present);
        let codes_at = Stream { bytes: bytes.get(begin / 8..)?, bit: begin % 8 };
        let (table, codes) = (first.table, &*first.codes);
        Unpack { table, codes, stream: at, dst: &mut dst.0[..BATCH] }.check();
        let mut codes: [&mut Codes; 2] = [first.codes, second.codes];
        let states: [&mut [u32; LANES]; 2] = [first.states, second.states];
        for i in 0..2 {
            let (states, codes) = (&mut *states[i], &mut *codes[i]);
            Walk { ways: ways[i], states, stream: codes_at, n: BATCH, codes }.check();
        }
        for (codes, ways) in codes.iter_mut().zip(ways) {
            codes.are_of(ways, BATCH);
        }
        let sums = shadow::first_sums(moments).map(A::widen);
        let both = avx512::Both {
            nodes: ways.map(|ways| ways.nodes),
            states,
            codes,
            at,
            codes_at,
            least: [least.widen(), second_least.widen()],
            sums,
            order: moments.len(),
            dst: [dst.0.as_mut_ptr().expose_provenance(), dst.1.as_mut_ptr().expose_provenance()],
            ends: ends.as_mut_ptr().expose_provenance(),
            count,
            // A byte less, as a batch's last bit may be any of it.
            last: bytes.as_ptr().addr() + bytes.len() - window,
            limit: bytes.as_ptr().addr() + bytes.len().min(end / 8).saturating_sub(1),
        };
        // SAFETY: the set is present; all nodes, latents and lower bounds are there, as the checks have found, and
        // bytes for the first batch of both variables. Later ones begin no later than `last`, so that they end within the bytes.
        let done = unsafe { avx512::walk_both(both) };
        for end in &mut ends[..done.batches] {
            *end -= bytes.as_ptr().addr() * 8;
        }
        shadow::take_sums(moments, || done.sums.map(A::from_low));
        let bit = (done.at - bytes.as_ptr().addr()) * 8 + done.bit;
        Some(PairsDone { batches: done.batches, bit, of_distances: done.of_second })
    }
}
