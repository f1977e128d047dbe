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
use crate::pco::simple::{Decompressed, Watch, earned, watched, watched_into};
use crate::pco::standalone::{Decoder, EncodedChunk, Encoder, encode_chunk};
use std::num::NonZero;
use std::ops::Range;
use std::sync::Mutex;

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
    decompress_watched(file, limits, threads, &|_| Ok(()))
}

/// Like [`decompress_parallel`], with a [`Watch`] that is told of progress and can end the call.
///
/// # Errors
/// As [`decompress_parallel`], and that of `watch`.
pub fn decompress_watched<T: Number>(
    file: &[u8],
    limits: &Limits,
    threads: NonZero<usize>,
    watch: Watch<'_>,
) -> Result<Vec<T>> {
    if threads.get() > 1
        && let Some(table) = Table::of(file)
        && let Some(numbers) = decode(file, &table, limits, threads.get(), watch)
    {
        return Ok(numbers);
    }
    watched(file, limits, watch)
}

/// Like [`decompress_into`](crate::pco::decompress_into), on `threads` threads where the file has
/// chunks of known places and `dst` has room for all of them, and with a [`Watch`].
///
/// # Errors
/// As [`decompress_into`](crate::pco::decompress_into), and that of `watch`; what `dst` holds behind
/// the first [`Error::values_before`] numbers is not said where there are several threads.
pub fn decompress_into_watched<T: Number>(
    file: &[u8],
    dst: &mut [T],
    threads: NonZero<usize>,
    watch: Watch<'_>,
) -> Result<Decompressed> {
    if threads.get() > 1
        && let Some(table) = Table::of(file)
        && let Some(dst) = dst.get_mut(..table.n)
        && decode_into(file, &table, dst, &Limits::default(), threads.get(), watch).is_some()
    {
        return Ok(Decompressed { count: table.n, finished: true });
    }
    watched_into(file, dst, watch)
}

/// Like [`compress`](crate::pco::compress), on `threads` threads, this one included, and with a
/// [`Watch`]. The bytes are the same.
///
/// ```
/// # fn main() -> latens::Result<()> {
/// use latens::pco;
/// let numbers: Vec<u32> = (0..600_000).collect();
/// let (config, two) = (pco::Config::default(), std::num::NonZero::new(2).expect("two"));
/// let file = pco::compress_parallel(&numbers, &config, two, &|_| Ok(()))?;
/// assert_eq!(file, pco::compress(&numbers, &config)?);
/// # Ok(()) }
/// ```
///
/// # Errors
/// As [`compress`](crate::pco::compress), and that of `watch`.
pub fn compress_parallel<T: Number>(
    numbers: &[T],
    config: &Config,
    threads: NonZero<usize>,
    watch: Watch<'_>,
) -> Result<Vec<u8>> {
    let mut encoder = Encoder::new(Vec::new(), T::TYPE, numbers.len() as u64, config)?;
    let mut jobs = Vec::new();
    let mut rest = numbers;
    for len in config.chunk_lens(numbers.len()) {
        let (chunk, behind) = rest.split_at(len);
        jobs.push(chunk);
        rest = behind;
    }
    let encode = |chunk: &[T]| {
        let encoded = encode_chunk(chunk, config)?;
        watch(chunk.len())?;
        Ok(encoded)
    };
    let threads = threads.get().min(jobs.len());
    if threads < 2 {
        for chunk in jobs {
            encoder.write_encoded(encode(chunk)?)?;
        }
        return encoder.finish();
    }
    let count = jobs.len();
    let jobs = Mutex::new(jobs.into_iter().enumerate());
    let work = || {
        let mut done: Vec<(usize, Result<EncodedChunk>)> = Vec::new();
        while let Ok(Some((i, chunk))) = jobs.lock().map(|mut jobs| jobs.next()) {
            let encoded = encode(chunk);
            if encoded.is_err()
                && let Ok(mut jobs) = jobs.lock()
            {
                jobs.by_ref().for_each(drop);
            }
            done.push((i, encoded));
        }
        done
    };
    let mut all = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for other in others {
            match other.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_unstable_by_key(|(i, _)| *i);
    let mut written = 0;
    for (_, chunk) in all {
        encoder.write_encoded(chunk?)?;
        written += 1;
    }
    match written == count {
        true => encoder.finish(),
        false => Err(Error::invalid("chunks were left out")),
    }
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
    watch: Watch<'_>,
) -> Option<Vec<T>> {
    let bytes = (table.n as u64).checked_mul(T::TYPE.bytes() as u64)?;
    if bytes > earned((file.len() - table.start) as u64) || limits.check_output(bytes).is_err() {
        return None;
    }
    let mut numbers = vec![T::default(); table.n];
    decode_into(file, table, &mut numbers, limits, threads, watch)?;
    Some(numbers)
}

/// Decodes into `dst`, which has room for the numbers of the table and no more.
fn decode_into<T: Number>(
    file: &[u8],
    table: &Table,
    dst: &mut [T],
    limits: &Limits,
    threads: usize,
    watch: Watch<'_>,
) -> Option<()> {
    let mut rest = dst;
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
            if !chunk(bytes, entry, dst, table, limits) || watch(dst.len()).is_err() {
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
    all.then_some(())
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
    use crate::pco::{Config, compress, decompress_with};
    use std::sync::atomic::{AtomicUsize, Ordering};

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
    fn the_same_numbers() {
        let (numbers, file) = file();
        let table = Table::of(&file).unwrap();
        assert_eq!(
            decode(&file, &table, &Limits::default(), 2, &|_| Ok(())).as_ref(),
            Some(&numbers)
        );
        for threads in [1, 2, 3, 50] {
            let threads = NonZero::new(threads).unwrap();
            let found = decompress_parallel::<u16>(&file, &Limits::default(), threads).unwrap();
            assert_eq!(found, numbers);
        }
    }

    #[test]
    fn a_watch_sees_all_numbers_and_can_end_it() {
        let (numbers, file) = file();
        let config = Config::default().chunk_n(1000);
        let limits = Limits::default();
        for threads in [NonZero::new(1).unwrap(), two()] {
            let seen = AtomicUsize::new(0);
            let count = |n| {
                seen.fetch_add(n, Ordering::Relaxed);
                Ok(())
            };
            assert_eq!(compress_parallel(&numbers, &config, threads, &count).unwrap(), file);
            assert_eq!(
                decompress_watched::<u16>(&file, &limits, threads, &count).unwrap(),
                numbers
            );
            let mut room = vec![0u16; 4000];
            let done = decompress_into_watched(&file, &mut room, threads, &|_| Ok(())).unwrap();
            assert_eq!(done, Decompressed { count: 3000, finished: true });
            assert_eq!((&room[..3000], &room[3000..]), (&numbers[..], &[0; 1000][..]));
            let done = decompress_into_watched(&file, &mut room[..9], threads, &count).unwrap();
            assert_eq!(done, Decompressed { count: 9, finished: false });
            assert_eq!(seen.load(Ordering::Relaxed), 6009);
            let stop = |_| Err(Error::invalid("enough"));
            for error in [
                compress_parallel(&numbers, &config, threads, &stop).unwrap_err(),
                decompress_watched::<u16>(&file, &limits, threads, &stop).unwrap_err(),
                decompress_into_watched(&file, &mut room[..3000], threads, &stop).unwrap_err(),
            ] {
                assert_eq!(error.what(), "enough");
            }
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
