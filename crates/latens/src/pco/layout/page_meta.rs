//! The metadata of a page: for each variable its delta state and four tANS slots, then padding.

use crate::bits::reader::BitReader;
use crate::bits::writer::BitWriter;
use crate::error::{Error, Result};
use crate::number::Latent;
use crate::pco::layout::LANES;

/// Where a page begins for one variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageVariable<L> {
    /// The delta state; empty where the variable is not delta encoded.
    pub(crate) state: Vec<L>,
    /// A slot of the table for each lane.
    pub(crate) slots: [u32; LANES],
}

impl<L: Latent> PageVariable<L> {
    /// Reads `state_n` latents and four slots of `log` bits.
    pub(crate) fn read(r: &mut BitReader<'_>, state_n: usize, log: u32) -> Result<Self> {
        if r.bits_left() < state_n * L::BITS as usize {
            return Err(Error::truncated(
                r.end(),
                "the input ends inside of the delta state of a page",
            ));
        }
        let latent = |_| r.read(L::BITS, "the delta state of a page").map(L::truncate);
        let state = (0..state_n).map(latent).collect::<Result<_>>()?;
        let mut slots = [0; LANES];
        for slot in &mut slots {
            *slot = r.read_u32(log, "the tANS slots of a page")?;
        }
        Ok(Self { state, slots })
    }

    /// Writes the same.
    pub(crate) fn write(&self, w: &mut BitWriter, log: u32) {
        for latent in &self.state {
            w.write(latent.to_u64(), L::BITS);
        }
        for slot in self.slots {
            w.write(u64::from(slot), log);
        }
    }
}
