//! The metadata of a page: for each variable its delta state and four tANS slots, then padding.

use crate::bits::low_mask;
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
        Self::check_state(r, state_n)?;
        let mut state = vec![L::ZERO; state_n];
        let slots = Self::read_to(r, &mut state, log)?;
        Ok(Self { state, slots })
    }

    /// The same to memory that is there; the slots.
    #[inline]
    pub(crate) fn read_to(
        r: &mut BitReader<'_>,
        state: &mut [L],
        log: u32,
    ) -> Result<[u32; LANES]> {
        Self::check_state(r, state.len())?;
        for latent in state {
            *latent = r.read(L::BITS, "the delta state of a page").map(L::truncate)?;
        }
        // All four at once, as the largest table has 2^14 slots.
        let all = r.read_at_once(4 * log, "the tANS slots of a page")?;
        #[expect(clippy::cast_possible_truncation, reason = "a slot has 14 bits at most")]
        Ok([0, 1, 2, 3].map(|lane| (all >> (lane * log) & low_mask(log)) as u32))
    }

    fn check_state(r: &BitReader<'_>, state_n: usize) -> Result<()> {
        if r.bits_left() < state_n * L::BITS as usize {
            return Err(Error::truncated(
                r.end(),
                "the input ends inside of the delta state of a page",
            ));
        }
        Ok(())
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
