//! Entries read one after the other, each with what the one before says of it.

use crate::wcodec::layout::entry::EntryRecord;
use crate::wcodec::layout::fields::Fields;
use crate::wcodec::layout::header::HEADER_BYTES;
use crate::wcodec::layout::index::{ENTRY, place};
use crate::wcodec::layout::records::raw;

/// Entries one after the other.
pub(super) struct Entries<'a> {
    pub(super) bytes: &'a [u8],
    /// Where the next record begins.
    pub(super) at: usize,
    /// Of the entry before.
    pub(super) name: String,
    /// Where the data of the entry before end.
    pub(super) end: u64,
    /// Of the next entry.
    pub(super) number: usize,
}

impl<'a> Entries<'a> {
    /// All entries of an index.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let first = raw(bytes).find(|&(_, tag, _)| tag >= ENTRY);
        let at = first.map_or(bytes.len(), |(place, _, _)| place.start);
        Self { bytes, at, name: String::new(), end: HEADER_BYTES as u64, number: 0 }
    }

    /// The next entry, and where its data begin.
    pub(super) fn advance(&mut self) -> Option<(EntryRecord<'a>, u64)> {
        let (at, tag, content) = raw(self.bytes.get(self.at..)?).next()?;
        if tag != ENTRY {
            return None;
        }
        let record = EntryRecord::read(&mut Fields::new(content), &mut self.name, None).ok()?;
        let data = place(self.end, &record.storage);
        (self.at, self.end, self.number) = (self.at + at.end, data.end, self.number + 1);
        Some((record, data.start))
    }
}
