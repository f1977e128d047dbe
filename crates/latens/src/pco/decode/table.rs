//! The tANS table of a latent variable with the bins' ranges in its slots.

use crate::error::{Error, Result};
use crate::number::Latent;
use crate::pco::decode::workshop::Workshop;
use crate::pco::layout::variable::{Bin, Variable};
use latens_kernels::dispatch::Present;
use latens_kernels::tans as kernel;
use std::sync::OnceLock;

/// A variable ready to be decoded.
#[derive(Clone, Debug)]
pub(crate) struct Table<L> {
    /// log2 of the count of slots.
    pub(crate) log: u32,
    /// None where the variable has no bins, so that no latent can be decoded.
    kernel: Option<kernel::Table<L>>,
    /// For pages side by side, once there are such.
    pages: OnceLock<Option<Box<kernel::PageTable<L>>>>,
}

impl<L: Latent> Table<L> {
    /// The table of a variable that [`Variable::read`] has checked. `shift` is added to every
    /// latent that is decoded: `MID` where a delta encoding follows, which thus need not add it.
    pub(crate) fn new(variable: &Variable<L>, shift: L, workshop: &Workshop) -> Result<Self> {
        let log = variable.log;
        if variable.bins.is_empty() {
            return Ok(Self { log, kernel: None, pages: OnceLock::new() });
        }
        let symbol = |bin: &Bin<L>| {
            #[expect(clippy::cast_possible_truncation, reason = "at most 64")]
            let offset_bits = bin.offset_bits as u8;
            kernel::Symbol { weight: bin.weight, offset_bits, lower: bin.lower.add(shift) }
        };
        let symbols: Vec<_> = variable.bins.iter().map(symbol).collect();
        match kernel::Table::spread(log, &symbols, workshop.memory()) {
            Some(kernel) => Ok(Self { log, kernel: Some(kernel), pages: OnceLock::new() }),
            None => Err(Error::corrupt(0, "bins that make no table")),
        }
    }

    /// Gives its memory back: no more can be decoded.
    pub(crate) fn give_back(&mut self, workshop: &Workshop) {
        if let Some(mut kernel) = self.kernel.take() {
            workshop.keep(kernel.take_memory());
        }
    }

    /// What all latents are, where there is but one that can be.
    pub(crate) fn constant(&self) -> Option<L> {
        match self.kernel.as_ref()?.single()? {
            (latent, 0) => Some(latent),
            _ => None,
        }
    }

    /// For walks; none where there is nothing to walk over.
    pub(crate) fn ways(&self) -> Option<kernel::Ways<'_>> {
        self.walked().map(kernel::Table::ways)
    }

    /// For the kernels, where there is something to walk over.
    pub(crate) fn walked(&self) -> Option<&kernel::Table<L>> {
        self.kernel.as_ref().filter(|table| table.single().is_none())
    }

    /// For pages side by side, where that is faster.
    pub(crate) fn pages(&self) -> Option<&kernel::PageTable<L>> {
        let new = || kernel::PageTable::of(self.kernel.as_ref()?, Present::in_use());
        self.pages.get_or_init(new).as_deref()
    }

    /// For the kernels.
    pub(crate) fn kernel(&self) -> Option<&kernel::Table<L>> {
        self.kernel.as_ref()
    }
}
