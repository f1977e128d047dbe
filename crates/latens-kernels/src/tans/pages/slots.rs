//! What a walk looks up: bytes by slot.
//!
//! A slot leads to the state `x`, which `count` bits shift up until it is as large as the table or larger, and what it is
//! then, modulo that, is the next slot. In the order in which slots were dealt symbols own ranges, so that eight slots
//! have a first symbol and a byte says which of them begin another one.

use super::super::slot::Node;
use super::super::spread::{inverse_stride, stride};
use super::{MOST_LOG, MOST_SLOTS, MOST_SYMBOLS};

/// log2 of the largest table whose slots are looked up as they are.
const FEW_LOG: u32 = 8;
/// Bits of a state below the count of bits in [`Form::Far`].
pub(crate) const COUNT_AT: u32 = MOST_LOG + 1;
/// Bytes that a look-up takes out of two registers: a part of a plane.
const PART: usize = 128;
/// Slots that have a first symbol, in the order in which they were dealt.
const TOGETHER: usize = MOST_SLOTS / PART;
/// Bits of words below the number of a slot among those dealt: where it is one of 2^[`MOST_LOG`], and one more bit lies
/// above it, a word's upper byte says which eight.
pub(crate) const DEALT_AT: u32 = 15 - MOST_LOG;

/// Bytes by slot, or by symbol.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Plane(pub(crate) [u8; MOST_SLOTS]);

/// What the planes are looked up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Slots, of which there are few; low bytes of states, and counts.
    Few,
    /// Slots as dealt; states, which are bytes, and counts by state.
    Near,
    /// Slots as dealt; low bytes of states, and high bits with counts.
    Far,
}

/// See above.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    pub(crate) form: Form,
    pub(crate) states: Plane,
    pub(crate) counts: Plane,
    /// By slot, or the first ones and, from [`PART`] on, where others begin.
    pub(crate) symbols: Plane,
    /// Of offsets, by symbol.
    pub(crate) widths: Plane,
    /// What slots are multiplied with to be those dealt, at [`DEALT_AT`].
    pub(crate) dealt: u16,
    pub(crate) log: u32,
    pub(crate) symbol_count: usize,
}

#[expect(clippy::cast_possible_truncation, reason = "bytes of numbers that fit, or the low ones")]
impl Slots {
    /// Those of a table of at most [`MOST_SLOTS`], and a node of each symbol: none where there are too many symbols.
    pub(super) fn of(nodes: &[Node]) -> Option<(Self, Vec<Node>)> {
        let size = nodes.len();
        let log = size.checked_ilog2()?;
        let state = |node: Node| (node.base() as usize % size + size) >> node.bits();
        let form = match nodes.iter().map(|&node| state(node)).max()? {
            _ if log <= FEW_LOG => Form::Few,
            ..=0xff => Form::Near,
            _ => Form::Far,
        };
        let plane = || Plane([0; MOST_SLOTS]);
        let mut of = Self {
            form,
            states: plane(),
            counts: plane(),
            symbols: plane(),
            widths: plane(),
            dealt: (inverse_stride(size) << (DEALT_AT + MOST_LOG - log)) as u16,
            log,
            symbol_count: 0,
        };
        let mut symbols: Vec<Node> = Vec::new();
        for number in 0..size {
            let slot = number * stride(size) % size;
            let node = nodes[slot];
            let like = |other: &Node| {
                (other.payload(), other.offset_bits()) == (node.payload(), node.offset_bits())
            };
            let begins = !symbols.last().is_some_and(like);
            if begins {
                symbols.push(node);
            }
            let symbol = u8::try_from(symbols.len() - 1).ok()?;
            of.widths.0[usize::from(symbol)] = node.offset_bits() as u8;
            let (x, count) = (state(node), node.bits() as u8);
            if form == Form::Few {
                // What lies above a slot does not matter.
                for at in (slot..2 * PART).step_by(size) {
                    of.states.0[at] = x as u8;
                    of.counts.0[at] = count;
                    of.symbols.0[at] = symbol;
                }
                continue;
            }
            let number = number << (MOST_LOG - log);
            let (eight, within) = (number / TOGETHER, number % TOGETHER);
            match within {
                0 => of.symbols.0[eight] = symbol,
                _ => of.symbols.0[PART + eight] |= u8::from(begins) << within,
            }
            let at = PART * within + eight;
            of.states.0[at] = x as u8;
            match form {
                Form::Far => of.counts.0[at] = (x >> 8) as u8 | count << (COUNT_AT - 8),
                _ => of.counts.0[x] = count,
            }
        }
        of.symbol_count = symbols.len();
        Some((of, symbols))
    }

    /// The symbol of a slot, the state that it leads to and how many bits shift that up.
    pub(super) fn look_up(&self, slot: usize) -> (u8, u32, u32) {
        if self.form == Form::Few {
            let of = [&self.symbols, &self.states, &self.counts].map(|plane| plane.0[slot]);
            return (of[0], of[1].into(), of[2].into());
        }
        let number = usize::from((slot as u16).wrapping_mul(self.dealt) >> DEALT_AT) % MOST_SLOTS;
        let (eight, within) = (number / TOGETHER, number % TOGETHER);
        let begin = self.symbols.0[PART + eight] & ((2 << within) - 1) as u8;
        let symbol = self.symbols.0[eight] + begin.count_ones() as u8;
        let at = PART * within + eight;
        let low = self.states.0[at];
        if self.form == Form::Near {
            return (symbol, low.into(), self.counts.0[usize::from(low)].into());
        }
        let high = u32::from(u16::from_le_bytes([low, self.counts.0[at]]));
        (symbol, high % (1 << COUNT_AT), high >> COUNT_AT)
    }

    /// The next slot, where `bits` follow the state `x`.
    pub(super) fn next(&self, x: u32, count: u32, bits: u32) -> u32 {
        ((x << count) + bits) % (1 << self.log)
    }
}

const _: () = assert!(2 * PART == MOST_SYMBOLS && 2 * PART == 1 << FEW_LOG);
