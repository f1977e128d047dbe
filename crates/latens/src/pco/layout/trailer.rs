//! The checksum trailer: after the terminator of a standalone file, where other readers do not look.
//!
//! | bytes | field | |
//! |---|---|---|
//! | 24 each | chunk: offset u64, count u32, CRC-32C of its stored bytes, of its numbers, 0 | in file order |
//! | 4 | CRC-32C of the file before the first chunk | |
//! | 8 | count of chunks | |
//! | 8 | count of numbers | |
//! | 4 | version of the trailer, 1 | |
//! | 4 | CRC-32C of all of the trailer before this field | |
//! | 8 | magic `LATENSCK` | |
//!
//! All little endian. A reader with random access starts from the last 36 bytes.

use crate::bits::checksum::Crc32c;
use crate::error::{Error, Result};

const MAGIC: &[u8; 8] = b"LATENSCK";
const VERSION: u32 = 1;
const ENTRY: usize = 24;
/// Bytes behind the chunk table.
pub(crate) const TAIL: usize = 36;

/// A chunk as the trailer describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkEntry {
    /// Of the chunk's type byte, from the start of the file.
    pub(crate) offset: u64,
    /// Numbers.
    pub(crate) n: u32,
    /// CRC-32C of type byte to end of page.
    pub(crate) stored_crc: u32,
    /// CRC-32C of the numbers as little-endian bytes.
    pub(crate) numbers_crc: u32,
}

/// What the trailer holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Trailer {
    /// CRC-32C of preamble and wrapped header.
    pub(crate) header_crc: u32,
    /// In file order.
    pub(crate) chunks: Vec<ChunkEntry>,
}

impl Trailer {
    /// Whether `bytes`, a whole file or its end, end as a trailer does.
    pub(crate) fn is_at_end_of(bytes: &[u8]) -> bool {
        bytes.ends_with(MAGIC)
    }

    /// The bytes of the trailer.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.chunks.len() * ENTRY + TAIL);
        for chunk in &self.chunks {
            out.extend(chunk.offset.to_le_bytes());
            out.extend(chunk.n.to_le_bytes());
            out.extend(chunk.stored_crc.to_le_bytes());
            out.extend(chunk.numbers_crc.to_le_bytes());
            out.extend([0; 4]);
        }
        out.extend(self.header_crc.to_le_bytes());
        out.extend((self.chunks.len() as u64).to_le_bytes());
        out.extend(self.chunks.iter().map(|c| u64::from(c.n)).sum::<u64>().to_le_bytes());
        out.extend(VERSION.to_le_bytes());
        let mut crc = Crc32c::new();
        crc.update(&out);
        out.extend(crc.value().to_le_bytes());
        out.extend(MAGIC);
        out
    }

    /// Reads the trailer that ends `file` (or any end of a file that holds all of it).
    ///
    /// `None` where there is none: the magic is missing, or the bytes are too few for the table.
    ///
    /// # Errors
    /// Corrupt when there is one that contradicts itself; offsets count from the start of `file`.
    pub(crate) fn read_end(file: &[u8]) -> Result<Option<Self>> {
        if file.len() < TAIL || !Self::is_at_end_of(file) {
            return Ok(None);
        }
        let tail = &file[file.len() - TAIL..];
        let count = usize::try_from(u64_at(tail, 4)).unwrap_or(usize::MAX);
        let Some(start) = count
            .checked_mul(ENTRY)
            .and_then(|table| table.checked_add(TAIL))
            .and_then(|len| file.len().checked_sub(len))
        else {
            return Err(Error::corrupt(
                (file.len() - TAIL) as u64,
                "the checksum trailer announces more chunks than the file has room for",
            ));
        };
        let mut crc = Crc32c::new();
        crc.update(&file[start..file.len() - 12]);
        if crc.value() != u32_at(tail, 24) {
            return Err(Error::corrupt(
                start as u64,
                "the checksum trailer fails its own checksum",
            ));
        }
        if u32_at(tail, 20) != VERSION {
            let version = u32_at(tail, 20);
            return Err(Error::corrupt(
                file.len() as u64 - 16,
                format!("version {version} of the checksum trailer; {VERSION} is known"),
            ));
        }
        let rows = &file[start..file.len() - TAIL];
        if let Some(row) = rows.chunks_exact(ENTRY).position(|e| u32_at(e, 20) != 0) {
            return Err(Error::corrupt(
                (start + row * ENTRY + 20) as u64,
                "a reserved field of the checksum trailer is not 0",
            ));
        }
        let total: u64 = rows.chunks_exact(ENTRY).map(|e| u64::from(u32_at(e, 8))).sum();
        if total != u64_at(tail, 12) {
            return Err(Error::corrupt(
                (file.len() - TAIL + 12) as u64,
                "the checksum trailer's count of numbers is not that of its chunks",
            ));
        }
        let entry = |e: &[u8]| ChunkEntry {
            offset: u64_at(e, 0),
            n: u32_at(e, 8),
            stored_crc: u32_at(e, 12),
            numbers_crc: u32_at(e, 16),
        };
        let chunks = rows.chunks_exact(ENTRY).map(entry).collect();
        Ok(Some(Self { header_crc: u32_at(tail, 0), chunks }))
    }

    /// Bytes that it takes in a file.
    pub(crate) fn len(&self) -> usize {
        self.chunks.len() * ENTRY + TAIL
    }

    /// Compares with what was seen in the file.
    ///
    /// # Errors
    /// Corrupt at the first chunk that differs; `at` is where the trailer begins.
    pub(crate) fn check(&self, seen: &Trailer, at: u64) -> Result<()> {
        if self.header_crc != seen.header_crc {
            return Err(Error::corrupt(0, "the bytes before the first chunk fail their checksum"));
        }
        for (i, (told, seen)) in self.chunks.iter().zip(&seen.chunks).enumerate() {
            let place = format!("chunk {i}");
            let what = if told.offset != seen.offset || told.n != seen.n {
                "the checksum trailer has it at another place or with another count"
            } else if told.stored_crc != seen.stored_crc {
                "its stored bytes fail their checksum"
            } else if told.numbers_crc != seen.numbers_crc {
                "its numbers fail their checksum"
            } else {
                continue;
            };
            return Err(Error::corrupt(seen.offset, what).within(place));
        }
        let (told, seen) = (self.chunks.len(), seen.chunks.len());
        if told != seen {
            return Err(Error::corrupt(
                at,
                format!("the checksum trailer counts {told} chunks, the file has {seen}"),
            ));
        }
        Ok(())
    }
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_is_found() {
        let chunk = |offset, n| ChunkEntry { offset, n, stored_crc: 77, numbers_crc: 78 };
        let trailer = Trailer { header_crc: 5, chunks: vec![chunk(10, 300), chunk(500, 2)] };
        let mut file = vec![1, 2, 3];
        file.extend(trailer.bytes());
        assert_eq!(file.len(), 3 + trailer.len());
        assert_eq!(Trailer::read_end(&file).unwrap(), Some(trailer));
        for bit in 3 * 8..file.len() * 8 {
            file[bit / 8] ^= 1 << (bit % 8);
            assert!(!matches!(Trailer::read_end(&file), Ok(Some(_))), "bit {bit}");
            file[bit / 8] ^= 1 << (bit % 8);
        }
    }
}
