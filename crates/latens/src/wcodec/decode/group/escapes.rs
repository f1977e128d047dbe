//! Symbols that are said apart: too rare for a slot in a table.

use crate::error::{Error, Result};
use crate::wcodec::layout::fields::Fields;

/// Reads the list of a group, each a symbol of `bits`, that begins at byte `at`, and how far it goes.
pub(super) fn list(stored: &[u8], at: usize, bits: u32) -> Result<(&[u8], usize)> {
    let mut fields = Fields::new(stored);
    fields.bytes(at as u64, "a group's tiles")?;
    let count = fields.varint("the number of escapes")?;
    let first = fields.at();
    let escapes = fields.bytes(count, "the escapes of a group")?;
    if u32::from(escapes.iter().fold(0, |all, symbol| all | symbol)) >> bits != 0 {
        return Err(Error::corrupt(first, format!("an escape is no symbol of {bits} bits")));
    }
    Ok((escapes, stored.len() - fields.left()))
}
