//! Records with which an index ends, found from its end: their lengths follow from what is before them.

use crate::bits::varint;

/// What is before the record of this tag, with content of so many bytes, with which `index` ends, and the content.
pub(crate) fn ends_with(index: &[u8], tag: u64, content: usize) -> Option<(&[u8], &[u8])> {
    let mut front = Vec::new();
    varint::write(tag, &mut front);
    varint::write(content as u64, &mut front);
    let (before, content) = index.split_at_checked(index.len().checked_sub(content)?)?;
    Some((before.strip_suffix(&front[..])?, content))
}
