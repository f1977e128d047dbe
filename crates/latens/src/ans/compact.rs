//! States that take no more room than they say something: those that a reader begins with as many bits as they have,
//! those that it ends with the last symbols.
//!
//! | field | form |
//! |---|---|
//! | lengths | 16 bytes, four bits a lane, the first one lowest: k |
//! | states | bit stream: of each lane the lower 16 + k bits; the highest bit, number 16 + k, is not stored |
//!
//! `specs/wcodec.md`, chapter 10.

use super::rans::{LANES, START};
use crate::bits::reader::BitReader;
use crate::bits::writer::BitWriter;
use crate::error::{Error, Result};
use std::ops::Range;

/// Bytes of the lengths.
const LENGTHS: usize = LANES / 2;
/// Bits of a state that are not its length, at least; also those of a last state that symbols have.
const LEAST: u32 = START.ilog2();
/// What states take.
pub(crate) const BYTES: Range<usize> = LENGTHS + LANES * 2..LENGTHS + LANES * 31 / 8 + 1;

/// How many of `count` symbols of `bits` each are in the last states.
pub(crate) fn in_states(count: usize, bits: u32) -> usize {
    count.min((LEAST / bits.max(1)) as usize * LANES)
}

/// The last states that hold the symbols from number `first` on.
pub(crate) fn put_into_states(symbols: &[u8], first: usize, bits: u32) -> [u32; LANES] {
    let mut states = [START; LANES];
    for (i, &symbol) in symbols.iter().enumerate().rev() {
        let x = &mut states[(first + i) % LANES];
        *x = START + (*x << bits | u32::from(symbol)) % START;
    }
    states
}

/// Takes the symbols from number `first` on out of the last states.
pub(crate) fn take_from_states(states: &mut [u32; LANES], first: usize, bits: u32, out: &mut [u8]) {
    for (i, symbol) in out.iter_mut().enumerate() {
        let x = &mut states[(first + i) % LANES];
        let low = *x % START;
        [*symbol, ..] = (low & ((1 << bits) - 1)).to_le_bytes();
        *x = (*x - low) | low >> bits;
    }
}

/// Writes the states that a reader begins with.
pub(crate) fn write(states: &[u32; LANES], mut out: Vec<u8>) -> Vec<u8> {
    let length = |x: u32| x.max(START).ilog2() - LEAST;
    let two = |two: &[u32; 2]| (length(two[0]) | length(two[1]) << 4).to_le_bytes()[0];
    out.extend(states.as_chunks().0.iter().map(two));
    let mut bits = BitWriter::append_to(out);
    for &x in states {
        let count = LEAST + length(x);
        bits.write(u64::from(x - (1 << count)), count);
    }
    bits.finish()
}

/// Reads the states that `bytes` begin with, and how far they go.
pub(crate) fn read(bytes: &[u8]) -> Result<([u32; LANES], usize)> {
    let lengths = bytes.get(..LENGTHS).unwrap_or_default();
    let counts = lengths.iter().flat_map(|two| [two & 15, two >> 4]).map(|k| LEAST + u32::from(k));
    let all: u32 = counts.clone().sum();
    if all == 0 || bytes.len() - LENGTHS < all.div_ceil(8) as usize {
        return Err(Error::corrupt(0, "a group is shorter than its 32 states"));
    }
    let (mut states, mut bits) = ([0; LANES], BitReader::new(bytes, 8 * LENGTHS));
    for (x, count) in states.iter_mut().zip(counts) {
        *x = 1 << count | bits.read_u32(count, "the states of a group")?;
    }
    bits.align("the states of a group")?;
    let end = bits.byte();
    Ok((states, usize::try_from(end).unwrap_or(usize::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn states_come_back(states in prop::array::uniform32(START..), shift in 0u32..16, before in 0usize..3) {
            let states = states.map(|x| START.max(x >> shift));
            let stored = write(&states, vec![7; before]);
            let (read, end) = read(&stored[before..]).unwrap();
            prop_assert_eq!((read, end), (states, stored.len() - before));
            prop_assert!(BYTES.contains(&end));
            for cut in before..stored.len() {
                prop_assert!(super::read(&stored[before..cut]).is_err());
            }
        }

        #[test]
        fn symbols_come_back(
            bits in 1u32..=8,
            symbols in prop::collection::vec(any::<u8>(), 0..600),
            first in 0usize..100,
        ) {
            let symbols: Vec<u8> = symbols.iter().map(|s| s >> (8 - bits)).collect();
            let symbols = &symbols[..in_states(symbols.len(), bits)];
            let mut states = put_into_states(symbols, first, bits);
            prop_assert!(states.iter().all(|x| x / START == 1));
            let mut out = vec![0; symbols.len()];
            take_from_states(&mut states, first, bits, &mut out);
            prop_assert_eq!((&*out, states), (symbols, [START; LANES]));
        }
    }

    #[test]
    fn lengths_at_their_ends() {
        let mut states = [START; LANES];
        assert_eq!(write(&states, Vec::new()), vec![0; BYTES.start]);
        states.fill(u32::MAX);
        assert_eq!(write(&states, Vec::new()), vec![255; BYTES.end - 1]);
    }
}
