//! Whole batches of two variables of 32 bits, some at a time: lookbacks and what they are of, quotients and remainders.

use super::straight::From;
use super::{PageState, fill};
use crate::error::{Error, Result};
use crate::number::Latent;
use crate::pco::decode::batch;
use crate::pco::decode::chunk::ChunkTables;
use crate::pco::decode::join::Join;
use crate::pco::decode::table::Table;
use crate::pco::decode::variable::VariableDecoder;
use crate::pco::layout::BATCH_N;
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::layout::delta::DeltaPayload;
use crate::pco::layout::mode::ModePayload;
use crate::pco::mode::variables::{Place, Secondary, Variables};
use latens_kernels::dispatch::Present;
use latens_kernels::tans::{Both, Codes, PairsDone, Side};

/// Batches at a time: their latents stay in the nearest cache.
const AT_ONCE: usize = 8;

/// A variable and its latents, for which there is room once there are batches to decode.
struct Latents<'a, L> {
    decoder: &'a mut VariableDecoder<L>,
    table: &'a Table<L>,
    all: Vec<L>,
}

impl<'a, L: Latent> Latents<'a, L> {
    fn new(decoder: &'a mut VariableDecoder<L>, table: &'a Table<L>) -> Self {
        Self { decoder, table, all: Vec::new() }
    }

    fn side<'b>(
        &'b mut self,
        codes: &'b mut Codes,
    ) -> Option<(Side<'b, L>, &'b mut [L], &'b mut [L])> {
        let table = self.table.walked()?;
        let (states, moments, _) = self.decoder.slots_and_moments();
        self.all.resize(AT_ONCE * BATCH_N, L::ZERO);
        Some((Side { table, states, codes }, moments, &mut self.all))
    }
}

impl<L: Latent> PageState<L> {
    /// Decodes what it can of whole batches that have codes behind them; how many numbers, and what is wrong behind them.
    #[inline(never)]
    pub(super) fn both_into(
        &mut self,
        tables: &ChunkTables<L>,
        place: Place<'_, L>,
        from: &mut From<'_>,
    ) -> (usize, Result<()>) {
        let none = (0, Ok(()));
        if !Both::<L, L>::are_fast(Present::in_use()) {
            return none;
        }
        let (Primary::Latents(primary), Primary::Latents(table)) =
            (&mut self.primary, &tables.primary)
        else {
            return none;
        };
        let state_n = tables.meta.delta.state_n();
        let has_sums_at_most =
            matches!(tables.meta.delta, DeltaPayload::None | DeltaPayload::Consecutive { .. });
        let [even, odd] = &mut self.scratch.room.batch.codes;
        let codes = if self.swapped { [odd, even] } else { [even, odd] };
        let Place { map, bits } = place;
        let rows =
            Rows { ahead: &mut self.ahead, left: &mut self.left, state_n, codes, bits, from };
        match (&mut self.delta, &tables.delta, &mut self.secondary, &tables.secondary) {
            (Some(delta), Some(delta_table), None, None) => {
                let mut primary = Latents::new(primary, table);
                let mut lookbacks = Latents::new(delta, delta_table);
                let spent = [&mut self.spent.delta, &mut self.spent.primary];
                rows.run(&mut lookbacks, &mut primary, spent, |i, end, lookbacks, primary, bits| {
                    let at = i * BATCH_N..(i + 1) * BATCH_N;
                    let latents = &mut primary.all[at.clone()];
                    primary.decoder.undo(&lookbacks.all[at], end, BATCH_N, latents)?;
                    fill(Place { map, bits }, latents);
                    Ok(())
                })
            }
            (None, None, Some(secondary), Some(secondary_table))
                if matches!(tables.meta.mode, ModePayload::IntMult { .. })
                    && has_sums_at_most
                    && !tables.meta.delta.covers_secondary() =>
            {
                let mut primary = Latents::new(primary, table);
                let mut secondary = Latents::new(secondary, secondary_table);
                let spent = [&mut self.spent.primary, &mut self.spent.secondary];
                rows.run(&mut primary, &mut secondary, spent, |i, end, primary, secondary, bits| {
                    let at = i * BATCH_N..(i + 1) * BATCH_N;
                    let second = Secondary::Latents(&secondary.all[at.clone()]);
                    let place = Some(Place { map, bits });
                    let variables =
                        Variables { primary: &mut primary.all[at], secondary: second, place };
                    let join = Join { tables, indices: &[], variables, values: true };
                    let joined = Present::in_use().run(join);
                    joined.map_err(|what| Error::corrupt(end as u64 / 8, what))
                })
            }
            _ => none,
        }
    }
}

/// Where batches of both variables are read from and go to.
struct Rows<'a, 'f, L> {
    ahead: &'a mut Option<usize>,
    left: &'a mut usize,
    state_n: usize,
    codes: [&'a mut Codes; 2],
    bits: &'a mut [L],
    from: &'a mut From<'f>,
}

impl<L: Latent> Rows<'_, '_, L> {
    /// All that come at once; `join` makes numbers of the latents of batch `i`, which ends at a bit.
    fn run<A: Latent, B: Latent>(
        self,
        first: &mut Latents<'_, A>,
        second: &mut Latents<'_, B>,
        spent: [&mut u64; 2],
        mut join: impl FnMut(
            usize,
            usize,
            &mut Latents<'_, A>,
            &mut Latents<'_, B>,
            &mut [L],
        ) -> Result<()>,
    ) -> (usize, Result<()>) {
        let present = Present::in_use();
        let Self { ahead, left, state_n, codes: [codes, others], bits, from } = self;
        let mut filled = 0;
        let (Some(table), Some(_)) = (first.table.walked(), second.table.walked()) else {
            return (0, Ok(()));
        };
        if ahead.is_none() && *left >= state_n + BATCH_N && bits.len() >= BATCH_N {
            let (ways, slots) = (Some(table.ways()), first.decoder.slots());
            *ahead = batch::walk_whole(table, ways, slots, from.src, *from.bit, codes);
        }
        while let Some(before) = *ahead {
            let batches = batch::followed(left.saturating_sub(state_n));
            let count = batches.min((bits.len() - filled) / BATCH_N).min(AT_ONCE);
            if count == 0 {
                break;
            }
            let mut ends = [0; AT_ONCE];
            let (Some((one, moments, one_dst)), Some((other, _, other_dst))) =
                (first.side(codes), second.side(others))
            else {
                break;
            };
            let both = Both {
                first: one,
                moments,
                second: other,
                bytes: from.src,
                bit: *from.bit + before,
                end: from.end,
                dst: (one_dst, other_dst),
                ends: &mut ends[..count],
            };
            let Some(PairsDone { batches, bit, of_distances }) = both.run(present) else { break };
            let behind = &mut bits[filled..];
            for (i, (bits, &end)) in
                behind.chunks_exact_mut(BATCH_N).zip(&ends[..batches]).enumerate()
            {
                if let Err(e) = join(i, end, first, second, bits) {
                    return (filled, Err(e));
                }
                *left -= BATCH_N;
                filled += BATCH_N;
            }
            let at = bit - codes.cut_to(left.saturating_sub(state_n).min(BATCH_N));
            *spent[0] += (at - *from.bit - of_distances) as u64;
            *spent[1] += of_distances as u64;
            // Behind the codes that have been read ahead.
            (*from.bit, *ahead) = (at, Some(0));
            if batches < count {
                break;
            }
        }
        (filled, Ok(()))
    }
}
