//! Whole batches whose latents are the numbers, one after the other to the caller's memory.

use super::{PageState, fill};
use crate::number::Latent;
use crate::pco::decode::batch::{self, Next};
use crate::pco::decode::chunk::ChunkTables;
use crate::pco::layout::BATCH_N;
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::mode::variables::Place;
use latens_kernels::dispatch::Present;
use latens_kernels::prefetch;
use latens_kernels::tans::{self, Finish, Map};
use std::mem;

impl<L: Latent> PageState<L> {
    /// Decodes whole batches straight to `dst` for as long as nothing can be wrong with them and their
    /// offsets end before bit `end`; how many numbers. `map` makes numbers of ordered latents.
    pub(crate) fn batches_into(
        &mut self,
        tables: &ChunkTables<L>,
        map: Map,
        dst: &mut [L],
        src: &[u8],
        bit: &mut usize,
        end: usize,
    ) -> usize {
        let (Primary::Latents(decoder), Primary::Latents(table)) =
            (&mut self.primary, &tables.primary)
        else {
            return 0;
        };
        let Some(kernel) = table.kernel() else { return 0 };
        if !tables.goes_straight() || !self.ready.is_empty() {
            return 0;
        }
        let tans::Room { codes: [even, odd], primary, .. } = &mut *self.scratch.room.batch;
        let (mut codes, mut next_codes) = if self.swapped { (odd, even) } else { (even, odd) };
        if self.ahead.is_none()
            && decoder.stored(BATCH_N, self.left) == BATCH_N
            && dst.len() >= BATCH_N
        {
            let (ways, slots) = (table.ways(), decoder.slots());
            self.ahead = batch::walk_whole(kernel, ways, slots, src, *bit, codes);
        }
        let mut filled = 0;
        while let Some(ahead) = self.ahead
            && decoder.stored(BATCH_N, self.left) == BATCH_N
            && let Some((now, behind)) = dst[filled..].split_first_chunk_mut::<BATCH_N>()
        {
            let rest = self.left - BATCH_N;
            let n = decoder.stored(rest.min(BATCH_N), rest);
            prefetch::to_write(Present::in_use(), behind.get_mut(..n).unwrap_or_default());
            let (slots, moments, true) = decoder.slots_and_moments() else { break };
            let mut finish = Finish { moments, multiples: None, map };
            // Passes over latents want these aligned.
            let straight = finish.is_done_beside(Present::in_use());
            let place = if straight { &mut *now } else { &mut *primary };
            if !straight {
                finish.map = Map::NONE;
            }
            let next = Next { ways: table.ways(), slots, n, finish };
            let mut at = *bit + ahead;
            self.ahead = batch::unpack_beside(
                kernel,
                src,
                &mut at,
                end,
                codes,
                place,
                (next, &mut *next_codes),
            );
            if self.ahead.is_none() {
                self.ahead = Some(ahead);
                break;
            }
            if !straight {
                fill(Place { map, bits: now }, primary);
            }
            self.spent.primary += (at - *bit) as u64;
            *bit = at;
            mem::swap(&mut codes, &mut next_codes);
            self.swapped ^= true;
            self.left = rest;
            filled += BATCH_N;
        }
        filled + self.last_batch_into(tables, map, &mut dst[filled..], src, bit, end)
    }

    /// The page's last batch where its codes have been read, the same way; how many numbers.
    #[inline]
    fn last_batch_into(
        &mut self,
        tables: &ChunkTables<L>,
        map: Map,
        dst: &mut [L],
        src: &[u8],
        bit: &mut usize,
        end: usize,
    ) -> usize {
        let n = self.left;
        let (Some(ahead), Some(dst), true) = (self.ahead, dst.get_mut(..n), n <= BATCH_N) else {
            return 0;
        };
        let (Primary::Latents(decoder), Primary::Latents(table)) =
            (&mut self.primary, &tables.primary)
        else {
            return 0;
        };
        let tans::Room { codes: [even, odd], primary, .. } = &mut *self.scratch.room.batch;
        let codes = if self.swapped { odd } else { even };
        let (stored, mut at) = (decoder.stored(n, n), *bit + ahead);
        let latents = &mut primary[..n];
        // Errors are told by the way for any batch, from the same state.
        let read = batch::unpack(table, src, &mut at, codes, &mut latents[..stored], None);
        if read.is_err() || at > end || decoder.undo(&[], at, stored, latents).is_err() {
            return 0;
        }
        fill(Place { map, bits: dst }, latents);
        self.spent.primary += (at - *bit) as u64;
        *bit = at;
        (self.ahead, self.left) = (None, 0);
        n
    }
}
