//! Opening a file that is damaged where it is not data of a tensor.
//!
//! | damaged | what helps |
//! |---|---|
//! | a bit of header, index, footer or tables | the checksum says which one |
//! | more of the header | the rest of the file: nothing in it is needed |
//! | more of the footer, or it is cut off | the index begins with the checksum of the header |
//! | more of the index | its entries up to the first one that is not sound |

use crate::bits::checksum::{crc32, flipped_bit};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::layout::header::{ALIGN, FOOTER_BYTES, Footer, HEADER_BYTES, Header, align};
use crate::wcodec::open_index::OpenIndex;
use crate::wcodec::reader::{Ends, Reader, ends_where, read, read_bank, read_ends, read_head};

/// Bytes that are searched at a time for the beginning of an index.
const PIECE: u64 = 1 << 20;

/// A file that was opened in spite of damage to header, index, footer or tables.
pub struct Salvage<S: ReadAt> {
    /// What can be read: tensors are compared with their checksums as ever. One that stands in a
    /// damaged index and has no checksum of its own is an error, unless the model hash proves all
    /// tensors right, or the damage lies behind it and the entry that follows.
    pub reader: Reader<S>,
    /// What is wrong, in words; empty where nothing is.
    pub damage: Vec<Damage>,
    /// What is lost of the index.
    pub lost: Option<LostEntries>,
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Its byte in the file.
    pub at: u64,
    /// What it is, and what was done about it.
    pub what: String,
}

/// The part of an index that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostEntries {
    /// The byte in the file from which on it is lost.
    pub at: u64,
    /// How many tensors it told of, where the header says how many there are.
    pub tensors: Option<usize>,
}

/// Where the index is.
struct Place {
    start: u64,
    end: u64,
    /// Its checksum, where there is a footer to say so.
    crc: Option<u32>,
}

impl<S: ReadAt> Reader<S> {
    /// Opens a file as [`Reader::open`] does, and one with a damaged header, index or footer as far
    /// as that goes: a single flipped bit in each of the three, and in the tables, is put right in
    /// memory; of an index that is damaged otherwise, the entries are read that come before the
    /// damage. Whether data are sound shows when they are read.
    ///
    /// # Errors
    /// Those of [`Reader::open`] that are not about damage; corrupt or truncated where nothing can
    /// be read.
    pub fn salvage(source: S, limits: Limits) -> Result<Salvage<S>> {
        match read_ends(&source, limits) {
            Ok(ends) => {
                let reader = Self::of(source, limits, ends);
                let damage = Vec::from_iter(reader.mend_tables());
                return Ok(Salvage { reader, damage, lost: None });
            }
            Err(e) if !matches!(e.kind(), ErrorKind::Corrupt | ErrorKind::Truncated) => {
                return Err(e);
            }
            Err(_) => {}
        }
        let length = source.size()?;
        let head = read_head(&source, length)?;
        let mut damage = Vec::new();
        let place = find_index(&source, &head, length, &mut damage)?;
        limits.check_alloc(place.end - place.start, "the index")?;
        let bytes = read(&source, place.start, place.end - place.start)?;
        if let Some(index) = whole_index(&bytes, &place, &mut damage)? {
            drop(bytes);
            let header = header(&head, index.header_crc, &mut damage)?;
            let reader =
                Self::of(source, limits, Ends { header, index, index_offset: place.start });
            damage.extend(reader.mend_tables());
            return Ok(Salvage { reader, damage, lost: None });
        }
        let (index, wrong) = front(bytes, &place)?;
        let header = header(&head, index.header_crc, &mut damage)?;
        let tensors = header.known.as_ref().and_then(|known| usize::try_from(known.tensors).ok());
        let missing = tensors.and_then(|all| all.checked_sub(index.tensors()));
        let ends = Ends { header, index, index_offset: place.start };
        let mut reader = Self::of(source, limits, ends);
        damage.extend(reader.mend_tables());
        let entries = reader.index.len();
        // All tensors together can be compared with the model hash.
        let proved = missing.is_none_or(|n| n == 0) && reader.check_hash().is_ok();
        // What damage at one place has spared before a record that is not sound, but for the one
        // before, of which the end may be damaged without a trace.
        let spared = if wrong.is_some() { entries - 1 } else { 0 };
        reader.index.doubtful = if proved { 0..0 } else { spared..entries };
        let lost = wrong.map(|wrong| {
            let at = wrong.at().unwrap_or(place.start);
            let what = format!("the index is damaged here or shortly before: {}", wrong.what());
            damage.push(Damage { at, what });
            LostEntries { at, tensors: missing }
        });
        if lost.is_none() && (place.crc.is_some() || !proved) {
            let what = match proved {
                true => "the index does not have its checksum; all tensors have their model hash",
                false => {
                    "the index does not have its checksum, and where it is damaged cannot be told: \
                     names, types and shapes are as it has them"
                }
            };
            damage.push(Damage { at: place.start, what: what.to_owned() });
        }
        Ok(Salvage { reader, damage, lost })
    }

    /// Reads the tables, which all tensors share, if a bit of them was flipped.
    fn mend_tables(&self) -> Option<Damage> {
        let (record, at) = (self.index.bank, self.index.bank_at);
        self.limits.check_alloc(record.bytes as u64, "the tables").ok()?;
        let mut bytes = read(&self.source, at, record.bytes as u64).ok()?;
        let bit = flipped_bit(bytes.len(), crc32(&bytes) ^ record.crc)?;
        *bytes.get_mut(bit / 8)? ^= 1 << (bit % 8);
        self.bank.set(read_bank(&bytes, record.tables, record.crc).ok()?).ok()?;
        Some(Damage { at: at + (bit / 8) as u64, what: mended("tables") })
    }
}

/// Where the index is, by the footer or without it.
fn find_index<S: ReadAt>(
    source: &S,
    head: &[u8; HEADER_BYTES],
    length: u64,
    damage: &mut Vec<Damage>,
) -> Result<Place> {
    let foot_at = length - FOOTER_BYTES as u64;
    let mut foot = [0; FOOTER_BYTES];
    source.read_exact_at(&mut foot, foot_at)?;
    let by = |footer: Footer| {
        let (start, crc) = (footer.index_offset, Some(footer.index_crc));
        Place { start, end: foot_at, crc }
    };
    let wrong = match Footer::read(&foot, length) {
        Ok(footer) => return Ok(by(footer)),
        Err(wrong) => wrong,
    };
    if let Some((footer, at)) = Footer::mended(&foot, length) {
        damage.push(Damage { at, what: mended("footer") });
        return Ok(by(footer));
    }
    let known = Header::read(head).ok().and_then(|header| header.known);
    if let Some(known) = known.filter(|known| known.index_offset >= length) {
        return Err(Error::truncated(
            length,
            format!(
                "the file ends before its index, which begins at byte {} and says what the tensors are",
                known.index_offset
            ),
        ));
    }
    let Some(start) = search(source, head, length)? else {
        return Err(Error::truncated(
            length,
            "the file has neither a footer nor an index that says what the tensors are",
        ));
    };
    let what = format!("there is no footer: {}; the index was found without it", wrong.what());
    damage.push(Damage { at: wrong.at().unwrap_or(foot_at), what });
    Ok(Place { start, end: length, crc: None })
}

/// Searches the file from its end for what an index begins with: the record HEAD, with the
/// checksum of the header.
fn search<S: ReadAt>(source: &S, head: &[u8; HEADER_BYTES], length: u64) -> Result<Option<u64>> {
    let mut wanted = HEAD.to_vec();
    wanted.extend(crc32(head).to_le_bytes());
    let mut end = align(length, PIECE);
    while let Some(start) = end.checked_sub(PIECE) {
        let bytes = read(source, start, PIECE.min(length - start))?;
        let places = bytes.chunks(HEADER_BYTES).enumerate();
        let found = places.filter(|(_, bytes)| bytes.starts_with(&wanted)).last();
        if let Some((number, _)) = found {
            return Ok(Some(start + (number * HEADER_BYTES) as u64));
        }
        end = start;
    }
    Ok(None)
}

/// Tag and length of the record HEAD.
const HEAD: [u8; 2] = [2, 36];

fn mended(what: &str) -> String {
    format!("a bit of the {what} was flipped, which is put right in memory")
}

/// The index, if it is whole or was but for a bit.
fn whole_index(bytes: &[u8], place: &Place, damage: &mut Vec<Damage>) -> Result<Option<OpenIndex>> {
    let Some(crc) = place.crc else { return Ok(None) };
    let difference = crc32(bytes) ^ crc;
    if difference == 0 {
        let unsound = |e: Error| e.offset_by(place.start).within("the index");
        let index = OpenIndex::read(bytes.to_vec()).map_err(unsound)?;
        ends_where(&index, place.start)?;
        return Ok(Some(index));
    }
    let Some(bit) = flipped_bit(bytes.len(), difference) else { return Ok(None) };
    let mut bytes = bytes.to_vec();
    if let Some(byte) = bytes.get_mut(bit / 8) {
        *byte ^= 1 << (bit % 8);
    }
    // Much damage may look like one bit by chance.
    let index = OpenIndex::read(bytes).ok().filter(|index| ends_where(index, place.start).is_ok());
    if index.is_some() {
        damage.push(Damage { at: place.start + (bit / 8) as u64, what: mended("index") });
    }
    Ok(index)
}

/// What can be read of a damaged index, and what is wrong behind that.
fn front(mut bytes: Vec<u8>, place: &Place) -> Result<(OpenIndex, Option<Error>)> {
    // All indices begin so.
    bytes.iter_mut().zip(HEAD).for_each(|(byte, of_head)| *byte = of_head);
    let (mut index, wrong) = OpenIndex::read_front(bytes);
    let wrong = wrong.map(|wrong| wrong.offset_by(place.start));
    if index.len() == 0 {
        let at = wrong.as_ref().and_then(Error::at).unwrap_or(place.start);
        let why = wrong.map_or_else(String::new, |wrong| format!(": {}", wrong.what()));
        let what = format!("the index is damaged before its first entry{why}; nothing can be read");
        return Err(Error::corrupt(at, what));
    }
    if ends_where(&index, place.start).is_err() {
        // Entries are missing. The tables end where the index begins, padding aside.
        let bytes = align(index.bank.bytes as u64, ALIGN);
        index.bank_at = place.start.saturating_sub(bytes);
    }
    Ok((index, wrong))
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
