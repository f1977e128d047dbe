//! One latent variable of a page: its lanes, and the undoing of its deltas.

use crate::bits::reader::BitReader;
use crate::error::{Error, Result};
use crate::number::Latent;
use crate::pco::decode::batch;
use crate::pco::decode::table::Table;
use crate::pco::delta::{consecutive, conv1, lookback};
use crate::pco::layout::LANES;
use crate::pco::layout::delta::DeltaPayload;
use crate::pco::layout::page_meta::PageVariable;
use latens_kernels::tans::Codes;

/// How residuals become latents.
#[derive(Clone, Debug)]
enum Undo<L> {
    None,
    Consecutive(consecutive::Decoder<L>),
    Lookback(lookback::Decoder<L>),
    /// Of a KiB, which each page would move about, whatever its encoding.
    Conv1(Box<conv1::Decoder>),
}

/// Where the decoding of a variable stands in its page.
#[derive(Clone, Debug)]
pub(crate) struct VariableDecoder<L> {
    slots: [u32; LANES],
    undo: Undo<L>,
    /// Latents at the page's end that the state stands for and that are not stored.
    state_n: usize,
}

impl<L: Latent> VariableDecoder<L> {
    /// Reads the variable's part of the page metadata. `delta` is `None` for the lookback
    /// variable and for a secondary one that is not delta encoded.
    pub(crate) fn read(
        r: &mut BitReader<'_>,
        table: &Table<L>,
        delta: Option<&DeltaPayload>,
    ) -> Result<Self> {
        let state_n = delta.map_or(0, DeltaPayload::state_n);
        let log = table.log;
        let (undo, slots) = match delta {
            None | Some(DeltaPayload::None) => {
                (Undo::None, PageVariable::<L>::read_to(r, &mut [], log)?)
            }
            Some(DeltaPayload::Consecutive { .. }) => {
                let mut decoder = consecutive::Decoder::new(state_n);
                let slots = PageVariable::read_to(r, decoder.moments(), log)?;
                (Undo::Consecutive(decoder), slots)
            }
            Some(DeltaPayload::Lookback { window_log, .. }) => {
                let PageVariable { state, slots } = PageVariable::read(r, state_n, log)?;
                (Undo::Lookback(lookback::Decoder::new(*window_log, state)), slots)
            }
            Some(DeltaPayload::Conv1(conv)) => {
                let PageVariable { state, slots } = PageVariable::<L>::read(r, state_n, log)?;
                (Undo::Conv1(Box::new(conv1::Decoder::new(conv, &state))), slots)
            }
        };
        Ok(Self { slots, undo, state_n })
    }

    /// Reads the part of another page in place of this one's.
    #[inline]
    pub(crate) fn read_again(
        &mut self,
        r: &mut BitReader<'_>,
        table: &Table<L>,
        delta: Option<&DeltaPayload>,
    ) -> Result<()> {
        let state: &mut [L] = match &mut self.undo {
            Undo::None => &mut [],
            Undo::Consecutive(decoder) => decoder.moments(),
            Undo::Lookback(_) | Undo::Conv1(_) => {
                *self = Self::read(r, table, delta)?;
                return Ok(());
            }
        };
        self.slots = PageVariable::read_to(r, state, table.log)?;
        Ok(())
    }

    /// How many of the next `n` latents are stored when `left` numbers remain in the page.
    pub(crate) fn stored(&self, n: usize, left: usize) -> usize {
        n.min(left.saturating_sub(self.state_n))
    }

    /// What a walk through the table moves on.
    pub(crate) fn slots(&mut self) -> &mut [u32; LANES] {
        &mut self.slots
    }

    /// What a walk through the table moves on, and what running sums do that stand for the undoing
    /// of deltas; whether there are such sums or nothing is to be undone.
    pub(crate) fn slots_and_moments(&mut self) -> (&mut [u32; LANES], &mut [L], bool) {
        let (moments, are_all): (&mut [L], bool) = match &mut self.undo {
            Undo::None => (&mut [], true),
            Undo::Consecutive(decoder) => (decoder.moments(), true),
            Undo::Lookback(_) | Undo::Conv1(_) => (&mut [], false),
        };
        (&mut self.slots, moments, are_all)
    }

    /// Moves past the next batch of `n` latents; `left` counts the page's numbers from here on. Their
    /// codes are there already where `ahead` says how many bits they take.
    #[expect(clippy::too_many_arguments, reason = "what is skipped, by what, from where")]
    pub(crate) fn skip(
        &mut self,
        table: &Table<L>,
        n: usize,
        left: usize,
        ahead: Option<usize>,
        src: &[u8],
        bit: &mut usize,
        codes: &mut Codes,
    ) -> Result<()> {
        let stored = self.stored(n, left);
        match ahead {
            Some(bits) => *bit += bits,
            None => batch::walk(table, &mut self.slots, src, bit, codes, stored)?,
        }
        batch::skip(table, src, bit, codes, stored)
    }

    /// Fails where [`VariableDecoder::decode`] does for these lookbacks. `bit` is behind their batch.
    pub(crate) fn check(&self, lookbacks: &[u32], bit: usize) -> Result<()> {
        if let Undo::Lookback(decoder) = &self.undo {
            decoder.check(lookbacks).map_err(|lookback| outside(lookback, bit))?;
        }
        Ok(())
    }

    /// Reads the next batch of latents; `left` counts the page's numbers from here on.
    #[expect(clippy::too_many_arguments, reason = "what is read, by what, from where, to where")]
    pub(crate) fn decode(
        &mut self,
        table: &Table<L>,
        lookbacks: &[u32],
        left: usize,
        src: &[u8],
        bit: &mut usize,
        codes: &mut Codes,
        dst: &mut [L],
    ) -> Result<()> {
        let stored = self.stored(dst.len(), left);
        batch::walk(table, &mut self.slots, src, bit, codes, stored)?;
        batch::unpack(table, src, bit, codes, &mut dst[..stored], None)?;
        self.undo(lookbacks, *bit, stored, dst)
    }

    /// Turns what is stored into latents.
    #[inline]
    pub(crate) fn undo(
        &mut self,
        lookbacks: &[u32],
        bit: usize,
        stored: usize,
        dst: &mut [L],
    ) -> Result<()> {
        dst[stored..].fill(L::ZERO);
        match &mut self.undo {
            Undo::None => {}
            Undo::Consecutive(decoder) => decoder.decode(dst),
            Undo::Lookback(decoder) => {
                decoder.decode(lookbacks, dst).map_err(|lookback| outside(lookback, bit))?;
            }
            Undo::Conv1(decoder) => decoder.decode(dst),
        }
        Ok(())
    }
}

/// What is wrong with a lookback of the batch up to `bit`.
#[cold]
fn outside(lookback: u32, bit: usize) -> Error {
    Error::corrupt(
        bit as u64 / 8,
        format!("a lookback of {lookback} in the batch that ends here is outside of the window"),
    )
}
