//! Whole batches by kernels that come back behind many of them.

use super::PageState;
use super::straight::SHORT;
use crate::number::Latent;
use crate::pco::decode::batch;
use crate::pco::decode::chunk::{Alone, ChunkTables};
use crate::pco::layout::BATCH_N;
use crate::pco::layout::chunk_meta::Primary;
use latens_kernels::dispatch::Present;
use latens_kernels::tans::{self, Finish, Map, Row};
use std::mem;

impl<L: Latent> PageState<L> {
    /// Reads the page's first codes if that is to be done, and decodes what it can of whole batches that have
    /// codes behind them and whose latents are the numbers'; how many.
    #[expect(clippy::too_many_arguments, reason = "what is made of what, from where, to where")]
    pub(super) fn rows_into(
        &mut self,
        tables: &ChunkTables<L>,
        alone: &Alone<L>,
        map: Map,
        dst: &mut [L],
        src: &[u8],
        bit: &mut usize,
        end: usize,
    ) -> usize {
        let present = Present::in_use();
        let (Primary::Latents(decoder), Primary::Latents(table)) =
            (&mut self.primary, &tables.primary)
        else {
            return 0;
        };
        let Some(kernel) = table.kernel() else { return 0 };
        let tans::Room { codes: [even, odd], .. } = &mut *self.scratch.room.batch;
        let (mut codes, mut next_codes) = if self.swapped { (odd, even) } else { (even, odd) };
        if self.ahead.is_none()
            && decoder.stored(BATCH_N, self.left) == BATCH_N
            && dst.len() >= BATCH_N
        {
            let (ways, slots) = (table.ways(), decoder.slots());
            self.ahead = batch::walk_whole(kernel, ways, slots, src, *bit, codes);
        }
        let mut filled = 0;
        if !matches!(alone, Alone::Latents) || !kernel.is_fast_in_row(present) {
            return filled;
        }
        let fetches = dst.len() > SHORT;
        while let Some(ahead) = self.ahead {
            let batches = batch::followed(decoder.stored(usize::MAX, self.left));
            let n = batches.min((dst.len() - filled) / BATCH_N) * BATCH_N;
            let (slots, moments, true) = decoder.slots_and_moments() else { break };
            if n == 0 {
                break;
            }
            let row = Row {
                table: kernel,
                states: slots,
                codes: [&mut *codes, &mut *next_codes],
                bytes: src,
                bit: *bit + ahead,
                end,
                dst: &mut dst[filled..filled + n],
                finish: Finish { moments, multiples: None, map },
                fetches,
            };
            let Some(done) = row.run(present) else { break };
            let n = done.batches * BATCH_N;
            filled += n;
            if done.batches % 2 == 1 {
                mem::swap(&mut codes, &mut next_codes);
                self.swapped ^= true;
            }
            self.left -= n;
            let at = done.bit - codes.cut_to(decoder.stored(BATCH_N, self.left));
            self.spent.primary += (at - *bit) as u64;
            // Behind the codes that have been read ahead.
            (*bit, self.ahead) = (at, Some(0));
        }
        filled
    }
}
