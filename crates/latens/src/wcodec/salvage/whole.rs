//! An index that is whole, or can be mended.

use crate::bits::checksum::{crc32, flipped_bit};
use crate::error::{Error, Result};
use crate::wcodec::ends::ends_where;
use crate::wcodec::layout::sums;
use crate::wcodec::open_index::OpenIndex;
use crate::wcodec::salvage::place::Place;
use crate::wcodec::salvage::{Damage, mended};

/// An index that has its checksum, as it is or once it was mended.
pub(super) struct Whole {
    pub(super) index: OpenIndex,
    /// The bit that was put right.
    pub(super) bit: Option<Damage>,
    /// Whether it was mended, and no more than its checksum says that this is right.
    pub(super) guessed: bool,
}

/// The index, if it is whole or may have been but for a bit; `is_cut` where bytes of it were left out already.
pub(super) fn whole_index(bytes: &[u8], place: &Place, is_cut: bool) -> Result<Option<Whole>> {
    let Some(crc) = place.crc else { return Ok(None) };
    let difference = crc32(bytes) ^ crc;
    if difference == 0 && !is_cut {
        let unsound = |e: Error| e.offset_by(place.start).within("the index");
        let index = OpenIndex::read(bytes.to_vec()).map_err(unsound)?;
        ends_where(&index, place.start)?;
        return Ok(Some(Whole { index, bit: None, guessed: false }));
    }
    let flipped = flipped_bit(bytes.len(), difference);
    if difference != 0 && flipped.is_none() {
        return Ok(None);
    }
    let mut bytes = bytes.to_vec();
    let bit = flipped.filter(|_| difference != 0).map(|flipped| {
        bytes.iter_mut().skip(flipped / 8).take(1).for_each(|byte| *byte ^= 1 << (flipped % 8));
        Damage { at: place.start + (flipped / 8) as u64, what: mended("index") }
    });
    let has_sums = sums::end(&bytes);
    if has_sums && !sums::prove(&bytes) {
        return Ok(None);
    }
    let index = OpenIndex::read(bytes).ok().filter(|index| ends_where(index, place.start).is_ok());
    Ok(index.map(|index| Whole { index, bit, guessed: !has_sums }))
}
