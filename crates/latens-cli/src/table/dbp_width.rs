//! Whether a DELTA_BINARY_PACKED stream is one of 32 bits, which it does not say.
//!
//! Numbers of 32 bits wrap, so what is beyond them in 64 bits is no fault as such: the difference from
//! the greatest to the least of them is written as 1. It is one where a writer of 32 bits cannot have
//! written the stream.

use latens::NumberType;
use latens::delta_binary_packed::{Decoder, Options, Report, inspect};

use crate::message::{Failure, Result};
use crate::table::source::PIECE_ROWS;

/// Nothing where the stream in 64 bits has the same numbers as in the 32 of `ty`; words where both are
/// sound and differ.
///
/// # Errors
/// A number that does not fit, of a stream of 64 bits.
pub fn check(bytes: &[u8], ty: NumberType) -> Result<Option<String>> {
    let Some((index, value)) = beyond(bytes, ty)? else { return Ok(None) };
    let report = inspect(bytes)?;
    if is_of_32_bits(&report) {
        return Ok(Some(format!(
            "numbers wrap from number {index} on; if they are of 64 bits ({value}), add --type i64"
        )));
    }
    let block = usize::try_from(index.saturating_sub(1)).unwrap_or(usize::MAX)
        / report.header.layout.block_size();
    let at = match index {
        0 => first_value_at(bytes),
        _ => report.blocks.get(block).map_or(0, |block| block.at),
    };
    Err(Failure::new(format!("number {index} is {value}, which is no {ty}"))
        .at_byte(at as u64)
        .hint("this is a stream of 64 bits: add --type i64, or u64"))
}

/// The first number that is beyond `ty` in 64 bits, and which one it is.
fn beyond(bytes: &[u8], ty: NumberType) -> Result<Option<(u64, i64)>> {
    // Unsigned numbers are the same bits as signed ones; not all writers take them for these.
    let most = if ty == NumberType::U32 { u32::MAX.into() } else { i32::MAX.into() };
    let fits = i64::from(i32::MIN)..=most;
    let mut decoder = Decoder::<i64>::new(bytes, Options::default())?;
    let mut numbers = vec![0; PIECE_ROWS];
    let mut before = 0;
    loop {
        let got = decoder.read(&mut numbers)?;
        let some = numbers.get(..got).unwrap_or_default();
        if let Some((index, &value)) = some.iter().enumerate().find(|(_, n)| !fits.contains(n)) {
            return Ok(Some((before + index as u64, value)));
        }
        if got < numbers.len() {
            return Ok(None);
        }
        before += got as u64;
    }
}

/// Whether a writer of 32 bits may have written this.
fn is_of_32_bits(report: &Report) -> bool {
    let fits = |value: i64| i32::try_from(value).is_ok();
    let widths = (0..report.blocks.len()).flat_map(|block| report.block_widths(block));
    fits(report.header.first_value)
        && report.blocks.iter().all(|block| fits(block.min_delta))
        && widths.into_iter().all(|&width| width <= 32)
}

/// Where the first value stands: behind three numbers of variable length.
fn first_value_at(bytes: &[u8]) -> usize {
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte < 0x80);
    ends.map(|(at, _)| at + 1).nth(2).unwrap_or(0)
}
