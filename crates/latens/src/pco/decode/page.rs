//! A page: its variables' latents joined to numbers, batch after batch.

use crate::bits::reader::BitReader;
use crate::error::{Error, Result};
use crate::number::{Latent, Number};
use crate::pco::decode::batch::{self, Next};
use crate::pco::decode::chunk::ChunkTables;
use crate::pco::decode::join::{Join, Wanted};
use crate::pco::decode::room::Room;
use crate::pco::decode::variable::VariableDecoder;
use crate::pco::layout::BATCH_N;
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::layout::mode::ModePayload;
use crate::pco::mode::float_mult;
use crate::pco::mode::variables::{Place, Secondary, Variables};
use latens_kernels::dispatch::Present;
use latens_kernels::prefetch;
use latens_kernels::tans::{self, Finish, Map, Multiples};
use std::mem;
use std::ops::Range;

/// Where the decoding of a page stands. Bits are counted from the start of the page.
#[derive(Clone, Debug)]
pub(crate) struct PageState<L> {
    left: usize,
    /// Numbers in `scratch.primary` that are decoded and not yet taken.
    ready: Range<usize>,
    delta: Option<VariableDecoder<u32>>,
    primary: Primary<VariableDecoder<L>, VariableDecoder<u32>>,
    secondary: Option<VariableDecoder<L>>,
    /// Bits of the next batch's primary codes, where these are in the scratch already.
    ahead: Option<usize>,
    /// Which of the room's codes come first.
    swapped: bool,
    spent: Spent,
    scratch: Scratch<L>,
}

/// Bits that the batches of a page took, by variable.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    pub(crate) delta: u64,
    pub(crate) primary: u64,
    pub(crate) secondary: u64,
}

/// Where the numbers of a batch go.
struct Target<'a, L> {
    place: Place<'a, L>,
    /// Up to which bit they may come from.
    end: usize,
}

/// What is left of FloatMult's join for the kernel that unpacks whole batches of secondary latents, where that
/// is faster and nothing can be wrong.
fn multiples<'a, L: Latent>(
    mode: &ModePayload<L>,
    primary: &'a [L; BATCH_N],
) -> Option<Multiples<'a, L>> {
    let present = Present::in_use();
    let ModePayload::FloatMult { base } = mode else { return None };
    let are_small = || {
        present.call(
            #[inline(always)]
            || float_mult::are_small(primary),
        )
    };
    let is_wanted = Multiples::<L>::are_fast(present) && are_small();
    is_wanted.then(|| Multiples { whole: primary, base: base.unorder() })
}

/// Room for what a batch has, as far as the chunk has such.
#[derive(Clone, Debug)]
struct Scratch<L> {
    room: Room<L>,
    lookbacks: Vec<u32>,
    indices: Vec<u32>,
}

impl<L: Latent> Scratch<L> {
    fn new(tables: &ChunkTables<L>, n: usize) -> Self {
        let room = |wanted: bool| if wanted { n.min(BATCH_N) } else { 0 };
        let is_dict = matches!(tables.primary, Primary::Indices(_));
        Self {
            room: tables.kept.room(),
            lookbacks: vec![0; room(tables.delta.is_some())],
            indices: vec![0; room(is_dict)],
        }
    }
}

impl<L: Latent> PageState<L> {
    /// Reads the metadata of a page of `n` numbers.
    pub(crate) fn read(r: &mut BitReader<'_>, tables: &ChunkTables<L>, n: usize) -> Result<Self> {
        let delta_payload = &tables.meta.delta;
        let delta = match &tables.delta {
            Some(table) => Some(VariableDecoder::read(r, table, None)?),
            None => None,
        };
        let primary = match &tables.primary {
            Primary::Latents(table) => {
                Primary::Latents(VariableDecoder::read(r, table, Some(delta_payload))?)
            }
            Primary::Indices(table) => {
                Primary::Indices(VariableDecoder::read(r, table, Some(delta_payload))?)
            }
        };
        let secondary = match &tables.secondary {
            Some(table) => {
                let delta = delta_payload.covers_secondary().then_some(delta_payload);
                Some(VariableDecoder::read(r, table, delta)?)
            }
            None => None,
        };
        r.align("the page metadata")?;
        let scratch = Scratch::new(tables, n);
        Ok(Self {
            left: n,
            ready: 0..0,
            delta,
            primary,
            secondary,
            ahead: None,
            swapped: false,
            spent: Spent::default(),
            scratch,
        })
    }

    /// Gives its room back to the chunk: it is done with.
    pub(crate) fn give_back(self, tables: &ChunkTables<L>) {
        tables.kept.keep(self.scratch.room);
    }

    /// `src` with so much behind it, whatever that is, that no batch lacks what it may look at.
    /// [`PageState::keep_copy`] takes it back.
    pub(crate) fn copy(&mut self, src: &[u8]) -> Vec<u8> {
        let mut copy = mem::take(&mut self.scratch.room.page);
        let len = src.len() + batch::LOOKAHEAD;
        if copy.len() < len {
            copy.resize(len, 0);
        }
        copy[..src.len()].copy_from_slice(src);
        copy
    }

    /// For the next page of this room.
    pub(crate) fn keep_copy(&mut self, copy: Vec<u8>) {
        self.scratch.room.page = copy;
    }

    /// Numbers not yet decoded; those that wait to be taken do not count.
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// Bits of the batches so far.
    pub(crate) fn spent(&self) -> Spent {
        self.spent
    }

    /// Numbers decoded and not yet taken.
    pub(crate) fn ready(&self) -> usize {
        self.ready.len()
    }

    /// Whether all numbers have been taken.
    pub(crate) fn is_used_up(&self) -> bool {
        self.left == 0 && self.ready.is_empty()
    }

    /// Decodes the next batch into [`PageState::take`]'s reach, which must be empty.
    pub(crate) fn next_batch(
        &mut self,
        tables: &ChunkTables<L>,
        src: &[u8],
        bit: &mut usize,
    ) -> Result<()> {
        debug_assert!(self.ready.is_empty());
        let n = self.batch(tables, Wanted::ALL, src, bit, None)?;
        self.ready = 0..n;
        Ok(())
    }

    /// Decodes the next batch to `dst`, which must have room for it, and no other be ready; how many numbers
    /// it has. Where something is wrong, and where its bits go on behind bit `end`, `dst` is as before.
    pub(crate) fn batch_into(
        &mut self,
        tables: &ChunkTables<L>,
        map: Map,
        dst: &mut [L],
        src: &[u8],
        bit: &mut usize,
        end: usize,
    ) -> Result<usize> {
        let bits = dst.get_mut(..self.left.min(BATCH_N)).unwrap_or_default();
        self.batch(tables, Wanted::ALL, src, bit, Some(Target { place: Place { map, bits }, end }))
    }

    /// Moves past the next batch and fails where [`PageState::next_batch`] would: what cannot be
    /// unsound is not decoded.
    pub(crate) fn check_batch(
        &mut self,
        tables: &ChunkTables<L>,
        src: &[u8],
        bit: &mut usize,
    ) -> Result<()> {
        self.batch(tables, Wanted::for_checks(&tables.meta.mode), src, bit, None).map(drop)
    }

    /// Decodes the next batch as far as it is wanted; how many numbers it has. Others are anything.
    fn batch(
        &mut self,
        tables: &ChunkTables<L>,
        wanted: Wanted,
        src: &[u8],
        bit: &mut usize,
        mut target: Option<Target<'_, L>>,
    ) -> Result<usize> {
        let n = self.left.min(BATCH_N);
        let payload = &tables.meta.delta;
        let Scratch { room, lookbacks, indices } = &mut self.scratch;
        let tans::Room { codes: [codes, next_codes], primary, secondary, .. } = &mut *room.batch;
        let (mut codes, mut next_codes) = (codes, next_codes);
        if self.swapped {
            mem::swap(&mut codes, &mut next_codes);
        }
        let mut stored = 0;
        let before = *bit;
        let mut ahead = self.ahead.take();
        let (left, rest) = (self.left, self.left - n);
        let lookbacks_stored =
            |n: usize, left: usize| n.min(left.saturating_sub(payload.state_n()));
        if let (Some(decoder), Some(table)) = (&mut self.delta, &tables.delta) {
            stored = lookbacks_stored(n, left);
            match ahead {
                Some(bits) => *bit += bits,
                None => batch::walk(table, decoder.slots(), src, bit, codes, stored)?,
            }
            let next = match (&mut self.primary, &tables.primary) {
                (Primary::Latents(decoder), Primary::Latents(table)) => {
                    let n = decoder.stored(n, left);
                    let finish = Finish { moments: &mut [], multiples: None, map: Map::NONE };
                    let (ways, slots) = (table.ways(), decoder.slots());
                    Some(Next { ways, slots, codes: next_codes, n, finish })
                }
                _ => None,
            };
            ahead = batch::unpack(table, src, bit, codes, &mut lookbacks[..stored], next)?;
            if ahead.is_some() {
                mem::swap(&mut codes, &mut next_codes);
                self.swapped ^= true;
            }
        }
        let after_delta = *bit;
        let lookbacks = &lookbacks[..stored];
        // A constant variable takes no bits.
        let constant = match &tables.secondary {
            Some(table) if !payload.covers_secondary() => table.constant(),
            _ => None,
        };
        let mut second = self.secondary.as_mut().zip(tables.secondary.as_ref());
        second = second.filter(|_| constant.is_none());
        let after_primary;
        let mut is_joined = false;
        match (&mut self.primary, &tables.primary) {
            (Primary::Latents(decoder), Primary::Latents(table)) => {
                // The first codes of the next batch follow this one's last offsets.
                let next_n = match tables.delta {
                    None => decoder.stored(rest.min(BATCH_N), rest),
                    Some(_) => lookbacks_stored(rest.min(BATCH_N), rest),
                };
                let first = self.delta.as_mut().zip(tables.delta.as_ref());
                let mut first = first.map(|(decoder, table)| (table.ways(), decoder.slots()));
                if wanted.primary {
                    let stored = decoder.stored(n, left);
                    match ahead {
                        Some(bits) => *bit += bits,
                        None => batch::walk(table, decoder.slots(), src, bit, codes, stored)?,
                    }
                    let (own_slots, moments, are_all) = decoder.slots_and_moments();
                    let finish = Finish { moments, multiples: None, map: Map::NONE };
                    let next = match &mut second {
                        Some((second, table)) => {
                            let n = if wanted.secondary { second.stored(n, left) } else { 0 };
                            let (ways, slots) = (table.ways(), second.slots());
                            Next { ways, slots, codes: next_codes, n, finish }
                        }
                        None => {
                            let (ways, slots) = first.take().unwrap_or((table.ways(), own_slots));
                            Next { ways, slots, codes: next_codes, n: next_n, finish }
                        }
                    };
                    ahead =
                        batch::unpack(table, src, bit, codes, &mut primary[..stored], Some(next))?;
                    let mut undone = 0;
                    if ahead.is_some() {
                        mem::swap(&mut codes, &mut next_codes);
                        self.swapped ^= true;
                        undone = if are_all { stored } else { 0 };
                    }
                    decoder.undo(lookbacks, *bit, stored - undone, &mut primary[undone..n])?;
                } else {
                    decoder.skip(table, n, left, ahead.take(), src, bit, codes)?;
                    decoder.check(lookbacks, *bit)?;
                }
                after_primary = *bit;
                if let Some((second, second_table)) = second {
                    if wanted.secondary {
                        let stored = second.stored(n, left);
                        match ahead {
                            Some(bits) => *bit += bits,
                            None => {
                                batch::walk(second_table, second.slots(), src, bit, codes, stored)?;
                            }
                        }
                        let (_, moments, are_all) = second.slots_and_moments();
                        let (ways, slots) = first.unwrap_or((table.ways(), decoder.slots()));
                        let joined = target
                            .as_mut()
                            .filter(|_| stored == n && are_all && moments.is_empty());
                        let joined = joined.and_then(|target| {
                            let multiples = multiples(&tables.meta.mode, primary)?;
                            let map = target.place.map;
                            let finish =
                                Finish { moments: &mut [], multiples: Some(multiples), map };
                            let (kernel, slots) = (second_table.walked()?, &mut *slots);
                            let codes_ahead = &mut *next_codes;
                            let next = Next { ways, slots, codes: codes_ahead, n: next_n, finish };
                            let Target { place: Place { bits, .. }, end } = target;
                            batch::unpack_beside(kernel, src, bit, *end, codes, bits, next)
                        });
                        is_joined = joined.is_some();
                        ahead = match joined {
                            Some(bits) => Some(bits),
                            None => {
                                let finish = Finish { moments, multiples: None, map: Map::NONE };
                                let codes_ahead = &mut *next_codes;
                                let next =
                                    Next { ways, slots, codes: codes_ahead, n: next_n, finish };
                                let dst = &mut secondary[..stored];
                                batch::unpack(second_table, src, bit, codes, dst, Some(next))?
                            }
                        };
                        let mut undone = 0;
                        if ahead.is_some() {
                            mem::swap(&mut codes, &mut next_codes);
                            self.swapped ^= true;
                            undone = if are_all { stored } else { 0 };
                        }
                        if !is_joined {
                            let rest = &mut secondary[undone..n];
                            second.undo(lookbacks, *bit, stored - undone, rest)?;
                        }
                    } else {
                        second.skip(second_table, n, left, ahead.take(), src, bit, codes)?;
                        second.check(lookbacks, *bit)?;
                    }
                }
                self.ahead = ahead;
            }
            (Primary::Indices(decoder), Primary::Indices(table)) => {
                let dst = &mut indices[..n];
                decoder.decode(table, lookbacks, left, src, bit, codes, dst)?;
                after_primary = *bit;
            }
            _ => return Err(Error::invalid("a page decoded with another chunk's tables")),
        }
        self.spent.delta += (after_delta - before) as u64;
        self.spent.primary += (after_primary - after_delta) as u64;
        self.spent.secondary += (*bit - after_primary) as u64;
        let mode = &tables.meta.mode;
        let (indices, primary) = (indices.get(..n).unwrap_or_default(), &mut primary[..n]);
        let secondary = match constant {
            Some(latent) => Secondary::Constant(latent),
            None => Secondary::Latents(secondary.get(..n).unwrap_or_default()),
        };
        if !is_joined {
            let place = target.filter(|target| *bit <= target.end).map(|target| target.place);
            let variables = Variables { primary, secondary, place };
            let join = Join { mode, indices, variables, values: wanted.values };
            Present::in_use().run(join).map_err(|what| Error::corrupt(*bit as u64 / 8, what))?;
        }
        self.left -= n;
        Ok(n)
    }

    /// Whether the codes of the next batch have been read beside the last one.
    #[inline]
    pub(crate) fn is_walked_ahead(&self) -> bool {
        self.ahead.is_some()
    }

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
            let next = Next { ways: table.ways(), slots, codes: next_codes, n, finish };
            let mut at = *bit + ahead;
            self.ahead = batch::unpack_beside(kernel, src, &mut at, end, codes, place, next);
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
        filled
    }

    /// Moves past the next batch and decodes nothing: where a page ends is known only so.
    pub(crate) fn skip_batch(
        &mut self,
        tables: &ChunkTables<L>,
        src: &[u8],
        bit: &mut usize,
    ) -> Result<()> {
        let (left, n) = (self.left, self.left.min(BATCH_N));
        let (codes, mut ahead) =
            (&mut self.scratch.room.batch.codes[usize::from(self.swapped)], self.ahead.take());
        if let (Some(decoder), Some(table)) = (&mut self.delta, &tables.delta) {
            let stored = n.min(left.saturating_sub(tables.meta.delta.state_n()));
            decoder.skip(table, stored, left, ahead.take(), src, bit, codes)?;
        }
        match (&mut self.primary, &tables.primary) {
            (Primary::Latents(decoder), Primary::Latents(table)) => {
                decoder.skip(table, n, left, ahead, src, bit, codes)?;
            }
            (Primary::Indices(decoder), Primary::Indices(table)) => {
                decoder.skip(table, n, left, None, src, bit, codes)?;
            }
            _ => return Err(Error::invalid("a page read with another chunk's tables")),
        }
        if let (Some(decoder), Some(table)) = (&mut self.secondary, &tables.secondary) {
            decoder.skip(table, n, left, None, src, bit, codes)?;
        }
        self.left -= n;
        Ok(())
    }

    /// Moves decoded numbers to the front of `dst`; how many, 0 when a batch must be decoded first.
    pub(crate) fn take<T: Number<L = L>>(&mut self, dst: &mut [T]) -> usize {
        let n = self.ready.len().min(dst.len());
        let from = self.ready.start;
        let latents = &self.scratch.room.batch.primary[from..from + n];
        let bits = T::bits_mut(&mut dst[..n]);
        fill(Place { map: T::MAP, bits }, latents);
        self.ready.start += n;
        // While the next batch is decoded.
        let behind = &mut dst[n..];
        let next = behind.len().min(self.left.min(BATCH_N));
        prefetch::to_write(Present::in_use(), &mut behind[..next]);
        n
    }
}

/// [`Place::fill`].
fn fill<L: Latent>(place: Place<'_, L>, latents: &[L]) {
    Present::in_use().call(
        #[inline(always)]
        || place.fill(latents),
    );
}
