//! An index that is whole, or can be mended.

use crate::bits::checksum::{crc32, flipped_bit};
use crate::error::{Error, Result};
use crate::wcodec::ends::ends_where;
use crate::wcodec::layout::{parity, sums};
use crate::wcodec::open_index::OpenIndex;
use crate::wcodec::salvage::place::Place;
use crate::wcodec::salvage::{Damage, mended};
use std::ops::Range;

/// An index that has its checksum, as it is or once it was mended.
pub(super) struct Whole {
    pub(super) index: OpenIndex,
    /// What was put right.
    pub(super) damage: Option<Damage>,
    /// Whether it was mended, and no more than its checksum says that this is right.
    pub(super) guessed: bool,
}

/// The index, if it is whole or may have been but for a bit, or for what its parity tells; `is_cut` where bytes of it
/// were left out already.
pub(super) fn whole_index(bytes: &[u8], place: &Place, is_cut: bool) -> Result<Option<Whole>> {
    let difference = place.crc.map(|crc| crc32(bytes) ^ crc);
    if difference == Some(0) && !is_cut {
        let unsound = |e: Error| e.offset_by(place.start).within("the index");
        let index = OpenIndex::read(bytes.to_vec()).map_err(unsound)?;
        ends_where(&index, place.start)?;
        return Ok(Some(Whole { index, damage: None, guessed: false }));
    }
    let by_bit = difference.and_then(|difference| but_for_a_bit(bytes, difference));
    let Some((bytes, place_of)) = by_bit.or_else(|| parity::mended(bytes, place.crc)) else {
        return Ok(None);
    };
    let damage = Some(place_of).filter(|place| !place.is_empty()).map(|damaged| {
        let what = match damaged.len() {
            1 => mended("index"),
            bytes => format!(
                "up to {bytes} bytes of the index were damaged, which its parity puts right in memory"
            ),
        };
        Damage { at: place.start + damaged.start as u64, what }
    });
    let guessed = !sums::end(&bytes);
    let index = OpenIndex::read(bytes).ok().filter(|index| ends_where(index, place.start).is_ok());
    Ok(index.map(|index| Whole { index, damage, guessed }))
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
    (!sums::end(&index) || sums::prove(&index)).then_some((index, place))
}
