//! Whole batches of two variables by kernels that come back behind many of them.

use super::PageState;
use super::straight::{From, SHORT};
use crate::number::Latent;
use crate::pco::decode::batch;
use crate::pco::decode::chunk::ChunkTables;
use crate::pco::layout::BATCH_N;
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::layout::mode::ModePayload;
use crate::pco::mode::variables::Place;
use latens_kernels::dispatch::Present;
use latens_kernels::tans::{self, Map, Multiples, Pairs, Side};

impl<L: Latent> PageState<L> {
    /// Reads the page's first codes if that is to be done, and decodes what it can of whole batches of small multiples and
    /// distances that have codes behind them; how many numbers.
    #[inline(never)]
    pub(super) fn pairs_into(
        &mut self,
        tables: &ChunkTables<L>,
        place: Place<'_, L>,
        from: &mut From<'_>,
    ) -> usize {
        let present = Present::in_use();
        let Place { map: Map::Float, bits: dst } = place else { return 0 };
        let ModePayload::FloatMult { base } = &tables.meta.mode else { return 0 };
        if !Multiples::<L>::are_fast(present)
            || self.delta.is_some()
            || !self.first_codes(tables, dst.len(), from.src, *from.bit)
        {
            return 0;
        }
        let (Primary::Latents(first), Primary::Latents(first_table)) =
            (&mut self.primary, &tables.primary)
        else {
            return 0;
        };
        let (Some(second), Some(second_table)) = (&mut self.secondary, &tables.secondary) else {
            return 0;
        };
        let (Some(first_table), Some(second_table)) = (first_table.walked(), second_table.walked())
        else {
            return 0;
        };
        let batches = batch::followed(first.stored(usize::MAX, self.left));
        let n = batches.min(dst.len() / BATCH_N) * BATCH_N;
        if n == 0 {
            return 0;
        }
        let tans::Room { codes: [even, odd], primary: room, .. } = &mut *self.scratch.room.batch;
        let (codes, others) = if self.swapped { (odd, even) } else { (even, odd) };
        let Some(ahead) = self.ahead else { return 0 };
        let (states, moments, true) = first.slots_and_moments() else { return 0 };
        let (second_states, [], true) = second.slots_and_moments() else { return 0 };
        let pairs = Pairs {
            whole: Side { table: first_table, states, codes: &mut *codes },
            room,
            moments,
            base: base.unorder(),
            distances: Side { table: second_table, states: second_states, codes: others },
            bytes: from.src,
            bit: *from.bit + ahead,
            end: from.end,
            fetches: dst.len() > SHORT,
            dst: &mut dst[..n],
        };
        let Some(done) = pairs.run(present) else { return 0 };
        self.left -= done.batches * BATCH_N;
        let at = done.bit - codes.cut_to(first.stored(BATCH_N, self.left));
        self.spent.primary += (at - *from.bit - done.of_distances) as u64;
        self.spent.secondary += done.of_distances as u64;
        // Behind the codes that have been read ahead.
        (*from.bit, self.ahead) = (at, Some(0));
        done.batches * BATCH_N
    }
}
