//! Everything of a file decoded and compared with what it states.

use crate::error::{Error, Result};
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::ends::read;
use crate::wcodec::hash::ModelHash;
use crate::wcodec::layout::entry::Storage;
use crate::wcodec::layout::header::{HEADER_BYTES, check_zero};
use crate::wcodec::reader::Reader;

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
        let mut bytes = Vec::new();
        for entry in self.open.index.entries().filter(|entry| entry.record.dtype().is_none()) {
            self.fill(entry.number, &mut bytes)?;
        }
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
        let mut hash = ModelHash::new();
        let mut bytes = Vec::new();
        for entry in self.open.index.entries() {
            if let Some(dtype) = entry.record.dtype() {
                self.fill(entry.number, &mut bytes)?;
                hash.tensor(&entry.name, dtype, &entry.record.shape(), &bytes);
            }
        }
        Ok(hash.finish() == self.open.index.model_hash)
    }

    fn check_padding(&self, from: u64, to: u64) -> Result<()> {
        if from >= to {
            return Ok(());
        }
        let bytes = read(&self.open.source, from, to - from)?;
        check_zero(&bytes, from, "what comes before")
    }
}
