//! SUMS, the last record of a long index: checksums of its stretches. Where the index is damaged, what lies before the
//! first stretch that has not its own is as it was written.
//!
//! | field | form |
//! |---|---|
//! | sums | the CRC u32 of each 4096 bytes of the index before this record, of the last ones as many as are left |

use crate::bits::checksum::crc32;
use crate::bits::varint;
use std::ops::Range;

/// Its tag.
pub(crate) const SUMS: u64 = 15;
/// Bytes of a stretch. Of one stretch the index's own checksum tells as much.
pub(crate) const STRETCH: usize = 4096;
/// Bytes of a sum.
const SUM: usize = 4;

/// What the record says of an index of several stretches.
pub(crate) fn of(index: &[u8]) -> Option<Vec<u8>> {
    let sums = || index.chunks(STRETCH).flat_map(|stretch| crc32(stretch).to_le_bytes()).collect();
    (index.len() > STRETCH).then(sums)
}

/// Whether the record behind so many bytes of an index is of this length.
pub(crate) fn has_length_of(index: usize, length: usize) -> bool {
    index > STRETCH && length == index.div_ceil(STRETCH) * SUM
}

/// How many of the first bytes of an index, which is damaged, are as they were.
pub(crate) fn proved(index: &[u8]) -> usize {
    let Some(Range { start, end }) = find(index) else { return 0 };
    let sums = index.get(end - start.div_ceil(STRETCH) * SUM..end).unwrap_or_default();
    let stretches = index.get(..start).unwrap_or_default().chunks(STRETCH);
    let sound = stretches.zip(sums.as_chunks::<SUM>().0);
    let sound = sound.take_while(|(stretch, sum)| crc32(stretch) == u32::from_le_bytes(**sum));
    sound.map(|(stretch, _)| stretch.len()).sum()
}

/// Whether an index ends here.
pub(crate) fn end(index: &[u8]) -> bool {
    find(index).is_some()
}

/// Whether all of an index is as it was.
pub(crate) fn prove(index: &[u8]) -> bool {
    find(index).is_some_and(|record| proved(index) == record.start)
}

/// The stretches of an index that have not their sums, from the first to the last one; `None` where all have.
pub(crate) fn unsound(index: &[u8]) -> Option<Range<usize>> {
    let mut wrong = (0..index.len().div_ceil(STRETCH)).filter(|&n| !have(index, n..n + 1));
    let first = wrong.next()?;
    Some(first..wrong.next_back().unwrap_or(first) + 1)
}

/// Whether these stretches have their sums, those that there are.
pub(crate) fn have(index: &[u8], stretches: Range<usize>) -> bool {
    let Some(Range { start, end }) = find(index) else { return false };
    let sums = index.get(end - start.div_ceil(STRETCH) * SUM..end).unwrap_or_default();
    let all = index.get(..start).unwrap_or_default().chunks(STRETCH).zip(sums.as_chunks::<SUM>().0);
    let mut these = all.skip(stretches.start).take(stretches.len());
    these.all(|(stretch, sum)| crc32(stretch) == u32::from_le_bytes(*sum))
}

/// Where the record is, which ends with the index: by its tag and length, which are as the bytes before it demand.
pub(crate) fn find(index: &[u8]) -> Option<Range<usize>> {
    let all = index.len();
    // With its sum a stretch takes so many bytes more.
    let fewest = (all / (STRETCH + SUM)).saturating_sub(1).max(2);
    let at = |stretches: usize| {
        let mut front = Vec::new();
        varint::write(SUMS, &mut front);
        varint::write((SUM * stretches) as u64, &mut front);
        let start = all.checked_sub(front.len() + SUM * stretches)?;
        let fits = start.div_ceil(STRETCH) == stretches && index.get(start..)?.starts_with(&front);
        fits.then_some(start..all)
    };
    (fewest..=all / STRETCH + 1).find_map(at)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// An index of so many bytes, with its record.
    fn with_sums(bytes: usize) -> Vec<u8> {
        let mut index: Vec<u8> =
            (0..bytes).map(|i: usize| ((i * i) >> 7).to_le_bytes()[0]).collect();
        if let Some(sums) = of(&index) {
            varint::write(SUMS, &mut index);
            varint::write(sums.len() as u64, &mut index);
            index.extend(sums);
        }
        index
    }

    #[test]
    fn what_is_before_damage_is_proved() {
        for bytes in [4097, 5000, 8191, 8192, 8193, 100_000, 131_073, 1 << 20] {
            let index = with_sums(bytes);
            assert_eq!((proved(&index), prove(&index)), (bytes, true));
            assert!((1..40).all(|cut| !end(&index[..index.len() - cut])));
            for at in (0..bytes).step_by(bytes / 7) {
                let mut hurt = index.clone();
                hurt[at] ^= 4;
                assert_eq!(proved(&hurt), at / STRETCH * STRETCH, "{at} of {bytes}");
                assert!(end(&hurt) && !prove(&hurt));
            }
            // A sum that is damaged proves nothing; without the record nothing is.
            let mut hurt = index.clone();
            *hurt.last_mut().unwrap() ^= 1;
            assert_eq!(proved(&hurt), (bytes - 1) / STRETCH * STRETCH);
            assert_eq!(proved(&index[..bytes]), 0);
            let mut hurt = index;
            hurt[bytes] ^= 1;
            assert_eq!(proved(&hurt), 0);
        }
        for bytes in [0, 1, 4095, 4096] {
            assert_eq!((of(&vec![7; bytes]), proved(&with_sums(bytes))), (None, 0));
        }
    }
}
