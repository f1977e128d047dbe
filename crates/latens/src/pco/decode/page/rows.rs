//! Whole batches by kernels that come back behind many of them.

use super::PageState;
use super::straight::{From, SHORT};
use crate::number::Latent;
use crate::pco::decode::batch;
use crate::pco::decode::chunk::ChunkTables;
use crate::pco::layout::BATCH_N;
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::mode::variables::Place;
use latens_kernels::dispatch::Present;
use latens_kernels::tans::{self, Finish, Row, WINDOW};
use std::borrow::Cow;
use std::mem;

impl<L: Latent> PageState<L> {
    /// Reads the page's first codes if these are whole and to be read before a way that begins with them; whether they
    /// have been.
    #[inline]
    pub(super) fn first_codes(
        &mut self,
        tables: &ChunkTables<L>,
        most: usize,
        src: &[u8],
        bit: usize,
    ) -> bool {
        let (Primary::Latents(decoder), Primary::Latents(table)) =
            (&mut self.primary, &tables.primary)
        else {
            return false;
        };
        let Some(kernel) = table.kernel() else { return false };
        let is_whole = decoder.stored(BATCH_N, self.left) == BATCH_N;
        if self.ahead.is_none() && is_whole && most >= BATCH_N {
            let codes = &mut self.scratch.room.batch.codes[usize::from(self.swapped)];
            let (ways, slots) = (table.ways(), decoder.slots());
            self.ahead = batch::walk_whole(kernel, ways, slots, src, bit, codes);
        }
        self.ahead.is_some()
    }

    /// Reads the page's first codes if that is to be done, and decodes what it can of whole batches that have
    /// codes behind them and whose latents are the numbers'; how many.
    pub(super) fn rows_into(
        &mut self,
        tables: &ChunkTables<L>,
        Place { map, bits: dst }: Place<'_, L>,
        from: &mut From<'_>,
    ) -> usize {
        let present = Present::in_use();
        let Primary::Latents(table) = &tables.primary else { return 0 };
        let Some(kernel) = table.kernel() else { return 0 };
        let (src, end, bit) = (from.src, from.end, &mut *from.bit);
        let near = Near::of(kernel, src, *bit, end);
        let is_ahead = self.first_codes(tables, dst.len(), &near.bytes, *bit - near.from);
        let Primary::Latents(decoder) = &mut self.primary else { return 0 };
        if !is_ahead || !kernel.is_fast_in_row(present) {
            return 0;
        }
        let tans::Room { codes: [even, odd], .. } = &mut *self.scratch.room.batch;
        let (mut codes, mut next_codes) = if self.swapped { (odd, even) } else { (even, odd) };
        let mut filled = 0;
        let fetches = dst.len() > SHORT;
        let (bytes, end) = (&*near.bytes, near.end);
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
                bytes,
                bit: *bit + ahead - near.from,
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
            let at = near.from + done.bit - codes.cut_to(decoder.stored(BATCH_N, self.left));
            self.spent.primary += (at - *bit) as u64;
            // Behind the codes that have been read ahead.
            (*bit, self.ahead) = (at, Some(0));
        }
        filled
    }
}

/// The bytes that rows look at.
struct Near<'a> {
    bytes: Cow<'a, [u8]>,
    /// From which bit on.
    from: usize,
    /// Up to which of these bits batches may go.
    end: usize,
}

impl<'a> Near<'a> {
    /// Where a thousand numbers may be a few bytes, what little is left of `src` is copied, with room behind it.
    fn of<L: Latent>(table: &tans::Table<L>, src: &'a [u8], bit: usize, end: usize) -> Self {
        match src.get(bit / 8..) {
            Some(rest) if table.is_quiet() && rest.len() < 2 * WINDOW => {
                let from = bit / 8 * 8;
                let bytes = [rest, &[0; WINDOW]].concat().into();
                Self { bytes, from, end: end.min(src.len() * 8) - from }
            }
            _ => Self { bytes: src.into(), from: 0, end },
        }
    }
}
