//! What stands behind the last chunk.

use super::Engine;
use crate::error::Result;
use crate::pco::layout::trailer::Trailer;
use crate::pco::standalone::info::{Checksum, Ending};
use crate::pco::standalone::source::Supply;

impl<S: Supply> Engine<S> {
    /// Reads what stands behind the last chunk and verifies the checksum trailer. Numbers not
    /// read yet are decoded and dropped.
    ///
    /// # Errors
    /// When a chunk or the trailer is not sound; a failed checksum names its chunk. Other bytes
    /// behind the end are no error here: see [`Ending::trailing`].
    pub(crate) fn finish(&mut self) -> Result<Ending> {
        if let Some(ending) = self.ending {
            return Ok(ending);
        }
        while self.read_any(65536)?.is_some() {}
        let start = self.source.position();
        // A trailer is as long as its chunks make it: more need not be kept.
        let expected = self.seen.len();
        self.source.fill(expected + 1)?;
        let rest = self.source.bytes();
        let trailer = match rest.get(..expected) {
            Some(bytes) if Trailer::is_at_end_of(bytes) => Some(bytes),
            _ if rest.len() <= expected && Trailer::is_at_end_of(rest) => Some(rest),
            _ => None,
        };
        let mut ending = Ending { checksum: Checksum::Absent, consumed: start, trailing: false };
        if let Some(bytes) = trailer {
            let used = bytes.len();
            let told = Trailer::read_end(bytes, start)?;
            // Without a whole tail it is no trailer, whatever its last bytes: trailing bytes then.
            if let Some(told) = told {
                if self.checks {
                    told.check(&self.seen, start)?;
                    ending.checksum = Checksum::Verified;
                }
                self.source.consume(used);
                ending.consumed += used as u64;
            }
        }
        ending.trailing = !self.source.bytes().is_empty();
        self.ending = Some(ending);
        Ok(ending)
    }
}
