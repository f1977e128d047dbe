//! Bytes that were taken out of an index, at one place: its length is known, its sums say in which stretch or, of a short one,
//! its checksum where, its parity what they were.

use crate::bits::checksum::crc32;
use crate::wcodec::layout::parity::{SHARE, close, closed_length, ending, lengths};
use crate::wcodec::layout::sums::{STRETCH, Sums};
use crate::wcodec::layout::xor;
use std::ops::{Range, RangeInclusive};

/// An index of its own length again.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PutBack {
    pub(crate) index: Vec<u8>,
    /// Where bytes were put in; where it is not `whole`, zeros, and those that are gone were here or shortly before.
    pub(crate) place: Range<usize>,
    /// Whether they are those that were taken out.
    pub(crate) whole: bool,
}

/// The index that `bytes` were before so many were taken out. `None` where it has neither sums nor parity that says so.
pub(crate) fn put_back(bytes: &[u8], missing: usize, crc: Option<u32>) -> Option<PutBack> {
    from_the_rest(bytes, missing, crc).or_else(|| within(bytes, missing, crc))
}

/// The index, where what lost bytes are its parity and sums: these follow from what comes before.
fn from_the_rest(bytes: &[u8], missing: usize, crc: Option<u32>) -> Option<PutBack> {
    let length = bytes.len().checked_add(missing)?;
    // A longer one has longer records.
    let most = STRETCH + length / SHARE;
    lengths().find_map(|parity| {
        let mut rests = length.saturating_sub(most)..length;
        let rest = rests.find(|&rest| closed_length(rest, parity) == length)?;
        let mut index = bytes.get(..rest)?.to_vec();
        close(&mut index, parity);
        let place = rest..rest + missing;
        (Some(crc32(&index)) == crc).then_some(PutBack { index, place, whole: true })
    })
}

/// The same, where all else did.
fn within(bytes: &[u8], missing: usize, crc: Option<u32>) -> Option<PutBack> {
    let with_zeros = |at: usize| [&bytes[..at], &vec![0; missing], &bytes[at..]].concat();
    let moved = with_zeros(0);
    let Some(sums) = Sums::ending(&moved) else { return within_short(moved, missing, crc?) };
    let as_stated = with_zeros(sums.of.len().checked_sub(missing)?);
    let first = sums.of_others(&as_stated)?.proved();
    // What comes behind has its sums where it should be.
    let end = sums.unsound().map_or(0, |wrong| wrong.end * STRETCH).min(sums.of.len());
    let last = end.checked_sub(missing).filter(|&last| last >= first).unwrap_or(first);
    let mut index = with_zeros(first);
    let is_it = |index: &[u8]| {
        let stretches = first / STRETCH..(last + missing).div_ceil(STRETCH);
        let others = sums.of_others(index);
        others.is_some_and(|sums| sums.have(stretches) && sums.prove())
            && crc.is_none_or(|crc| crc32(index) == crc)
    };
    let whole = by_parity(&mut index, (first..=last, missing), sums, &is_it);
    if whole.is_none() {
        // What comes before them is where it should be.
        index = with_zeros(last);
    }
    let start = whole.unwrap_or(last);
    Some(PutBack { index, place: start..start + missing, whole: whole.is_some() })
}

/// The same of an index without sums, which has as many zeros before it as bytes are missing.
fn within_short(mut index: Vec<u8>, missing: usize, crc: u32) -> Option<PutBack> {
    let (before, stated) = ending(&index).filter(|_| index.len() <= STRETCH)?;
    let last = before.len().checked_sub(missing)?;
    let changes = xor::changes(before, stated);
    let is_it = |index: &[u8]| crc32(index) == crc;
    let start = xor::fill(&mut index, changes, (0..=last, missing), &is_it)?;
    Some(PutBack { index, place: start..start + missing, whole: true })
}

/// Puts bytes where `missing` zeros are, as [`xor::fill`] does.
fn by_parity(
    index: &mut [u8],
    (places, missing): (RangeInclusive<usize>, usize),
    sums: Sums<'_>,
    is_it: &dyn Fn(&[u8]) -> bool,
) -> Option<usize> {
    let (before, stated) = ending(sums.of)?;
    let last = before.len().checked_sub(missing)?.min(*places.end());
    let places = *places.start()..=last;
    // So few bytes are of two stretches at most.
    if last.saturating_sub(*places.start()) > 2 * STRETCH {
        return None;
    }
    let changes = xor::changes(&index[..before.len()], stated);
    xor::fill(index, changes, (places, missing), is_it)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::wcodec::layout::parity::tests::{index_of, length_for};

    #[test]
    fn bytes_that_were_taken_out_come_back() {
        for bytes in [4097, 5000, 8192, 12_289, 70_000] {
            let (index, most) = (index_of(bytes), length_for(bytes).unwrap());
            for missing in [1, 2, 7, most / 3, most - 1, most] {
                for at in (0..=bytes - missing).step_by(bytes / 9).chain([bytes - missing]) {
                    let left = [&index[..at], &index[at + missing..]].concat();
                    for crc in [None, Some(crc32(&index))] {
                        let back = put_back(&left, missing, crc).unwrap();
                        assert!(back.whole && back.index == index, "{missing} at {at} of {bytes}");
                        let mut again = back.index;
                        again.drain(back.place);
                        assert!(again == left);
                    }
                    let other = put_back(&left, missing, Some(7)).unwrap();
                    assert!(!other.whole && other.index.len() == index.len());
                }
            }
        }
    }

    /// Of an index without sums the checksum says where.
    #[test]
    fn bytes_of_a_short_index_come_back() {
        for bytes in [300, 2000] {
            let (index, length) = (index_of(bytes), length_for(bytes).unwrap());
            for missing in [1, 2, 7, length / 3, length] {
                for at in (0..=bytes - missing).step_by(bytes / 9).chain([bytes - missing]) {
                    let left = [&index[..at], &index[at + missing..]].concat();
                    let back = put_back(&left, missing, Some(crc32(&index))).unwrap();
                    assert!(back.whole && back.index == index, "{missing} at {at} of {bytes}");
                    assert_eq!(put_back(&left, missing, None), None);
                    assert_eq!(put_back(&left, missing, Some(7)), None);
                }
            }
        }
    }

    /// Nor are places looked through where other stretches are damaged, too.
    #[test]
    fn much_other_damage_is_left() {
        let mut index = index_of(70_000);
        index.remove(30_000);
        index[20] ^= 1;
        index[60_000] ^= 1;
        let back = put_back(&index, 1, None).unwrap();
        assert!(!back.whole && back.place == (STRETCH * 15 - 1..STRETCH * 15), "{:?}", back.place);
    }

    /// More than the parity tells of: what is before stays, and what is behind is where it was.
    #[test]
    fn the_place_of_others_is_found() {
        for (bytes, missing, at) in
            [(12_289, 3000, 5000), (70_000, 9000, 20_000), (70_000, 5000, 0)]
        {
            let index = index_of(bytes);
            let left = [&index[..at], &index[at + missing..]].concat();
            let back = put_back(&left, missing, Some(crc32(&index))).unwrap();
            assert!(!back.whole && back.index.len() == index.len());
            let behind = (at + missing).next_multiple_of(STRETCH);
            assert_eq!(back.place, behind - missing..behind);
            assert!(back.index[..at] == index[..at] && back.index[behind..] == index[behind..]);
        }
    }

    #[test]
    fn parity_and_sums_are_made_again_and_what_has_none_is_left() {
        let index = index_of(5000);
        let gone = |at: usize, missing: usize| [&index[..at], &index[at + missing..]].concat();
        // Of parity and sums themselves, which follow from the rest if the checksum is known.
        for (at, missing) in [(5000, 1), (5003, 200), (5257, 9), (5003 + 256, 10), (5000, 269)] {
            let back = put_back(&gone(at, missing), missing, Some(crc32(&index))).unwrap();
            assert!(back.whole && back.index == index, "{missing} at {at}");
        }
        for cut in [1, 5, 8] {
            assert_eq!(put_back(&index[..index.len() - cut], cut, None), None);
        }
        assert_eq!(put_back(&[], 7, None), None);
        assert_eq!(put_back(&index[..3000], 2000, None), None);
        assert_eq!(put_back(&[7; 300], 300, None), None);
    }
}
