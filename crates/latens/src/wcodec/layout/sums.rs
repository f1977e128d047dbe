//! SUMS, the last record of a long index: checksums of its stretches. Where the index is damaged, what lies before the
//! first stretch that has not its own is as it was written.
//!
//! | field | form |
//! |---|---|
//! | sums | the CRC u32 of each 4096 bytes of the index before this record, of the last ones as many as are left |

use crate::bits::checksum::crc32;
use crate::wcodec::layout::ending::ends_with;
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
    index > STRETCH && length == length_for(index)
}

/// Bytes of the record's content behind so many of an index.
pub(crate) fn length_for(index: usize) -> usize {
    index.div_ceil(STRETCH) * SUM
}

/// The record at the end of an index, which may be damaged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sums<'a> {
    /// What it is of: the index before it.
    pub(crate) of: &'a [u8],
    sums: &'a [[u8; SUM]],
}

impl<'a> Sums<'a> {
    /// The record with which `index` ends: by its tag and length, which are as the bytes before it demand.
    pub(crate) fn ending(index: &'a [u8]) -> Option<Self> {
        // With its sum a stretch takes so many bytes more.
        let fewest = (index.len() / (STRETCH + SUM)).saturating_sub(1).max(2);
        (fewest..=index.len() / STRETCH + 1).find_map(|stretches| {
            let (of, sums) = ends_with(index, SUMS, SUM * stretches)?;
            let sums = sums.as_chunks().0;
            (of.len().div_ceil(STRETCH) == stretches).then_some(Self { of, sums })
        })
    }

    /// The same sums, of the index that `other` is, of the same length.
    pub(crate) fn of_others<'o>(self, other: &'o [u8]) -> Option<Sums<'o>>
    where
        'a: 'o,
    {
        Some(Sums { of: other.get(..self.of.len())?, sums: self.sums })
    }

    /// Bytes of its content.
    pub(crate) fn content_len(self) -> usize {
        self.sums.len() * SUM
    }

    /// Each stretch, with its sum.
    fn stretches(self) -> impl Iterator<Item = (&'a [u8], &'a [u8; SUM])> {
        self.of.chunks(STRETCH).zip(self.sums)
    }

    /// How many of the first bytes are as they were.
    pub(crate) fn proved(self) -> usize {
        self.stretches().take_while(is_sound).map(|(stretch, _)| stretch.len()).sum()
    }

    /// Whether all of them are.
    pub(crate) fn prove(self) -> bool {
        self.stretches().all(|stretch| is_sound(&stretch))
    }

    /// Where each stretch that has not its sum begins, how long it is, and by what the sums differ.
    pub(crate) fn differences(self) -> impl Iterator<Item = (usize, usize, u32)> {
        let all = self.stretches().enumerate();
        all.filter_map(|(number, (stretch, sum))| {
            let difference = crc32(stretch) ^ u32::from_le_bytes(*sum);
            (difference != 0).then_some((number * STRETCH, stretch.len(), difference))
        })
    }

    /// The stretches that have not their sums, from the first to the last one; `None` where all have.
    pub(crate) fn unsound(self) -> Option<Range<usize>> {
        let all = self.stretches().enumerate();
        let mut wrong = all.filter(|(_, stretch)| !is_sound(stretch)).map(|(number, _)| number);
        let first = wrong.next()?;
        Some(first..wrong.last().unwrap_or(first) + 1)
    }

    /// Whether these stretches have their sums.
    pub(crate) fn have(self, stretches: Range<usize>) -> bool {
        let mut these = self.stretches().skip(stretches.start).take(stretches.len());
        these.all(|stretch| is_sound(&stretch))
    }
}

/// Whether a stretch has its sum.
fn is_sound((stretch, sum): &(&[u8], &[u8; SUM])) -> bool {
    crc32(stretch) == u32::from_le_bytes(**sum)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::bits::varint;

    /// As of an index that is damaged.
    fn proved(index: &[u8]) -> usize {
        Sums::ending(index).map_or(0, Sums::proved)
    }

    fn prove(index: &[u8]) -> bool {
        Sums::ending(index).is_some_and(Sums::prove)
    }

    fn end(index: &[u8]) -> bool {
        Sums::ending(index).is_some()
    }

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
