//! The checksum trailer: after the terminator of a standalone file, where other readers do not look.
//!
//! | bytes | field | |
//! |---|---|---|
//! | 16 each | chunk: its bytes, its numbers, CRC-32C of the bytes, of the numbers | in file order |
//! | 4 | CRC-32C of the file before the first chunk | |
//! | 4 | count of chunks | |
//! | 4 | CRC-32C of all of the trailer before this field | |
//! | 8 | magic `LATENSC` and the version, `1` | |
//!
//! All little endian. A reader with random access starts from the last 20 bytes.

use crate::bits::checksum::Crc32c;
use crate::error::{Error, Result};

const MAGIC: &[u8; 7] = b"LATENSC";
const VERSION: u8 = b'1';
pub(crate) const ENTRY: usize = 16;
/// Bytes behind the chunk table.
const TAIL: usize = 20;

/// What is said of a chunk.
const DAMAGED: &str = "its stored bytes fail their checksum";

/// A chunk as the trailer describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkEntry {
    /// Of the chunk's type byte, from the start of the file. Not stored: chunks follow each other.
    pub(crate) offset: u64,
    /// From the type byte to the end of the page.
    pub(crate) bytes: u32,
    /// Numbers.
    pub(crate) n: u32,
    /// CRC-32C of those bytes.
    pub(crate) stored_crc: u32,
    /// CRC-32C of the numbers as little-endian bytes.
    pub(crate) numbers_crc: u32,
}

impl ChunkEntry {
    /// Where it is and how much.
    fn place(&self) -> (u64, u32, u32) {
        (self.offset, self.bytes, self.n)
    }
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
    /// Bytes behind the chunk table.
    pub(crate) const TAIL: u64 = TAIL as u64;

    /// How many bytes the trailer takes whose last [`Trailer::TAIL`] these are; `None` where there is
    /// none.
    pub(crate) fn len_by(tail: &[u8]) -> Option<u64> {
        let is_one = tail.len() == TAIL && Self::is_at_end_of(tail);
        is_one.then(|| u64::from(u32_at(tail, 4)) * ENTRY as u64 + Self::TAIL)
    }

    /// Whether `bytes`, a whole file or its end, end as a trailer does. No version is 0: that is the
    /// terminator of a file without one, whose last page may hold anything.
    pub(crate) fn is_at_end_of(bytes: &[u8]) -> bool {
        bytes.split_last().is_some_and(|(&version, before)| version != 0 && before.ends_with(MAGIC))
    }

    /// The bytes of the trailer.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.chunks.len() * ENTRY + TAIL);
        for chunk in &self.chunks {
            out.extend(chunk.bytes.to_le_bytes());
            out.extend(chunk.n.to_le_bytes());
            out.extend(chunk.stored_crc.to_le_bytes());
            out.extend(chunk.numbers_crc.to_le_bytes());
        }
        out.extend(self.header_crc.to_le_bytes());
        #[expect(clippy::cast_possible_truncation, reason = "more chunks are not held in memory")]
        out.extend((self.chunks.len() as u32).to_le_bytes());
        let mut crc = Crc32c::new();
        crc.update(&out);
        out.extend(crc.value().to_le_bytes());
        out.extend(MAGIC);
        out.push(VERSION);
        out
    }

    /// Reads the trailer that ends `end`, the bytes of a file from `start` to its last one.
    ///
    /// `None` where there is none: the magic is missing, or the bytes are too few for the table.
    ///
    /// # Errors
    /// Corrupt when there is one that contradicts itself; offsets count from the start of the file.
    pub(crate) fn read_end(end: &[u8], start: u64) -> Result<Option<Self>> {
        if end.len() < TAIL || !Self::is_at_end_of(end) {
            return Ok(None);
        }
        let tail = &end[end.len() - TAIL..];
        let tail_at = start + (end.len() - TAIL) as u64;
        let version = tail[TAIL - 1];
        if version != VERSION {
            let (version, known) = (version.escape_ascii(), VERSION.escape_ascii());
            return Err(Error::corrupt(
                tail_at + TAIL as u64 - 1,
                format!("version {version} of the checksum trailer; {known} is known"),
            ));
        }
        let count = usize::try_from(u32_at(tail, 4)).unwrap_or(usize::MAX);
        let Some(from) = count
            .checked_mul(ENTRY)
            .and_then(|table| table.checked_add(TAIL))
            .and_then(|len| end.len().checked_sub(len))
        else {
            return Err(Error::corrupt(
                tail_at,
                "the checksum trailer announces more chunks than the file has room for",
            ));
        };
        let at = start + from as u64;
        let mut crc = Crc32c::new();
        crc.update(&end[from..end.len() - 12]);
        if crc.value() != u32_at(tail, 8) {
            return Err(Error::corrupt(at, "the checksum trailer fails its own checksum"));
        }
        let rows = end[from..end.len() - TAIL].chunks_exact(ENTRY);
        let total: u64 = rows.clone().map(|e| u64::from(u32_at(e, 0))).sum();
        let Some(first) = at.checked_sub(1).and_then(|terminator| terminator.checked_sub(total))
        else {
            return Err(Error::corrupt(
                at,
                "the chunks of the checksum trailer are longer than the file before it",
            ));
        };
        let mut offset = first;
        let entry = |e: &[u8]| {
            let bytes = u32_at(e, 0);
            let begin = offset;
            offset += u64::from(bytes);
            ChunkEntry {
                offset: begin,
                bytes,
                n: u32_at(e, 4),
                stored_crc: u32_at(e, 8),
                numbers_crc: u32_at(e, 12),
            }
        };
        let chunks = rows.map(entry).collect();
        Ok(Some(Self { header_crc: u32_at(tail, 0), chunks }))
    }

    /// Bytes that it takes in a file.
    pub(crate) fn len(&self) -> usize {
        self.chunks.len() * ENTRY + TAIL
    }

    /// Compares the checksum of what stands before the first chunk.
    ///
    /// # Errors
    /// Corrupt where it is another.
    pub(crate) fn check_header(&self, crc: u32) -> Result<()> {
        if self.header_crc == crc {
            return Ok(());
        }
        Err(Error::corrupt(0, "the bytes before the first chunk fail their checksum"))
    }

    /// Compares the checksum of the stored bytes of chunk `index`, which there must be.
    ///
    /// # Errors
    /// Corrupt where it is another.
    pub(crate) fn check_stored(&self, index: usize, crc: u32) -> Result<()> {
        let chunk = &self.chunks[index];
        if chunk.stored_crc == crc {
            return Ok(());
        }
        Err(Error::corrupt(chunk.offset, DAMAGED).within(format!("chunk {index}")))
    }

    /// Compares with what was seen in the file: places and sizes, and `checksums` where they were
    /// computed.
    ///
    /// # Errors
    /// Corrupt at the first chunk that differs; `at` is where the trailer begins.
    pub(crate) fn check(&self, seen: &Trailer, at: u64, checksums: bool) -> Result<()> {
        if checksums {
            self.check_header(seen.header_crc)?;
        }
        for (i, (told, seen)) in self.chunks.iter().zip(&seen.chunks).enumerate() {
            let place = format!("chunk {i}");
            let what = if told.place() != seen.place() {
                "the checksum trailer has it at another place or of another size"
            } else if !checksums {
                continue;
            } else if told.stored_crc != seen.stored_crc {
                DAMAGED
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

impl Trailer {
    /// What is wrong with a file whose last bytes, `end` from `from` on, end as a trailer does, where
    /// that of its chunks, `seen`, does not stand: at `at`, right behind the terminator.
    ///
    /// A chunk whose type byte became 0 ends the file early: what gives it away is the trailer.
    #[cold]
    pub(crate) fn misplaced(end: &[u8], from: u64, seen: &Trailer, at: u64) -> Error {
        let is_cut = from > at && Self::len_by(last(end)).is_some_and(|len| len > end.len() as u64);
        let told = match Self::read_end(end, from) {
            Ok(Some(told)) if !is_cut => told,
            Err(e) if !is_cut => return e,
            _ => {
                let what = "the bytes after the end stop like a checksum trailer, and are none";
                return Error::corrupt(at, what);
            }
        };
        let trailer_at = (from + end.len() as u64).saturating_sub(told.len() as u64);
        let sizes = |chunks: &[ChunkEntry]| -> Vec<_> {
            chunks.iter().map(|chunk| (chunk.bytes, chunk.n)).collect()
        };
        if trailer_at > at && sizes(&told.chunks) == sizes(&seen.chunks) {
            let between = trailer_at - at;
            let what = format!("{between} bytes stand between the end and the checksum trailer");
            return Error::corrupt(at, what);
        }
        let so_far = seen.chunks.iter().zip(&told.chunks).all(|(a, b)| a.place() == b.place());
        let index = seen.chunks.len();
        match told.chunks.get(index).filter(|next| so_far && next.offset + 1 == at) {
            Some(next) => {
                let what = "the checksum trailer has a chunk here, where the file ends";
                Error::corrupt(next.offset, what).within(format!("chunk {index}"))
            }
            None => told.check(seen, trailer_at, false).err().unwrap_or_else(|| {
                Error::corrupt(at, "the checksum trailer is not that of the chunks before it")
            }),
        }
    }
}

/// As many bytes as stand behind the chunk table.
fn last(end: &[u8]) -> &[u8] {
    end.get(end.len().saturating_sub(TAIL)..).unwrap_or_default()
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_is_found() {
        let chunk =
            |offset, bytes| ChunkEntry { offset, bytes, n: 3, stored_crc: 77, numbers_crc: 78 };
        let trailer = Trailer { header_crc: 5, chunks: vec![chunk(10, 490), chunk(500, 2)] };
        let mut file = vec![1, 2, 0];
        file.extend(trailer.bytes());
        assert_eq!(file.len(), 3 + trailer.len());
        assert_eq!(Trailer::read_end(&file, 500).unwrap(), Some(trailer));
        assert!(Trailer::read_end(&file, 489).is_err());
        for bit in 3 * 8..file.len() * 8 {
            file[bit / 8] ^= 1 << (bit % 8);
            assert!(!matches!(Trailer::read_end(&file, 500), Ok(Some(_))), "bit {bit}");
            file[bit / 8] ^= 1 << (bit % 8);
        }
    }
}
