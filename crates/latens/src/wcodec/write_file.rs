//! Source files written again, and many tensors in one go.

use crate::error::{Error, Result};
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::layout::file::SegmentRecord;
use crate::wcodec::open_tensor::OpenTensor;
use crate::wcodec::reader::Reader;
use crate::wcodec::threads::{self, Spare};
use std::io::{Read, Write};
use std::ops::Range;

/// Entries of up to so many bytes are decoded side by side: they have too few groups to keep all threads
/// at work.
const SMALL: usize = 2 << 20;
/// Most of them in one go.
const MANY: usize = 4096;
/// A thread takes so many bytes of them at once.
const AT_ONCE: usize = 1 << 18;

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
            SegmentRecord::Zeros(_) => None,
        });
        entries.filter(|&entry| self.entry(entry).is_some()).collect()
    }

    /// Writes source file `number` as it was. In memory are some 8 MiB of a tensor, with its parts and
    /// what explains them, or of small ones.
    ///
    /// # Errors
    /// Those of [`Reader::tensor`]; I/O of `out`.
    pub fn write_file(&self, number: usize, out: &mut dyn Write) -> Result<()> {
        let file = self.open.index.file(number);
        let file = file.ok_or_else(|| Error::invalid(format!("there is no file {number}")))?;
        self.open.limits.check_output(file.length)?;
        let mut few = Vec::new();
        for segment in file.segments() {
            let small = match segment {
                SegmentRecord::Entry(entry) if self.threads > 1 => {
                    self.byte_length(entry)? <= SMALL
                }
                _ => false,
            };
            if !small || few.len() == MANY {
                self.write_side_by_side(&mut few, out)?;
            }
            match segment {
                SegmentRecord::Entry(entry) if small => few.push(entry),
                SegmentRecord::Entry(entry) => self.write_entry(entry, out)?,
                SegmentRecord::Zeros(count) => {
                    std::io::copy(&mut std::io::repeat(0).take(count), out)?;
                }
            }
        }
        self.write_side_by_side(&mut few, out)
    }

    /// Writes the bytes of entries, decoded on a thread each, and empties the list of them.
    fn write_side_by_side(&self, entries: &mut Vec<usize>, out: &mut dyn Write) -> Result<()> {
        self.side_by_side(entries, |_, bytes| {
            out.write_all(&bytes)?;
            Ok(Some(bytes))
        })?;
        entries.clear();
        Ok(())
    }

    /// Hands the bytes of tensors `numbers` to `take`, in this order: small ones are decoded side by side,
    /// a thread each, large ones by all threads. A buffer that `take` hands back is used again.
    ///
    /// # Errors
    /// Those of [`Reader::tensor`], and of `take`.
    pub fn for_each(
        &self,
        numbers: &[usize],
        mut take: impl FnMut(usize, Vec<u8>) -> Result<Option<Vec<u8>>>,
    ) -> Result<()> {
        let mut rest = numbers;
        while let Some(&number) = rest.first() {
            let is_small = |&number: &usize| self.byte_length(number).is_ok_and(|n| n <= SMALL);
            let few = rest.iter().take_while(|number| is_small(number)).count();
            if few == 0 {
                take(number, self.tensor(number)?)?;
            }
            self.side_by_side(&rest[..few], &mut take)?;
            rest = &rest[few.max(1)..];
        }
        Ok(())
    }

    /// Hands the bytes of entries to `take` in order, while the next ones are decoded, on a thread each.
    fn side_by_side(
        &self,
        entries: &[usize],
        mut take: impl FnMut(usize, Vec<u8>) -> Result<Option<Vec<u8>>>,
    ) -> Result<()> {
        let alone = entries.len() < 2;
        let spare = Spare::default();
        let mut jobs: Vec<(Range<usize>, usize)> = Vec::new();
        for (i, &entry) in entries.iter().enumerate() {
            let length = self.byte_length(entry)?;
            match jobs.last_mut() {
                Some((job, bytes)) if *bytes < AT_ONCE => {
                    job.end += 1;
                    *bytes += length;
                }
                _ => jobs.push((i..i + 1, length)),
            }
        }
        let one = |entry: usize| {
            let mut bytes = spare.take();
            let open = OpenTensor::open(self, entry)?;
            let open = if alone { open } else { open.threads(1) };
            open.bytes(&mut bytes).map_err(|e| e.within(self.place(entry)))?;
            Ok((entry, bytes))
        };
        let decode = |(): &mut (), i: usize| {
            let job = jobs.get(i).map_or(0..0, |(job, _)| job.clone());
            entries[job].iter().map(|&entry| one(entry)).collect::<Result<Vec<_>>>()
        };
        threads::in_order(
            jobs.len(),
            self.threads,
            || (),
            decode,
            |done| {
                // On this thread, whatever the others do.
                self.watch.ask()?;
                for (entry, bytes) in done {
                    if let Some(bytes) = take(entry, bytes)? {
                        spare.give(bytes);
                    }
                }
                Ok(())
            },
        )
    }
}
