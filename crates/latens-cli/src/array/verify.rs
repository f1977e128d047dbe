//! Decode a standalone Pco file for the sake of its checks.

use latens::pco::standalone::{Checksum, Decoder};
use latens::{Limits, NumberType};

use super::pco::{ending, pass};
use super::source;
use crate::job::Input;
use crate::message::Result;
use crate::progress::Progress;
use crate::report::Verified;

/// Decode everything.
///
/// # Errors
/// What is wrong with the file; chunks of several types.
pub fn verify(input: &Input, allow_trailing: bool, progress: &Progress) -> Result<Verified> {
    let mut decoder = Decoder::new(source::open(input)?, Limits::default())?;
    let ty = decoder.number_type()?;
    // Of one type: a column is, and no verb reads what is none.
    let n = match ty {
        Some(ty) => pass(&mut decoder, ty, &|bytes| progress.add(bytes))?,
        None => 0,
    };
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
        trailing_bytes: ending.trailing_bytes,
    })
}
