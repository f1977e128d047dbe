//! Batches in a row: each one's latents beside the walk over the codes of the next.

use super::codes::Codes;
use super::stream::{BATCH, LANES};
use super::table::Table;
use super::{Finish, Latent};
use crate::dispatch::{Present, Simd};
#[cfg(target_arch = "x86_64")]
use {
    super::stream::{Stream, WIDE_SLACK},
    super::{Unpack, Walk, shadow},
    crate::x86_64::avx512_tans,
    crate::x86_64::avx512_walk,
};

/// Batches of one table, whose codes and offsets come by turns.
#[derive(Debug)]
pub struct Row<'a, L> {
    /// What the codes stand for.
    pub table: &'a Table<L>,
    /// The states, slots of the table.
    pub states: &'a mut [u32; LANES],
    /// The first batch's, from a walk over the same table, and others.
    pub codes: [&'a mut Codes; 2],
    /// Where the bits lie.
    pub bytes: &'a [u8],
    /// Where the first batch's offsets begin.
    pub bit: usize,
    /// Where offsets may end, at most.
    pub end: usize,
    /// Where to: whole batches, behind each of which as many codes follow.
    pub dst: &'a mut [L],
    /// What becomes of all latents.
    pub finish: Finish<'a, L>,
    /// Whether memory for latents is fetched a batch ahead, as it is in no cache.
    pub fetches: bool,
}

/// What has been done of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// Batches that have been unpacked. The codes of the one behind them have been walked, and come first where this is
    /// even.
    pub batches: usize,
    /// Where that one's offsets begin.
    pub bit: usize,
}

impl<L: Latent> Table<L> {
    /// Whether [`Row::run`] may do anything.
    #[inline]
    pub fn is_fast_in_row(&self, present: Present) -> bool {
        self.quiet.is_some() || (present.simd() == Simd::Avx512 && self.is_fast_at_once(present))
    }
}

impl<L: Latent> Row<'_, L> {
    /// [`super::walk_and_unpack`] over and over, as far as there are bytes enough, where that is faster in a row;
    /// `None` where it is not, or there are too few bytes for one batch: then nothing has changed.
    ///
    /// # Panics
    /// Where fields are not as they say.
    #[inline]
    pub fn run(self, present: Present) -> Option<Done> {
        if let Some(quiet) = &self.table.quiet
            && self.finish.multiples.is_none()
            && self.dst.len() >= BATCH
        {
            return self.quiet(present, quiet);
        }
        #[cfg(target_arch = "x86_64")]
        if self.table.is_fast_in_row(present)
            && self.finish.multiples.is_none()
            && self.finish.is_done_beside(present)
            && self.dst.len() >= BATCH
        {
            return self.with_avx512(present);
        }
        None
    }

    #[cfg(target_arch = "x86_64")]
    fn with_avx512(self, present: Present) -> Option<Done> {
        let Self { table, states, codes: [visited, codes], bytes, bit, end, dst, finish, fetches } =
            self;
        let ways = table.ways();
        // What is looked at from the byte on that codes begin in; offsets end in it or before.
        let window = ways.codes_window(BATCH).max(WIDE_SLACK + 1);
        let first = bit + visited.offset_bits(present);
        let stream = Stream { bytes: bytes.get(bit / 8..)?, bit: bit % 8 };
        let next = Stream { bytes: bytes.get(first / 8..)?, bit: first % 8 };
        let are_enough = stream.bytes.len() >= table.offsets_window(BATCH);
        if !are_enough || next.bytes.len() < window || first > end {
            return None;
        }
        let (batches, _) = dst.as_chunks_mut::<BATCH>();
        let count = batches.len();
        let dst = batches.as_flattened_mut();
        Unpack { table, codes: visited, stream, dst: &mut dst[..BATCH] }.check();
        Walk { ways, states, stream: next, n: BATCH, codes }.check();
        for codes in [&mut *visited, &mut *codes] {
            codes.are_of(ways, BATCH);
        }
        let shadow = shadow::Shadow {
            lowers: &table.lowers,
            stream,
            dst,
            max_offset_bits: table.max_offset_bits,
            moments: finish.moments,
            multiples: None,
            map: finish.map,
        };
        // A byte less, as an offset's last bit may be any of it.
        let last = (bytes.len() - window).min((end / 8).saturating_sub(1));
        let row = shadow::Row { count, last: bytes.as_ptr().addr() + last, fetches };
        let ways = (&*table.nodes, table.max_bits);
        // SAFETY: the set is present; all nodes, latents and lower bounds are there, as the checks have found, and
        // bytes for the first batch. Later codes begin no later than `last`, so that a batch of them ends within the
        // bytes, and so do the offsets before them.
        let (batches, bits) =
            unsafe { avx512_walk::walk_row(ways, states, &next, codes, visited, shadow, &row) };
        debug_assert!(table.max_offset_bits <= avx512_tans::MOST);
        Some(Done { batches, bit: first + bits })
    }
}
