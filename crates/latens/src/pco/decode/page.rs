//! A page: its variables' latents joined to numbers, batch after batch.
//!
//! `variables` decodes any batch by what `walked` has read, `straight` many of them one after the other, `rows` by one
//! call of the kernels.

mod both;
mod pairs;
mod rows;
mod straight;
mod variables;
mod walked;

use crate::bits::reader::BitReader;
use crate::error::{Error, Result};
use crate::number::Latent;
use crate::pco::decode::batch;
use crate::pco::decode::chunk::ChunkTables;
use crate::pco::decode::join::Wanted;
use crate::pco::decode::room::Room;
use crate::pco::decode::variable::VariableDecoder;
use crate::pco::layout::BATCH_N;
use crate::pco::layout::chunk_meta::Primary;
use crate::pco::mode::variables::Place;
use latens_kernels::dispatch::Present;
use latens_kernels::prefetch;
use latens_kernels::tans::Map;
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
            room: tables.kept.room(Room::new),
            lookbacks: vec![0; room(tables.delta.is_some())],
            indices: vec![0; room(is_dict)],
        }
    }
}

/// The latent variables of a page.
#[derive(Debug)]
pub(super) struct Decoders<L> {
    pub(super) delta: Option<VariableDecoder<u32>>,
    pub(super) primary: Primary<VariableDecoder<L>, VariableDecoder<u32>>,
    pub(super) secondary: Option<VariableDecoder<L>>,
}

impl<L: Latent> Decoders<L> {
    /// Reads the metadata of a page.
    #[inline]
    pub(super) fn read(r: &mut BitReader<'_>, tables: &ChunkTables<L>) -> Result<Self> {
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
        Ok(Self { delta, primary, secondary })
    }

    /// Reads that of another page of the same chunk in place of this one's.
    #[inline]
    pub(super) fn read_again(
        &mut self,
        r: &mut BitReader<'_>,
        tables: &ChunkTables<L>,
    ) -> Result<()> {
        let delta_payload = &tables.meta.delta;
        if let (Some(table), Some(delta)) = (&tables.delta, &mut self.delta) {
            delta.read_again(r, table, None)?;
        }
        match (&tables.primary, &mut self.primary) {
            (Primary::Latents(table), Primary::Latents(primary)) => {
                primary.read_again(r, table, Some(delta_payload))?;
            }
            (Primary::Indices(table), Primary::Indices(primary)) => {
                primary.read_again(r, table, Some(delta_payload))?;
            }
            _ => return Self::read(r, tables).map(|new| *self = new),
        }
        if let (Some(table), Some(secondary)) = (&tables.secondary, &mut self.secondary) {
            let delta = delta_payload.covers_secondary().then_some(delta_payload);
            secondary.read_again(r, table, delta)?;
        }
        r.align("the page metadata")
    }
}

impl<L: Latent> PageState<L> {
    /// Reads the metadata of a page of `n` numbers.
    pub(crate) fn read(r: &mut BitReader<'_>, tables: &ChunkTables<L>, n: usize) -> Result<Self> {
        let Decoders { delta, primary, secondary } = Decoders::read(r, tables)?;
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
    pub(crate) fn take(&mut self, map: Map, dst: &mut [L]) -> usize {
        let n = self.ready.len().min(dst.len());
        let from = self.ready.start;
        let latents = &self.scratch.room.batch.primary[from..from + n];
        fill(Place { map, bits: &mut dst[..n] }, latents);
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
