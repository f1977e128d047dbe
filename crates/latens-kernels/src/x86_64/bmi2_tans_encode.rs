//! Encoding with BMI2. States wait for themselves: for the number that is added, a shift by what it says, and a load.
//! So all that is not on that way is put off: each symbol leaves the sum of its state, which says bits and their
//! number, and sums become codes many at a time.

#![expect(
    clippy::cast_possible_truncation,
    reason = "usize has 64 bits on x86-64, states and counts have few"
)]

use crate::scalar::tans_encode::group;
use crate::tans::{Encoder, LANES};

/// Groups of four symbols whose sums are put off.
const BLOCK: usize = 256;

/// Codes by four, from the last to the first, and the states at the end. To be compiled for BMI2 and vectors.
#[inline(always)]
pub(crate) fn codes(encoder: &Encoder, symbols: &[u16], codes: &mut [u64]) -> [u32; LANES] {
    let (fours, rest) = symbols.as_chunks::<LANES>();
    let mut states = [encoder.initial_state(); LANES];
    let (codes, last) = codes.split_at_mut(fours.len());
    if let Some(last) = last.first_mut() {
        *last = group(encoder, rest, &mut states);
    }
    let [mut a, mut b, mut c, mut d] = states.map(u64::from);
    let (mut firsts, mut lasts) = ([[0u32; 2]; BLOCK], [[0u32; 2]; BLOCK]);
    for (fours, codes) in fours.chunks(BLOCK).zip(codes.chunks_mut(BLOCK)).rev() {
        let largest = fours.as_flattened().iter().fold(0, |most, &symbol| symbol.max(most));
        assert!(usize::from(largest) < encoder.symbols.len(), "a symbol without a weight");
        let sums = fours.iter().zip(&mut firsts).zip(&mut lasts);
        for ((&[s, t, u, v], first), last) in sums.rev() {
            let (w, x, y, z);
            // SAFETY: the symbols of the block have steps, and states are the initial one or come out of steps.
            unsafe {
                (d, z) = step(encoder, d, v);
                (c, y) = step(encoder, c, u);
                (b, x) = step(encoder, b, t);
                (a, w) = step(encoder, a, s);
            }
            *first = [w as u32, x as u32];
            *last = [y as u32, z as u32];
        }
        for ((code, &first), &last) in codes.iter_mut().zip(&firsts).zip(&lasts) {
            let ((first, bits), (last, more)) = (
                two(u64::from(first[0]) | u64::from(first[1]) << 32),
                two(u64::from(last[0]) | u64::from(last[1]) << 32),
            );
            *code = first | last << bits | (bits + more) << 56;
        }
    }
    [a, b, c, d].map(|state| state as u32)
}

/// The state behind a symbol, and a sum whose high half is how many of its low bits are the symbol's code: what is
/// added to the state is a multiple of so many bits.
///
/// # Safety
/// The symbol is one of the encoder's, and the state `2^log` or one that it has led to.
#[inline(always)]
unsafe fn step(encoder: &Encoder, state: u64, symbol: u16) -> (u64, u64) {
    debug_assert!(usize::from(symbol) < encoder.symbols.len());
    // SAFETY: as the caller vouches.
    let step = unsafe { *encoder.symbols.get_unchecked(usize::from(symbol)) };
    let sum = u64::from((state as u32).wrapping_add(step as u32));
    let start = (step.cast_signed() >> 32) as isize;
    let place = (state >> (sum >> 16 & 63)) as usize;
    debug_assert!(start.wrapping_add_unsigned(place).cast_unsigned() < encoder.states.len());
    // Where the symbol's states begin is known before the state is: two sums, of which one is not on its way.
    let from = encoder.states.as_ptr().wrapping_offset(start);
    // SAFETY: the shift leaves between one and two times the symbol's weight of any of the table's states, and so
    // many states are from `start` plus the weight on: `Encoder::new` has made sure.
    let next = unsafe { *from.wrapping_add(place) };
    (next.into(), sum)
}

/// The codes of two sums, and how many bits those are.
#[inline(always)]
fn two(sums: u64) -> (u64, u64) {
    let (low, high) = (sums >> 16 & 63, sums >> 48 & 63);
    let (first, second) = (sums & ((1 << low) - 1), sums >> 32 & ((1 << high) - 1));
    (first | second << low, low + high)
}
