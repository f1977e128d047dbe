//! Everything of a file decoded and compared with what it states.

use crate::error::{Error, Result};
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::ends::read;
use crate::wcodec::hash::ModelHash;
use crate::wcodec::layout::entry::Storage;
use crate::wcodec::layout::file::SegmentRecord;
use crate::wcodec::layout::header::{HEADER_BYTES, check_zero};
use crate::wcodec::open_index::OpenEntry;
use crate::wcodec::reader::Reader;
use std::io::{self, Write};

impl<S: ReadAt> Reader<S> {
    /// Decodes everything and checks every checksum, all padding and the model hash.
    ///
    /// # Errors
    /// The first thing that is wrong; [`Reader::tensor`] tells of each tensor on its own.
    pub fn verify(&self) -> Result<()> {
        self.bank()?;
        let mut end = HEADER_BYTES as u64;
        for entry in self.open.index.entries() {
            if let Storage::Stored { .. } = entry.record.storage {
                self.check_padding(end, entry.start)?;
                end = entry.start + entry.record.stored().0 as u64;
            }
        }
        let bank = self.open.index.bank_at;
        self.check_padding(end, bank)?;
        self.check_padding(bank + self.open.index.bank.bytes as u64, self.open.index_offset)?;
        self.write_segments(segments(self.entries_of(false)), &mut io::sink())?;
        if !self.has_its_hash()? {
            return Err(Error::corrupt(
                self.open.index_offset,
                "all tensors decode, but not to what the model hash states",
            ));
        }
        Ok(())
    }

    /// Decodes all tensors and compares the model hash.
    pub(crate) fn has_its_hash(&self) -> Result<bool> {
        Ok(self.hash_of_tensors()? == self.open.index.model_hash)
    }

    /// Decodes all tensors; the model hash that they have.
    pub(crate) fn hash_of_tensors(&self) -> Result<[u8; 32]> {
        let tensors = self.entries_of(true);
        let mut hashing = Hashing { hash: ModelHash::new(), tensors, left: 0 };
        self.write_segments(segments(self.entries_of(true)), &mut hashing)?;
        Ok(hashing.finish())
    }

    /// All tensors, or all that is beside them, in order.
    fn entries_of(&self, tensors: bool) -> impl Iterator<Item = OpenEntry<'_>> {
        let entries = self.open.index.entries();
        entries.filter(move |entry| entry.record.dtype().is_some() == tensors)
    }

    fn check_padding(&self, from: u64, to: u64) -> Result<()> {
        if from >= to {
            return Ok(());
        }
        let bytes = read(&self.open.source, from, to - from)?;
        check_zero(&bytes, from, "what comes before")
    }
}

fn segments<'a>(
    entries: impl Iterator<Item = OpenEntry<'a>>,
) -> impl Iterator<Item = SegmentRecord> {
    entries.map(|entry| SegmentRecord::Entry(entry.number))
}

/// Takes in the bytes of tensors, one behind the other, as the model hash has them.
struct Hashing<I> {
    hash: ModelHash,
    /// Those of which nothing has come yet.
    tensors: I,
    /// Bytes of the current one that are to come.
    left: usize,
}

impl<'a, I: Iterator<Item = OpenEntry<'a>>> Hashing<I> {
    /// Begins the next tensor, if there is one.
    fn begin(&mut self) -> Option<()> {
        let OpenEntry { name, record, .. } = self.tensors.next()?;
        self.hash.begin(&name, record.dtype().unwrap_or_default(), &record.shape(), record.length);
        self.left = record.length;
        Some(())
    }

    fn finish(mut self) -> [u8; 32] {
        // Those without bytes.
        while self.begin().is_some() {}
        self.hash.finish()
    }
}

impl<'a, I: Iterator<Item = OpenEntry<'a>>> Write for Hashing<I> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        while self.left == 0 && !bytes.is_empty() {
            self.begin().ok_or(io::ErrorKind::WriteZero)?;
        }
        let now = &bytes[..bytes.len().min(self.left)];
        self.hash.bytes(now);
        self.left -= now.len();
        Ok(now.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
