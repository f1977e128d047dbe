//! What stands at both ends of a file: header, footer, index; and the tables before it.

use crate::bits::checksum::crc32;
use crate::bits::reader::BitReader;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::layout::fields::MAX_SIZE;
use crate::wcodec::layout::header::{ALIGN, FOOTER_BYTES, Footer, HEADER_BYTES, Header, align};
use crate::wcodec::layout::table::Table;
use crate::wcodec::open_index::OpenIndex;

/// What stands at both ends of a file.
pub(crate) struct Ends {
    pub(crate) header: Header,
    pub(crate) index: OpenIndex,
    pub(crate) index_offset: u64,
}

/// Reads the header of a file of `length` bytes.
pub(crate) fn read_head<S: ReadAt>(source: &S, length: u64) -> Result<[u8; HEADER_BYTES]> {
    let mut head = [0; HEADER_BYTES];
    if length < (HEADER_BYTES + FOOTER_BYTES) as u64 {
        return Err(Error::truncated(length, "the file is shorter than header and footer"));
    }
    source.read_exact_at(&mut head, 0)?;
    Ok(head)
}

/// The footer and end of a file that bytes were appended to, if they are no more than a megabyte.
pub(crate) fn followed<S: ReadAt>(source: &S, length: u64) -> Option<(Footer, u64)> {
    let searched = length.min(1 << 20);
    let tail = read(source, length - searched, searched).ok()?;
    Footer::followed(&tail, length)
}

/// Reads header, footer and index, which must be sound.
pub(crate) fn read_ends<S: ReadAt>(source: &S, limits: Limits) -> Result<Ends> {
    let length = source.size()?;
    let head = read_head(source, length)?;
    let header = Header::read(&head)?;
    let mut foot = [0; FOOTER_BYTES];
    source.read_exact_at(&mut foot, length - FOOTER_BYTES as u64)?;
    let footer = Footer::read(&foot, length).map_err(|e| match followed(source, length) {
        Some((_, end)) => {
            Error::corrupt(end, format!("{} bytes follow the end of the file", length - end))
        }
        None => e,
    })?;
    let index_offset = footer.index_offset;
    let bytes = length - FOOTER_BYTES as u64 - index_offset;
    limits.check_alloc(bytes, "the index")?;
    let bytes = read(source, index_offset, bytes)?;
    if crc32(&bytes) != footer.index_crc {
        return Err(Error::corrupt(
            index_offset,
            "the index does not have the checksum that the footer states",
        ));
    }
    let unsound = |e: Error| e.offset_by(index_offset).within("the index");
    let index = OpenIndex::read(bytes).map_err(unsound)?;
    check(&head, &header, index_offset, &index)?;
    Ok(Ends { header, index, index_offset })
}

/// `len` bytes from `offset` on.
pub(crate) fn read<S: ReadAt>(source: &S, offset: u64, len: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_into(source, offset, len, &mut bytes)?;
    Ok(bytes)
}

/// As [`read`], in place of what `bytes` holds.
pub(crate) fn read_into<S: ReadAt>(
    source: &S,
    offset: u64,
    len: u64,
    bytes: &mut Vec<u8>,
) -> Result<()> {
    let end = offset.checked_add(len).filter(|end| source.size().is_ok_and(|size| *end <= size));
    let len = usize::try_from(len).ok().filter(|len| *len <= MAX_SIZE && end.is_some());
    let len = len.ok_or_else(|| Error::truncated(offset, "the file ends before what it names"))?;
    bytes.resize(len, 0);
    source.read_exact_at(bytes, offset).map_err(|e| Error::from(e).at_byte(offset))
}

/// Compares the header with the index, and where that begins with where its entries end.
fn check(head: &[u8], header: &Header, index_offset: u64, index: &OpenIndex) -> Result<()> {
    if crc32(head) != index.header_crc {
        return Err(Error::corrupt(
            0,
            "the header does not have the checksum that the index states",
        ));
    }
    ends_where(index, index_offset)?;
    if let Some(known) = &header.known {
        let same = known.model_hash == index.model_hash
            && known.index_offset == index_offset
            && usize::try_from(known.tensors) == Ok(index.tensors());
        if !same {
            return Err(Error::corrupt(12, "header and index differ"));
        }
    }
    Ok(())
}

/// Entries and tables must end where the index begins.
pub(crate) fn ends_where(index: &OpenIndex, index_offset: u64) -> Result<()> {
    let end = index.bank_at.saturating_add(index.bank.bytes as u64);
    if align(end, ALIGN) != index_offset {
        return Err(Error::corrupt(
            index_offset,
            format!("entries and tables end at byte {end}, the index begins elsewhere"),
        ));
    }
    Ok(())
}

/// The tables in `bytes`.
pub(crate) fn read_bank(bytes: &[u8], count: usize, crc: u32) -> Result<Vec<Table>> {
    if crc32(bytes) != crc {
        return Err(Error::corrupt(0, "they do not have the checksum that the index states"));
    }
    let mut r = BitReader::new(bytes, 0);
    let mut tables: Vec<Table> = Vec::new();
    for _ in 0..count {
        let table = Table::read(&mut r, &tables)?;
        tables.push(table);
    }
    match r.bits_left() {
        0 => Ok(tables),
        _ => Err(Error::corrupt(r.byte(), "bytes behind the last table")),
    }
}
