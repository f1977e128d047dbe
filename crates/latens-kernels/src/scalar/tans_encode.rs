//! Portable kernel of [`crate::tans::Encoder`].

use crate::tans::{Encoder, LANES};

/// Codes by four, from the last to the first, and the states at the end.
pub(crate) fn codes(encoder: &Encoder, symbols: &[u16], codes: &mut [u64]) -> [u32; LANES] {
    let (fours, rest) = symbols.as_chunks::<LANES>();
    let mut states = [encoder.initial_state(); LANES];
    let (codes, last) = codes.split_at_mut(fours.len());
    if let Some(last) = last.first_mut() {
        *last = group(encoder, rest, &mut states);
    }
    for (four, code) in fours.iter().zip(codes).rev() {
        *code = group(encoder, four, &mut states);
    }
    states
}

/// Codes of four symbols at most.
#[inline(always)]
pub(crate) fn group(encoder: &Encoder, symbols: &[u16], states: &mut [u32; LANES]) -> u64 {
    let (mut all, mut total) = (0, 0);
    for lane in (0..symbols.len()).rev() {
        let (next, bits) = encoder.step(states[lane], symbols[lane]);
        all = all << bits | u64::from(states[lane]) & ((1 << bits) - 1);
        total += bits;
        states[lane] = next;
    }
    all | u64::from(total) << 56
}
