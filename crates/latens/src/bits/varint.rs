//! ULEB128: seven bits a byte, least significant first, the top bit set on all but the last byte.

use crate::error::{Error, Result};

/// Most bytes that a 64-bit number takes.
pub(crate) const MAX_BYTES: usize = 10;

/// Appends `value` in as few bytes as hold it.
#[inline]
pub(crate) fn write(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// The bytes that a value takes.
pub(crate) fn len(value: u64) -> usize {
    ((u64::BITS - (value | 1).leading_zeros()) as usize).div_ceil(7)
}

/// Reads one number at `*at` and moves `*at` behind it. Overlong forms of up to
/// [`MAX_BYTES`] bytes are read.
///
/// # Errors
/// Truncated where the bytes end within it, corrupt where it has more than [`MAX_BYTES`] bytes or
/// more than 64 bits; `what` names it in the message. `*at` then stays where it was.
#[inline]
pub(crate) fn read(bytes: &[u8], at: &mut usize, what: &'static str) -> Result<u64> {
    match bytes.get(*at) {
        Some(&byte) if byte < 0x80 => {
            *at += 1;
            Ok(u64::from(byte))
        }
        _ => read_long(bytes, at, what),
    }
}

fn read_long(bytes: &[u8], at: &mut usize, what: &'static str) -> Result<u64> {
    let start = *at;
    let tail = bytes.get(start..).unwrap_or_default();
    let mut value = 0u64;
    for (i, &byte) in tail.iter().take(MAX_BYTES).enumerate() {
        if i == MAX_BYTES - 1 && byte > 1 {
            let why = if byte < 0x80 { "more than 64 bits" } else { "more than 10 bytes" };
            return Err(Error::corrupt(start as u64, format!("the varint of {what} has {why}")));
        }
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte < 0x80 {
            *at = start + i + 1;
            return Ok(value);
        }
    }
    Err(Error::truncated(bytes.len() as u64, format!("the input ends inside of {what}")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn round_trips_at_every_length() {
        for shift in 0..64 {
            for value in [1u64 << shift, (1u64 << shift) - 1, u64::MAX >> shift] {
                let mut bytes = vec![0xff];
                write(value, &mut bytes);
                let mut at = 1;
                assert_eq!(read(&bytes, &mut at, "x").unwrap(), value);
                assert_eq!(at, bytes.len());
                for end in 1..bytes.len() {
                    let mut at = 1;
                    let error = read(&bytes[..end], &mut at, "x").unwrap_err();
                    assert_eq!(
                        (error.kind(), error.at()),
                        (ErrorKind::Truncated, Some(end as u64))
                    );
                    assert_eq!(at, 1);
                }
            }
        }
    }

    #[test]
    fn reads_overlong_forms_up_to_ten_bytes() {
        assert_eq!(read(&[0x80, 0x81, 0x00], &mut 0, "x").unwrap(), 128);
        let mut ten = [0x80u8; 10];
        ten[9] = 0;
        assert_eq!(read(&ten, &mut 0, "x").unwrap(), 0);
    }

    #[test]
    fn refuses_more_than_ten_bytes_or_sixty_four_bits() {
        for last in [0x02, 0x7f, 0x80, 0xff] {
            let mut bytes = [0xffu8; 12];
            bytes[9] = last;
            let error = read(&bytes, &mut 0, "x").unwrap_err();
            assert_eq!((error.kind(), error.at()), (ErrorKind::Corrupt, Some(0)));
        }
    }
}
