//! Batches one after the other to the caller's memory, whole ones above all.

use super::{PageState, Target, fill};
use crate::error::{Error, Result};
use crate::number::Latent;
use crate::pco::decode::batch::{self, LOOKAHEAD, Next};
use crate::pco::decode::chunk::{Alone, ChunkTables};
use crate::pco::decode::join::{Join, Wanted};
use crate::pco::layout::BATCH_N;
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::mode::variables::{Place, Secondary, Variables};
use latens_kernels::dispatch::Present;
use latens_kernels::prefetch;
use latens_kernels::tans::{self, Finish, Map};
use std::mem;

/// Numbers of pages whose place is in the caches, as a rule: to fetch what is there costs more than it saves.
pub(super) const SHORT: usize = 4 * BATCH_N;

/// Where numbers come from.
pub(super) struct From<'a> {
    pub(super) src: &'a [u8],
    /// Where it stands.
    pub(super) bit: &'a mut usize,
    /// Up to which bit.
    pub(super) end: usize,
}

impl<L: Latent> PageState<L> {
    /// Decodes whole batches straight to `dst`, and the last one of the page, for as long as there are bytes enough
    /// at hand and numbers come from before bit `end`; how many numbers, and what is wrong behind them. `map` makes
    /// numbers of ordered latents.
    pub(crate) fn batches_into(
        &mut self,
        tables: &ChunkTables<L>,
        map: Map,
        dst: &mut [L],
        src: &[u8],
        bit: &mut usize,
        end: usize,
    ) -> (usize, Result<()>) {
        if !self.ready.is_empty() {
            return (0, Ok(()));
        }
        let prefetch = dst.len() > SHORT;
        let mut filled = 0;
        let mut from = From { src, bit, end };
        if let Some(alone) = tables.alone() {
            let result;
            (filled, result) = self.alone_into(tables, &alone, Place { map, bits: dst }, &mut from);
            if filled == dst.len() || self.left == 0 || result.is_err() {
                return (filled, result);
            }
        }
        let place = Place { map, bits: &mut dst[filled..] };
        filled += self.pairs_into(tables, place, &mut from);
        let place = Place { map, bits: &mut dst[filled..] };
        let (n, result) = self.both_into(tables, place, &mut from);
        filled += n;
        if result.is_err() {
            return (filled, result);
        }
        let From { bit, .. } = from;
        while self.left >= BATCH_N
            && src.len().saturating_sub(*bit / 8) >= LOOKAHEAD
            && let Some((now, behind)) = dst[filled..].split_first_chunk_mut::<BATCH_N>()
        {
            if prefetch {
                let n = behind.len().min(BATCH_N).min(self.left - BATCH_N);
                prefetch::to_write(Present::in_use(), behind.get_mut(..n).unwrap_or_default());
            }
            let target = Target { place: Place { map, bits: now }, end };
            match self.batch(tables, Wanted::ALL, src, bit, Some(target)) {
                Ok(_) if *bit <= end => filled += BATCH_N,
                result => return (filled, result.map(drop)),
            }
        }
        (filled, Ok(()))
    }

    /// Those of numbers that primary latents make alone.
    fn alone_into(
        &mut self,
        tables: &ChunkTables<L>,
        alone: &Alone<L>,
        Place { map, bits: dst }: Place<'_, L>,
        from: &mut From<'_>,
    ) -> (usize, Result<()>) {
        let mut filled = match alone {
            Alone::Latents => self.rows_into(tables, Place { map, bits: &mut *dst }, from),
            Alone::JoinedWith(_) => {
                self.first_codes(tables, dst.len(), from.src, *from.bit);
                0
            }
        };
        let (src, end, bit) = (from.src, from.end, &mut *from.bit);
        let (Primary::Latents(decoder), Primary::Latents(table)) =
            (&mut self.primary, &tables.primary)
        else {
            return (0, Ok(()));
        };
        let Some(kernel) = table.kernel() else { return (0, Ok(())) };
        let tans::Room { codes: [even, odd], primary, .. } = &mut *self.scratch.room.batch;
        let (mut codes, mut next_codes) = if self.swapped { (odd, even) } else { (even, odd) };
        let prefetch = dst.len() > SHORT;
        while let Some(ahead) = self.ahead
            && decoder.stored(BATCH_N, self.left) == BATCH_N
            && let Some((now, behind)) = dst[filled..].split_first_chunk_mut::<BATCH_N>()
        {
            let rest = self.left - BATCH_N;
            let n = decoder.stored(rest.min(BATCH_N), rest);
            if prefetch {
                prefetch::to_write(Present::in_use(), behind.get_mut(..n).unwrap_or_default());
            }
            let (slots, moments, are_all) = decoder.slots_and_moments();
            let mut finish = Finish { moments, multiples: None, map };
            // Passes over latents want these aligned.
            let straight = are_all
                && matches!(alone, Alone::Latents)
                && finish.is_done_beside(Present::in_use());
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
            if !are_all && let Err(e) = decoder.undo(&[], at, BATCH_N, primary) {
                self.ahead = None;
                return (filled, Err(e));
            }
            match alone {
                Alone::Latents if straight => {}
                Alone::Latents => fill_whole(map, now, primary),
                Alone::JoinedWith(latent) => {
                    let place = Place { map, bits: now };
                    if let Err(e) = join(tables, *latent, primary, place, at) {
                        self.ahead = None;
                        return (filled, Err(e));
                    }
                }
            }
            self.spent.primary += (at - *bit) as u64;
            *bit = at;
            mem::swap(&mut codes, &mut next_codes);
            self.swapped ^= true;
            self.left = rest;
            filled += BATCH_N;
        }
        let place = Place { map, bits: &mut dst[filled..] };
        let (n, result) = self.last_alone_into(tables, alone, place, from);
        (filled + n, result)
    }

    /// The page's last batch where its codes have been read, the same way.
    #[inline]
    fn last_alone_into(
        &mut self,
        tables: &ChunkTables<L>,
        alone: &Alone<L>,
        Place { map, bits: dst }: Place<'_, L>,
        from: &mut From<'_>,
    ) -> (usize, Result<()>) {
        let (src, end, bit) = (from.src, from.end, &mut *from.bit);
        let n = self.left;
        let (Some(ahead), Some(dst), true) = (self.ahead, dst.get_mut(..n), n <= BATCH_N) else {
            return (0, Ok(()));
        };
        let (Primary::Latents(decoder), Primary::Latents(table)) =
            (&mut self.primary, &tables.primary)
        else {
            return (0, Ok(()));
        };
        let tans::Room { codes: [even, odd], primary, .. } = &mut *self.scratch.room.batch;
        let codes = if self.swapped { odd } else { even };
        let (stored, mut at) = (decoder.stored(n, n), *bit + ahead);
        let latents = &mut primary[..n];
        // Its errors are told by the way for any batch, from the same state.
        let read = batch::unpack(table, src, &mut at, codes, &mut latents[..stored], None);
        if read.is_err() || at > end || decoder.undo(&[], at, stored, latents).is_err() {
            return (0, Ok(()));
        }
        self.ahead = None;
        let place = Place { map, bits: dst };
        match alone {
            Alone::Latents => fill(place, latents),
            Alone::JoinedWith(latent) => {
                if let Err(e) = join(tables, *latent, latents, place, at) {
                    return (0, Err(e));
                }
            }
        }
        self.spent.primary += (at - *bit) as u64;
        *bit = at;
        self.left = 0;
        (n, Ok(()))
    }
}

/// [`fill`] for a whole batch, which is compiled for its length.
fn fill_whole<L: Latent>(map: Map, bits: &mut [L; BATCH_N], latents: &[L; BATCH_N]) {
    Present::in_use().call(
        #[inline(always)]
        || Place { map, bits }.fill(latents),
    );
}

/// Joins primary latents, which end at bit `at`, all of them with the same one.
fn join<L: Latent>(
    tables: &ChunkTables<L>,
    latent: L,
    primary: &mut [L],
    place: Place<'_, L>,
    at: usize,
) -> Result<()> {
    let secondary = Secondary::Constant(latent);
    let variables = Variables { primary, secondary, place: Some(place) };
    let join = Join { tables, indices: &[], variables, values: true };
    Present::in_use().run(join).map_err(|what| Error::corrupt(at as u64 / 8, what))
}
