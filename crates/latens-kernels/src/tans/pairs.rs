//! Batches of two variables in a row: either's latents beside the walk over the other's codes.

use super::codes::Codes;
use super::stream::{BATCH, LANES};
use super::table::Table;
use super::{Latent, Multiples};
use crate::dispatch::Present;
#[cfg(target_arch = "x86_64")]
use {
    super::shadow,
    super::slot::Lowers,
    super::stream::Stream,
    super::{Unpack, Walk},
    crate::dispatch::Simd,
    crate::x86_64::avx512_tans,
    crate::x86_64::avx512_walk::pairs as avx512,
};

/// A variable of [`Pairs`].
#[derive(Debug)]
pub struct Side<'a, L> {
    /// What the codes stand for.
    pub table: &'a Table<L>,
    /// The states, slots of the table.
    pub states: &'a mut [u32; LANES],
    /// Of the multiples the first batch's, from a walk over the table; of distances any.
    pub codes: &'a mut Codes,
}

/// Batches of whole multiples and of distances from their products, by turns: see [`Multiples`].
#[derive(Debug)]
pub struct Pairs<'a, L> {
    /// Whole multiples, and room for a batch of them.
    pub whole: Side<'a, L>,
    /// Room for a batch of them.
    pub room: &'a mut [L; BATCH],
    /// What running sums make the multiples of, as [`super::Finish`] has it.
    pub moments: &'a mut [L],
    /// The float's bits.
    pub base: L,
    /// Distances.
    pub distances: Side<'a, L>,
    /// Where the bits lie.
    pub bytes: &'a [u8],
    /// Where the first multiples' offsets begin.
    pub bit: usize,
    /// Where batches may end, at most.
    pub end: usize,
    /// Where floats go: whole batches, behind each of which as many codes of multiples follow.
    pub dst: &'a mut [L],
    /// Whether memory for floats is fetched a batch ahead, as it is in no cache.
    pub fetches: bool,
}

/// What has been done of [`Pairs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairsDone {
    /// Batches of floats. The next one's multiples have been walked.
    pub batches: usize,
    /// Where these begin.
    pub bit: usize,
    /// Bits that distances took, codes and offsets.
    pub of_distances: usize,
}

impl<L: Latent> Pairs<'_, L> {
    /// Batch after batch, as far as there are bytes enough and multiples below 2^52, where that is faster in a row; `None`
    /// where it is not or too few bytes are there for one batch: then nothing has changed.
    ///
    /// # Panics
    /// Where fields are not as they say.
    #[inline]
    pub fn run(self, present: Present) -> Option<PairsDone> {
        #[cfg(target_arch = "x86_64")]
        if present.simd() == Simd::Avx512
            && Multiples::<L>::are_fast(present)
            && self.moments.len() <= shadow::MOST_SUMS
            && self.dst.len() >= BATCH
        {
            return self.with_avx512(present);
        }
        let _ = (present, Multiples::<L>::are_fast(present));
        None
    }

    #[cfg(target_arch = "x86_64")]
    fn with_avx512(self, present: Present) -> Option<PairsDone> {
        let Self { whole, room, moments, base, distances, bytes, bit, end, dst, fetches } = self;
        let tables = [whole.table, distances.table];
        let ways = tables.map(Table::ways);
        let max_offset_bits = tables.map(|table| table.max_offset_bits);
        let far = few_lowers(tables[0])?;
        let second_far = few_lowers(tables[1])?;
        let are_long = max_offset_bits.iter().any(|&bits| bits > avx512_tans::MOST)
            || tables.iter().any(|table| table.max_bits > avx512::MOST_BITS);
        if are_long {
            return None;
        }
        let windows = |i: usize| tables[i].offsets_window(BATCH) + ways[i].codes_window(BATCH);
        let window = windows(0) + windows(1);
        let at = Stream { bytes: bytes.get(bit / 8..)?, bit: bit % 8 };
        if at.bytes.len() < window {
            return None;
        }
        let begin = bit + whole.codes.offset_bits(present);
        let codes_at = Stream { bytes: bytes.get(begin / 8..)?, bit: begin % 8 };
        let (batches, _) = dst.as_chunks_mut::<BATCH>();
        let count = batches.len();
        let dst = batches.as_flattened_mut();
        let mut codes = [whole.codes, distances.codes];
        let states = [whole.states, distances.states];
        Unpack { table: tables[0], codes: codes[0], stream: at, dst: room }.check();
        let stream = codes_at;
        Walk { ways: ways[1], states: states[1], stream, n: BATCH, codes: codes[1] }.check();
        Walk { ways: ways[0], states: states[0], stream, n: BATCH, codes: codes[0] }.check();
        for (codes, ways) in codes.iter_mut().zip(ways) {
            codes.are_of(ways, BATCH);
        }
        // A byte less, as a batch's last bit may be any of it.
        let last = bytes.as_ptr().addr() + bytes.len() - window;
        let limit = bytes.as_ptr().addr() + bytes.len().min(end / 8).saturating_sub(1);
        let least = tables.map(|table| match &table.lowers {
            Lowers::Near(least) => least.widen(),
            Lowers::Far(_) => 0,
        });
        let sums = shadow::first_sums(moments).map(L::widen);
        let pairs = avx512::Pairs {
            nodes: tables.map(|table| &*table.nodes),
            states,
            codes,
            at,
            codes_at,
            far,
            second_far,
            least,
            max_offset_bits,
            sums,
            order: moments.len(),
            base: base.widen(),
            whole: room.as_mut_ptr_range().end.expose_provenance(),
            dst: dst.as_mut_ptr().expose_provenance(),
            count,
            last,
            limit,
            fetches,
        };
        // SAFETY: the set is present; all nodes, latents and lower bounds are there, as the checks have found, and
        // bytes for the first batch of both variables. Later ones begin no later than `last`, so that they end within the bytes.
        let done = unsafe { avx512::walk_pairs(pairs) };
        shadow::take_sums(moments, || done.sums.map(L::from_low));
        let bit = (done.at - bytes.as_ptr().addr()) * 8 + done.bit;
        Some(PairsDone { batches: done.batches, bit, of_distances: done.of_second })
    }
}

/// Lower bounds of a table that are far from each other, if its are; `None` where they are too many.
#[cfg(target_arch = "x86_64")]
#[expect(clippy::option_option, reason = "as told")]
fn few_lowers<L: Latent, const N: usize>(table: &Table<L>) -> Option<Option<[u64; N]>> {
    let Lowers::Far(lowers) = &table.lowers else { return Some(None) };
    let mut few = [0; N];
    let places = few.get_mut(..lowers.len())?;
    places.iter_mut().zip(lowers).for_each(|(x, lower)| *x = lower.widen());
    Some(Some(few))
}
