//! Files without a table of chunks: this thread guesses where each ends, and where it cannot walks from
//! chunk to chunk, through their codes alone, while the others decode those whose ends are known.
//!
//! What is decoded is right only if all chunks end where the next ones begin, so that a wrong guess costs
//! time and nothing else.

use crate::bits::reader::BitReader;
use crate::limits::Limits;
use crate::number::{Latent, NumberType};
use crate::pco::decode::workshop::Workshop;
use crate::pco::layout::chunk_head::{self, ChunkHead};
use crate::pco::layout::header::FormatVersion;
use crate::pco::layout::preamble::Preamble;
use crate::pco::parallel::guessed::Guesses;
use crate::pco::parallel::kept::{self, Keeping, Kept};
use crate::pco::standalone::{Engine, Slice, chunk_len};
use crate::threads::beside;
use crate::watch::Watch;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex};

/// A chunk of known place.
struct Job<'a, L> {
    /// With its head, and what is behind it, which batches can look ahead to.
    bytes: &'a [u8],
    /// Of its own bytes.
    len: usize,
    offset: usize,
    /// Which one.
    index: usize,
    /// Numbers before it.
    start: usize,
    dst: &'a mut [L],
}

/// What is to be done.
struct Jobs<'a, L> {
    ready: VecDeque<Job<'a, L>>,
    /// No more will come: all are found, or something is wrong.
    closed: bool,
}

/// Chunks found and not yet decoded.
struct Queue<'a, L> {
    jobs: Mutex<Jobs<'a, L>>,
    changed: Condvar,
}

impl<'a, L> Queue<'a, L> {
    fn new() -> Self {
        let jobs = Jobs { ready: VecDeque::new(), closed: false };
        Self { jobs: Mutex::new(jobs), changed: Condvar::new() }
    }

    fn push(&self, job: Job<'a, L>) -> Option<()> {
        let mut jobs = self.jobs.lock().ok()?;
        if jobs.closed {
            return None;
        }
        jobs.ready.push_back(job);
        self.changed.notify_one();
        Some(())
    }

    /// `None` when nothing is left to do.
    fn next(&self) -> Option<Job<'a, L>> {
        let jobs = self.jobs.lock().ok()?;
        let waits = |jobs: &mut Jobs<'a, L>| jobs.ready.is_empty() && !jobs.closed;
        self.changed.wait_while(jobs, waits).ok()?.ready.pop_front()
    }

    /// `drop_rest`: what is found so far need not be decoded either.
    fn close(&self, drop_rest: bool) {
        if let Ok(mut jobs) = self.jobs.lock() {
            jobs.closed = true;
            if drop_rest {
                jobs.ready.clear();
            }
        }
        self.changed.notify_all();
    }
}

/// A panic in between closes the queue, for which the others would wait for ever.
struct ClosedByPanic<'q, 'a, L>(&'q Queue<'a, L>);

impl<L> Drop for ClosedByPanic<'_, '_, L> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.close(true);
        }
    }
}

/// What stands at the head of a file.
pub(super) struct Opening {
    preamble: Preamble,
    version: FormatVersion,
    /// Numbers that it announces.
    pub(super) n: usize,
    /// Bytes before the first chunk.
    pub(super) start: usize,
}

impl Opening {
    /// `None` where the file announces no more numbers than its first chunk holds.
    pub(super) fn of(file: &[u8]) -> Option<Self> {
        let mut r = BitReader::new(file, 0);
        let preamble = Preamble::read(&mut r).ok()?;
        let version = FormatVersion::read(&mut r).ok()?;
        let start = r.bit() / 8;
        let n = usize::try_from(preamble.n_hint).ok()?;
        let first = ChunkHead::read(&mut r, preamble.uniform_type).ok()??;
        (first.n < n).then_some(Self { preamble, version, n, start })
    }
}

/// Decodes a file that is nothing but its chunks into `dst`, which has room for the numbers that it
/// announces and no more; `None` where it is something else, or where anything is wrong, and what
/// `dst` held is then in `kept`.
#[expect(clippy::too_many_arguments, reason = "what a call says")]
pub(super) fn decode<L: Latent>(
    file: &[u8],
    ty: NumberType,
    opening: &Opening,
    dst: &mut [L],
    limits: Limits,
    threads: usize,
    watch: &Watch,
    kept: Option<&Kept<L>>,
) -> Option<()> {
    let (queue, workshop) = (Queue::new(), Workshop::default());
    let work = || {
        while let Some(job) = queue.next() {
            let (index, n) = (job.index, job.dst.len());
            let mut keeping = kept.map(|kept| kept.chunk(index, job.start, n));
            let sound = chunk(job, ty, opening, limits, &workshop, keeping.as_mut());
            if let Some(keeping) = keeping {
                keeping.end(sound);
            }
            if !sound || watch.done(n as u64).is_err() {
                queue.close(true);
                return false;
            }
        }
        true
    };
    let (line, work) = (&queue, &work);
    let own = move || {
        let found = {
            let _closing = ClosedByPanic(line);
            // Handed on for as long as the queue is, not for the call.
            let numbers = dst;
            find(file, ty, opening, limits, numbers, line).is_some()
        };
        line.close(!found);
        found && work()
    };
    let (own, others) = beside(threads, work, own);
    (own && others.into_iter().all(|sound| sound)).then_some(())
}

/// Puts all chunks into the queue; `None` where anything is wrong.
fn find<'a, L: Latent>(
    file: &'a [u8],
    ty: NumberType,
    opening: &Opening,
    limits: Limits,
    numbers: &'a mut [L],
    queue: &Queue<'a, L>,
) -> Option<()> {
    // Before the last byte, which ends the chunks.
    let (&last, chunks) = file.split_last()?;
    if last != chunk_head::TERMINATOR {
        return None;
    }
    let (mut offset, mut index, mut start, mut rest) = (opening.start, 0, 0, numbers);
    let workshop = Workshop::default();
    let mut guesses = Guesses::new(opening.version, limits);
    while !rest.is_empty() {
        let bytes = chunks.get(offset..)?;
        let mut r = BitReader::new(bytes, 0);
        let head = ChunkHead::read(&mut r, opening.preamble.uniform_type).ok()??;
        if head.number_type != ty {
            return None;
        }
        let (dst, behind) = rest.split_at_mut_checked(head.n)?;
        let len = if behind.is_empty() {
            // The last one: whoever decodes it finds out whether it ends where it has to.
            bytes.len()
        } else if let Some(len) = guesses.len::<L>(bytes, head, behind.len()) {
            len
        } else {
            let body = bytes.get(chunk_head::BYTES..)?;
            chunk_head::BYTES + chunk_len(body, head, opening.version, limits, &workshop).ok()?
        };
        let n = dst.len();
        queue.push(Job { bytes, len, offset, index, start, dst })?;
        (offset, index, start) = (offset + len, index + 1, start + n);
        rest = behind;
    }
    (offset == chunks.len()).then_some(())
}

/// Decodes a chunk; whether it is sound and ends where it has to.
fn chunk<L: Latent>(
    job: Job<'_, L>,
    ty: NumberType,
    opening: &Opening,
    limits: Limits,
    workshop: &Workshop,
    keeping: Option<&mut Keeping<'_, L>>,
) -> bool {
    let Job { bytes, len, offset, index, dst, .. } = job;
    let source = Slice::starting_at(bytes, offset as u64);
    let decoder = Engine::at_chunk(source, index, opening.preamble, opening.version, limits);
    let mut decoder = decoder.without_checks().working_in(workshop);
    kept::decode(&mut decoder, ty, dst, keeping) && decoder.position() == (offset + len) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Number;
    use crate::pco::{Config, compress, decompress_with};

    fn file(chunk_n: usize) -> (Vec<u16>, Vec<u8>) {
        let numbers: Vec<u16> = (0..3000u32).map(|i| (i * i % 977) as u16).collect();
        let config = Config::default().chunk_n(chunk_n).checksum(false);
        (numbers.clone(), compress(&numbers, &config).unwrap())
    }

    fn found<T: Number>(file: &[u8], threads: usize) -> Option<Vec<T>> {
        let opening = Opening::of(file)?;
        let mut numbers = vec![T::default(); opening.n];
        let limits = Limits::default();
        decode(
            file,
            T::TYPE,
            &opening,
            T::bits_mut(&mut numbers),
            limits,
            threads,
            &Watch::NONE,
            None,
        )?;
        Some(numbers)
    }

    #[test]
    fn a_panic_lets_no_one_wait() {
        let queue = Queue::<u8>::new();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| queue.next().is_none());
            let panicking = scope.spawn(|| {
                let _closing = ClosedByPanic(&queue);
                panic!("on purpose");
            });
            assert!(panicking.join().is_err() && waiting.join().unwrap());
        });
    }

    #[test]
    fn the_same_numbers() {
        for chunk_n in [256, 700, 1000, 1500, 2999] {
            let (numbers, file) = file(chunk_n);
            let limits = Limits::default();
            for threads in [2, 3, 20] {
                assert_eq!(found::<u16>(&file, threads).as_ref(), Some(&numbers));
            }
            assert_eq!(decompress_with::<u16>(&file, limits, 2, &Watch::NONE).unwrap(), numbers);
        }
        assert!(Opening::of(&file(3000).1).is_none());
    }

    #[test]
    fn the_same_errors() {
        let (_, mut file) = file(1000);
        let limits = Limits::default();
        let same = |file: &[u8], what: String| {
            let expected =
                decompress_with::<u16>(file, limits, 1, &Watch::NONE).map_err(|e| e.to_string());
            let found =
                decompress_with::<u16>(file, limits, 2, &Watch::NONE).map_err(|e| e.to_string());
            assert_eq!(found, expected, "{what}");
        };
        for byte in 0..file.len() {
            file[byte] ^= 1 << (byte % 8);
            same(&file, format!("byte {byte}"));
            file[byte] ^= 1 << (byte % 8);
        }
        for len in 0..file.len() {
            same(&file[..len], format!("cut to {len}"));
        }
        file.push(0);
        same(&file, "a byte more".to_owned());
        assert!(found::<u16>(&file, 2).is_none());
        file.pop();
        assert!(found::<u16>(&file, 2).is_some());
        assert!(found::<u32>(&file, 2).is_none());
    }
}
