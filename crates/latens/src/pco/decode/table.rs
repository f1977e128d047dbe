//! The tANS table of a latent variable with the bins' ranges in its slots.

use crate::ans::tans;
use crate::number::Latent;
use crate::pco::layout::variable::Variable;

/// What a slot says besides its bin's lower bound; four bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Node {
    /// The next slot if all bits read are zero.
    pub(crate) base: u16,
    /// Bits of the stream that lead to the next slot.
    pub(crate) bits: u8,
    /// Bits of offset of the slot's bin.
    pub(crate) offset_bits: u8,
}

/// A variable ready to be decoded.
#[derive(Clone, Debug)]
pub(crate) struct Table<L> {
    /// log2 of the count of slots.
    pub(crate) log: u32,
    /// By slot.
    pub(crate) nodes: Vec<Node>,
    /// By slot: the lower bound of its bin.
    pub(crate) lowers: Vec<L>,
    /// Most offset bits of any bin.
    pub(crate) max_offset_bits: u32,
    /// Without bins no latent can be decoded.
    pub(crate) is_empty: bool,
}

impl<L: Latent> Table<L> {
    /// The table of a variable that [`Variable::read`] has checked.
    #[expect(clippy::cast_possible_truncation, reason = "offset bits are at most 64")]
    pub(crate) fn new(variable: &Variable<L>) -> Self {
        let weights: Vec<u32> = variable.bins.iter().map(|bin| bin.weight).collect();
        let is_empty = variable.bins.is_empty();
        let slots = if is_empty { Vec::new() } else { tans::slots(variable.log, &weights) };
        let bin = |slot: &tans::Slot| variable.bins[usize::from(slot.symbol)];
        let node = |slot: &tans::Slot| Node {
            base: slot.base,
            bits: slot.bits,
            offset_bits: bin(slot).offset_bits as u8,
        };
        Self {
            log: variable.log,
            nodes: slots.iter().map(node).collect(),
            lowers: slots.iter().map(|slot| bin(slot).lower).collect(),
            max_offset_bits: variable.bins.iter().map(|bin| bin.offset_bits).max().unwrap_or(0),
            is_empty,
        }
    }
}
