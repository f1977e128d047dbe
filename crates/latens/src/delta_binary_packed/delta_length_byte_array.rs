//! Parquet's DELTA_LENGTH_BYTE_ARRAY: the lengths of all byte strings as one stream of 32-bit
//! numbers ([`super`]), and right behind it the bytes of all strings.
//!
//! ```
//! use latens::delta_binary_packed::{Options, delta_length_byte_array};
//! let page = delta_length_byte_array::encode(&["Hello", "World", "Foobar", "ABCDEF"])?;
//! assert!(page.ends_with(b"HelloWorldFoobarABCDEF"));
//! let limits = latens::Limits::default();
//! let (strings, consumed) =
//!     delta_length_byte_array::decode(&page, limits, Options::default())?;
//! assert_eq!(consumed, page.len());
//! assert_eq!(strings.get(2), Some(&b"Foobar"[..]));
//! # Ok::<(), latens::Error>(())
//! ```

use std::borrow::Cow;

use super::lengths::{Lengths, room_for_ends, size_of_string};
use super::{ByteArrays, Layout, Options, encode_into};
use crate::error::{Error, Result};
use crate::limits::Limits;

/// The encoding of `strings`.
///
/// # Errors
/// Invalid argument where a string is longer than 2^31 - 1 bytes.
pub fn encode<S: AsRef<[u8]>>(strings: &[S]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    encode_to(strings.iter().map(AsRef::as_ref), &mut out)?;
    Ok(out)
}

pub(super) fn encode_to<'s>(
    strings: impl Iterator<Item = &'s [u8]> + Clone,
    out: &mut Vec<u8>,
) -> Result<()> {
    let lengths: Vec<i32> = strings.clone().map(|s| length(s.len())).collect::<Result<_>>()?;
    encode_into(&lengths, Layout::default_for::<i32>(), out);
    for string in strings {
        out.extend_from_slice(string);
    }
    Ok(())
}

/// A length as Parquet writes it.
pub(super) fn length(bytes: usize) -> Result<i32> {
    i32::try_from(bytes)
        .map_err(|_| Error::invalid(format!("a string of {bytes} bytes; 2^31 - 1 are the most")))
}

/// Decodes the strings at the start of `bytes`; returns them, in place, and the bytes consumed.
///
/// The lengths are gone through before anything is allocated: an input in error costs no memory.
///
/// # Errors
/// As [`super::decode`], for the lengths; corrupt where a length is negative; truncated where the
/// strings are longer than what is left. [`Limits::max_output`] bounds the bytes of the strings
/// plus 4 for each length.
pub fn decode<'a>(
    bytes: &'a [u8],
    limits: Limits,
    options: Options,
) -> Result<(ByteArrays<'a>, usize)> {
    let lengths = Lengths::new(bytes, limits, options)?;
    let start = lengths.size();
    let rest = bytes.get(start..).unwrap_or_default();
    let total = total(&lengths, bytes.len(), rest.len())?;
    limits.check_output((total as u64).saturating_add(lengths.count().saturating_mul(4)))?;
    let mut ends = room_for_ends(lengths.count())?;
    let mut end = 0;
    lengths.each(|i, length| {
        end += size_of_string(i, length)?;
        ends.push(end);
        Ok(())
    })?;
    let data = Cow::Borrowed(rest.get(..total).unwrap_or_default());
    Ok((ByteArrays { data, ends }, start + total))
}

/// Bytes of all strings, which are within the `left` behind the lengths; the input has `len`.
pub(super) fn total(lengths: &Lengths<'_>, len: usize, left: usize) -> Result<usize> {
    let mut end = 0usize;
    lengths.each(|i, length| {
        end = end.saturating_add(size_of_string(i, length)?);
        if end > left {
            let missing = end - left;
            let what = format!("string {i} ends {missing} bytes behind the input");
            return Err(Error::truncated(len as u64, what));
        }
        Ok(())
    })?;
    Ok(end)
}
