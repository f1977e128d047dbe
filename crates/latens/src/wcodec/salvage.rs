//! Opening a file that is damaged where it is not data of a tensor.
//!
//! | damaged | what helps |
//! |---|---|
//! | a bit of header, index, footer or tables | the checksum says which one |
//! | more of the header | the rest of the file: nothing in it is needed |
//! | more of the footer, or it is cut off | the index begins with the checksum of the header; what is left of the footer says where it ends, or its sums do |
//! | more of the index | its entries up to the first one that is not sound, whose data have checksums; what is before the damage by its sums (`layout/sums.rs`) |
//! | bytes put in or taken out at one place | the length that the footer states, and all checksums |

use crate::bits::checksum::{crc32, flipped_bit};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::ends::{Ends, ends_where, read, read_bank, read_ends, read_head};
use crate::wcodec::layout::header::{ALIGN, HEADER_BYTES, Header, align};
use crate::wcodec::open_index::{Doubt, OpenIndex};
use crate::wcodec::placed::{Moved, Placed};
use crate::wcodec::reader::Reader;
use std::sync::OnceLock;

mod moved;
mod place;

use place::{HEAD, Place, find_index};

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
    /// Whether the index has its checksum, or has it without a flipped bit or bytes that were put in: then
    /// what it says of source files is right.
    pub whole_index: bool,
    /// Whether names, types and shapes are right: by the index's checksum or its sums, or by the model hash. They stand in
    /// the index alone, also those of tensors whose data have their checksums.
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
    /// memory; bytes that were put in or taken out at one place are told by the length of the file; of
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
        let Some((index, bit)) = whole_index(&bytes, &place)? else {
            return Self::salvage_front(source, limits, (&head, place), bytes, damage);
        };
        let (mut found, guessed) = (damage.clone(), bit.is_some());
        found.extend(bit);
        let header = header(&head, index.header_crc, &mut found)?;
        if found.is_empty() && source.moved.is_none() {
            // All checksums are right: that is no damage.
            return Err(wrong);
        }
        let reader = Self::of(source, limits, Ends { header, index, index_offset: place.start });
        let reader = reader.placed(&mut found)?;
        found.extend(reader.mend_tables());
        // Much damage may look like one bit by chance, and then the tensors are others.
        if guessed && matches!(reader.has_its_hash(), Ok(false)) {
            let source = reader.only_handle()?.source;
            return Self::salvage_front(source, limits, (&head, place), bytes, damage);
        }
        Ok(Salvage { reader, damage: found, lost: None, whole_index: true, proved: true })
    }

    /// Reads what comes before the damage of an index, and what of that is proved.
    fn salvage_front(
        source: Placed<S>,
        limits: Limits,
        (head, place): (&[u8; HEADER_BYTES], Place),
        bytes: Vec<u8>,
        mut damage: Vec<Damage>,
    ) -> Result<Salvage<S>> {
        let (index, wrong) = front(bytes, &place)?;
        let header = header(head, index.header_crc, &mut damage)?;
        let known = header.known.clone();
        let tensors = known.as_ref().and_then(|known| usize::try_from(known.tensors).ok());
        let mut missing = tensors.and_then(|all| all.checked_sub(index.tensors()));
        let ends = Ends { header, index, index_offset: place.start };
        let reader = Self::of(source, limits, ends).placed(&mut damage)?;
        damage.extend(reader.mend_tables());
        // Nothing but the model hash proves what an index without its checksum says: the header has that too.
        let hash = match missing {
            None | Some(0) => reader.hash_of_tensors().ok(),
            Some(_) => None,
        };
        let mut open = reader.only_handle()?;
        let stated = [Some(open.index.model_hash), known.map(|known| known.model_hash)];
        let proof = hash.filter(|hash| stated.contains(&Some(*hash)));
        if let Some(hash) = proof {
            open.index.model_hash = hash;
            missing = Some(0);
        }
        // All that is read of it, or all of the tensors.
        let whole = wrong.is_none() && missing.is_none_or(|tensors| tensors == 0);
        let proved = proof.is_some() || open.index.proved == open.index.len() && whole;
        open.index.namesakes = open.index.find_namesakes();
        open.index.doubt = if proof.is_some() { Doubt::Blobs } else { Doubt::All };
        let reader = Self::on(open);
        let lost = wrong.map(|wrong| {
            let at = wrong.at().unwrap_or(place.start);
            let what = format!("the index is damaged here or shortly before: {}", wrong.what());
            damage.push(Damage { at, what });
            LostEntries { at, tensors: missing }
        });
        // It may end with an entry, and not with the last one.
        let lost = lost.or_else(|| {
            missing.filter(|&tensors| tensors > 0)?;
            let what = "the index ends before its last entry".to_owned();
            damage.push(Damage { at: place.end, what });
            Some(LostEntries { at: place.end, tensors: missing })
        });
        if !proved || lost.is_none() && place.crc.is_some() {
            let proved_entries = reader.open.index.proved;
            let what = damaged_somewhere(proof.is_some(), proved_entries);
            damage.push(Damage { at: place.start, what });
        }
        Ok(Salvage { reader, damage, lost, whole_index: false, proved })
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

    /// Reads the tables, which all tensors share, if a bit of them was flipped.
    fn mend_tables(&self) -> Option<Damage> {
        let (record, at) = (self.open.index.bank, self.open.index.bank_at);
        self.open.limits.check_alloc(record.bytes as u64, "the tables").ok()?;
        let mut bytes = read(&self.open.source, at, record.bytes as u64).ok()?;
        let bit = flipped_bit(bytes.len(), crc32(&bytes) ^ record.crc)?;
        *bytes.get_mut(bit / 8)? ^= 1 << (bit % 8);
        self.open.bank.set(read_bank(&bytes, record.tables, record.crc).ok()?).ok()?;
        Some(Damage { at: at + (bit / 8) as u64, what: mended("tables") })
    }
}

/// What is said of a bit that was put right.
fn mended(what: &str) -> String {
    format!("a bit of the {what} was flipped, which is put right in memory")
}

/// What is wrong with an index all of whose records can be read; `proved` where the model hash says
/// that no tensor suffers from it.
fn damaged_somewhere(proved: bool, entries: usize) -> String {
    let behind = match entries {
        0 => String::new(),
        _ => format!(" behind its first {entries} entries, which have checksums of their own,"),
    };
    match proved {
        true => {
            "the index does not have its checksum; all tensors have their model hash".to_owned()
        }
        false => format!(
            "the index does not have its checksum, nor all tensors their model hash:{behind} names, types and shapes \
             may be wrong, and what stands in it counts as lost"
        ),
    }
}

/// The index, if it is whole or may have been but for a bit, and then which one.
fn whole_index(bytes: &[u8], place: &Place) -> Result<Option<(OpenIndex, Option<Damage>)>> {
    let Some(crc) = place.crc else { return Ok(None) };
    let difference = crc32(bytes) ^ crc;
    if difference == 0 {
        let unsound = |e: Error| e.offset_by(place.start).within("the index");
        let index = OpenIndex::read(bytes.to_vec()).map_err(unsound)?;
        ends_where(&index, place.start)?;
        return Ok(Some((index, None)));
    }
    let Some(bit) = flipped_bit(bytes.len(), difference) else { return Ok(None) };
    let mut bytes = bytes.to_vec();
    if let Some(byte) = bytes.get_mut(bit / 8) {
        *byte ^= 1 << (bit % 8);
    }
    let index = OpenIndex::read(bytes).ok().filter(|index| ends_where(index, place.start).is_ok());
    let damage = Damage { at: place.start + (bit / 8) as u64, what: mended("index") };
    Ok(index.map(|index| (index, Some(damage))))
}

/// What can be read of a damaged index, and what is wrong behind that.
fn front(mut bytes: Vec<u8>, place: &Place) -> Result<(OpenIndex, Option<Error>)> {
    // All indices begin so.
    bytes.iter_mut().zip(HEAD).for_each(|(byte, of_head)| *byte = of_head);
    let (mut index, wrong) = OpenIndex::read_front(bytes);
    let error = wrong.map(|error| error.offset_by(place.start));
    if index.len() == 0 {
        let at = error.as_ref().and_then(Error::at).unwrap_or(place.start);
        let why = error.map_or_else(String::new, |error| format!(": {}", error.what()));
        let what = format!("the index is damaged before its first entry{why}; nothing can be read");
        return Err(Error::corrupt(at, what));
    }
    if ends_where(&index, place.start).is_err() {
        // Entries are missing. The tables end where the index begins, padding aside.
        let bytes = align(index.bank.bytes as u64, ALIGN);
        index.bank_at = place.start.saturating_sub(bytes);
    }
    Ok((index, error))
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
