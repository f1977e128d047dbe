//! The tANS table of a latent variable with the bins' ranges in its slots.

use crate::ans::tans;
use crate::number::Latent;
use crate::pco::layout::variable::Variable;
use latens_kernels::tans::Entry;

/// A variable ready to be decoded.
#[derive(Clone, Debug)]
pub(crate) struct Table<L> {
    /// log2 of the count of slots.
    pub(crate) log: u32,
    /// By slot; none where the variable has no bins, so that no latent can be decoded.
    pub(crate) entries: Vec<Entry<L>>,
    /// Most offset bits of any bin.
    pub(crate) max_offset_bits: u32,
}

impl<L: Latent> Table<L> {
    /// The table of a variable that [`Variable::read`] has checked.
    pub(crate) fn new(variable: &Variable<L>) -> Self {
        let weights: Vec<u32> = variable.bins.iter().map(|bin| bin.weight).collect();
        let slots =
            if weights.is_empty() { Vec::new() } else { tans::slots(variable.log, &weights) };
        let entry = |slot: &tans::Slot| {
            let bin = &variable.bins[usize::from(slot.symbol)];
            #[expect(clippy::cast_possible_truncation, reason = "at most 64")]
            let offset_bits = bin.offset_bits as u8;
            Entry { lower: bin.lower, base: slot.base, bits: slot.bits, offset_bits }
        };
        Self {
            log: variable.log,
            entries: slots.iter().map(entry).collect(),
            max_offset_bits: variable.bins.iter().map(|bin| bin.offset_bits).max().unwrap_or(0),
        }
    }
}
