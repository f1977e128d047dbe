//! Bytes as they go out, and the groups of an entry among them.

use crate::bits::checksum::crc32;
use crate::error::Result;
use crate::wcodec::layout::descriptor::Written;
use crate::wcodec::layout::entry::Storage;
use crate::wcodec::layout::header::{ALIGN, HEADER_BYTES, PLAIN_ALIGN, align};
use std::io::Write;

/// Entries that take no more than this stand in the index.
pub(crate) const INLINE: usize = 1024;

/// Where a file goes.
pub(crate) struct Output<W> {
    pub(crate) out: W,
    /// Bytes written.
    pub(crate) at: u64,
}

impl<W: Write> Output<W> {
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes)?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    pub(crate) fn pad(&mut self, to: u64) -> Result<()> {
        let zeros = [0; HEADER_BYTES];
        let count = usize::try_from(align(self.at, to) - self.at).unwrap_or(0);
        self.put(zeros.get(..count).unwrap_or_default())
    }

    /// Writes an entry as it is, or keeps it for the index where it is little.
    pub(crate) fn plain(&mut self, bytes: &[u8]) -> Result<Storage> {
        if bytes.len() <= INLINE {
            return Ok(Storage::Inline { groups: bytes.to_vec(), descriptor: Vec::new() });
        }
        self.pad(PLAIN_ALIGN)?;
        self.put(bytes)?;
        self.pad(PLAIN_ALIGN)?;
        let groups = bytes.len().next_multiple_of(4);
        Ok(Storage::Stored { groups, descriptor: 0, crc: crc32(bytes) })
    }
}

/// The groups of an entry: kept while the entry may stand in the index, then written as they come.
#[derive(Default)]
pub(crate) struct Groups {
    kept: Vec<u8>,
    /// Where the first group was written.
    start: Option<u64>,
}

impl Groups {
    /// Takes the next group.
    pub(crate) fn put<W: Write>(&mut self, output: &mut Output<W>, group: &[u8]) -> Result<()> {
        let padding = &[0; 4][..group.len().next_multiple_of(4) - group.len()];
        if self.start.is_none() {
            if self.kept.len() + group.len() + padding.len() <= INLINE {
                self.kept.extend_from_slice(group);
                self.kept.extend_from_slice(padding);
                return Ok(());
            }
            self.begin(output)?;
        }
        output.put(group)?;
        output.put(padding)
    }

    /// Writes what was kept; where it begins.
    fn begin<W: Write>(&mut self, output: &mut Output<W>) -> Result<u64> {
        output.pad(ALIGN)?;
        let start = output.at;
        self.start = Some(start);
        output.put(&std::mem::take(&mut self.kept))?;
        Ok(start)
    }

    /// Writes the descriptor behind the groups, or keeps all where it is little.
    pub(crate) fn finish<W: Write>(
        mut self,
        output: &mut Output<W>,
        descriptor: &Written<'_>,
    ) -> Result<Storage> {
        let stored = descriptor.bytes(false);
        if self.start.is_none() && self.kept.len() + stored.len() <= INLINE {
            return Ok(Storage::Inline { groups: self.kept, descriptor: descriptor.bytes(true) });
        }
        let start = match self.start {
            Some(start) => start,
            None => self.begin(output)?,
        };
        let groups = usize::try_from(output.at - start).unwrap_or(usize::MAX);
        output.put(&stored)?;
        Ok(Storage::Stored { groups, descriptor: stored.len(), crc: crc32(&stored) })
    }
}
