//! Symbols that are said apart: too rare for a slot in a table.

use crate::error::{Error, Result};
use crate::wcodec::layout::fields::Fields;
use latens_kernels::dispatch::Present;

/// Symbols that are looked at together: most hold none that is said apart.
const TOGETHER: usize = 64;
const FEW: usize = 8;

/// Reads the list of a group, each a symbol of `bits`, that begins at byte `at`, and how far it goes.
pub(super) fn list(stored: &[u8], at: usize, bits: u32) -> Result<(&[u8], usize)> {
    let mut fields = Fields::new(stored);
    fields.bytes(at as u64, "a group's tiles")?;
    let count = fields.varint("the number of escapes")?;
    let first = fields.at();
    let escapes = fields.bytes(count, "the escapes of a group")?;
    if u32::from(escapes.iter().fold(0, |all, symbol| all | symbol)) >> bits != 0 {
        return Err(Error::corrupt(first, format!("an escape is no symbol of {bits} bits")));
    }
    Ok((escapes, stored.len() - fields.left()))
}

/// Puts the next one of `escapes` in place of each symbol `escape`; those that are left over, or nothing where they
/// run out.
pub(super) fn put<'e>(escape: u8, escapes: &'e [u8], symbols: &mut [u8]) -> Option<&'e [u8]> {
    let mut next = escapes.iter();
    let any = |some: &[u8]| some.iter().fold(0, |any, &s| any | u8::from(s == escape)) != 0;
    let all = Present::in_use().call(
        #[inline(always)]
        || {
            for some in symbols.chunks_mut(TOGETHER) {
                if !any(some) {
                    continue;
                }
                for few in some.chunks_mut(FEW) {
                    if any(few) {
                        for symbol in few.iter_mut().filter(|symbol| **symbol == escape) {
                            *symbol = *next.next()?;
                        }
                    }
                }
            }
            Some(())
        },
    );
    all.map(|()| next.as_slice())
}
