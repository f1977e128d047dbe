//! Table-based ANS as Pco uses it: the spread, and the encoder's table. The decoder's is in
//! `latens-kernels`.
//!
//! A table has `T = 2^log` slots; symbol `s` owns as many as its weight. A slot is a state:
//! reading emits its symbol, takes `bits` from the stream and moves to slot `base + bits read`.
//! See `specs/pco.md`, "tANS".

/// Largest `log` the format allows.
pub(crate) const MAX_LOG: u32 = 14;

/// The distance between slots of neighbours in the spread: odd, near 3/5 of the table.
const fn stride(table_size: usize) -> usize {
    let s = 3 * table_size / 5;
    if s.is_multiple_of(2) { s + 1 } else { s }
}

/// The symbol of each slot. The weights must sum to `2^log`.
pub(crate) fn spread(log: u32, weights: &[u32]) -> Vec<u16> {
    let table_size = 1usize << log;
    debug_assert_eq!(weights.iter().map(|&w| w as usize).sum::<usize>(), table_size);
    let mut slots = vec![0u16; table_size];
    let step = stride(table_size);
    let mut at = 0;
    for (symbol, &weight) in (0u16..).zip(weights) {
        for _ in 0..weight {
            slots[at] = symbol;
            at = (at + step) & (table_size - 1);
        }
    }
    slots
}

/// One symbol of the encoder's table.
#[derive(Clone, Copy, Debug)]
struct Symbol {
    /// Added to a state, the top half is the number of bits to write.
    bits_delta: u32,
    /// Index in `Encoder::slot_of` of the symbol's first slot, less its weight.
    start: i32,
}

/// The encoder's table: the exact inverse of the decoder's.
#[derive(Clone, Debug)]
pub(crate) struct Encoder {
    log: u32,
    symbols: Vec<Symbol>,
    /// By symbol, then by `x - weight`: the state (slot + T) that holds it.
    states: Vec<u16>,
}

impl Encoder {
    /// For the same `log` and weights as the decoder's table.
    #[expect(clippy::cast_possible_truncation, reason = "states are below 2^15")]
    #[expect(clippy::cast_possible_wrap, reason = "likewise")]
    pub(crate) fn new(log: u32, weights: &[u32]) -> Self {
        let table_size = 1u32 << log;
        let mut symbols = Vec::with_capacity(weights.len());
        let mut starts = Vec::with_capacity(weights.len());
        let mut sum = 0u32;
        for &weight in weights {
            // States T..2T shrink to w..2w by `bits` or `bits - 1` shifts.
            let bits = log - (weight.max(1) - 1).checked_ilog2().map_or(0, |l| l + 1);
            let bits = if weight << bits < table_size { bits + 1 } else { bits };
            let threshold = weight << bits;
            // bits for states >= threshold, one less below.
            symbols.push(Symbol {
                bits_delta: (bits << 16).wrapping_sub(threshold),
                start: sum as i32 - weight as i32,
            });
            starts.push(sum);
            sum += weight;
        }
        let mut states = vec![0u16; table_size as usize];
        for (slot, symbol) in spread(log, weights).into_iter().enumerate() {
            let at = &mut starts[usize::from(symbol)];
            states[*at as usize] = (table_size + slot as u32) as u16;
            *at += 1;
        }
        Self { log, symbols, states }
    }

    /// The state every lane starts from (encoding runs backwards, so it is where decoding ends).
    pub(crate) fn initial_state(&self) -> u32 {
        1 << self.log
    }

    /// The slot index that a decoder starts from, for a final encoder state.
    pub(crate) fn slot(&self, state: u32) -> u32 {
        state - (1 << self.log)
    }

    /// Encodes `symbol`: the new state, and how many low bits of the old state to write.
    #[inline(always)]
    pub(crate) fn step(&self, state: u32, symbol: usize) -> (u32, u32) {
        let s = self.symbols[symbol];
        let bits = state.wrapping_add(s.bits_delta) >> 16;
        #[expect(clippy::cast_possible_wrap, reason = "states are below 2^15")]
        let x = (state >> bits) as i32;
        #[expect(clippy::cast_sign_loss, reason = "x >= weight, so start + x >= 0")]
        let at = (s.start + x) as usize;
        (u32::from(self.states[at]), bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latens_kernels::tans::{Memory, Symbol, Table};
    use proptest::prelude::*;

    #[test]
    fn strides_of_the_specification() {
        let expect = [1, 1, 3, 5, 9, 19, 39, 77, 153, 307, 615, 1229, 2457, 4915, 9831];
        for (log, s) in expect.into_iter().enumerate() {
            assert_eq!(stride(1 << log), s);
        }
    }

    #[test]
    fn check_vector_of_the_specification() {
        assert_eq!(spread(4, &[1, 1, 3, 11]), [0, 3, 2, 3, 2, 3, 3, 3, 3, 1, 3, 2, 3, 3, 3, 3]);
    }

    proptest! {
        /// Each encoder step is undone by the decoder's slot, for every state and symbol.
        #[test]
        fn encoder_and_decoder_tables_agree(log in 0u32..=11, cuts in prop::collection::vec(any::<u32>(), 0..60)) {
            let size = 1u32 << log;
            let mut bounds: Vec<u32> = cuts.iter().map(|c| c % size).collect();
            bounds.extend([0, size]);
            bounds.sort_unstable();
            bounds.dedup();
            let weights: Vec<u32> = bounds.windows(2).map(|w| w[1] - w[0]).collect();
            let symbol = |(lower, &weight): (u32, &u32)| Symbol { weight, offset_bits: 0, lower };
            let symbols: Vec<_> = (0..).zip(&weights).map(symbol).collect();
            let table = Table::spread(log, &symbols, Memory::default()).unwrap();
            let table: Vec<_> = table.slots().collect();
            let encoder = Encoder::new(log, &weights);
            for state in size..2 * size {
                for symbol in 0..weights.len() {
                    let (new, bits) = encoder.step(state, symbol);
                    let slot = table[encoder.slot(new) as usize];
                    prop_assert_eq!(slot.lower as usize, symbol);
                    prop_assert_eq!(u32::from(slot.bits), bits);
                    let low = state & ((1 << bits) - 1);
                    prop_assert_eq!(u32::from(slot.base) + low, state - size);
                }
            }
        }
    }
}
