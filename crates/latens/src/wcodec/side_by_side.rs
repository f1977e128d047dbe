//! Many tensors in one go.

use crate::error::{Error, Result};
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::decode::part::TRUSTED;
use crate::wcodec::decode::pool::{KEPT, Lent};
use crate::wcodec::open_tensor::OpenTensor;
use crate::wcodec::reader::Reader;
use crate::wcodec::threads::{self, Pieces};
use crate::wcodec::write_tensor;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Entries of up to so many bytes are decoded side by side: they have too few groups to keep all threads
/// at work.
pub(crate) const SMALL: usize = if cfg!(test) { 1 << 11 } else { 2 << 20 };
/// A thread takes so many bytes of them at once.
pub(crate) const AT_ONCE: usize = if cfg!(test) { 500 } else { 1 << 18 };
/// Several threads decode tensors of so many bytes, about, before the first of them is handed over: few enough for buffers
/// that are used again to be in the last cache still.
const MOST: usize = if cfg!(test) { 9000 } else { 1 << 24 };

/// Tensors that are decoded in one go, each to a buffer of its length.
struct Tensors<'a, 'b, S: ReadAt> {
    reader: &'a Reader<S>,
    numbers: &'a [usize],
    /// Which of them threads take at once: one that is large, or small ones.
    jobs: Vec<Range<usize>>,
    buffers: Vec<Mutex<&'b mut [u8]>>,
}

/// How a tensor is decoded in pieces, and where each goes.
type Cut<'b> = (write_tensor::Pieces, Vec<Mutex<&'b mut [u8]>>);

/// A job that has been begun.
enum Begun<'a, 'b, S: ReadAt> {
    InPieces(OpenTensor<'a, S>, Cut<'b>, usize),
    /// To be decoded when its turn comes, by all threads.
    Whole(OpenTensor<'a, S>, usize),
    Few(Range<usize>),
}

impl<S: ReadAt> Reader<S> {
    /// Hands the bytes of tensors `numbers` to `take`, in this order. With several threads some 16 MiB of them are decoded
    /// before they are handed over: small ones side by side, a thread each, large ones in pieces. A buffer that
    /// `take` hands back is used again; 16 MiB of those are kept until the call ends.
    ///
    /// # Errors
    /// Those of [`Reader::tensor`], and of `take`.
    pub fn for_each(
        &self,
        numbers: &[usize],
        mut take: impl FnMut(usize, Vec<u8>) -> Result<Option<Vec<u8>>>,
    ) -> Result<()> {
        let mut go = || {
            let mut rest = numbers;
            while let Some(&number) = rest.first() {
                let now = self.at_once(rest);
                if now == 0 {
                    take(number, self.tensor(number)?)?;
                }
                self.together(&rest[..now], &mut take)?;
                rest = &rest[now.max(1)..];
            }
            Ok(())
        };
        let done = go();
        self.open.pool.spare.keep(KEPT);
        done
    }

    /// How many of `numbers`, from the first on, are decoded in one go; none where that one must earn its memory.
    fn at_once(&self, numbers: &[usize]) -> usize {
        let most = if self.threads == 1 { 1 } else { MOST };
        let mut bytes = 0;
        let mut next = |number: usize| {
            let length = self.earned(number).filter(|_| bytes < most);
            bytes = bytes.saturating_add(length.unwrap_or(0));
            length.is_some()
        };
        numbers.iter().take_while(|&&number| next(number)).count()
    }

    /// The bytes of an entry, if its stored ones are enough to earn memory for them before they are decoded.
    fn earned(&self, number: usize) -> Option<usize> {
        let record = self.open.index.entry(number)?.record;
        let stored = match record.stored() {
            (_, Some(holder)) => self.open.index.entry(holder)?.record.stored().0,
            (stored, None) => stored,
        };
        self.open.limits.check_output(record.length as u64).ok()?;
        (record.length <= stored.saturating_mul(TRUSTED)).then_some(record.length)
    }

    /// Decodes entries that have earned their memory, and hands them to `take`.
    fn together(
        &self,
        numbers: &[usize],
        take: &mut impl FnMut(usize, Vec<u8>) -> Result<Option<Vec<u8>>>,
    ) -> Result<()> {
        let spare = &self.open.pool.spare;
        let length = |&number: &usize| Ok(spare.take_of(self.byte_length(number)?));
        let mut buffers = numbers.iter().map(length).collect::<Result<Vec<Vec<u8>>>>()?;
        // What others left is held besides.
        let bytes = buffers.iter().fold(0usize, |sum, buffer| sum.saturating_add(buffer.len()));
        spare.keep(MOST.saturating_sub(bytes));
        let tensors = Tensors::new(self, numbers, &mut buffers);
        // How many are decoded, and what has come in buffers of their own.
        let (mut decoded, mut whole) = (0, BTreeMap::new());
        let done = threads::pieces_in_order(&tensors, tensors.jobs.len(), tensors.threads(), {
            |begun: &Begun<'_, '_, S>, piece: Option<()>| {
                // On this thread, whatever the others do.
                self.watch.ask()?;
                match begun {
                    _ if piece.is_some() => return Ok(()),
                    Begun::InPieces(open, ..) => open.end()?,
                    Begun::Whole(open, i) => {
                        let mut bytes = Vec::new();
                        open.bytes(&mut bytes).map_err(|e| tensors.at(*i, e))?;
                        whole.insert(*i, bytes);
                    }
                    Begun::Few(_) => {}
                }
                decoded = match begun {
                    Begun::InPieces(.., i) | Begun::Whole(_, i) => i + 1,
                    Begun::Few(job) => job.end,
                };
                Ok(())
            }
        });
        drop(tensors);
        for ((i, &number), buffer) in numbers.iter().enumerate().take(decoded).zip(buffers) {
            let bytes = whole.remove(&i).unwrap_or(buffer);
            if let Some(bytes) = take(number, bytes)? {
                spare.give(bytes);
            }
        }
        done
    }
}

impl<'a, 'b, S: ReadAt> Tensors<'a, 'b, S> {
    fn new(reader: &'a Reader<S>, numbers: &'a [usize], buffers: &'b mut [Vec<u8>]) -> Self {
        let mut jobs: Vec<Range<usize>> = Vec::new();
        let mut bytes = 0;
        for (i, buffer) in buffers.iter().enumerate() {
            match jobs.last_mut() {
                Some(job) if bytes < AT_ONCE && buffer.len() <= SMALL => job.end = i + 1,
                _ => {
                    jobs.push(i..i + 1);
                    bytes = 0;
                }
            }
            bytes += if buffer.len() > SMALL { AT_ONCE } else { buffer.len() };
        }
        let buffers = buffers.iter_mut().map(|buffer| Mutex::new(&mut buffer[..])).collect();
        Self { reader, numbers, jobs, buffers }
    }

    /// Threads that there is something to do for.
    fn threads(&self) -> usize {
        let large = self.jobs.iter().any(|job| self.is_large(job));
        if large { self.reader.threads } else { self.reader.threads.min(self.jobs.len()) }
    }

    /// Whether a job is a tensor for all threads.
    fn is_large(&self, job: &Range<usize>) -> bool {
        job.len() == 1 && (self.jobs.len() == 1 || self.length(job.start) > SMALL)
    }

    fn length(&self, i: usize) -> usize {
        self.numbers.get(i).and_then(|&number| self.reader.byte_length(number).ok()).unwrap_or(0)
    }

    /// Takes the buffer of a tensor.
    fn buffer(&self, i: usize) -> &'b mut [u8] {
        let buffer = self.buffers.get(i).map(|b| b.lock().unwrap_or_else(PoisonError::into_inner));
        buffer.map(|mut buffer| std::mem::take(&mut *buffer)).unwrap_or_default()
    }

    /// An error in a tensor.
    fn at(&self, i: usize, error: Error) -> Error {
        error.within(self.reader.place(self.numbers.get(i).copied().unwrap_or(usize::MAX)))
    }

    fn open(&self, i: usize) -> Result<OpenTensor<'a, S>> {
        OpenTensor::open_once(self.reader, self.numbers.get(i).copied().unwrap_or(usize::MAX))
    }

    /// Cuts a tensor; `None` where its groups are not its bytes.
    fn cut(&self, open: &OpenTensor<'_, S>, i: usize) -> Result<Option<Cut<'b>>> {
        let Some(pieces) = open.pieces()? else { return Ok(None) };
        let lengths = open.piece_lengths(&pieces)?;
        if lengths.iter().fold(0usize, |sum, n| sum.saturating_add(*n)) != self.length(i) {
            return Ok(None);
        }
        let mut rest = self.buffer(i);
        let places = lengths
            .iter()
            .map(|&length| Mutex::new(rest.split_off_mut(..length).unwrap_or_default()));
        let places = places.collect();
        Ok(Some((pieces, places)))
    }
}

impl<'a, 'b, S: ReadAt> Pieces for Tensors<'a, 'b, S> {
    type Own = Lent<'a>;
    type Open = Begun<'a, 'b, S>;
    type Piece = ();

    fn own(&self) -> Lent<'a> {
        self.reader.open.pool.lend()
    }

    fn open(&self, _own: &mut Lent<'a>, at: usize) -> Result<(Begun<'a, 'b, S>, usize)> {
        let job = self.jobs.get(at).cloned().unwrap_or_default();
        if !self.is_large(&job) {
            return Ok((Begun::Few(job), 1));
        }
        let i = job.start;
        let behind = self.jobs.get(at + 1..).unwrap_or_default().iter();
        let large = behind.filter(|job| self.is_large(job)).take(self.reader.threads).count();
        let open = self.open(i)?.before(large);
        Ok(match self.cut(&open, i).map_err(|e| self.at(i, e))? {
            Some(cut) => {
                let count = cut.1.len();
                (Begun::InPieces(open, cut, i), count)
            }
            None => (Begun::Whole(open.threads(self.reader.threads), i), 0),
        })
    }

    fn piece(&self, own: &mut Lent<'a>, begun: &Begun<'a, 'b, S>, j: usize) -> Result<()> {
        match begun {
            Begun::InPieces(open, (pieces, places), i) => {
                let Some(place) = places.get(j) else { return Ok(()) };
                let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
                let done = open.piece(pieces, j, &mut own.scratch, |_| &mut place);
                done.map_err(|e| self.at(*i, e))
            }
            Begun::Few(job) => job.clone().try_for_each(|i| {
                let open = self.open(i)?.threads(1);
                let done = open.bytes_into(self.buffer(i)).map_err(Error::after_none);
                done.map_err(|e| self.at(i, e))
            }),
            Begun::Whole(..) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
