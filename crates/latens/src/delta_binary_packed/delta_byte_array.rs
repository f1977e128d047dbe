//! Parquet's DELTA_BYTE_ARRAY, or incremental encoding: for each string the length of the prefix
//! that it shares with the string before it, as one stream of 32-bit numbers ([`super`]), and
//! right behind that the rests of all strings in [`super::delta_length_byte_array`].
//!
//! ```
//! use latens::delta_binary_packed::{Options, delta_byte_array};
//! let page = delta_byte_array::encode(&["axis", "axle", "babble", "babyhood"])?;
//! assert!(page.ends_with(b"axislebabbleyhood"));
//! let limits = latens::Limits::default();
//! let (strings, consumed) = delta_byte_array::decode(&page, &limits, Options::default())?;
//! assert_eq!(consumed, page.len());
//! assert!(strings.iter().eq([&b"axis"[..], b"axle", b"babble", b"babyhood"]));
//! # Ok::<(), latens::Error>(())
//! ```

use std::borrow::Cow;

use super::delta_length_byte_array::{self, length};
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
/// it. Their size is computed and held against `limits` before it is allocated.
///
/// # Errors
/// As [`delta_length_byte_array::decode`]; corrupt where there are not as many prefixes as
/// suffixes, or a prefix is negative or longer than the string before it.
pub fn decode(
    bytes: &[u8],
    limits: &Limits,
    options: Options,
) -> Result<(ByteArrays<'static>, usize)> {
    let (prefixes, start) = super::decode::<i32>(bytes, limits, options)?;
    let rest = bytes.get(start..).unwrap_or_default();
    let (suffixes, size) = delta_length_byte_array::decode(rest, limits, options)
        .map_err(|error| error.offset_by(start as u64))?;
    if suffixes.len() != prefixes.len() {
        return Err(Error::corrupt(
            start as u64,
            format!("{} suffixes for {} prefixes", suffixes.len(), prefixes.len()),
        ));
    }
    let mut ends = suffixes.ends.clone();
    let mut total = 0usize;
    let mut previous = 0usize;
    for (i, ((&prefix, suffix), end)) in
        prefixes.iter().zip(suffixes.iter()).zip(&mut ends).enumerate()
    {
        let prefix = usize::try_from(prefix).ok().filter(|&p| p <= previous).ok_or_else(|| {
            let what = "which is not within the string before it";
            Error::corrupt(0, format!("string {i} shares {prefix} bytes, {what} ({previous})"))
        })?;
        previous = prefix.saturating_add(suffix.len());
        total = total.saturating_add(previous);
        *end = total;
    }
    limits.check_output((total as u64).saturating_add(4 * prefixes.len() as u64))?;
    let mut data = Vec::new();
    data.try_reserve_exact(total).map_err(|_| {
        Error::invalid(format!("there is no memory for the {total} bytes of the strings"))
    })?;
    let mut previous = 0;
    for (&prefix, suffix) in prefixes.iter().zip(suffixes.iter()) {
        let from = previous;
        previous = data.len();
        let prefix = usize::try_from(prefix).unwrap_or(0);
        data.extend_from_within(from..from + prefix);
        data.extend_from_slice(suffix);
    }
    Ok((ByteArrays { data: Cow::Owned(data), ends }, start + size))
}
