//! What all pages of a chunk share.

use crate::error::Result;
use crate::limits::Limits;
use crate::number::Latent;
use crate::pco::decode::room::{Kept, Room};
use crate::pco::decode::side_by_side::SideBySide;
use crate::pco::decode::table::Table;
use crate::pco::decode::workshop::Workshop;
use crate::pco::layout::chunk_meta::{ChunkMeta, Primary};
use crate::pco::layout::delta::DeltaPayload;
use crate::pco::layout::mode::ModePayload;
use crate::pco::mode::float_mult;

/// A chunk's metadata with its tables: what all its pages share.
#[derive(Clone, Debug)]
pub(crate) struct ChunkTables<L> {
    pub(crate) meta: ChunkMeta<L>,
    pub(super) delta: Option<Table<u32>>,
    pub(super) primary: Primary<Table<L>, Table<u32>>,
    pub(super) secondary: Option<Table<L>>,
    /// Whether all primary latents that can be are small multiples of a float.
    pub(super) are_small: bool,
    pub(super) kept: Kept<Room<L>>,
    /// For pages side by side.
    pub(crate) side_by_side: Kept<Box<SideBySide<L>>>,
}

/// What primary latents become without any of another variable.
pub(super) enum Alone<L> {
    /// They are the ordered latents of numbers.
    Latents,
    /// Joined, all of them with this one.
    JoinedWith(L),
}

impl<L: Latent> ChunkTables<L> {
    /// What numbers take that are made of primary latents one by one: nothing is looked back to, and the other
    /// variable, if there is one, is constant.
    #[inline]
    pub(super) fn alone(&self) -> Option<Alone<L>> {
        let (None, Primary::Latents(_)) = (&self.delta, &self.primary) else { return None };
        match &self.secondary {
            None => Some(Alone::Latents),
            Some(_) => self.constant().map(Alone::JoinedWith),
        }
    }

    /// What all secondary latents are, where there is but one that can be. They take no bits.
    #[inline]
    pub(super) fn constant(&self) -> Option<L> {
        match &self.secondary {
            Some(table) if !self.meta.delta.covers_secondary() => table.constant(),
            _ => None,
        }
    }

    /// Builds the tables for pages of at most `n` numbers, within the limits.
    pub(crate) fn new(
        meta: ChunkMeta<L>,
        n: usize,
        limits: Limits,
        workshop: &Workshop,
    ) -> Result<Self> {
        limits.check_alloc(meta.decode_bytes(n), "the tables and windows of a chunk")?;
        let (shift, index_shift) = match meta.delta {
            DeltaPayload::None => (L::ZERO, 0),
            _ => (L::MID, <u32 as Latent>::MID),
        };
        let secondary_shift = if meta.delta.covers_secondary() { L::MID } else { L::ZERO };
        let delta = meta.delta_variable.as_ref();
        let secondary = meta.secondary.as_ref();
        let are_small = match (&meta.mode, &meta.primary) {
            (ModePayload::FloatMult { .. }, Primary::Latents(variable)) => {
                matches!(meta.delta, DeltaPayload::None)
                    && float_mult::bins_are_small(&variable.bins)
            }
            _ => false,
        };
        Ok(Self {
            delta: delta.map(|v| Table::new(v, 0, workshop)).transpose()?,
            primary: match &meta.primary {
                Primary::Latents(v) => Primary::Latents(Table::new(v, shift, workshop)?),
                Primary::Indices(v) => Primary::Indices(Table::new(v, index_shift, workshop)?),
            },
            secondary: secondary.map(|v| Table::new(v, secondary_shift, workshop)).transpose()?,
            are_small,
            meta,
            kept: Kept::default(),
            side_by_side: Kept::default(),
        })
    }

    /// Gives the tables' memory back: no more can be decoded.
    pub(crate) fn give_back(&mut self, workshop: &Workshop) {
        self.delta.iter_mut().for_each(|table| table.give_back(workshop));
        self.secondary.iter_mut().for_each(|table| table.give_back(workshop));
        match &mut self.primary {
            Primary::Latents(table) => table.give_back(workshop),
            Primary::Indices(table) => table.give_back(workshop),
        }
    }
}
