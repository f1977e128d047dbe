//! A Pco file as a column: its numbers as bytes, its end, and what it may lack.

use latens::pco::standalone::{Checksum, Decoder, Ending};
use latens::{NumberType, with_number_type};
use std::io::Read;

use super::bytes::append_le;
use crate::io::section::Reader;
use crate::message::{Failure, Result};

/// The next `max` numbers of a Pco file as bytes, fewer only at the end.
///
/// # Errors
/// I/O, damage.
pub(super) fn next_pco(
    decoder: &mut Decoder<Reader>,
    ty: NumberType,
    max: usize,
) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    with_number_type!(ty, T => {
        let mut numbers = vec![T::default(); max.min(1 << 16)];
        let mut left = max;
        while left > 0 {
            let want = numbers.len().min(left);
            let n = decoder.read(&mut numbers[..want])?;
            append_le::<T>(&numbers[..n], &mut bytes);
            left -= n;
            if n == 0 {
                break;
            }
        }
    });
    Ok(bytes)
}

/// Read the end of the file: the checksum, where there is one, and nothing after it.
///
/// # Errors
/// A checksum that does not hold; bytes after the end, unless they are allowed.
pub fn ending<R: Read>(decoder: &mut Decoder<R>, allow_trailing: bool) -> Result<Ending> {
    let ending = decoder.finish()?;
    if ending.trailing && !allow_trailing {
        let (what, hint) = match ending.checksum {
            Checksum::Absent => (
                "bytes follow the end of the Pco data, and are no whole checksum trailer",
                "the file ends too early; or they are no part of it: verify and decompress take --allow-trailing",
            ),
            _ => (
                "bytes follow the end of the Pco data",
                "if that is as it should be: verify and decompress take --allow-trailing",
            ),
        };
        return Err(Failure::new(what).at_byte(ending.consumed).hint(hint));
    }
    Ok(ending)
}

/// What is said of a file without chunks that names no type, of which the end is looked at first:
/// where a chunk's type byte became 0, the chunk stands behind it.
pub fn no_type<R: Read>(decoder: &mut Decoder<R>, allow_trailing: bool) -> Failure {
    match ending(decoder, allow_trailing) {
        Err(e) => e,
        Ok(ending) => {
            let skipped = match ending.trailing_bytes {
                0 => String::new(),
                bytes => format!("; {} follow its end", count_bytes(bytes)),
            };
            Failure::new(format!(
                "the file holds no numbers, and nothing says of which type{skipped}"
            ))
            .at_byte(ending.consumed)
            .hint("`latens decompress --to raw` gives an empty file")
        }
    }
}

/// `1 byte`, `44 bytes`.
pub fn count_bytes(bytes: u64) -> String {
    format!("{bytes} byte{}", if bytes == 1 { "" } else { "s" })
}

/// Decode all numbers, which must be of type `ty`, and drop them; returns how many there are. `done`
/// is told of their bytes.
///
/// # Errors
/// I/O, damage, a chunk of another type.
pub fn pass<R: Read>(decoder: &mut Decoder<R>, ty: NumberType, done: &dyn Fn(u64)) -> Result<u64> {
    with_number_type!(ty, T => {
        let (mut numbers, mut n) = (vec![T::default(); 1 << 16], 0);
        loop {
            match decoder.read(&mut numbers)? as u64 {
                0 => return Ok(n),
                got => {
                    n += got;
                    done(got * ty.bytes() as u64);
                }
            }
        }
    })
}
