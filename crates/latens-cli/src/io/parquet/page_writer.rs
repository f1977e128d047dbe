//! The crate's page writer, with two things added on the way: integers as DELTA_BINARY_PACKED by
//! our own encoder, and a checksum in every page header.

use latens::delta_binary_packed::{Layout, encode_into};
use parquet::basic::{Compression as Codec, Encoding, Type};
use parquet::column::page::{CompressedPage, Page, PageWriteSpec, PageWriter};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::sync::{Arc, Mutex, PoisonError};

use super::delta_pages::values_at;

/// The bytes of a column chunk while it is being written, shared with its page writer.
pub(super) type Sink = Arc<Mutex<Vec<u8>>>;

/// Writes the pages of one column chunk.
pub(super) struct Pages {
    sink: Sink,
    /// Where set, pages come in as PLAIN and uncompressed: they leave in our encoding, compressed.
    delta: Option<Delta>,
}

/// How pages are encoded anew.
pub(super) struct Delta {
    pub(super) descr: ColumnDescPtr,
    pub(super) codec: Codec,
}

impl Pages {
    pub(super) fn new(sink: Sink, delta: Option<Delta>) -> Self {
        Pages { sink, delta }
    }
}

impl PageWriter for Pages {
    fn write_page(&mut self, page: CompressedPage) -> ParquetResult<PageWriteSpec> {
        let page = match &self.delta {
            Some(delta) => delta.encode(page)?,
            None => page,
        };
        let checksum = crc32fast::hash(page.data());
        let mut written = TrackedWrite::new(Vec::new());
        let mut spec = SerializedPageWriter::new(&mut written).write_page(page)?;
        let mut bytes = written.into_inner()?;
        let more = insert_checksum(&mut bytes, checksum)
            .ok_or_else(|| ParquetError::General("a page header of another shape".into()))?;
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        spec.offset = sink.len() as u64;
        spec.compressed_size += more;
        spec.uncompressed_size += more;
        spec.bytes_written = bytes.len() as u64;
        sink.append(&mut bytes);
        Ok(spec)
    }

    fn close(&mut self) -> ParquetResult<()> {
        Ok(())
    }
}

/// Put field 4, `crc`, into the page header at the start of `bytes`; how many bytes that takes.
///
/// The field behind its sizes is a struct, type 12, whose byte says how many fields on it is: one
/// fewer, with ours before it. The `parquet` crate checks the field when it reads and has no way to
/// set it.
fn insert_checksum(bytes: &mut Vec<u8>, checksum: u32) -> Option<usize> {
    const STRUCT: u8 = 0x0c;
    let at = after_sizes(bytes)?;
    let next = bytes.get_mut(at)?;
    if *next & 0x0f != STRUCT || *next < 0x20 {
        return None;
    }
    *next -= 0x10;
    let signed = checksum.cast_signed();
    let mut zigzag = ((signed << 1) ^ (signed >> 31)).cast_unsigned();
    let mut field = vec![INTEGER];
    loop {
        let [low, ..] = zigzag.to_le_bytes();
        zigzag >>= 7;
        if zigzag == 0 {
            field.push(low & 0x7f);
            break;
        }
        field.push(low | 0x80);
    }
    let more = field.len();
    bytes.splice(at..at, field);
    Some(more)
}

/// A 32-bit integer, type 5, one field on.
const INTEGER: u8 = 0x15;

/// Where in a page header its fields 1 to 3 end: kind of page and two sizes.
///
/// A header is a Thrift struct in the compact protocol; of these fields each is [`INTEGER`] and a
/// zigzag varint.
fn after_sizes(header: &[u8]) -> Option<usize> {
    let mut at = 0;
    for _ in 0..3 {
        if *header.get(at)? != INTEGER {
            return None;
        }
        at += 2 + header.get(at + 1..)?.iter().position(|&byte| byte < 0x80)?;
    }
    Some(at)
}

/// Whether a page header holds a checksum, field 4; `None` where it is of another shape.
pub(super) fn has_checksum(header: &[u8]) -> Option<bool> {
    Some(*header.get(after_sizes(header)?)? == INTEGER)
}

impl Delta {
    /// The PLAIN page in our encoding, its values and, before version 2, its levels compressed.
    fn encode(&self, page: CompressedPage) -> ParquetResult<CompressedPage> {
        let mut page = page.compressed_page().clone();
        let start = values_at(&page, &self.descr)
            .map_err(|e| ParquetError::External(Box::new(std::io::Error::other(e))))?;
        let (levels, values) = page.buffer().split_at(start.min(page.buffer().len()));
        let mut bytes = levels.to_vec();
        match self.descr.physical_type() {
            Type::INT32 => {
                let (chunks, _) = values.as_chunks::<4>();
                let numbers: Vec<i32> = chunks.iter().map(|&c| i32::from_le_bytes(c)).collect();
                encode_into(&numbers, Layout::default_for::<i32>(), &mut bytes);
            }
            Type::INT64 => {
                let (chunks, _) = values.as_chunks::<8>();
                let numbers: Vec<i64> = chunks.iter().map(|&c| i64::from_le_bytes(c)).collect();
                encode_into(&numbers, Layout::default_for::<i64>(), &mut bytes);
            }
            other => {
                return Err(ParquetError::General(format!("{other} is not delta-encoded")));
            }
        }
        let size = bytes.len();
        match &mut page {
            Page::DataPage { buf, encoding, .. } => {
                *buf = compress(self.codec, &bytes)?.into();
                *encoding = Encoding::DELTA_BINARY_PACKED;
            }
            Page::DataPageV2 { buf, encoding, is_compressed, .. } => {
                let packed = compress(self.codec, bytes.get(start..).unwrap_or_default())?;
                bytes.truncate(start);
                bytes.extend(packed);
                *buf = bytes.into();
                *is_compressed = self.codec != Codec::UNCOMPRESSED;
                *encoding = Encoding::DELTA_BINARY_PACKED;
            }
            Page::DictionaryPage { .. } => {
                return Err(ParquetError::General("a dictionary among delta pages".into()));
            }
        }
        Ok(CompressedPage::new(page, size))
    }
}

/// The codecs that `--compression` names.
fn compress(codec: Codec, bytes: &[u8]) -> ParquetResult<Vec<u8>> {
    let external = |e: std::io::Error| ParquetError::External(Box::new(e));
    match codec {
        Codec::UNCOMPRESSED => Ok(bytes.to_vec()),
        Codec::SNAPPY => snap::raw::Encoder::new()
            .compress_vec(bytes)
            .map_err(|e| external(std::io::Error::other(e))),
        Codec::ZSTD(level) => {
            zstd::bulk::compress(bytes, level.compression_level()).map_err(external)
        }
        other => Err(ParquetError::NYI(format!("{other} for delta pages"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_goes_before_the_struct_of_the_page() {
        // Type 0, sizes 300 and 3, then field 5 (two on), a struct.
        let mut header = vec![0x15, 0x00, 0x15, 0xd8, 0x04, 0x15, 0x06, 0x2c, 0x15, 0x02, 0x00];
        assert_eq!(has_checksum(&header), Some(false));
        assert_eq!(insert_checksum(&mut header, 0xffff_ffff), Some(2));
        assert_eq!(
            header,
            [0x15, 0x00, 0x15, 0xd8, 0x04, 0x15, 0x06, 0x15, 0x01, 0x1c, 0x15, 0x02, 0x00]
        );
        assert_eq!(insert_checksum(&mut vec![0x15, 0x80], 1), None);
        assert_eq!(has_checksum(&header), Some(true));
        // With a checksum there is no room for another.
        assert_eq!(insert_checksum(&mut header, 1), None);
    }
}
