//! What is woven of an entry, kept from one of its parts to the next.

use super::Pieces;
use crate::error::Result;
use crate::watch::Watch;
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::layout::file::{MAX_WOVEN_IN_PARTS, Woven};
use crate::wcodec::reader::Reader;
use std::sync::{Mutex, PoisonError};

/// What is woven of the entry of which a part was asked for last, as far as parts go.
#[derive(Default)]
pub(crate) struct InParts(Mutex<Option<(usize, Vec<u8>)>>);

impl<S: ReadAt> Reader<S> {
    /// The bytes of a part. `None` where something may be wrong with them, which is told by what is woven for them alone.
    pub(super) fn part(&self, woven: Woven) -> Option<Vec<u8>> {
        let mut kept = self.open.in_parts.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.as_ref().is_none_or(|(of, _)| *of != woven.of) {
            *kept = Some((woven.of, self.woven_in_parts(woven.of).ok()?));
        }
        let (_, bytes) = kept.as_ref()?;
        let [start, end] = [woven.bytes().start, woven.bytes().end].map(usize::try_from);
        Some(bytes.get(start.ok()?..end.ok()?)?.to_vec())
    }

    /// All of which parts may be, up to what is wrong.
    fn woven_in_parts(&self, of: usize) -> Result<Vec<u8>> {
        let text = self.watched(&Watch::NONE).aside(of, "headers without their names")?;
        let (all, mut bytes) =
            (Woven { of, part: Some(0), length: MAX_WOVEN_IN_PARTS }, Vec::new());
        // There may be less, or something wrong behind what is asked for.
        let _ = self.weave_pieces(Pieces::of(&text)?, all, u64::MAX, &mut bytes);
        Ok(bytes)
    }
}
