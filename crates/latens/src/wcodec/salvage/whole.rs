//! An index that is whole, or can be mended.

use crate::bits::checksum::{crc32, flipped_bit, flipped_bits};
use crate::error::{Error, Result};
use crate::wcodec::ends::ends_where;
use crate::wcodec::layout::parity;
use crate::wcodec::layout::sums::{STRETCH, Sums};
use crate::wcodec::open_index::OpenIndex;
use crate::wcodec::salvage::place::Place;
use crate::wcodec::salvage::{Damage, mended};
use std::ops::Range;

/// An index that has its checksum, as it is or once it was mended.
pub(super) struct Whole {
    pub(super) index: OpenIndex,
    /// What was put right.
    pub(super) damage: Option<Damage>,
    /// What it is right by.
    pub(super) by: By,
}

/// What an index is right by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// Its checksum, as it was, or its sums.
    Checksums,
    /// One bit that its checksum names: one in 2^32 of all places would look so.
    Bit,
    /// Some bits together that its checksum names: one in 2^17 of all places would look so.
    Bits,
}

/// The index, if it is whole or may have been but for a bit, for what its parity tells, or for some bits that are
/// together.
pub(super) fn whole_index(bytes: &[u8], place: &Place) -> Result<Option<Whole>> {
    let difference = place.crc.map(|crc| crc32(bytes) ^ crc);
    if difference == Some(0) && !place.is_cut {
        let unsound = |e: Error| e.offset_by(place.start).within("the index");
        let index = OpenIndex::read(bytes.to_vec()).map_err(unsound)?;
        ends_where(&index, place.start)?;
        return Ok(Some(Whole { index, damage: None, by: By::Checksums }));
    }
    let by_bit = difference.and_then(|difference| but_for_a_bit(bytes, difference));
    let by_bit = by_bit.map(|(bytes, place)| (bytes, vec![place]));
    if let Some((bytes, damaged)) = by_bit.or_else(|| parity::mended(bytes, place.crc)) {
        let by = if Sums::ending(&bytes).is_some() { By::Checksums } else { By::Bit };
        return Ok(sound(bytes, damaged, place, by));
    }
    // Of a long index there would be many such places to look at.
    let is_short = bytes.len() <= STRETCH && Sums::ending(bytes).is_none();
    let Some(difference) = difference.filter(|_| is_short && !place.is_cut) else {
        return Ok(None);
    };
    let mut found = flipped_bits(bytes.len(), difference);
    Ok(found.find_map(|(first, changes)| {
        let mut index = bytes.to_vec();
        let damaged = first / 8..(first + 16 - changes.leading_zeros() as usize).div_ceil(8);
        let changes = (u32::from(changes) << (first % 8)).to_le_bytes();
        index[damaged.clone()].iter_mut().zip(changes).for_each(|(byte, change)| *byte ^= change);
        sound(index, vec![damaged], place, By::Bits)
    }))
}

/// An index that was mended there, where it keeps all rules.
fn sound(bytes: Vec<u8>, damaged: Vec<Range<usize>>, place: &Place, by: By) -> Option<Whole> {
    let all = damaged.iter().map(Range::len).sum();
    let damage = damaged.first().filter(|_| all > 0).map(|first| {
        let what = match (by, all) {
            (By::Bits, 1) => {
                "bits of a byte of the index were flipped, which is put right in memory".to_owned()
            }
            (By::Bits, bytes) => format!(
                "bits of {bytes} bytes of the index were flipped, which is put right in memory"
            ),
            (_, 1) => mended("index"),
            (_, bytes) => format!(
                "up to {bytes} bytes of the index were damaged, which its parity puts right in memory"
            ),
        };
        Damage { at: place.start + first.start as u64, what }
    });
    let index = OpenIndex::read(bytes).ok().filter(|index| ends_where(index, place.start).is_ok());
    index.map(|index| Whole { index, damage, by })
}

/// The index whose checksum differs by so much but for a bit, if anything, and the byte of that.
fn but_for_a_bit(bytes: &[u8], difference: u32) -> Option<(Vec<u8>, Range<usize>)> {
    let mut index = bytes.to_vec();
    let mut place = 0..0;
    if difference != 0 {
        let bit = flipped_bit(bytes.len(), difference)?;
        *index.get_mut(bit / 8)? ^= 1 << (bit % 8);
        place = bit / 8..bit / 8 + 1;
    }
    Sums::ending(&index).is_none_or(Sums::prove).then_some((index, place))
}
