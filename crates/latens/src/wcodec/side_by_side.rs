//! Many tensors in one go.

use crate::error::{Error, Result};
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::decode::part::TRUSTED;
use crate::wcodec::decode::pool::KEPT;
use crate::wcodec::open_tensor::OpenTensor;
use crate::wcodec::reader::Reader;
use crate::wcodec::threads;

/// Entries of up to so many bytes are decoded side by side, a thread each: larger ones have groups enough to keep all
/// threads at work.
pub(crate) const SMALL: usize = if cfg!(test) { 1 << 11 } else { 2 << 20 };
/// A thread takes so many bytes of them at once.
pub(crate) const AT_ONCE: usize = if cfg!(test) { 500 } else { 1 << 16 };
/// Bytes of buffers that were handed back and are kept: few enough to be in the last cache still.
const MOST: usize = if cfg!(test) { 9000 } else { 1 << 24 };

/// What a thread takes at once.
enum Job<'n> {
    /// Small tensors.
    Few(&'n [usize]),
    /// One that all threads decode, when its turn comes.
    One(usize),
}

/// What has come of a job.
enum Decoded {
    /// Tensors, and what is wrong with the one behind them.
    Few(Vec<Vec<u8>>, Option<Error>),
    NotYet,
}

impl<S: ReadAt> Reader<S> {
    /// Hands the bytes of tensors `numbers` to `take`, in this order. Several threads decode small ones side by side,
    /// a thread each, while those before them are taken: few of them wait. Large ones are decoded by all threads. A
    /// buffer that `take` hands back is used again; 16 MiB of those are kept until the call ends.
    ///
    /// # Errors
    /// Those of [`Reader::tensor`], and of `take`. All tensors before the one that is wrong have been handed over.
    pub fn for_each(
        &self,
        numbers: &[usize],
        mut take: impl FnMut(usize, Vec<u8>) -> Result<Option<Vec<u8>>>,
    ) -> Result<()> {
        let spare = &self.open.pool.spare;
        let mut hand_over = |number: usize, bytes: Vec<u8>| {
            // On this thread, whatever the others do.
            self.watch.ask()?;
            if let Some(bytes) = take(number, bytes)? {
                spare.give(bytes);
                spare.keep(MOST);
            }
            Ok(())
        };
        let jobs = self.jobs(numbers);
        let decode = |(): &mut (), job: usize| {
            let Some(Job::Few(numbers)) = jobs.get(job) else { return Ok(Decoded::NotYet) };
            let mut tensors = Vec::with_capacity(numbers.len());
            let wrong = numbers.iter().try_for_each(|&number| {
                tensors.push(self.whole(number, 1)?);
                Ok(())
            });
            Ok(Decoded::Few(tensors, wrong.err()))
        };
        let mut next = jobs.iter();
        let take = |decoded: Decoded| match (next.next(), decoded) {
            (Some(Job::Few(numbers)), Decoded::Few(tensors, wrong)) => {
                let mut each = numbers.iter().zip(tensors);
                each.try_for_each(|(&number, bytes)| hand_over(number, bytes))?;
                wrong.map_or(Ok(()), Err)
            }
            (Some(&Job::One(number)), _) => hand_over(number, self.whole(number, self.threads)?),
            _ => Ok(()),
        };
        let done = threads::in_order(jobs.len(), self.threads, || (), decode, take);
        spare.keep(KEPT);
        done
    }

    /// Which of `numbers` a thread takes at once.
    fn jobs<'n>(&self, numbers: &'n [usize]) -> Vec<Job<'n>> {
        // One thread has nobody to share with, and a lone tensor is for all threads.
        let alone = self.threads == 1 || numbers.len() == 1;
        let length = |number: usize| self.byte_length(number).unwrap_or(0);
        let mut jobs = Vec::new();
        let mut rest = numbers;
        while let [number, behind @ ..] = rest {
            if alone || length(*number) > SMALL {
                jobs.push(Job::One(*number));
                rest = behind;
                continue;
            }
            let mut bytes = 0;
            let goes_on = |&&number: &&usize| {
                let length = length(number);
                let goes_on = length <= SMALL && bytes < AT_ONCE;
                bytes += length;
                goes_on
            };
            let (few, behind) = rest.split_at(rest.iter().take_while(goes_on).count());
            jobs.push(Job::Few(few));
            rest = behind;
        }
        jobs
    }

    /// The bytes of an entry, decoded by so many threads.
    fn whole(&self, number: usize, threads: usize) -> Result<Vec<u8>> {
        let room = self.earned(number).map(|length| self.open.pool.spare.take_of(length));
        let mut bytes = room.unwrap_or_default();
        let open = OpenTensor::open_once(self, number)?.threads(threads);
        open.bytes(&mut bytes).map_err(|e| e.within(self.place(number)))?;
        Ok(bytes)
    }

    /// How many bytes an entry has, if its stored ones are enough to earn memory for them before they are decoded.
    fn earned(&self, number: usize) -> Option<usize> {
        let record = self.open.index.entry(number)?.record;
        let stored = match record.stored() {
            (_, Some(holder)) => self.open.index.entry(holder)?.record.stored().0,
            (stored, None) => stored,
        };
        self.open.limits.check_output(record.length as u64).ok()?;
        (record.length <= stored.saturating_mul(TRUSTED)).then_some(record.length)
    }
}

#[cfg(test)]
mod tests;
