//! Table-based ANS as Pco uses it: the spread of the encoder's table. The tables themselves are in
//! `latens-kernels`.
//!
//! A table has `T = 2^log` slots; symbol `s` owns as many as its weight. A slot is a state:
//! reading emits its symbol, takes `bits` from the stream and moves to slot `base + bits read`.
//! See `specs/pco.md`, "tANS".

use latens_kernels::tans::Encoder;

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

/// The encoder's table of these weights.
pub(crate) fn encoder(log: u32, weights: &[u32]) -> Encoder {
    Encoder::new(log, weights, &spread(log, weights))
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
            let encoder = encoder(log, &weights);
            for state in size..2 * size {
                for (symbol, _) in (0u16..).zip(&weights) {
                    let (new, bits) = encoder.step(state, symbol);
                    let slot = table[encoder.slot(new) as usize];
                    prop_assert_eq!(slot.lower, u32::from(symbol));
                    prop_assert_eq!(u32::from(slot.bits), bits);
                    let low = state & ((1 << bits) - 1);
                    prop_assert_eq!(u32::from(slot.base) + low, state - size);
                }
            }
        }
    }
}
