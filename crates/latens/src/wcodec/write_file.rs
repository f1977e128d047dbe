//! Source files written again.

use crate::error::{Error, Result};
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::decode::pool::{Filled, KEPT, Lent};
use crate::wcodec::layout::file::{SegmentRecord, Woven};
use crate::wcodec::open_tensor::OpenTensor;
use crate::wcodec::reader::Reader;
use crate::wcodec::side_by_side::{AT_ONCE, SMALL};
use crate::wcodec::threads::{self, Pieces};
use crate::wcodec::write_tensor;
use std::io::{Read, Write};

/// Most jobs in one go.
const MANY: usize = 4096;

/// What a file is made of, from its start on.
#[derive(Debug)]
enum Job {
    /// An entry, of which threads decode a piece each.
    One(usize),
    /// Small ones, all of which a thread decodes.
    Few(Vec<usize>),
    Zeros(u64),
    Woven(Woven),
}

/// Jobs of a reader.
struct Jobs<'a, S: ReadAt> {
    reader: &'a Reader<S>,
    jobs: Vec<Job>,
}

/// A job that has been begun.
enum Begun<'a, S: ReadAt> {
    InPieces(OpenTensor<'a, S>, write_tensor::Pieces, usize),
    /// To be written when its turn comes, by all threads.
    Whole(OpenTensor<'a, S>, usize),
    Few(&'a [usize]),
    Zeros(u64),
    Woven(Woven),
}

impl<S: ReadAt> Reader<S> {
    /// Writes source file `number` as it was. In memory are some 8 MiB of a tensor, with its parts and
    /// what explains them, or of small ones; 4 MiB of that are kept for the next file.
    ///
    /// # Errors
    /// Those of [`Reader::tensor`]; I/O of `out`.
    pub fn write_file(&self, number: usize, out: &mut dyn Write) -> Result<()> {
        let file = self.open.index.file(number);
        let file = file.ok_or_else(|| Error::invalid(format!("there is no file {number}")))?;
        self.open.limits.check_output(file.length)?;
        self.write_segments(file.segments(), out)
    }

    /// Writes what segments stand for, one behind the other.
    pub(crate) fn write_segments(
        &self,
        segments: impl Iterator<Item = SegmentRecord>,
        out: &mut dyn Write,
    ) -> Result<()> {
        let (mut jobs, mut few) = (Jobs { reader: self, jobs: Vec::new() }, 0);
        for segment in segments {
            let job = match segment {
                SegmentRecord::Zeros(count) => Job::Zeros(count),
                SegmentRecord::Woven(woven) => Job::Woven(woven),
                SegmentRecord::Entry(entry) => {
                    let length = self.byte_length(entry)?;
                    match jobs.jobs.last_mut() {
                        _ if self.threads == 1 || length > SMALL => Job::One(entry),
                        Some(Job::Few(entries)) if few < AT_ONCE && entries.len() < MANY => {
                            entries.push(entry);
                            few += length;
                            continue;
                        }
                        _ => {
                            few = length;
                            Job::Few(vec![entry])
                        }
                    }
                }
            };
            jobs.jobs.push(job);
            if jobs.jobs.len() == MANY {
                jobs.write(out)?;
            }
        }
        jobs.write(out)
    }
}

impl<S: ReadAt> Jobs<'_, S> {
    /// Writes what all jobs come to, and forgets them.
    fn write(&mut self, out: &mut dyn Write) -> Result<()> {
        if let [Job::Few(entries)] = &mut self.jobs[..]
            && let [entry] = entries[..]
        {
            self.jobs = vec![Job::One(entry)];
        }
        let is_one = |job: &Job| matches!(job, Job::One(_));
        let threads = match self.reader.threads {
            all if self.jobs.iter().any(is_one) => all,
            all => all.min(self.jobs.len()),
        };
        let (reader, this) = (self.reader, &*self);
        threads::pieces_in_order(&this, this.jobs.len(), threads, |job, piece| {
            let spare = &reader.open.pool.spare;
            match (job, piece) {
                (_, Some(piece)) => {
                    // On this thread, whatever the others do.
                    reader.watch.ask()?;
                    out.write_all(piece.bytes())?;
                    spare.give(piece.into_buffer());
                }
                (Begun::InPieces(open, ..), None) => open.end()?,
                (Begun::Whole(open, entry), None) => {
                    open.write(out).map_err(|e| e.within(reader.place(*entry)))?;
                }
                (Begun::Few(_), None) => {}
                (Begun::Zeros(count), None) => {
                    std::io::copy(&mut std::io::repeat(0).take(*count), out)?;
                }
                (&Begun::Woven(woven), None) => reader.weave(woven, u64::MAX, out)?,
            }
            Ok(())
        })?;
        self.jobs.clear();
        Ok(())
    }

    /// Decodes an entry to the end of `out`.
    fn append_entry(&self, entry: usize, out: &mut Filled) -> Result<()> {
        let open = OpenTensor::open_once(self.reader, entry)?.threads(1);
        open.append(out).map_err(|e| e.within(self.reader.place(entry)))
    }
}

impl<'a, S: ReadAt> Pieces for &'a Jobs<'a, S> {
    type Own = Lent<'a>;
    type Open = Begun<'a, S>;
    type Piece = Filled;

    fn own(&self) -> Lent<'a> {
        self.reader.open.pool.lend()
    }

    fn open(&self, _own: &mut Lent<'a>, i: usize) -> Result<(Begun<'a, S>, usize)> {
        Ok(match self.jobs.get(i) {
            Some(&Job::One(entry)) => {
                let behind = self.jobs.get(i + 1..).unwrap_or_default().iter();
                let large = behind.filter(|job| matches!(job, Job::One(_)));
                let large = large.take(self.reader.threads).count();
                let open = OpenTensor::open_once(self.reader, entry)?.before(large);
                let pieces = || {
                    open.check_whole()?;
                    open.pieces()
                };
                match pieces().map_err(|e| e.within(self.reader.place(entry)))? {
                    Some(pieces) => {
                        let count = pieces.len();
                        (Begun::InPieces(open, pieces, entry), count)
                    }
                    None => (Begun::Whole(open.threads(self.reader.threads), entry), 0),
                }
            }
            Some(Job::Few(entries)) => (Begun::Few(entries), 1),
            Some(&Job::Zeros(count)) => (Begun::Zeros(count), 0),
            Some(&Job::Woven(woven)) => (Begun::Woven(woven), 0),
            None => (Begun::Zeros(0), 0),
        })
    }

    fn piece(&self, own: &mut Lent<'a>, job: &Begun<'a, S>, j: usize) -> Result<Filled> {
        let mut out = Filled::new(self.reader.open.pool.spare.take());
        match job {
            Begun::InPieces(open, pieces, entry) => {
                let done = open.piece(pieces, j, &mut own.scratch, |count| out.more(count));
                done.map_err(|e| e.within(self.reader.place(*entry)))?;
            }
            Begun::Few(entries) => {
                entries.iter().try_for_each(|&entry| self.append_entry(entry, &mut out))?;
            }
            Begun::Whole(..) | Begun::Zeros(_) | Begun::Woven(..) => {}
        }
        Ok(out)
    }
}

impl<S: ReadAt> Drop for Jobs<'_, S> {
    fn drop(&mut self) {
        self.reader.open.pool.spare.keep(KEPT);
    }
}

#[cfg(test)]
mod tests;
