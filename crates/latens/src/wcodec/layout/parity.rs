//! PARITY, the record before [SUMS](super::sums), where there are any: an index is put right that is damaged at one place, and
//! with sums by some bits of other stretches.
//!
//! | field | form |
//! |---|---|
//! | parity | L bytes, a power of two from 64 to 4096: byte i is the [XOR](super::xor) of all bytes of the index before this record whose place is i mod L |

pub(crate) mod put_back;

use crate::bits::checksum::{crc32, flipped_bits};
use crate::bits::varint;
use crate::wcodec::layout::ending::ends_with;
use crate::wcodec::layout::index::record;
use crate::wcodec::layout::sums::{self, STRETCH, Sums};
use crate::wcodec::layout::xor;
use std::ops::{Range, RangeInclusive};

/// Its tag.
pub(crate) const PARITY: u64 = 17;
/// Its lengths, of which the powers of two are.
const LENGTHS: RangeInclusive<usize> = 64..=STRETCH;
/// What a long index has to a byte of parity, at most.
const SHARE: usize = 16;
/// Stretches that are looked through for flipped bits, at most: that takes a step for each of their bits.
const MOST_LOOKED_THROUGH: usize = 64;

/// Whether the record may be of so many bytes.
pub(crate) fn is_length(bytes: usize) -> bool {
    bytes.is_power_of_two() && LENGTHS.contains(&bytes)
}

/// All that a record may be of, and none.
pub(crate) fn lengths() -> impl Iterator<Item = Option<usize>> + Clone {
    let powers = LENGTHS.start().ilog2()..=LENGTHS.end().ilog2();
    std::iter::once(None).chain(powers.map(|power| Some(1 << power)))
}

/// Bytes of the record that an index of so many is given, which may take `most` of a file: as many as the index has, if they
/// may be, and up to a stretch; but of a long index no less than its share.
pub(crate) fn length_within(index: usize, most: usize) -> Option<usize> {
    let fits = |length: &usize| *length <= most && *length < 2 * index;
    let share = |length: &usize| index > STRETCH && *length <= index / SHARE;
    lengths().flatten().filter(|length| fits(length) || share(length)).last()
}

/// Ends an index with its parity, if it is to have any, and with its sums, if it is long enough.
pub(crate) fn close(index: &mut Vec<u8>, parity: Option<usize>) {
    let parity = parity.map(|length| xor::of(index, length));
    parity.into_iter().for_each(|parity| record(PARITY, &parity, index));
    let sums = sums::of(index);
    sums.into_iter().for_each(|sums| record(sums::SUMS, &sums, index));
}

/// Bytes of an index that has `rest` of them before both.
fn closed_length(rest: usize, parity: Option<usize>) -> usize {
    let with = |before: usize, tag: u64, content: usize| {
        before + varint::len(tag) + varint::len(content as u64) + content
    };
    let rest = parity.map_or(rest, |parity| with(rest, PARITY, parity));
    if rest > STRETCH { with(rest, sums::SUMS, sums::length_for(rest)) } else { rest }
}

/// The index that `bytes` were, with where they are damaged: by up to sixteen bits together of each stretch, and in one
/// place by as many bytes as there are of parity. It has its sums, and its checksum where that is known; it must be of one
/// that has no sums.
pub(crate) fn mended(bytes: &[u8], crc: Option<u32>) -> Option<(Vec<u8>, Vec<Range<usize>>)> {
    if Sums::ending(bytes).is_none() {
        return mended_short(bytes, crc?);
    }
    let (index, mut places) = but_for_bits(bytes)?;
    let sums = Sums::ending(&index)?;
    let fits = ending(sums.of).is_none_or(|(before, own)| xor::of(before, own.len()) == own);
    let has_crc = crc.is_none_or(|crc| crc32(&index) == crc);
    if !places.is_empty() && sums.prove() && fits && has_crc {
        return Some((index, places));
    }
    let (index, place) = but_for_one_place(&index, crc)?;
    places.push(place);
    places.sort_by_key(|place| place.start);
    Some((index, places))
}

/// The same of an index without sums.
fn mended_short(bytes: &[u8], crc: u32) -> Option<(Vec<u8>, Vec<Range<usize>>)> {
    let (before, stated) = ending(bytes).filter(|_| bytes.len() <= STRETCH)?;
    let (changes, mut index) = (xor::changes(before, stated), bytes.to_vec());
    let (all, is_it) = (0..before.len(), |index: &[u8]| crc32(index) == crc);
    let place = xor::mend(&mut index, &changes, (all, before.len()), &is_it)?;
    Some((index, vec![place]))
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
    let place = xor::mend(&mut index, &changes, (wrong.start * STRETCH..end, end), &is_it)?;
    Some((index, place))
}

/// What is before the record with which `index` ends, and its content.
fn ending(index: &[u8]) -> Option<(&[u8], &[u8])> {
    lengths().flatten().find_map(|length| ends_with(index, PARITY, length))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
pub(super) mod tests {
    use super::*;

    /// Parity of an index of so many bytes, where it may not be much.
    pub(super) fn length_for(bytes: usize) -> Option<usize> {
        length_within(bytes, 200)
    }

    /// An index of so many bytes, with both records, if it is to have any.
    pub(super) fn index_of(bytes: usize) -> Vec<u8> {
        index_with(bytes, length_for(bytes))
    }

    fn index_with(bytes: usize, parity: Option<usize>) -> Vec<u8> {
        let mut index: Vec<u8> =
            (0..bytes).map(|i: usize| ((i * i) >> 7).to_le_bytes()[0]).collect();
        close(&mut index, parity);
        assert_eq!(index.len(), closed_length(bytes, parity));
        index
    }

    #[test]
    fn lengths_are_what_an_index_may_take() {
        let of = |index| {
            [0, 63, 64, 100, 300, 1024, 5000, 1 << 20]
                .map(|most| length_within(index, most).unwrap_or(0))
        };
        assert_eq!(of(40), [0, 0, 64, 64, 64, 64, 64, 64]);
        assert_eq!(of(1000), [0, 0, 64, 64, 256, 1024, 1024, 1024]);
        assert_eq!(of(4096), [0, 0, 64, 64, 256, 1024, 4096, 4096]);
        assert_eq!(of(4097), [256, 256, 256, 256, 256, 1024, 4096, 4096]);
        assert_eq!(of(40_000), [2048, 2048, 2048, 2048, 2048, 2048, 4096, 4096]);
        assert_eq!(of(1 << 20), [4096; 8]);
    }

    /// Of a short index its checksum alone says where damage is.
    #[test]
    fn one_place_of_a_short_index_is_put_right() {
        for (bytes, length) in
            [(100, 64), (300, 64), (300, 256), (300, 512), (2000, 1024), (2000, 2048)]
        {
            let index = index_with(bytes, Some(length));
            assert!(Sums::ending(&index).is_none());
            let crc = crc32(&index);
            for at in (0..bytes).step_by(bytes / 13).chain([bytes - 1]) {
                for n in [1, 2, 9, length / 2, length] {
                    let place = at..(at + n).min(bytes);
                    let mut hurt = index.clone();
                    hurt[place.clone()].iter_mut().for_each(|byte| *byte = byte.wrapping_add(91));
                    let (mended, found) = mended(&hurt, Some(crc)).unwrap();
                    assert!(mended == index, "{place:?} of {bytes}");
                    assert!(found[0].start <= place.start && found[0].end >= place.end);
                    assert_eq!(super::mended(&hurt, None), None);
                    assert_eq!(super::mended(&hurt, Some(crc ^ 1)), None);
                }
            }
        }
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
