//! PARITY, the record before [SUMS](super::sums): with it, an index that is damaged in one place is put right.
//!
//! | field | form |
//! |---|---|
//! | parity | L bytes, the largest power of two that is at most a sixteenth of the index before this record, and at most 4096: byte i is the XOR of all bytes of that whose place is i mod L |

use crate::bits::checksum::crc32;
use crate::bits::varint;
use crate::wcodec::layout::sums::{self, STRETCH};
use std::ops::Range;

/// Its tag.
pub(crate) const PARITY: u64 = 17;
/// What the index has to a byte of parity, at least.
const SHARE: usize = 16;

/// Bytes of the record behind so many of an index, which has one where it has sums.
pub(crate) fn length_for(index: usize) -> Option<usize> {
    let share = index / SHARE;
    (index > STRETCH).then(|| (1 << share.ilog2()).min(STRETCH))
}

/// What the record says of an index that has one.
pub(crate) fn of(index: &[u8]) -> Option<Vec<u8>> {
    let mut parity = vec![0; length_for(index.len())?];
    for bytes in index.chunks(parity.len()) {
        parity.iter_mut().zip(bytes).for_each(|(parity, byte)| *parity ^= byte);
    }
    Some(parity)
}

/// The index that `bytes` were, with where they are damaged: in one place, by as many bytes as there are of parity
/// at most. It has its sums, and its checksum where that is known.
pub(crate) fn mended(bytes: &[u8], crc: Option<u32>) -> Option<(Vec<u8>, Range<usize>)> {
    let sums = sums::find(bytes)?;
    let parity = find(bytes.get(..sums.start)?)?;
    let right = of(bytes.get(..parity)?)?;
    let stated = bytes.get(sums.start.checked_sub(right.len())?..sums.start)?;
    let has_crc = |index: &[u8]| crc.is_none_or(|crc| crc32(index) == crc);
    let is_it = |index: &[u8]| sums::prove(index) && has_crc(index);
    let mut index = bytes.to_vec();
    let changes: Vec<u8> = right.iter().zip(stated).map(|(a, b)| a ^ b).collect();
    if changes.iter().all(|&change| change == 0) {
        // What is damaged are the sums, of which nothing but the checksum tells.
        let place = sums.end - sums::of(&bytes[..sums.start])?.len()..sums.end;
        index[place.clone()].copy_from_slice(&sums::of(&bytes[..sums.start])?);
        return (crc.is_some() && has_crc(&index)).then_some((index, place));
    }
    // Or the parity.
    let place = sums.start - right.len()..sums.start;
    index[place.clone()].copy_from_slice(&right);
    if is_it(&index) {
        return Some((index, place));
    }
    index.copy_from_slice(bytes);
    // So few bytes are in two stretches at most.
    let wrong = sums::unsound(bytes).filter(|wrong| wrong.len() <= 2)?;
    let end = (wrong.end * STRETCH).min(parity);
    for start in wrong.start * STRETCH..end {
        if changes[start % changes.len()] == 0 {
            continue;
        }
        let place = start..(start + changes.len()).min(end);
        let change = |index: &mut [u8]| {
            place.clone().for_each(|at| index[at] ^= changes[at % changes.len()]);
        };
        change(&mut index);
        if sums::have(&index, wrong.clone()) && is_it(&index) {
            return Some((index, place));
        }
        change(&mut index);
    }
    None
}

/// Whether an index that has sums has no parity, or its own.
pub(crate) fn fits(index: &[u8]) -> bool {
    let before = sums::find(index).and_then(|sums| index.get(..sums.start)).unwrap_or_default();
    let Some(start) = find(before) else { return true };
    of(&before[..start]).is_some_and(|parity| before.ends_with(&parity))
}

/// Where the record begins with which `index` ends.
fn find(index: &[u8]) -> Option<usize> {
    let shifts = SHARE.ilog2() + 4..=STRETCH.ilog2();
    shifts.map(|shift| 1 << shift).find_map(|length| {
        let mut front = Vec::new();
        varint::write(PARITY, &mut front);
        varint::write(length as u64, &mut front);
        let start = index.len().checked_sub(length + front.len())?;
        let fits = length_for(start) == Some(length) && index[start..].starts_with(&front);
        fits.then_some(start)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::wcodec::layout::sums::SUMS;

    /// An index of so many bytes, with both records.
    fn index_of(bytes: usize) -> Vec<u8> {
        let mut index: Vec<u8> =
            (0..bytes).map(|i: usize| ((i * i) >> 7).to_le_bytes()[0]).collect();
        for (tag, of) in [(PARITY, of as fn(&[u8]) -> _), (SUMS, sums::of)] {
            let content: Vec<u8> = of(&index).unwrap();
            varint::write(tag, &mut index);
            varint::write(content.len() as u64, &mut index);
            index.extend(content);
        }
        index
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
            let parity = sums::find(&index).unwrap().start - length;
            places.extend([parity..parity + length, parity + 7..parity + 19]);
            for place in places {
                let mut hurt = index.clone();
                hurt[place.clone()].iter_mut().for_each(|byte| *byte = byte.wrapping_add(91));
                for crc in [None, Some(crc)] {
                    let (mended, found) = mended(&hurt, crc).unwrap();
                    assert_eq!(mended, index, "{place:?} of {bytes}");
                    assert!(found.start <= place.start && found.end >= place.end);
                }
            }
            // Sums need the checksum.
            let mut hurt = index.clone();
            *hurt.last_mut().unwrap() ^= 0x18;
            assert_eq!(mended(&hurt, None), None);
            assert_eq!(mended(&hurt, Some(crc)).unwrap().0, index);
            // Two places.
            let mut hurt = index;
            hurt[7] ^= 1;
            hurt[bytes - 9] ^= 0x60;
            assert_eq!(mended(&hurt, Some(crc)), None);
        }
    }
}
