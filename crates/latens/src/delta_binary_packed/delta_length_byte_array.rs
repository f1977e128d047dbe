//! Parquet's DELTA_LENGTH_BYTE_ARRAY: the lengths of all byte strings as one stream of 32-bit
//! numbers ([`super`]), and right behind it the bytes of all strings.
//!
//! ```
//! use latens::delta_binary_packed::{Options, delta_length_byte_array};
//! let page = delta_length_byte_array::encode(&["Hello", "World", "Foobar", "ABCDEF"])?;
//! assert!(page.ends_with(b"HelloWorldFoobarABCDEF"));
//! let limits = latens::Limits::default();
//! let (strings, consumed) =
//!     delta_length_byte_array::decode(&page, &limits, Options::default())?;
//! assert_eq!(consumed, page.len());
//! assert_eq!(strings.get(2), Some(&b"Foobar"[..]));
//! # Ok::<(), latens::Error>(())
//! ```

use std::borrow::Cow;

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
/// # Errors
/// As [`super::decode`], for the lengths; corrupt where a length is negative; truncated where the
/// strings are longer than what is left. [`Limits::max_output`] bounds the bytes of the strings
/// plus 4 for each length.
pub fn decode<'a>(
    bytes: &'a [u8],
    limits: &Limits,
    options: Options,
) -> Result<(ByteArrays<'a>, usize)> {
    let (lengths, start) = super::decode::<i32>(bytes, limits, options)?;
    let rest = bytes.get(start..).unwrap_or_default();
    let mut ends = Vec::new();
    ends.try_reserve_exact(lengths.len())
        .map_err(|_| Error::invalid("there is no memory for the offsets of the strings"))?;
    let mut end = 0usize;
    for (i, &length) in lengths.iter().enumerate() {
        let length = usize::try_from(length).map_err(|_| {
            Error::corrupt(0, format!("string {i} has a negative length, {length}"))
        })?;
        end = end.saturating_add(length);
        if end > rest.len() {
            let missing = end - rest.len();
            return Err(Error::truncated(
                bytes.len() as u64,
                format!("string {i} ends {missing} bytes behind the input"),
            ));
        }
        ends.push(end);
    }
    limits.check_output((end as u64).saturating_add(4 * lengths.len() as u64))?;
    let data = Cow::Borrowed(&rest[..end]);
    Ok((ByteArrays { data, ends }, start + end))
}
