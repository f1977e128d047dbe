//! A batch, variable by variable.

use super::walked::Walked;
use super::{PageState, Scratch, Target};
use crate::error::{Error, Result};
use crate::number::Latent;
use crate::pco::decode::batch::Next;
use crate::pco::decode::chunk::ChunkTables;
use crate::pco::decode::join::{Join, Wanted};
use crate::pco::decode::table::Table;
use crate::pco::decode::variable::VariableDecoder;
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::layout::mode::ModePayload;
use crate::pco::layout::{BATCH_N, LANES};
use crate::pco::mode::float_mult;
use crate::pco::mode::variables::{Secondary, Variables};
use latens_kernels::dispatch::Present;
use latens_kernels::tans::{self, Finish, Map, Multiples, Ways};

/// A latent variable of the page.
struct Variable<'a, L> {
    decoder: &'a mut VariableDecoder<L>,
    table: &'a Table<L>,
}

impl<'a, L: Latent> Variable<'a, L> {
    fn of(
        decoder: &'a mut Option<VariableDecoder<L>>,
        table: &'a Option<Table<L>>,
    ) -> Option<Self> {
        Some(Self { decoder: decoder.as_mut()?, table: table.as_ref()? })
    }

    /// What a walk over its codes takes.
    #[inline(always)]
    fn way(self) -> Way<'a> {
        (self.table.ways(), self.decoder.slots())
    }
}

type Way<'a> = (Option<Ways<'a>>, &'a mut [u32; LANES]);

/// What is the same for all variables of a batch.
#[derive(Clone, Copy)]
struct Step<'a, L> {
    tables: &'a ChunkTables<L>,
    wanted: Wanted,
    /// Numbers of the batch, and of the page from it on.
    n: usize,
    left: usize,
    lookbacks: &'a [u32],
}

impl<L: Latent> PageState<L> {
    /// Decodes the next batch as far as it is wanted; how many numbers it has. Others are anything.
    pub(super) fn batch(
        &mut self,
        tables: &ChunkTables<L>,
        wanted: Wanted,
        src: &[u8],
        bit: &mut usize,
        mut target: Option<Target<'_, L>>,
    ) -> Result<usize> {
        let (left, n) = (self.left, self.left.min(BATCH_N));
        let mut step = Step { tables, wanted, n, left, lookbacks: &[] };
        let Scratch { room, lookbacks, indices } = &mut self.scratch;
        let tans::Room { codes, primary, secondary, .. } = &mut *room.batch;
        let before = *bit;
        let mut walked = Walked::new(src, bit, codes, &mut self.swapped, self.ahead.take());
        if let Some(delta) = Variable::of(&mut self.delta, &tables.delta) {
            let lookbacks = &mut lookbacks[..step.stored(n, left)];
            let first = match (&mut self.primary, &tables.primary) {
                (Primary::Latents(decoder), Primary::Latents(table)) => {
                    Some(Variable { decoder, table })
                }
                _ => None,
            };
            step.lookbacks(delta, first, &mut walked, lookbacks)?;
            step.lookbacks = lookbacks;
        }
        let after_delta = *walked.bit;
        let constant = tables.constant();
        let after_primary;
        let mut is_joined = false;
        match (&mut self.primary, &tables.primary) {
            (Primary::Latents(decoder), Primary::Latents(table)) => {
                let mut second = Variable::of(&mut self.secondary, &tables.secondary);
                second = second.filter(|_| constant.is_none());
                let next = match &mut second {
                    Some(Variable { decoder, table }) => {
                        let n = if wanted.secondary { decoder.stored(n, left) } else { 0 };
                        Some(((table.ways(), decoder.slots()), n))
                    }
                    None => Variable::of(&mut self.delta, &tables.delta)
                        .map(|delta| (delta.way(), step.next_stored())),
                };
                let first = Variable { decoder: &mut *decoder, table };
                step.primary(first, next, &mut walked, primary)?;
                after_primary = *walked.bit;
                if let Some(second) = second {
                    let next = match Variable::of(&mut self.delta, &tables.delta) {
                        Some(delta) => delta.way(),
                        None => (table.ways(), decoder.slots()),
                    };
                    let latents = [&mut *primary, &mut *secondary];
                    is_joined =
                        step.secondary(second, next, &mut walked, latents, target.as_mut())?;
                }
                self.ahead = walked.take_ahead();
            }
            (Primary::Indices(decoder), Primary::Indices(table)) => {
                let (dst, codes) = (&mut indices[..n], &mut *walked.codes);
                decoder.decode(table, step.lookbacks, left, src, walked.bit, codes, dst)?;
                after_primary = *walked.bit;
            }
            _ => return Err(Error::invalid("a page decoded with another chunk's tables")),
        }
        self.spent.delta += (after_delta - before) as u64;
        self.spent.primary += (after_primary - after_delta) as u64;
        self.spent.secondary += (*walked.bit - after_primary) as u64;
        if !is_joined {
            let end = *walked.bit;
            let (indices, primary) = (indices.get(..n).unwrap_or_default(), &mut primary[..n]);
            let secondary = match constant {
                Some(latent) => Secondary::Constant(latent),
                None => Secondary::Latents(secondary.get(..n).unwrap_or_default()),
            };
            let place = target.filter(|target| end <= target.end).map(|target| target.place);
            let variables = Variables { primary, secondary, place };
            let join = Join { tables, indices, variables, values: wanted.values };
            Present::in_use().run(join).map_err(|what| Error::corrupt(end as u64 / 8, what))?;
        }
        self.left -= n;
        Ok(n)
    }
}

impl<L: Latent> Step<'_, L> {
    /// How many of `n` latents with deltas are stored when `left` numbers remain in the page.
    #[inline(always)]
    fn stored(&self, n: usize, left: usize) -> usize {
        n.min(left.saturating_sub(self.tables.meta.delta.state_n()))
    }

    /// The same of the next batch.
    #[inline(always)]
    fn next_stored(&self) -> usize {
        let rest = self.left - self.n;
        self.stored(rest.min(BATCH_N), rest)
    }

    /// All lookbacks that are stored, and beside them the codes of primary latents.
    #[inline(always)]
    fn lookbacks(
        &self,
        Variable { decoder, table }: Variable<'_, u32>,
        primary: Option<Variable<'_, L>>,
        walked: &mut Walked<'_>,
        dst: &mut [u32],
    ) -> Result<()> {
        walked.walk(table, decoder.slots(), dst.len())?;
        let next = primary.map(|primary| {
            let n = primary.decoder.stored(self.n, self.left);
            let finish = Finish { moments: &mut [], multiples: None, map: Map::NONE };
            let (ways, slots) = primary.way();
            Next { ways, slots, n, finish }
        });
        walked.unpack(table, dst, next)?;
        Ok(())
    }

    /// Primary latents, and beside them so many codes of the `next` variable: without one, of the next batch.
    #[inline(always)]
    fn primary(
        &self,
        Variable { decoder, table }: Variable<'_, L>,
        next: Option<(Way<'_>, usize)>,
        walked: &mut Walked<'_>,
        dst: &mut [L],
    ) -> Result<()> {
        if !self.wanted.primary {
            return self.skip(decoder, table, walked);
        }
        let stored = decoder.stored(self.n, self.left);
        walked.walk(table, decoder.slots(), stored)?;
        let (own_slots, moments, are_all) = decoder.slots_and_moments();
        let ((ways, slots), n) =
            next.unwrap_or_else(|| ((table.ways(), own_slots), self.next_stored()));
        let finish = Finish { moments, multiples: None, map: Map::NONE };
        let next = Next { ways, slots, n, finish };
        let is_beside = walked.unpack(table, &mut dst[..stored], Some(next))?;
        let undone = if is_beside && are_all { stored } else { 0 };
        decoder.undo(self.lookbacks, *walked.bit, stored - undone, &mut dst[undone..self.n])
    }

    /// Secondary latents, and beside them the next batch's first codes, which go the `next` way. Joined with the
    /// primary ones at once where that can be; whether it has been.
    #[inline(always)]
    fn secondary(
        &self,
        Variable { decoder, table }: Variable<'_, L>,
        next: Way<'_>,
        walked: &mut Walked<'_>,
        [primary, dst]: [&mut [L; BATCH_N]; 2],
        target: Option<&mut Target<'_, L>>,
    ) -> Result<bool> {
        if !self.wanted.secondary {
            self.skip(decoder, table, walked)?;
            return Ok(false);
        }
        let stored = decoder.stored(self.n, self.left);
        walked.walk(table, decoder.slots(), stored)?;
        let (_, moments, are_all) = decoder.slots_and_moments();
        let ((ways, slots), n) = (next, self.next_stored());
        if let Some(Target { place, end }) = target
            && stored == self.n
            && are_all
            && moments.is_empty()
            && let Some(multiples) = multiples(&self.tables.meta.mode, primary)
            && let Some(kernel) = table.walked()
        {
            let finish = Finish { moments: &mut [], multiples: Some(multiples), map: place.map };
            let next = Next { ways, slots: &mut *slots, n, finish };
            if walked.unpack_beside(kernel, *end, place.bits, next) {
                return Ok(true);
            }
        }
        let finish = Finish { moments, multiples: None, map: Map::NONE };
        let next = Next { ways, slots, n, finish };
        let is_beside = walked.unpack(table, &mut dst[..stored], Some(next))?;
        let undone = if is_beside && are_all { stored } else { 0 };
        decoder.undo(self.lookbacks, *walked.bit, stored - undone, &mut dst[undone..self.n])?;
        Ok(false)
    }

    /// Moves past latents that are not wanted.
    fn skip(
        &self,
        decoder: &mut VariableDecoder<L>,
        table: &Table<L>,
        walked: &mut Walked<'_>,
    ) -> Result<()> {
        let ahead = walked.take_ahead();
        let Walked { src, bit, codes, .. } = walked;
        decoder.skip(table, self.n, self.left, ahead, src, bit, codes)?;
        decoder.check(self.lookbacks, **bit)
    }
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
