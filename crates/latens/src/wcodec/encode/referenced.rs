//! What another plane leaves of symbols.

use crate::error::Result;
use crate::spare;
use crate::wcodec::data::{Data, Stretches};
use crate::wcodec::encode::columns::subtract;
use std::ops::Range;

/// Symbols less those of another plane at the same places: less nothing where it has none.
pub(crate) struct Referenced<'a> {
    pub(crate) symbols: Data<'a>,
    pub(crate) reference: Data<'a>,
    pub(crate) bits: u32,
}

impl Stretches for Referenced<'_> {
    fn len(&self) -> usize {
        self.symbols.len()
    }

    fn read(&self, range: Range<usize>, out: &mut Vec<u8>) -> Result<()> {
        self.symbols.read(range.clone(), out)?;
        let end = range.end.min(self.reference.len());
        let both = range.start.min(end)..end;
        let mut buffer = spare::stale_bytes(both.len());
        let reference = self.reference.get(both, &mut buffer)?;
        let count = reference.len();
        subtract(&mut out[..count], reference, self.bits);
        spare::give_bytes(buffer);
        Ok(())
    }
}
