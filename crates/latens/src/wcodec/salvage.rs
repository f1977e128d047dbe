//! Opening a file that is damaged where it is not data of a tensor.
//!
//! | damaged | what helps |
//! |---|---|
//! | a bit of header, index, footer or tables | the checksum says which one |
//! | up to sixteen bits together of a short index | its checksum says where they may be, and the model hash where they are |
//! | more of the header | the rest of the file: nothing in it is needed |
//! | more of the footer, or it is cut off | the index begins with the checksum of the header; what is left of the footer says where it ends, or its sums do |
//! | up to sixteen bits together of each 4 KiB of a long index | its sums say where they may be, and its parity where they are |
//! | as many bytes of the index, at one place, as there are of its parity, at most 4096 | that and its sums, or its checksum, say which (`layout/parity.rs`) |
//! | so many bytes of the index, taken out at one place | the length that the footer states besides (`layout/parity/put_back.rs`) |
//! | more of the index | its entries up to the first one that is not sound, whose data have checksums; what is before the damage by its sums (`layout/sums.rs`) |
//! | more of what ends an index: what it says of the tables, parity, sums | follows from the rest (`salvage/tables.rs`) |
//! | as many bytes of the tables, at one place, as they are, at most 4096, changed or taken out | the index says what they were (`salvage/tables.rs`) |
//! | bytes put in or taken out at one place | the length that the footer states, and all checksums |

use crate::bits::checksum::{crc32, flipped_bit};
use crate::error::{ErrorKind, Result};
use crate::limits::Limits;
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::ends::{Ends, read, read_ends, read_head};
use crate::wcodec::layout::header::{HEADER_BYTES, Header};
use crate::wcodec::placed::{Moved, Placed};
use crate::wcodec::reader::Reader;
use std::sync::OnceLock;

mod front;
mod moved;
mod place;
mod tables;
#[cfg(test)]
mod tests;
mod whole;

use place::find_index;
use whole::{By, Whole, whole_index};

/// A file that was opened in spite of damage to header, index, footer or tables.
#[derive(Debug)]
#[non_exhaustive]
pub struct Salvage<S: ReadAt> {
    /// What can be read. Tensors in the data are compared with their checksums as ever. Those that stand
    /// in the index have none but that of the index: where it is damaged, and was not put right, reading them
    /// is an error unless the model hash proves all tensors right, or sums of the index what is before the damage.
    pub reader: Reader<S>,
    /// What is wrong, in words; empty where nothing is.
    pub damage: Vec<Damage>,
    /// What is lost of the index.
    pub lost: Option<LostEntries>,
    /// Whether the index has its checksum, or has it once it was mended or without bytes that were put in: then
    /// what it says of source files is as right as names are.
    pub whole_index: bool,
    /// Whether names, types and shapes, and tensors that stand in the index, are right: by the index's checksum or its
    /// sums, or by the model hash. A short index that was mended has no sums, and the model hash only where all tensors
    /// can be read: else damage that looks like a bit by chance is not told from one, and once they can be, with the base
    /// perhaps, [`Reader::has_its_hash`] says.
    pub proved: bool,
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Damage {
    /// Its byte in the file.
    pub at: u64,
    /// What it is, and what was done about it.
    pub what: String,
}

/// The part of an index that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostEntries {
    /// The byte in the file from which on it is lost.
    pub at: u64,
    /// How many tensors it told of, where the header says how many there are.
    pub tensors: Option<usize>,
}

impl<S: ReadAt> Reader<S> {
    /// Opens a file as [`Reader::open`] does, and one with a damaged header, index or footer as far
    /// as that goes: a single flipped bit in each of the three, and in the tables, is put right in
    /// memory, and what is damaged at one place of the index, as much as there is of parity, or of a short one
    /// sixteen bits together; bytes that were put in or taken out at one place are told by the length of the file; of
    /// an index that is damaged otherwise, the entries are read that come before the damage. Whether
    /// data are sound shows when they are read.
    ///
    /// # Errors
    /// Those of [`Reader::open`] that are not about damage; corrupt or truncated where nothing can
    /// be read.
    pub fn salvage(source: S, limits: Limits) -> Result<Salvage<S>> {
        let mut source = Placed::new(source);
        let wrong = match read_ends(&source, limits) {
            Ok(ends) => {
                let reader = Self::of(source, limits, ends);
                let damage = Vec::from_iter(reader.mend_tables());
                return Ok(Salvage { reader, damage, lost: None, whole_index: true, proved: true });
            }
            Err(e) if !matches!(e.kind(), ErrorKind::Corrupt | ErrorKind::Truncated) => {
                return Err(e);
            }
            Err(wrong) => wrong,
        };
        source.moved = moved::by_the_footer(&source, limits)?;
        let length = source.size()?;
        let head = read_head(&source, length)?;
        let mut damage = Vec::new();
        let mut place = find_index(&source, &head, length, &mut damage)?;
        limits.check_alloc(place.end - place.start, "the index")?;
        let mut bytes = read(&source, place.start, place.end - place.start)?;
        place.find_end(&mut bytes);
        place.is_cut = source.moved.is_some_and(|moved| moved.from > place.start);
        damage.extend(moved::put_back(&mut source, &mut place, &mut bytes));
        let mut whole = whole_index(&bytes, &place)?;
        if whole.as_ref().is_none_or(|whole| whole.by != By::Checksums) {
            whole = tables::made_again(&source, limits, &bytes, &place).or(whole);
        }
        let Some(Whole { index, damage: mended, by }) = whole else {
            return Self::salvage_front(source, limits, (&head, place), bytes, damage);
        };
        let mut found = damage.clone();
        found.extend(mended);
        let header = header(&head, index.header_crc, &mut found)?;
        if found.is_empty() && source.moved.is_none() {
            // All checksums are right: that is no damage.
            return Err(wrong);
        }
        let reader = Self::of(source, limits, Ends { header, index, index_offset: place.start });
        let reader = reader.placed(&mut found)?;
        found.extend(reader.mend_tables());
        // Much damage may look like little by chance, and then the tensors are others.
        let is_right = if by == By::Checksums { Ok(true) } else { reader.has_its_hash() };
        let proved = match is_right {
            Ok(true) => true,
            // A single bit hardly is it by chance, as some may be.
            Err(_) if by == By::Bit => {
                let what = "the index was put right by its checksum alone; whether names, types, shapes and the \
                            tensors that stand in it are right shows once all tensors can be read, by their model hash";
                found.push(Damage { at: place.start, what: what.to_owned() });
                false
            }
            Ok(false) | Err(_) => {
                let source = reader.only_handle()?.source;
                return Self::salvage_front(source, limits, (&head, place), bytes, damage);
            }
        };
        Ok(Salvage { reader, damage: found, lost: None, whole_index: true, proved })
    }

    /// Finds the place behind which everything is elsewhere than the index says, if there is one.
    fn placed(self, damage: &mut Vec<Damage>) -> Result<Self> {
        let mut open = self.only_handle()?;
        let Some(Moved { from, by }) = open.source.moved else { return Ok(Self::on(open)) };
        if from != open.index_offset {
            damage.push(moved::damage(Moved { from, by }, false));
            return Ok(Self::on(open));
        }
        let found = moved::find(&open, by);
        if let Some(from) = found.exact {
            open.source.moved = Some(Moved { from, by });
            let reader = Self::on(open);
            let tables = reader.mend_tables();
            // A checksum alone may fit by chance, at one of so many places.
            if matches!(reader.has_its_hash(), Ok(true)) {
                damage.push(moved::damage(Moved { from, by }, true));
                damage.extend(tables);
                return Ok(reader);
            }
            open = reader.only_handle()?;
            open.bank = OnceLock::new();
        }
        let moved = Moved { from: found.behind, by };
        open.source.moved = Some(moved);
        damage.push(moved::damage(moved, false));
        Ok(Self::on(open))
    }
}

/// What is said of a bit that was put right.
fn mended(what: &str) -> String {
    format!("a bit of the {what} was flipped, which is put right in memory")
}

/// The header, if it is whole or was but for a bit; else one that knows nothing.
fn header(head: &[u8; HEADER_BYTES], crc: u32, damage: &mut Vec<Damage>) -> Result<Header> {
    let difference = crc32(head) ^ crc;
    if difference == 0 {
        return Header::read(head);
    }
    if let Some(bit) = flipped_bit(HEADER_BYTES, difference) {
        let mut head = *head;
        head[bit / 8] ^= 1 << (bit % 8);
        if let Ok(header) = Header::read(&head) {
            damage.push(Damage { at: (bit / 8) as u64, what: mended("header") });
            return Ok(header);
        }
    }
    let what =
        "the header does not have the checksum that the index states; nothing in it is needed";
    damage.push(Damage { at: 0, what: what.to_owned() });
    Ok(Header::default())
}
