//! Parquet's DELTA_BYTE_ARRAY, or incremental encoding: for each string the length of the prefix
//! that it shares with the string before it, as one stream of 32-bit numbers ([`super`]), and
//! right behind that the rests of all strings in [`super::delta_length_byte_array`].
//!
//! ```
//! use latens::delta_binary_packed::{Options, delta_byte_array};
//! let page = delta_byte_array::encode(&["axis", "axle", "babble", "babyhood"])?;
//! assert!(page.ends_with(b"axislebabbleyhood"));
//! let limits = latens::Limits::default();
//! let (strings, consumed) = delta_byte_array::decode(&page, limits, Options::default())?;
//! assert_eq!(consumed, page.len());
//! assert!(strings.iter().eq([&b"axis"[..], b"axle", b"babble", b"babyhood"]));
//! # Ok::<(), latens::Error>(())
//! ```

use std::borrow::Cow;

use super::delta_length_byte_array::{self, length};
use super::lengths::{Lengths, room_for_ends, size_of_string};
use super::{ByteArrays, Layout, Options, encode_into};
use crate::error::{Error, Result};
use crate::limits::Limits;

/// The encoding of `strings`.
///
/// # Errors
/// Invalid argument where a string is longer than 2^31 - 1 bytes.
pub fn encode<S: AsRef<[u8]>>(strings: &[S]) -> Result<Vec<u8>> {
    let mut prefixes = Vec::with_capacity(strings.len());
    let mut previous: &[u8] = &[];
    for string in strings {
        let string = string.as_ref();
        length(string.len())?;
        let shared = string.iter().zip(previous).take_while(|(a, b)| a == b).count();
        prefixes.push(length(shared)?);
        previous = string;
    }
    let mut out = Vec::new();
    encode_into(&prefixes, Layout::default_for::<i32>(), &mut out);
    let suffixes = strings.iter().zip(&prefixes).map(|(string, &prefix)| {
        string.as_ref().get(usize::try_from(prefix).unwrap_or(0)..).unwrap_or_default()
    });
    delta_length_byte_array::encode_to(suffixes, &mut out)?;
    Ok(out)
}

/// Decodes the strings at the start of `bytes`; returns them and the bytes consumed.
///
/// The strings may be far longer than the input, as each may repeat the whole of the one before
/// it. Their size is computed and held against `limits` before it is allocated; an input in error
/// costs no memory.
///
/// # Errors
/// As [`delta_length_byte_array::decode`]; corrupt where there are not as many prefixes as
/// suffixes, or a prefix is negative or longer than the string before it.
pub fn decode(
    bytes: &[u8],
    limits: Limits,
    options: Options,
) -> Result<(ByteArrays<'static>, usize)> {
    let prefixes = Lengths::new(bytes, limits, options)?;
    let start = prefixes.size();
    let rest = bytes.get(start..).unwrap_or_default();
    let here = |error: Error| error.offset_by(start as u64);
    let suffixes = Lengths::new(rest, limits, options).map_err(here)?;
    if suffixes.count() != prefixes.count() {
        return Err(Error::corrupt(
            start as u64,
            format!("{} suffixes for {} prefixes", suffixes.count(), prefixes.count()),
        ));
    }
    let data = rest.get(suffixes.size()..).unwrap_or_default();
    let size = delta_length_byte_array::total(&suffixes, rest.len(), data.len()).map_err(here)?;
    let (mut total, mut previous) = (0usize, 0usize);
    prefixes.each_with(&suffixes, |i, prefix, suffix| {
        let prefix = usize::try_from(prefix).ok().filter(|&p| p <= previous).ok_or_else(|| {
            let what = "which is not within the string before it";
            Error::corrupt(0, format!("string {i} shares {prefix} bytes, {what} ({previous})"))
        })?;
        previous = prefix.saturating_add(size_of_string(i, suffix)?);
        total = total.saturating_add(previous);
        Ok(())
    })?;
    limits.check_output((total as u64).saturating_add(prefixes.count().saturating_mul(4)))?;
    let mut strings = Vec::new();
    strings.try_reserve_exact(total).map_err(|_| {
        Error::invalid(format!("there is no memory for the {total} bytes of the strings"))
    })?;
    let mut ends = room_for_ends(prefixes.count())?;
    let (mut previous, mut taken) = (0, 0);
    prefixes.each_with(&suffixes, |i, prefix, suffix| {
        let (prefix, suffix) = (size_of_string(i, prefix)?, size_of_string(i, suffix)?);
        let from = std::mem::replace(&mut previous, strings.len());
        strings.extend_from_within(from..from + prefix);
        strings.extend_from_slice(data.get(taken..taken + suffix).unwrap_or_default());
        taken += suffix;
        ends.push(strings.len());
        Ok(())
    })?;
    let consumed = start + suffixes.size() + size;
    Ok((ByteArrays { data: Cow::Owned(strings), ends }, consumed))
}
