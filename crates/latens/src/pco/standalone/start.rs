//! Files that are read in part: what their checksums say of that part.

use super::info::Checksum;
use crate::bits::checksum::Crc32c;
use crate::error::{Error, Result};
use crate::pco::layout::chunk_head::TERMINATOR;
use crate::pco::layout::trailer::Trailer;
use std::io::{Read, Seek, SeekFrom};

/// Checks the stored bytes of the chunks that hold the first `numbers` numbers of a file by its
/// checksum trailer, and decodes nothing.
///
/// For those who read no more than these: a [`Decoder`](super::Decoder) compares at the end of a file.
///
/// ```
/// # fn main() -> latens::Result<()> {
/// use latens::pco::{self, standalone};
/// let numbers: Vec<u32> = (0..60_000u32).map(|i| i.wrapping_mul(i) % 10_007).collect();
/// let mut file = pco::compress(&numbers, &pco::Config::default())?;
/// file[1000] ^= 1;
/// let mut file = std::io::Cursor::new(file); // or a std::fs::File
/// assert!(standalone::check_start(&mut file, 10).is_err());
/// # Ok(()) }
/// ```
///
/// # Errors
/// I/O; corrupt where a checksum fails, with the chunk and its byte, or the trailer is not sound.
pub fn check_start<F: Read + Seek>(file: &mut F, numbers: u64) -> Result<Checksum> {
    let Some((trailer, at)) = trailer(file)? else { return Ok(Checksum::Absent) };
    // That there is one is checked where the trailer is read.
    let terminator = at.saturating_sub(1);
    file.seek(SeekFrom::Start(terminator))?;
    let mut byte = [0];
    file.read_exact(&mut byte)?;
    if byte != [TERMINATOR] {
        return Err(Error::corrupt(terminator, "no terminator stands before the checksum trailer"));
    }
    let mut file = Summed { file, at: u64::MAX };
    // Without a row there must be no chunk either: all bytes are before the first.
    let first = trailer.chunks.first().map_or(terminator, |first| first.offset);
    trailer.check_header(file.sum(0, first)?)?;
    let mut before = 0;
    for (i, chunk) in trailer.chunks.iter().enumerate() {
        if before >= numbers {
            break;
        }
        trailer.check_stored(i, file.sum(chunk.offset, chunk.bytes.into())?)?;
        before += u64::from(chunk.n);
    }
    Ok(Checksum::Verified)
}

/// The trailer at the end of a file and where it begins, if there is one.
pub(super) fn trailer<F: Read + Seek>(file: &mut F) -> Result<Option<(Trailer, u64)>> {
    let len = file.seek(SeekFrom::End(0))?;
    let mut end = |bytes: u64| -> Result<Vec<u8>> {
        let bytes = bytes.min(len);
        file.seek(SeekFrom::Start(len - bytes))?;
        let mut end = Vec::new();
        file.take(bytes).read_to_end(&mut end)?;
        Ok(end)
    };
    let tail = end(Trailer::TAIL)?;
    match Trailer::len_by(&tail) {
        Some(bytes) => {
            let at = len.saturating_sub(bytes);
            Ok(Trailer::read_end(&end(bytes)?, at)?.map(|trailer| (trailer, at)))
        }
        None => Ok(None),
    }
}

/// A file that is read for its checksums.
struct Summed<'a, F> {
    file: &'a mut F,
    at: u64,
}

impl<F: Read + Seek> Summed<'_, F> {
    /// The CRC-32C of so many bytes from `start` on.
    fn sum(&mut self, start: u64, bytes: u64) -> Result<u32> {
        if self.at != start {
            self.file.seek(SeekFrom::Start(start))?;
        }
        let (mut crc, mut buffer) = (Crc32c::new(), [0; 1 << 16]);
        let mut part = Read::by_ref(self.file).take(bytes);
        loop {
            match part.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => crc.update(&buffer[..n]),
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e.into()),
            }
        }
        self.at = start + bytes;
        Ok(crc.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pco::{Config, compress, decompress_into};
    use std::io::Cursor;

    /// A file without trailer whose only page ends with the magic of one.
    #[test]
    fn a_terminator_is_no_version() {
        let hex = concat!(
            "70636f2103044201040104040000200042002000000000800000ebe1a6f4007dba9b0ff5fb3bfa1500",
            "0000080000008be297263e599723acb3c09602000000f43e1ada4c4154454e534300"
        );
        let byte = |i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap();
        let file: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
        assert!(file.ends_with(b"LATENSC\0"));
        let whole = crate::pco::decompress::<i64>(&file).unwrap();
        assert_eq!(check_start(&mut Cursor::new(&file), 2).unwrap(), Checksum::Absent);
        let mut part = [0; 2];
        decompress_into(&file, &mut part).unwrap();
        assert_eq!(part[..], whole[..2]);
    }

    /// Every flipped bit of what is read in part is told, and nothing is written.
    #[test]
    fn a_part_of_a_damaged_file_is_refused() {
        let numbers: Vec<u16> = (0..3000u32).map(|i| (i * i % 977) as u16).collect();
        let sound = compress(&numbers, &Config::default().chunk_n(1000)).unwrap();
        let (trailer, _) = trailer(&mut Cursor::new(&sound)).unwrap().unwrap();
        let behind = |chunk: usize| usize::try_from(trailer.chunks[chunk].offset).unwrap();
        for (wanted, end) in [(1, behind(1)), (1000, behind(1)), (1001, behind(2))] {
            let mut out = vec![7; wanted];
            assert!(!decompress_into(&sound, &mut out).unwrap().finished);
            assert_eq!(out, numbers[..wanted]);
            for bit in 0..8 * sound.len() {
                let mut file = sound.clone();
                file[bit / 8] ^= 1 << (bit % 8);
                let mut out = vec![7; wanted];
                let done = decompress_into(&file, &mut out);
                if bit < 8 * end {
                    assert!(done.is_err() && out == vec![7; wanted], "{wanted} bit {bit}");
                } else if done.is_ok() {
                    assert_eq!(out, numbers[..wanted], "{wanted} bit {bit}");
                }
            }
        }
        // A trailer without rows behind chunks, and one behind a terminator that is none.
        let rows = 3 * crate::pco::layout::trailer::ENTRY;
        let mut rowless = Trailer { chunks: Vec::new(), ..trailer.clone() }.bytes();
        let bare = sound.len() - rows - rowless.len();
        rowless.splice(..0, sound[..bare].iter().copied());
        assert_eq!(check_start(&mut Cursor::new(&rowless), 9).unwrap_err().at(), Some(0));
        let mut unended = sound.clone();
        unended[bare - 1] = 1;
        let error = check_start(&mut Cursor::new(&unended), 9).unwrap_err();
        assert_eq!(error.at(), Some(bare as u64 - 1));
        let plain = compress(&numbers, &Config::default().checksum(false)).unwrap();
        assert_eq!(check_start(&mut Cursor::new(&plain), 9).unwrap(), Checksum::Absent);
        assert_eq!(check_start(&mut Cursor::new(&sound), 9).unwrap(), Checksum::Verified);
        assert_eq!(check_start(&mut Cursor::new(&[]), 9).unwrap(), Checksum::Absent);
    }
}
