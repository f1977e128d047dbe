//! Whole files on several threads.
//!
//! The chunk table of the checksum trailer says where chunks begin and how many numbers they
//! hold, so that each can be decoded by itself. Nothing of it is believed: what does not prove
//! right in every point is decoded once more in order, which finds the error, or that there is
//! none.

use crate::bits::checksum::Crc32c;
use crate::bits::reader::BitReader;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::number::Number;
use crate::pco::config::Config;
use crate::pco::layout::header::FormatVersion;
use crate::pco::layout::preamble::Preamble;
use crate::pco::layout::trailer::{ChunkEntry, Trailer};
use crate::pco::simple::{decompress_with, earned};
use crate::pco::standalone::{Decoder, EncodedChunk, Encoder, encode_chunk};
use std::num::NonZero;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A standalone file with all numbers, its chunks encoded by `threads` threads, this one included.
///
/// The bytes are those of [`compress`](crate::pco::compress), whatever the number of threads. Memory
/// is what [`compress`](crate::pco::compress) needs for a chunk for each thread, and all encoded
/// chunks at once.
///
/// ```
/// # fn main() -> latens::Result<()> {
/// use latens::pco;
/// let numbers: Vec<u32> = (0..600_000).collect();
/// let config = pco::Config::default();
/// let threads = std::num::NonZero::new(2).expect("two");
/// let file = pco::compress_parallel(&numbers, &config, threads)?;
/// assert_eq!(file, pco::compress(&numbers, &config)?);
/// # Ok(()) }
/// ```
///
/// # Errors
/// Invalid argument when the configuration does not fit the type.
pub fn compress_parallel<T: Number>(
    numbers: &[T],
    config: &Config,
    threads: NonZero<usize>,
) -> Result<Vec<u8>> {
    let mut encoder = Encoder::new(Vec::new(), T::TYPE, numbers.len() as u64, config)?;
    let mut rest = numbers;
    let mut chunks = Vec::new();
    for len in config.chunk_lens(numbers.len()) {
        let (chunk, behind) = rest.split_at(len);
        chunks.push(chunk);
        rest = behind;
    }
    let threads = threads.get().min(chunks.len());
    let next = AtomicUsize::new(0);
    let encoded: Vec<_> = chunks.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let (Some(chunk), Some(place)) = (chunks.get(index), encoded.get(index)) else {
                return;
            };
            let made = encode_chunk(chunk, config);
            if let Ok(mut place) = place.lock() {
                *place = Some(made);
            }
        }
    };
    std::thread::scope(|scope| {
        (1..threads).for_each(|_| drop(scope.spawn(work)));
        work();
    });
    for place in encoded {
        let made: Option<Result<EncodedChunk>> = place.into_inner().unwrap_or(None);
        encoder.write_encoded(made.ok_or_else(|| Error::invalid("a thread came to grief"))??)?;
    }
    encoder.finish()
}

/// All numbers of a standalone file, decoded by `threads` threads, this one included.
///
/// Answers and errors are those of [`decompress_with`](crate::pco::decompress_with). Files without a
/// checksum trailer, or of one chunk, are decoded by one thread. Memory is that of one decoder for
/// each thread; [`Limits::max_alloc`] bounds each of them.
///
/// ```
/// # fn main() -> latens::Result<()> {
/// use latens::{Limits, pco};
/// let numbers: Vec<u32> = (0..600_000).collect();
/// let file = pco::compress(&numbers, &pco::Config::default())?;
/// let threads = std::num::NonZero::new(2).expect("two");
/// assert_eq!(pco::decompress_parallel::<u32>(&file, &Limits::default(), threads)?, numbers);
/// # Ok(()) }
/// ```
///
/// # Errors
/// As [`decompress_with`](crate::pco::decompress_with).
pub fn decompress_parallel<T: Number>(
    file: &[u8],
    limits: &Limits,
    threads: NonZero<usize>,
) -> Result<Vec<T>> {
    if threads.get() > 1
        && let Some(table) = Table::of(file)
        && let Some(numbers) = decode(file, &table, limits, threads.get())
    {
        return Ok(numbers);
    }
    decompress_with(file, limits)
}

/// Where the chunks of a file are.
struct Table {
    preamble: Preamble,
    version: FormatVersion,
    chunks: Vec<(Range<usize>, ChunkEntry)>,
    /// Numbers in all of them.
    n: usize,
    /// Bytes before the first.
    start: usize,
}

impl Table {
    /// `None` where the file has no sound table of two chunks or more.
    fn of(file: &[u8]) -> Option<Self> {
        let trailer = Trailer::read_end(file, 0).ok()??;
        let mut r = BitReader::new(file, 0);
        let preamble = Preamble::read(&mut r).ok()?;
        let version = FormatVersion::read(&mut r).ok()?;
        let start = r.bit() / 8;
        let mut crc = Crc32c::new();
        crc.update(file.get(..start)?);
        let terminator = file.len().checked_sub(trailer.len() + 1)?;
        if trailer.chunks.len() < 2
            || trailer.header_crc != crc.value()
            || file.get(terminator) != Some(&0)
        {
            return None;
        }
        let offset = |entry: &ChunkEntry| usize::try_from(entry.offset).ok();
        let mut chunks = Vec::with_capacity(trailer.chunks.len());
        let mut from = start;
        let mut n = 0usize;
        for (i, &entry) in trailer.chunks.iter().enumerate() {
            let to = trailer.chunks.get(i + 1).map_or(Some(terminator), offset)?;
            if offset(&entry) != Some(from) || to <= from || to > terminator {
                return None;
            }
            n = n.checked_add(usize::try_from(entry.n).ok()?)?;
            chunks.push((from..to, entry));
            from = to;
        }
        Some(Self { preamble, version, chunks, n, start })
    }
}

/// `None` where anything is wrong.
fn decode<T: Number>(
    file: &[u8],
    table: &Table,
    limits: &Limits,
    threads: usize,
) -> Option<Vec<T>> {
    let bytes = (table.n as u64).checked_mul(T::TYPE.bytes() as u64)?;
    if bytes > earned((file.len() - table.start) as u64) || limits.check_output(bytes).is_err() {
        return None;
    }
    let mut numbers = vec![T::default(); table.n];
    let mut rest = &mut numbers[..];
    let mut jobs = Vec::with_capacity(table.chunks.len());
    for (range, entry) in &table.chunks {
        let (dst, behind) = rest.split_at_mut_checked(usize::try_from(entry.n).ok()?)?;
        jobs.push((file.get(range.clone())?, entry, dst));
        rest = behind;
    }
    let threads = threads.min(jobs.len());
    let jobs = Mutex::new(jobs.into_iter());
    let work = || {
        loop {
            let Ok(job) = jobs.lock().map(|mut jobs| jobs.next()) else { return false };
            let Some((bytes, entry, dst)) = job else { return true };
            if !chunk(bytes, entry, dst, table, limits) {
                // The others need not go on.
                if let Ok(mut jobs) = jobs.lock() {
                    jobs.by_ref().for_each(drop);
                }
                return false;
            }
        }
    };
    let all = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let own = work();
        others.into_iter().all(|other| other.join().unwrap_or(false)) & own
    });
    all.then_some(numbers)
}

/// Decodes a chunk of known place; whether it is in all points as the table says.
fn chunk<T: Number>(
    bytes: &[u8],
    entry: &ChunkEntry,
    dst: &mut [T],
    table: &Table,
    limits: &Limits,
) -> bool {
    let (preamble, version) = (table.preamble, table.version);
    let mut decoder = Decoder::at_chunk(bytes, preamble, version, entry.offset, limits);
    // Whatever the chunk's own count is, it must be closed when `dst` is full.
    decoder.read(dst).is_ok_and(|got| got == dst.len())
        && decoder.seen() == [*entry]
        && decoder.position() == entry.offset + bytes.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pco::{Config, compress};

    fn two() -> NonZero<usize> {
        NonZero::new(2).unwrap()
    }

    fn file() -> (Vec<u16>, Vec<u8>) {
        let numbers: Vec<u16> = (0..3000u32).map(|i| (i * i % 977) as u16).collect();
        let config = Config::default().chunk_n(1000);
        let file = compress(&numbers, &config).unwrap();
        assert_eq!(Table::of(&file).unwrap().chunks.len(), 3);
        (numbers, file)
    }

    #[test]
    fn the_same_files() {
        let numbers: Vec<i32> = (0..5000i32).map(|i| i * i % 3001).collect();
        for n in [0, 1, 999, 1000, 5000] {
            let config = Config::default().chunk_n(1000);
            let expect = compress(&numbers[..n], &config).unwrap();
            for threads in [1, 2, 3, 50] {
                let threads = NonZero::new(threads).unwrap();
                assert_eq!(compress_parallel(&numbers[..n], &config, threads).unwrap(), expect);
            }
        }
    }

    #[test]
    fn the_same_numbers() {
        let (numbers, file) = file();
        let table = Table::of(&file).unwrap();
        assert_eq!(decode(&file, &table, &Limits::default(), 2).as_ref(), Some(&numbers));
        for threads in [1, 2, 3, 50] {
            let threads = NonZero::new(threads).unwrap();
            let found = decompress_parallel::<u16>(&file, &Limits::default(), threads).unwrap();
            assert_eq!(found, numbers);
        }
    }

    #[test]
    fn the_same_errors() {
        let (_, mut file) = file();
        let limits = Limits::default();
        let wrong = decompress_parallel::<u32>(&file, &limits, two()).unwrap_err();
        assert_eq!(
            wrong.to_string(),
            decompress_with::<u32>(&file, &limits).unwrap_err().to_string()
        );
        let tight = Limits::default().max_output(5999);
        let wrong = decompress_parallel::<u16>(&file, &tight, two()).unwrap_err();
        assert_eq!(
            wrong.to_string(),
            decompress_with::<u16>(&file, &tight).unwrap_err().to_string()
        );
        for byte in 0..file.len() {
            file[byte] ^= 1 << (byte % 8);
            let expected = decompress_with::<u16>(&file, &limits).map_err(|e| e.to_string());
            let found =
                decompress_parallel::<u16>(&file, &limits, two()).map_err(|e| e.to_string());
            assert_eq!(found, expected, "byte {byte}");
            assert!(expected.is_err());
            file[byte] ^= 1 << (byte % 8);
        }
        for len in 0..file.len() {
            let expected = decompress_with::<u16>(&file[..len], &limits).map_err(|e| e.to_string());
            let found =
                decompress_parallel(&file[..len], &limits, two()).map_err(|e| e.to_string());
            assert_eq!(found, expected, "cut to {len}");
        }
    }
}
