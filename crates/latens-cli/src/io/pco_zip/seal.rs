//! The last 29 bytes of the file: the archive's comment, `latens pco.zip crc32 ` and the CRC-32 of
//! all bytes before those eight hexadecimal digits, small letters.
//!
//! It is what makes a `.pco.zip` safe against flipped bits outside of its members, too, and against
//! truncation, and it is the plain CRC-32 of ZIP: `zlib.crc32(data[:-8])` in Python.

use crate::io::section::SharedFile;
use crate::message::{Failure, Result};
use std::io::Read;

const WORDS: &[u8] = b"latens pco.zip crc32 ";
const DIGITS: u64 = 8;
/// How an archive with a member begins.
const ARCHIVE: &[u8] = b"PK\x03\x04";

/// The comment before its digits are known.
pub(super) fn blank() -> Vec<u8> {
    [WORDS, b"00000000"].concat()
}

/// Where the digits stand in a file of `len` bytes, and what they are.
pub(super) fn digits(file: &SharedFile) -> Result<(u64, [u8; 8])> {
    let at = file.len().saturating_sub(DIGITS);
    let mut reader = file.section(0, at);
    let mut crc = crc32fast::Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match reader.read(&mut buffer)? {
            0 => break,
            n => crc.update(buffer.get(..n).unwrap_or_default()),
        }
    }
    let text = format!("{:08x}", crc.finalize());
    let digits = text.as_bytes().try_into().map_err(|_| Failure::new("no eight digits"))?;
    Ok((at, digits))
}

/// Whether the file ends in its seal, and the seal holds.
///
/// # Errors
/// A file that is cut short, continued, rewritten or damaged, or no archive.
pub(super) fn check(file: &SharedFile) -> Result<()> {
    let length = WORDS.len() as u64 + DIGITS;
    let mut end = Vec::new();
    file.section(file.len().saturating_sub(length), length).read_to_end(&mut end)?;
    let Some(stored) = end.strip_prefix(WORDS) else {
        let mut start = Vec::new();
        file.section(0, ARCHIVE.len() as u64).read_to_end(&mut start)?;
        // However short it is: what begins otherwise is not cut off.
        if !ARCHIVE.starts_with(&start) {
            return Err(Failure::new(
                "corrupt: this is no .pco.zip file: it does not begin as a ZIP archive does",
            )
            .at_byte(0)
            .hint("name its format with --from, e.g. --from csv"));
        }
        return Err(Failure::new("truncated: the file does not end in its checksum")
            .at_byte(file.len())
            .hint("it is cut short, or another tool has rewritten it"));
    };
    let (at, expected) = digits(file)?;
    if stored != expected {
        return Err(Failure::new("corrupt: the checksum of the file does not hold")
            .at_byte(at)
            .hint("the file is damaged, or another tool has rewritten it"));
    }
    Ok(())
}
