//! Many tensors in one go.

use crate::error::Result;
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::decode::pool::KEPT;
use crate::wcodec::open_tensor::OpenTensor;
use crate::wcodec::reader::Reader;
use crate::wcodec::threads;
use std::ops::Range;

/// Entries of up to so many bytes are decoded side by side: they have too few groups to keep all threads
/// at work.
pub(crate) const SMALL: usize = 2 << 20;
/// A thread takes so many bytes of them at once.
pub(crate) const AT_ONCE: usize = 1 << 18;

impl<S: ReadAt> Reader<S> {
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
        let spare = &self.open.pool.spare;
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
        let done = threads::in_order(
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
        );
        spare.keep(KEPT);
        done
    }
}
