//! Decode a standalone Pco file for the sake of its checks.

use latens::pco::standalone::{Checksum, Decoder};
use latens::{Limits, NumberType};

use super::pco::ending;
use super::source;
use crate::job::Input;
use crate::message::Result;
use crate::progress::Progress;
use crate::report::Verified;

/// Decode everything.
///
/// # Errors
/// What is wrong with the file.
pub fn verify(input: &Input, allow_trailing: bool, progress: &Progress) -> Result<Verified> {
    let mut decoder = Decoder::new(source::open(input)?, &Limits::default())?;
    let ty = decoder.number_type()?;
    let mut n = 0;
    while let Some(numbers) = decoder.read_any(1 << 16)? {
        n += numbers.len() as u64;
        progress.add(numbers.len() as u64 * numbers.number_type().bytes() as u64);
    }
    let ending = ending(&mut decoder, allow_trailing)?;
    let what = match ty {
        Some(ty) => format!("{n} {ty}"),
        None => "empty".to_string(),
    };
    Ok(Verified {
        what,
        n,
        number_type: ty.map(|ty: NumberType| ty.name().to_string()),
        checksum: ending.checksum == Checksum::Verified,
    })
}
