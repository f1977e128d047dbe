//! Tables of slots, made of the symbols that they emit.

use super::offsets::{MEDIUM, NARROW, Offsets, SHORT};
use super::quiet::Quiet;
use super::slot::{Lowers, MAX_LOG, MAX_OFFSET_BITS, Node, Slot, Symbol};
use super::spread;
use super::stream::{SLACK, WIDE_SLACK};
use crate::latent::Latent;

/// A table that is closed in itself: no bits lead from one of its slots to one that it lacks.
#[derive(Clone, Debug)]
pub struct Table<L> {
    pub(crate) nodes: Vec<Node>,
    pub(crate) lowers: Lowers<L>,
    pub(super) single: Option<(L, u8)>,
    pub(super) max_bits: u8,
    pub(super) max_offset_bits: u8,
    pub(super) offsets: Offsets,
    /// The symbol that nearly all slots have, if there is one.
    pub(super) quiet: Option<Quiet<L>>,
}

/// The ways between a table's slots, whatever latents these stand for.
#[derive(Clone, Copy, Debug)]
pub struct Ways<'a> {
    pub(crate) nodes: &'a [Node],
    /// Where nodes point into a table of lower bounds, its length.
    pub(super) end: u32,
    pub(super) max_bits: u8,
    pub(super) max_offset_bits: u8,
}

impl Ways<'_> {
    /// Bytes that a walk of `n` codes may touch, from that of its first bit on.
    pub fn codes_window(&self, n: usize) -> usize {
        (n * usize::from(self.max_bits)).div_ceil(8) + SLACK
    }
}

/// What a table's symbols say, but for the ways between its slots.
pub(super) struct Emitted<L> {
    /// By symbol, its part of a node.
    pub(super) heads: Vec<u64>,
    pub(super) lowers: Lowers<L>,
    /// Slots that all symbols have.
    weight: u64,
    pub(super) max_offset_bits: u8,
    pub(super) offsets: Offsets,
}

impl<L: Latent> Emitted<L> {
    /// `None` where there are no symbols, or one has too many bits.
    pub(super) fn of(symbols: &[Symbol<L>]) -> Option<Self> {
        let max_offset_bits = symbols.iter().map(|s| s.offset_bits).max()?;
        let weights = |longer_than: Option<u8>| -> u64 {
            let counted = symbols.iter().filter(|s| longer_than.is_none_or(|n| s.offset_bits > n));
            counted.map(|s| u64::from(s.weight)).sum()
        };
        let weight = weights(None);
        if max_offset_bits > MAX_OFFSET_BITS {
            return None;
        }
        // Near each other may be around 0 as well, as differences are.
        let near = |middle: u64| {
            let lower = || symbols.iter().map(|s| s.lower.widen() ^ middle);
            let (least, greatest) = (lower().min()?, lower().max()?);
            (greatest - least <= u32::MAX.into()).then_some(least ^ middle)
        };
        let least = near(0).or_else(|| near(1 << 63));
        let head = |(i, s): (u64, &Symbol<L>)| {
            let payload = least.map_or(i, |least| s.lower.widen().wrapping_sub(least));
            u64::from(s.offset_bits) << 8 | payload << 32
        };
        // Slots are visited about equally often. Where one in a hundred is longer it pays still to
        // take them for short.
        let hardly_any_above = |most: u8| weights(Some(most)) * 100 <= weight;
        let offsets = match max_offset_bits {
            0 => Offsets::None,
            1..=NARROW if hardly_any_above(SHORT) => {
                Offsets::Short { all: max_offset_bits <= SHORT }
            }
            1..=NARROW if hardly_any_above(MEDIUM) => {
                Offsets::Medium { all: max_offset_bits <= MEDIUM }
            }
            1..=NARROW => Offsets::Long,
            _ => Offsets::Wide,
        };
        let lowers = match least {
            Some(least) => Lowers::Near(L::from_low(least)),
            None => Lowers::Far(symbols.iter().map(|s| s.lower).collect()),
        };
        let heads = (0..).zip(symbols).map(head).collect();
        Some(Self { heads, lowers, weight, max_offset_bits, offsets })
    }
}

/// What a table took, for another one: memory fresh from the system costs more than a table.
#[derive(Debug, Default)]
pub struct Memory(Vec<Node>);

impl<L: Latent> Table<L> {
    /// The table of `2^log` slots over which Pco spreads the symbols, in `memory`; `None` where
    /// their weights do not sum to as many, one has none, or a count of bits passes its limit.
    pub fn spread(log: u32, symbols: &[Symbol<L>], memory: Memory) -> Option<Self> {
        let emitted = Emitted::of(symbols)?;
        let least = symbols.iter().map(|s| s.weight).min()?;
        if log > MAX_LOG || least == 0 || emitted.weight != 1 << log {
            return None;
        }
        let mut nodes = memory.0;
        spread::make(log, symbols, &emitted.heads, &mut nodes)?;
        // The fewest slots have the most bits.
        let max_bits = u8::try_from(log - least.ilog2()).ok()?;
        let single = match symbols {
            [s] if log == 0 => Some((s.lower, s.offset_bits)),
            _ => None,
        };
        let quiet = Quiet::of(symbols, &emitted.heads, nodes.len());
        let Emitted { lowers, max_offset_bits, offsets, .. } = emitted;
        Some(Self { nodes, lowers, single, max_bits, max_offset_bits, offsets, quiet })
    }

    /// Takes the table's memory away, which then has no slots.
    pub fn take_memory(&mut self) -> Memory {
        Memory(std::mem::take(&mut self.nodes))
    }

    /// What a walk needs of it.
    #[inline]
    pub fn ways(&self) -> Ways<'_> {
        Ways {
            nodes: &self.nodes,
            end: match &self.lowers {
                Lowers::Near(_) => u32::MAX,
                // Each has a slot.
                Lowers::Far(lowers) => u32::try_from(lowers.len()).unwrap_or(u32::MAX),
            },
            max_bits: self.max_bits,
            max_offset_bits: self.max_offset_bits,
        }
    }

    /// Its slots, to look at.
    pub fn slots(&self) -> impl ExactSizeIterator<Item = Slot<L>> {
        #[expect(clippy::cast_possible_truncation, reason = "fields of 8 and 16 bits")]
        self.nodes.iter().map(|node| Slot {
            base: node.base() as u16,
            bits: node.bits() as u8,
            offset_bits: node.offset_bits() as u8,
            lower: match &self.lowers {
                Lowers::Near(least) => least.plus_low(node.payload().into()),
                Lowers::Far(lowers) => lowers[node.payload() as usize],
            },
        })
    }

    /// The one slot's lower bound and offset bits, where there is but one: such a table has no
    /// codes.
    pub fn single(&self) -> Option<(L, u8)> {
        self.single
    }

    /// [`Ways::codes_window`].
    pub fn codes_window(&self, n: usize) -> usize {
        self.ways().codes_window(n)
    }

    /// Bytes that unpacking `n` latents may touch, from that of the first bit on.
    pub fn offsets_window(&self, n: usize) -> usize {
        (n * usize::from(self.max_offset_bits)).div_ceil(8) + WIDE_SLACK
    }
}
