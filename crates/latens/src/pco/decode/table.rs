//! The tANS table of a latent variable with the bins' ranges in its slots.

use crate::ans::tans;
use crate::number::Latent;
use crate::pco::layout::variable::Variable;
use latens_kernels::tans::{self as kernel, Node};

/// A variable ready to be decoded.
#[derive(Clone, Debug)]
pub(crate) struct Table<L> {
    /// log2 of the count of slots.
    pub(crate) log: u32,
    /// By slot; none where the variable has no bins, so that no latent can be decoded.
    nodes: Vec<Node>,
    lowers: Vec<L>,
    max_offset_bits: u32,
}

impl<L: Latent> Table<L> {
    /// The table of a variable that [`Variable::read`] has checked.
    pub(crate) fn new(variable: &Variable<L>) -> Self {
        let weights: Vec<u32> = variable.bins.iter().map(|bin| bin.weight).collect();
        let slots =
            if weights.is_empty() { Vec::new() } else { tans::slots(variable.log, &weights) };
        let bin = |slot: &tans::Slot| variable.bins[usize::from(slot.symbol)];
        let node = |slot: &tans::Slot| {
            #[expect(clippy::cast_possible_truncation, reason = "at most 64")]
            let offset_bits = bin(slot).offset_bits as u8;
            Node { base: slot.base, bits: slot.bits, offset_bits }
        };
        Self {
            log: variable.log,
            nodes: slots.iter().map(node).collect(),
            lowers: slots.iter().map(|slot| bin(slot).lower).collect(),
            max_offset_bits: variable.bins.iter().map(|bin| bin.offset_bits).max().unwrap_or(0),
        }
    }

    /// Whether no latent can be decoded.
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// For the kernel.
    pub(crate) fn view(&self) -> kernel::Table<'_, L> {
        kernel::Table {
            nodes: &self.nodes,
            lowers: &self.lowers,
            max_offset_bits: self.max_offset_bits,
        }
    }
}
