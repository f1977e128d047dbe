//! Bytes that are the XOR of others: of `length` of them, byte i is that of all bytes whose place is i mod `length`.
//! With a checksum they tell what bytes were that are damaged or gone at one place, if these are no more.

use std::ops::{Range, RangeInclusive};

/// The XOR of `bytes`.
pub(crate) fn of(bytes: &[u8], length: usize) -> Vec<u8> {
    let mut xor = vec![0; length];
    for bytes in bytes.chunks(length.max(1)) {
        xor.iter_mut().zip(bytes).for_each(|(xor, byte)| *xor ^= byte);
    }
    xor
}

/// What `bytes` differ by from those whose XOR is the `stated` one, at each place modulo its length.
pub(crate) fn changes(bytes: &[u8], stated: &[u8]) -> Vec<u8> {
    of(bytes, stated.len()).iter().zip(stated).map(|(a, b)| a ^ b).collect()
}

/// Changes those `bytes` that begin at one of the `starts`, up to `end` at most, so that they are what `is_it`
/// wants; and says which. Else they are as they were.
pub(crate) fn mend(
    bytes: &mut [u8],
    changes: &[u8],
    (starts, end): (Range<usize>, usize),
    is_it: &dyn Fn(&[u8]) -> bool,
) -> Option<Range<usize>> {
    for start in starts {
        if changes[start % changes.len()] == 0 {
            continue;
        }
        let place = start..(start + changes.len()).min(end);
        let change = |bytes: &mut [u8]| {
            place.clone().for_each(|at| bytes[at] ^= changes[at % changes.len()]);
        };
        change(bytes);
        if is_it(bytes) {
            return Some(place);
        }
        change(bytes);
    }
    None
}

/// Puts bytes where `missing` zeros are, which begin at the first of the `places`, or at another of these, so that `bytes`
/// are what `is_it` wants; and says where. Else the zeros are at the last one.
pub(crate) fn fill(
    bytes: &mut [u8],
    mut changes: Vec<u8>,
    (places, missing): (RangeInclusive<usize>, usize),
    is_it: &dyn Fn(&[u8]) -> bool,
) -> Option<usize> {
    let (length, last) = (changes.len(), *places.end());
    if missing > length {
        return None;
    }
    for start in places {
        let hole = start..start + missing;
        // Each byte that is missing is told by one of the XOR, and all others are right.
        let told = |i: usize| (i + length - start % length) % length < missing;
        if changes.iter().enumerate().all(|(i, &change)| change == 0 || told(i)) {
            hole.clone().for_each(|at| bytes[at] = changes[at % length]);
            if is_it(bytes) {
                return Some(start);
            }
            bytes[hole.clone()].fill(0);
        }
        if start < last {
            // The byte behind goes before them.
            bytes.swap(start, hole.end);
            let byte = bytes[start];
            changes[start % length] ^= byte;
            changes[hole.end % length] ^= byte;
        }
    }
    None
}
