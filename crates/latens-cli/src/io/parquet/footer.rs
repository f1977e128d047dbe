//! What the `parquet` crate does not say of a footer: where it begins, and what is encrypted.

use std::io::Read;

use crate::io::section::SharedFile;
use crate::message::{Failure, Result};

/// Structures in a footer are nested less deep.
const DEEPEST: usize = 32;

const HINT: &str = "decrypt it with what wrote it";

/// Where the footer begins; the end of a file that has none.
///
/// # Errors
/// I/O; a footer that is encrypted.
pub(super) fn footer_at(file: &SharedFile) -> Result<u64> {
    let mut end = Vec::new();
    file.section(file.len().saturating_sub(8), 8).read_to_end(&mut end)?;
    let start = match *end.as_slice() {
        [a, b, c, d, b'P', b'A', b'R', b'1'] => {
            let length = u64::from(u32::from_le_bytes([a, b, c, d]));
            (file.len() - 8).checked_sub(length)
        }
        [.., b'P', b'A', b'R', b'E'] => {
            return Err(Failure::new("the file is encrypted: not supported")
                .at_byte(file.len() - 4)
                .hint(HINT));
        }
        _ => None,
    };
    Ok(start.unwrap_or(file.len()))
}

/// An error in a column chunk; that it is encrypted, where that is why. Files with a footer in the
/// clear may have some such columns.
pub(super) fn explained(file: &SharedFile, group: usize, leaf: usize, e: Failure) -> Failure {
    let mut footer = Vec::new();
    let read = footer_at(file)
        .and_then(|start| Ok(file.section(start, file.len() - start).read_to_end(&mut footer)?));
    match read {
        Ok(_) if is_encrypted(&footer, group, leaf) == Some(true) => {
            Failure::new("the column is encrypted: not supported").hint(HINT)
        }
        _ => e,
    }
}

/// Whether a column chunk of the footer has `crypto_metadata`; `None` where there is no such chunk.
fn is_encrypted(footer: &[u8], group: usize, leaf: usize) -> Option<bool> {
    let mut fields = Fields { bytes: footer };
    // FileMetaData.row_groups, RowGroup.columns, ColumnChunk.crypto_metadata.
    fields.find(4)?;
    fields.element(group)?;
    fields.find(1)?;
    fields.element(leaf)?;
    Some(fields.find(8).is_some())
}

/// The rest of a structure in Thrift's compact protocol.
struct Fields<'a> {
    bytes: &'a [u8],
}

impl Fields<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(first)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn advance(&mut self, n: u64) -> Option<()> {
        self.bytes = self.bytes.get(usize::try_from(n).ok()?..)?;
        Some(())
    }

    /// Id and type of the next field, `None` at the end of the structure.
    fn head(&mut self, before: u64) -> Option<(u64, u8)> {
        let head = self.byte().filter(|&head| head != 0)?;
        let id = match head >> 4 {
            0 => self.varint()? / 2,
            step => before + u64::from(step),
        };
        Some((id, head & 15))
    }

    /// Skip to the value of field `id`.
    fn find(&mut self, id: u64) -> Option<()> {
        let mut at = 0;
        loop {
            let (found, kind) = self.head(at)?;
            if found == id {
                return Some(());
            }
            self.skip(kind, DEEPEST)?;
            at = found;
        }
    }

    /// Length and type of what is in the list that begins here.
    fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let length = match head >> 4 {
            15 => self.varint()?,
            length => u64::from(length),
        };
        Some((length, head & 15))
    }

    /// Go into a structure of the list that begins here.
    fn element(&mut self, index: usize) -> Option<()> {
        let (length, kind) = self.list()?;
        if kind != 12 || index as u64 >= length {
            return None;
        }
        (0..index).try_for_each(|_| self.skip(kind, DEEPEST))
    }

    /// Skip a value.
    fn skip(&mut self, kind: u8, deepest: usize) -> Option<()> {
        let deeper = deepest.checked_sub(1)?;
        match kind {
            // Their type is their value.
            1 | 2 => Some(()),
            3 => self.advance(1),
            4..=6 => self.varint().map(|_| ()),
            7 => self.advance(8),
            8 => {
                let length = self.varint()?;
                self.advance(length)
            }
            9 | 10 => match self.list()? {
                // Here they have a byte.
                (length, 1..=3) => self.advance(length),
                (length, kind) => (0..length).try_for_each(|_| self.skip(kind, deeper)),
            },
            12 => {
                let mut at = 0;
                // The end of the bytes is none of the structure: what follows fails there too.
                while let Some((id, kind)) = self.head(at) {
                    self.skip(kind, deeper)?;
                    at = id;
                }
                Some(())
            }
            // Maps: there are none.
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two row groups of two columns; the first column of the second group has `crypto_metadata`.
    fn footer() -> Vec<u8> {
        let clear = [0x26, 0x08, 0x1c, 0x15, 0x02, 0x00, 0x00];
        let secret = [0x26, 0x08, 0x6c, 0x1c, 0x00, 0x00, 0x00];
        let mut bytes =
            vec![0x15, 0x02, 0x19, 0x1c, 0x48, 0x01, b'x', 0x00, 0x16, 0x04, 0x19, 0x2c];
        for first in [clear, secret] {
            bytes.extend([0x19, 0x2c]);
            bytes.extend(first);
            bytes.extend(clear);
            bytes.extend([0x16, 0x02, 0x00]);
        }
        bytes.push(0x00);
        bytes
    }

    #[test]
    fn the_encrypted_chunk_is_found() {
        let all = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let found = all.map(|(group, leaf)| is_encrypted(&footer(), group, leaf));
        assert_eq!(found, [Some(false), Some(false), Some(true), Some(false)]);
        assert_eq!(is_encrypted(&footer(), 2, 0), None);
        assert_eq!(is_encrypted(&footer(), 0, 2), None);
    }

    #[test]
    fn no_bytes_are_too_odd_for_it() {
        let whole = footer();
        for end in 0..whole.len() {
            for with in 0..=255 {
                let mut bytes = whole.clone();
                bytes[end] = with;
                is_encrypted(&bytes, 1, 1);
                is_encrypted(&bytes[..end], 1, 1);
            }
        }
        // Lists in lists, and one of 2^60 empty structures.
        is_encrypted(&[0x99; 4096], 0, 0);
        let mut long = vec![0x19, 0xfc];
        long.extend([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]);
        assert_eq!(is_encrypted(&long, 0, 0), None);
    }
}
