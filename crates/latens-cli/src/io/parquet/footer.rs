//! What the `parquet` crate does not say of a footer: where it begins, and that it is encrypted.

use std::io::Read;

use crate::io::section::SharedFile;
use crate::message::{Failure, Result};

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
                .hint("decrypt it with what wrote it"));
        }
        _ => None,
    };
    Ok(start.unwrap_or(file.len()))
}
