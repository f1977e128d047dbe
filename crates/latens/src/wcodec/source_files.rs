//! What source files hold, and what of them belongs to no tensor.

use crate::error::{Error, Result};
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::layout::file::SegmentRecord;
use crate::wcodec::reader::Reader;
use std::ops::Range;

/// Bytes of a source file that belong to no tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Blob {
    /// Where they are in the source file.
    pub bytes: Range<u64>,
    held: SegmentRecord,
}

impl<S: ReadAt> Reader<S> {
    /// Source files, by number: names and lengths.
    pub fn files(&self) -> impl Iterator<Item = (&str, u64)> {
        self.open.index.files().map(|file| (file.name, file.length))
    }

    /// Numbers of the tensors of source file `number`, in its order.
    pub fn tensors_of_file(&self, number: usize) -> Vec<usize> {
        let Some(file) = self.open.index.file(number) else { return Vec::new() };
        let entries = file.segments().filter_map(|segment| match segment {
            SegmentRecord::Entry(entry) => Some(entry),
            SegmentRecord::Zeros(_) | SegmentRecord::Woven(..) => None,
        });
        entries.filter(|&entry| self.entry(entry).is_some()).collect()
    }

    /// What of source file `number` belongs to no tensor and is not known to be zeros, such as its header.
    pub fn blobs_of_file(&self, number: usize) -> Vec<Blob> {
        let (mut at, mut blobs) = (0u64, Vec::new());
        for held in self.open.index.file(number).iter().flat_map(|file| file.segments()) {
            let start = at;
            let (length, is_blob) = match held {
                SegmentRecord::Zeros(count) => (count, false),
                SegmentRecord::Woven(woven) => (woven.length, true),
                SegmentRecord::Entry(entry) => {
                    let length = self.byte_length(entry).unwrap_or(0) as u64;
                    (length, self.entry(entry).is_none())
                }
            };
            at = at.saturating_add(length);
            if is_blob {
                blobs.push(Blob { bytes: start..at, held });
            }
        }
        blobs
    }

    /// The bytes of a blob of this file.
    ///
    /// # Errors
    /// Those of [`Reader::tensor`].
    pub fn blob(&self, blob: &Blob) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        self.open.limits.check_output(blob.bytes.end - blob.bytes.start)?;
        self.write_segments(std::iter::once(blob.held), &mut out)?;
        Ok(out)
    }

    /// What source file `number` begins with before its first tensor, such as its header: `most` bytes of it, or all where it
    /// is shorter. Nothing else is decoded, so it is there where tensors are damaged, or want a base that was not
    /// given; the limits are for these bytes and the entries that hold them, not for the file.
    ///
    /// # Errors
    /// Those of [`Reader::tensor`] for these entries; invalid argument where there is no such file.
    ///
    /// ```
    /// # use latens::wcodec::{Config, checkpoint::Tensors, compress_checkpoint, dtype::Dtype};
    /// # let mut tensors = Tensors::new();
    /// # tensors.add("w", Dtype::U8, &[5], b"hello".to_vec())?;
    /// # let checkpoint = tensors.checkpoint("m.safetensors")?;
    /// # let file = compress_checkpoint(&checkpoint, None, &Config::default(), Vec::new())?;
    /// use latens::{Limits, wcodec::Reader};
    /// let reader = Reader::open(file, Limits::default())?;
    /// let length = reader.file_head(0, 8)?;
    /// let header = reader.file_head(0, u64::MAX)?;
    /// assert_eq!(length, (header.len() as u64 - 8).to_le_bytes());
    /// # Ok::<(), latens::Error>(())
    /// ```
    pub fn file_head(&self, number: usize, most: u64) -> Result<Vec<u8>> {
        let file = self.open.index.file(number);
        let file = file.ok_or_else(|| Error::invalid(format!("there is no file {number}")))?;
        let mut head = Vec::new();
        for segment in file.segments() {
            let left = most.saturating_sub(head.len() as u64);
            match segment {
                _ if left == 0 => break,
                SegmentRecord::Zeros(count) => {
                    let end = (head.len() as u64).saturating_add(count.min(left));
                    self.open.limits.check_output(end)?;
                    let end =
                        usize::try_from(end).map_err(|_| Error::invalid("more than memory"))?;
                    head.resize(end, 0);
                }
                SegmentRecord::Entry(entry) if self.entry(entry).is_none() => {
                    let length = (self.byte_length(entry)? as u64).min(left);
                    self.open.limits.check_output((head.len() as u64).saturating_add(length))?;
                    head.append(&mut self.byte_range(entry, 0..length)?);
                }
                SegmentRecord::Entry(_) => break,
                SegmentRecord::Woven(woven) => {
                    let end = (head.len() as u64).saturating_add(woven.length.min(left));
                    self.open.limits.check_output(end)?;
                    self.weave(woven, left, &mut head)?;
                }
            }
        }
        Ok(head)
    }
}

#[cfg(test)]
mod tests;
