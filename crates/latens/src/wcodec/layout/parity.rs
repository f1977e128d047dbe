//! PARITY, the record before [SUMS](super::sums): with both, an index is put right that is damaged at one place, and by some
//! bits of other stretches.
//!
//! | field | form |
//! |---|---|
//! | parity | L bytes, the largest power of two that is at most a sixteenth of the index before this record, and at most 4096: byte i is the XOR of all bytes of that whose place is i mod L |

pub(crate) mod put_back;

use crate::bits::checksum::{crc32, flipped_bits};
use crate::bits::varint;
use crate::wcodec::layout::ending::ends_with;
use crate::wcodec::layout::sums::{self, STRETCH, Sums};
use crate::wcodec::layout::xor;
use std::ops::Range;

/// Its tag.
pub(crate) const PARITY: u64 = 17;
/// What the index has to a byte of parity, at least.
const SHARE: usize = 16;
/// Stretches that are looked through for flipped bits, at most: that takes a step for each of their bits.
const MOST_LOOKED_THROUGH: usize = 64;

/// Bytes of the record behind so many of an index, which has one where it has sums.
pub(crate) fn length_for(index: usize) -> Option<usize> {
    let share = index / SHARE;
    (index > STRETCH).then(|| (1 << share.ilog2()).min(STRETCH))
}

/// What the record says of an index that has one.
pub(crate) fn of(index: &[u8]) -> Option<Vec<u8>> {
    Some(xor::of(index, length_for(index.len())?))
}

/// Ends an index with its parity and its sums, if it is long enough for them.
pub(crate) fn close(index: &mut Vec<u8>) {
    for (tag, of) in [(PARITY, of as fn(&[u8]) -> _), (sums::SUMS, sums::of)] {
        let content: Option<Vec<u8>> = of(index);
        if let Some(content) = content {
            varint::write(tag, index);
            varint::write(content.len() as u64, index);
            index.extend(content);
        }
    }
}

/// Bytes of an index that has `rest` of them before both.
fn closed_length(rest: usize) -> usize {
    let with = |before: usize, tag: u64, content: usize| {
        before + varint::len(tag) + varint::len(content as u64) + content
    };
    let Some(parity) = length_for(rest) else { return rest };
    let rest = with(rest, PARITY, parity);
    with(rest, sums::SUMS, sums::length_for(rest))
}

/// The index that `bytes` were, with where they are damaged: by up to sixteen bits together of each stretch, and in one
/// place by as many bytes as there are of parity. It has its sums, and its checksum where that is known.
pub(crate) fn mended(bytes: &[u8], crc: Option<u32>) -> Option<(Vec<u8>, Vec<Range<usize>>)> {
    let (index, mut places) = but_for_bits(bytes)?;
    let sums = Sums::ending(&index)?;
    let has_crc = crc.is_none_or(|crc| crc32(&index) == crc);
    if !places.is_empty() && sums.prove() && fits(&index) && has_crc {
        return Some((index, places));
    }
    let (index, place) = but_for_one_place(&index, crc)?;
    places.push(place);
    places.sort_by_key(|place| place.start);
    Some((index, places))
}

/// `bytes` with those bits put right that are together in a stretch, by its sum, and differ from the parity, or that are one
/// alone; and where they are. What else is damaged stays.
fn but_for_bits(bytes: &[u8]) -> Option<(Vec<u8>, Vec<Range<usize>>)> {
    let (sums, mut places) = (Sums::ending(bytes)?, Vec::new());
    let (before, stated) = ending(sums.of)?;
    let (changes, mut index) = (xor::changes(before, stated), bytes.to_vec());
    for (start, length, difference) in sums.differences().take(MOST_LOOKED_THROUGH) {
        let found = flipped_bits(length, difference).map(|(bit, bits)| {
            let bytes = (u32::from(bits) << (bit % 8)).to_le_bytes();
            let bytes = (start + bit / 8..).zip(bytes).filter(|(_, bits)| *bits != 0);
            bytes.collect::<Vec<(usize, u8)>>()
        });
        let told = |(at, bits): &(usize, u8)| changes[at % changes.len()] & bits == *bits;
        let found: Vec<_> = found.collect();
        let is_one = |bits: &[(usize, u8)]| matches!(bits, [(_, bits)] if bits.is_power_of_two());
        let by_parity = found.iter().find(|bits| bits.iter().all(told));
        let Some(found) = by_parity.or_else(|| found.iter().find(|bits| is_one(bits))) else {
            continue;
        };
        found.iter().for_each(|&(at, bits)| index[at] ^= bits);
        places.extend(found.iter().map(|&(at, _)| at..at + 1));
    }
    Some((index, places))
}

/// As [`mended`], of one place alone.
fn but_for_one_place(bytes: &[u8], crc: Option<u32>) -> Option<(Vec<u8>, Range<usize>)> {
    let sums = Sums::ending(bytes)?;
    let (before, stated) = ending(sums.of)?;
    let has_crc = |index: &[u8]| crc.is_none_or(|crc| crc32(index) == crc);
    let is_it = |index: &[u8]| Sums::ending(index).is_some_and(Sums::prove) && has_crc(index);
    let mut index = bytes.to_vec();
    let changes = xor::changes(before, stated);
    if changes.iter().all(|&change| change == 0) {
        // What is damaged are the sums, of which nothing but the checksum tells.
        let place = bytes.len() - sums.content_len()..bytes.len();
        index[place.clone()].copy_from_slice(&sums::of(sums.of)?);
        return (crc.is_some() && has_crc(&index)).then_some((index, place));
    }
    // Or the parity.
    let place = sums.of.len() - stated.len()..sums.of.len();
    index[place.clone()].iter_mut().zip(&changes).for_each(|(byte, change)| *byte ^= change);
    if is_it(&index) {
        return Some((index, place));
    }
    index.copy_from_slice(bytes);
    // So few bytes are in two stretches at most.
    let wrong = sums.unsound().filter(|wrong| wrong.len() <= 2)?;
    let end = (wrong.end * STRETCH).min(before.len());
    let is_it = |index: &[u8]| {
        Sums::ending(index).is_some_and(|sums| sums.have(wrong.clone())) && is_it(index)
    };
    let place = xor::mend(&mut index, &changes, wrong.start * STRETCH..end, &is_it)?;
    Some((index, place))
}

/// Whether an index that has sums has no parity, or its own.
pub(crate) fn fits(index: &[u8]) -> bool {
    let before = Sums::ending(index).map_or(&[][..], |sums| sums.of);
    ending(before).is_none_or(|(before, stated)| of(before).is_some_and(|own| own == stated))
}

/// What is before the record with which `index` ends, and its content.
fn ending(index: &[u8]) -> Option<(&[u8], &[u8])> {
    let shifts = SHARE.ilog2() + 4..=STRETCH.ilog2();
    shifts.map(|shift| 1 << shift).find_map(|length| {
        let found = ends_with(index, PARITY, length)?;
        (length_for(found.0.len()) == Some(length)).then_some(found)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
pub(super) mod tests {
    use super::*;

    /// An index of so many bytes, with both records.
    pub(super) fn index_of(bytes: usize) -> Vec<u8> {
        let mut index: Vec<u8> =
            (0..bytes).map(|i: usize| ((i * i) >> 7).to_le_bytes()[0]).collect();
        close(&mut index);
        assert_eq!(index.len(), closed_length(bytes));
        index
    }

    /// Some bits of every stretch, and as many bytes of one as there are of parity.
    #[test]
    fn bits_of_each_stretch_are_put_right() {
        let at_of = |stretch: usize| 100 + stretch * (STRETCH + 333);
        for bytes in [5000, 12_289, 70_000] {
            let index = index_of(bytes);
            let (crc, length) = (crc32(&index), length_for(bytes).unwrap());
            let mut hurt = index.clone();
            let mut places = Vec::new();
            for (n, at) in (0..).map(|n| (n, at_of(n))).take_while(|(_, at)| *at < bytes) {
                let bits = (0x9001u32 >> (n % 3) | 1) << (n % 8);
                for (i, bits) in bits.to_le_bytes().into_iter().enumerate() {
                    hurt[at + i] ^= bits;
                    places.extend((bits != 0).then_some(at + i..at + i + 1));
                }
            }
            for crc in [None, Some(crc)] {
                let (mended, found) = mended(&hurt, crc).unwrap();
                assert_eq!(mended, index, "{bytes}");
                assert!(places.iter().all(|place| found.contains(place)), "{found:?}");
            }
            // One bit of each, and a place in one that differs as much from the parity as they do.
            let mut hurt = index.clone();
            for at in (0..).map(at_of).take_while(|at| *at < bytes) {
                hurt[at] ^= 1 << (at % 8);
            }
            let (before, at) = (at_of(1), STRETCH + 700);
            hurt[before] = index[before];
            let other = at..(at + length).min(bytes).min(2 * STRETCH);
            hurt[other.clone()].iter_mut().for_each(|byte| *byte = byte.wrapping_add(91));
            let (mended, found) = mended(&hurt, Some(crc)).unwrap();
            assert_eq!(mended, index, "{bytes}");
            assert!(found.iter().any(|f| f.start <= other.start && f.end >= other.end));
        }
    }

    /// Damage of as many bytes as there are of parity, wherever it is.
    #[test]
    fn one_place_is_put_right() {
        assert_eq!((of(&[7; STRETCH]), length_for(STRETCH + 1)), (None, Some(256)));
        for bytes in [4097, 5000, 8192, 12_289, 50_000, 70_000] {
            let (index, length) = (index_of(bytes), length_for(bytes).unwrap());
            let crc = crc32(&index);
            assert_eq!(mended(&index, Some(crc ^ 1)), None);
            let mut places: Vec<Range<usize>> = Vec::new();
            for at in (0..bytes).step_by(bytes / 11).chain([bytes - length, bytes - 1]) {
                places.extend([1, 2, length / 3, length].map(|n| at..(at + n).min(bytes)));
            }
            // The parity itself.
            let parity = Sums::ending(&index).unwrap().of.len() - length;
            places.extend([parity..parity + length, parity + 7..parity + 19]);
            for place in places {
                let mut hurt = index.clone();
                hurt[place.clone()].iter_mut().for_each(|byte| *byte = byte.wrapping_add(91));
                for crc in [None, Some(crc)] {
                    let (mended, found) = mended(&hurt, crc).unwrap();
                    assert_eq!(mended, index, "{place:?} of {bytes}");
                    assert!(found[0].start <= place.start);
                    assert!(found.last().unwrap().end >= place.end);
                }
            }
            // Sums need the checksum.
            let mut hurt = index.clone();
            *hurt.last_mut().unwrap() ^= 0x18;
            assert_eq!(mended(&hurt, None), None);
            assert_eq!(mended(&hurt, Some(crc)).unwrap().0, index);
            // Two places.
            let mut hurt = index;
            (0..7).for_each(|i| hurt[7 + i] ^= 0x11);
            (0..7).for_each(|i| hurt[bytes - 9 + i] ^= 0x60);
            assert_eq!(mended(&hurt, Some(crc)), None);
        }
    }
}
