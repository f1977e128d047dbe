//! Encoding by a table: the inverse of a [walk](super::walk).
//!
//! Symbols are taken from the last to the first, four states in turn. A symbol's step adds a number to the state
//! whose high half then says how many of its low bits are written; what is left of the state leads to the next one.

use super::slot::MAX_LOG;
use super::stream::LANES;
use crate::dispatch::Present;
#[cfg(any(target_arch = "x86_64", test))]
use crate::dispatch::Simd;
use crate::scalar::tans_encode as scalar;
#[cfg(target_arch = "x86_64")]
use crate::x86_64::bmi2_tans_encode as bmi2;

/// The encoder's table: the exact inverse of the decoder's.
#[derive(Clone, Debug)]
pub struct Encoder {
    log: u32,
    /// By symbol. Low half: what is added to a state, whose high half is then the number of bits to write. High
    /// half: place in `states` of the symbol's first slot, less its weight.
    pub(crate) symbols: Vec<u64>,
    /// By symbol, then by `x - weight`: the state (slot + `2^log`) that holds it.
    pub(crate) states: Vec<u16>,
}

impl Encoder {
    /// For the symbols of `2^log` slots, each of which has as many as its weight.
    ///
    /// # Panics
    /// Where that is not so, a weight is 0, or there are more than `2^14` slots.
    #[expect(clippy::cast_possible_truncation, reason = "states are below 2^15")]
    pub fn new(log: u32, weights: &[u32], slots: &[u16]) -> Self {
        assert!(log <= MAX_LOG && slots.len() == 1 << log, "as many slots as 2^log");
        let size = 1u32 << log;
        let mut symbols = Vec::with_capacity(weights.len());
        let mut places = Vec::with_capacity(weights.len());
        let mut sum = 0u32;
        for &weight in weights {
            assert!(weight > 0 && weight <= size - sum, "weights that sum to 2^log");
            // States from `size` on shrink to `weight..2 weight` by `bits` shifts, or one fewer.
            let bits = log - (weight - 1).checked_ilog2().map_or(0, |l| l + 1);
            let bits = if weight << bits < size { bits + 1 } else { bits };
            // As many for states from here on.
            let threshold = weight << bits;
            let added = (bits << 16).wrapping_sub(threshold);
            symbols.push(u64::from(sum.wrapping_sub(weight)) << 32 | u64::from(added));
            places.push(sum);
            sum += weight;
        }
        let ends: Vec<u32> =
            places.iter().zip(weights).map(|(place, weight)| place + weight).collect();
        let mut states = vec![0u16; 1 << log];
        for (slot, &symbol) in (size..).zip(slots) {
            let place = &mut places[usize::from(symbol)];
            states[*place as usize] = slot as u16;
            *place += 1;
        }
        assert!(places == ends, "as many slots as weights");
        Self { log, symbols, states }
    }

    /// The state that every lane starts from: where decoding ends.
    pub fn initial_state(&self) -> u32 {
        1 << self.log
    }

    /// The slot that a decoder starts from, for a final state.
    pub fn slot(&self, state: u32) -> u32 {
        state - (1 << self.log)
    }

    /// Encodes `symbol`: the new state, and how many low bits of the old state to write.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "two halves")]
    pub fn step(&self, state: u32, symbol: u16) -> (u32, u32) {
        let step = self.symbols[usize::from(symbol)];
        let bits = state.wrapping_add(step as u32) >> 16;
        let place = ((step >> 32) as u32).wrapping_add(state >> bits);
        (self.states[place as usize].into(), bits)
    }

    /// By four symbols their codes, that of the first one lowest, and in the highest byte how many bits; and the
    /// states at the end, of symbols whose number leaves 0 to 3 when divided by four.
    ///
    /// # Panics
    /// Where a symbol has no weight, or there is not a place for each four symbols.
    pub fn codes(&self, present: Present, symbols: &[u16], codes: &mut [u64]) -> [u32; LANES] {
        assert!(codes.len() == symbols.len().div_ceil(LANES), "a place for each four");
        match present.simd() {
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2 | Simd::Avx512 => present.call(
                #[inline(always)]
                || bmi2::codes(self, symbols, codes),
            ),
            _ => scalar::codes(self, symbols, codes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::noise;
    use crate::twin_test;

    /// Slots dealt by turns, as far as weights go.
    fn encoder(log: u32, weights: &[u32]) -> Encoder {
        let mut left = weights.to_vec();
        let mut slots = Vec::new();
        while slots.len() < 1 << log {
            for (symbol, left) in (0u16..).zip(&mut left).filter(|(_, left)| **left > 0) {
                *left -= 1;
                slots.push(symbol);
            }
        }
        Encoder::new(log, weights, &slots)
    }

    twin_test!(
        all_kernels_encode_alike,
        {
            let mut next = noise(77);
            let mut cases = Vec::new();
            let lengths = [0usize, 1, 2, 3, 4, 5, 255, 256, 257, 258, 1023, 4096];
            let tables: [(u32, &[u32]); 7] = [
                (0, &[1]),
                (1, &[1, 1]),
                (3, &[5, 1, 2]),
                (6, &[1, 2, 3, 4, 5, 6, 43]),
                (10, &[1, 1023]),
                (14, &[1, 1 << 13, 3, 500, (1 << 13) - 504]),
                (14, &[1; 1 << 14]),
            ];
            for (log, weights) in tables {
                for n in lengths {
                    let count = weights.len() as u64;
                    let symbols: Vec<u16> =
                        (0..n).map(|_| u16::try_from(next() % count).unwrap()).collect();
                    cases.push((log, weights, symbols));
                }
            }
            cases
        },
        |simd, case| {
            let (log, weights, symbols) = case;
            let mut codes = vec![0; symbols.len().div_ceil(LANES)];
            let states = encoder(*log, weights).codes(Present::new(simd), symbols, &mut codes);
            (codes, states)
        }
    );

    #[test]
    fn symbols_without_weights_are_refused() {
        for simd in Simd::available() {
            let codes = || encoder(1, &[1, 1]).codes(Present::new(simd), &[0, 1, 2, 1], &mut [0]);
            assert!(std::panic::catch_unwind(codes).is_err());
        }
        assert!(std::panic::catch_unwind(|| Encoder::new(1, &[1, 1], &[0, 0])).is_err());
        assert!(std::panic::catch_unwind(|| Encoder::new(1, &[2, 0], &[0, 0])).is_err());
        assert!(std::panic::catch_unwind(|| Encoder::new(1, &[1], &[0, 0])).is_err());
    }
}
