//! Whole files on several threads.
//!
//! Where chunks begin and how many numbers they hold is said by the checksum trailer ([`listed`]),
//! or guessed, or found out by walking through the file ([`walked`]), so that each can be decoded by itself.
//! Nothing of it is believed: what does not prove right in every point is decoded once more in
//! order, which finds the error, or that there is none.

use crate::error::Result;
use crate::limits::Limits;
use crate::number::Number;
use crate::pco::layout::trailer::Trailer;
use crate::pco::parallel::kept::Kept;
use crate::pco::simple::{Decompressed, earned, watched, watched_into};
use crate::watch::Watch;

mod compress;
mod guessed;
mod kept;
mod listed;
mod walked;

pub use compress::{compress_to, compress_with};

/// Like [`decompress`](crate::pco::decompress), within limits, on `threads` threads (0 for as many as
/// there are cores), this one included, and with a [`Watch`].
///
/// Answers and errors do not depend on the threads. Files of one chunk are decoded by one. Without a
/// checksum trailer it is guessed where chunks begin; where chunks are not of like length one thread has
/// to find it out, before it decodes as well, and there is little to gain. Memory is that of one decoder for each thread; [`Limits::max_alloc`] bounds
/// each of them.
///
/// ```
/// use latens::{Limits, Watch, pco};
/// let numbers: Vec<u32> = (0..600_000).collect();
/// let file = pco::compress(&numbers, &pco::Config::default())?;
/// let limits = Limits::default().max_output(4 << 20);
/// assert_eq!(pco::decompress_with::<u32>(&file, limits, 2, &Watch::NONE)?, numbers);
/// # Ok::<(), latens::Error>(())
/// ```
///
/// # Errors
/// As [`decompress`](crate::pco::decompress), invalid argument when a limit is passed, and that of
/// `watch`.
pub fn decompress_with<T: Number>(
    file: &[u8],
    limits: Limits,
    threads: usize,
    watch: &Watch,
) -> Result<Vec<T>> {
    let Some((chunks, threads)) = Chunks::of(file, threads) else {
        return watched(file, limits, watch);
    };
    let (first, second) = watch.for_two_tries();
    match decode(file, &chunks, limits, threads, &first) {
        Some(numbers) => Ok(numbers),
        None => watched(file, limits, &second),
    }
}

/// Like [`decompress_into`](crate::pco::decompress_into), within limits, on `threads` threads (0 for
/// as many as there are cores) where `dst` has room for all numbers, and with a [`Watch`].
///
/// # Errors
/// As [`decompress_into`](crate::pco::decompress_into), invalid argument when a limit is passed, and
/// that of `watch`; of `dst` then only the first
/// [`Error::values_before`](crate::Error::values_before) numbers have changed.
pub fn decompress_into_with<T: Number>(
    file: &[u8],
    dst: &mut [T],
    limits: Limits,
    threads: usize,
    watch: &Watch,
) -> Result<Decompressed> {
    let mut second = None;
    if let Some((chunks, threads)) = Chunks::of(file, threads)
        && let Some(dst) = dst.get_mut(..chunks.n())
        && limits.check_output(size_of_val(dst) as u64).is_ok()
    {
        let (first, then) = watch.for_two_tries();
        let kept = Kept::new();
        if chunks.decode(file, dst, limits, threads, &first, Some(&kept)).is_some() {
            return Ok(Decompressed { count: dst.len(), finished: true });
        }
        kept.restore(dst);
        second = Some(then);
    }
    watched_into(file, dst, limits, second.as_ref().unwrap_or(watch))
}

/// How the chunks of a file are found.
enum Chunks {
    Listed(listed::Table),
    Walked(walked::Opening),
}

impl Chunks {
    /// With the threads in force; `None` where that is one, or there are not two chunks or more in
    /// good order, as far as the ends tell.
    fn of(file: &[u8], threads: usize) -> Option<(Self, usize)> {
        if threads == 1 {
            return None;
        }
        let chunks = Self::found(file)?;
        let threads = crate::watch::threads(threads);
        (threads > 1).then_some((chunks, threads))
    }

    fn found(file: &[u8]) -> Option<Self> {
        match Trailer::is_at_end_of(file) {
            true => listed::Table::of(file).map(Chunks::Listed),
            false => walked::Opening::of(file).map(Chunks::Walked),
        }
    }

    /// Numbers that the file announces.
    fn n(&self) -> usize {
        match self {
            Chunks::Listed(table) => table.n,
            Chunks::Walked(opening) => opening.n,
        }
    }

    /// Bytes before the first chunk.
    fn start(&self) -> usize {
        match self {
            Chunks::Listed(table) => table.start,
            Chunks::Walked(opening) => opening.start,
        }
    }

    /// Decodes into `dst`, which has room for [`Chunks::n`] numbers and no more; `None` where
    /// anything is wrong. What `dst` held is then in `kept`, where there is one.
    fn decode<T: Number>(
        &self,
        file: &[u8],
        dst: &mut [T],
        limits: Limits,
        threads: usize,
        watch: &Watch,
        kept: Option<&Kept<T>>,
    ) -> Option<()> {
        match self {
            Chunks::Listed(table) => listed::decode(file, table, dst, limits, threads, watch, kept),
            Chunks::Walked(opening) => {
                walked::decode(file, opening, dst, limits, threads, watch, kept)
            }
        }
    }
}

/// `None` where anything is wrong.
fn decode<T: Number>(
    file: &[u8],
    chunks: &Chunks,
    limits: Limits,
    threads: usize,
    watch: &Watch,
) -> Option<Vec<T>> {
    let bytes = (chunks.n() as u64).checked_mul(T::TYPE.bytes() as u64)?;
    if bytes > earned((file.len() - chunks.start()) as u64) || limits.check_output(bytes).is_err() {
        return None;
    }
    let mut numbers = vec![T::default(); chunks.n()];
    chunks.decode(file, &mut numbers, limits, threads, watch, None)?;
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::pco::{Config, compress, compress_with, decompress_into};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

    fn file() -> (Vec<u16>, Vec<u8>) {
        let numbers: Vec<u16> = (0..3000u32).map(|i| (i * i % 977) as u16).collect();
        let config = Config::default().chunk_n(1000);
        let file = compress(&numbers, &config).unwrap();
        assert!(matches!(Chunks::of(&file, 2), Some((Chunks::Listed(_), 2))));
        (numbers, file)
    }

    #[test]
    fn the_same_numbers() {
        let (numbers, file) = file();
        assert!(Chunks::of(&file, 1).is_none());
        let chunks = Chunks::of(&file, 2).unwrap().0;
        assert_eq!(
            decode(&file, &chunks, Limits::default(), 2, &Watch::NONE).as_ref(),
            Some(&numbers)
        );
        for threads in [1, 2, 3, 50] {
            let found =
                decompress_with::<u16>(&file, Limits::default(), threads, &Watch::NONE).unwrap();
            assert_eq!(found, numbers);
        }
    }

    #[test]
    fn a_watch_sees_all_numbers_and_can_end_it() {
        let (numbers, file) = file();
        let config = Config::default().chunk_n(1000);
        let limits = Limits::default();
        for threads in [1, 2] {
            let seen = Arc::new(AtomicU64::new(0));
            let own = Arc::clone(&seen);
            let count = Watch::new(move |step| {
                own.fetch_add(step.done, Ordering::Relaxed);
                Ok(())
            });
            assert_eq!(compress_with(&numbers, &config, threads, &count).unwrap(), file);
            assert_eq!(decompress_with::<u16>(&file, limits, threads, &count).unwrap(), numbers);
            let mut room = vec![0u16; 4000];
            let done = decompress_into_with(&file, &mut room, limits, threads, &Watch::NONE);
            assert_eq!(done.unwrap(), Decompressed { count: 3000, finished: true });
            assert_eq!((&room[..3000], &room[3000..]), (&numbers[..], &[0; 1000][..]));
            let done = decompress_into_with(&file, &mut room[..9], limits, threads, &count);
            assert_eq!(done.unwrap(), Decompressed { count: 9, finished: false });
            assert_eq!(seen.load(Ordering::Relaxed), 6009);
            let stop = Watch::new(|_| Err(Error::invalid("enough")));
            for error in [
                compress_with(&numbers, &config, threads, &stop).unwrap_err(),
                decompress_with::<u16>(&file, limits, threads, &stop).unwrap_err(),
                decompress_into_with(&file, &mut room[..3000], limits, threads, &stop).unwrap_err(),
            ] {
                assert_eq!(error.what(), "enough");
            }
        }
    }

    /// What ends the work of many threads is not begun again on one.
    #[test]
    fn a_watch_need_not_say_it_twice() {
        let (_, file) = file();
        for into in [false, true] {
            let told = Arc::new(AtomicUsize::new(0));
            let own = Arc::clone(&told);
            let once = Watch::new(move |_| match own.fetch_add(1, Ordering::Relaxed) {
                0 => Err(Error::stopped()),
                _ => Ok(()),
            });
            let (limits, mut room) = (Limits::default(), [0u16; 3000]);
            let error = match into {
                true => decompress_into_with(&file, &mut room, limits, 2, &once).unwrap_err(),
                false => decompress_with::<u16>(&file, limits, 2, &once).unwrap_err(),
            };
            // The other thread may be about to tell it of a chunk, too.
            assert!(error.is_stopped() && told.load(Ordering::Relaxed) <= 2, "{error}");
        }
    }

    #[test]
    fn the_same_errors() {
        let (_, mut file) = file();
        let limits = Limits::default();
        let wrong = decompress_with::<u32>(&file, limits, 2, &Watch::NONE).unwrap_err();
        assert_eq!(
            wrong.to_string(),
            decompress_with::<u32>(&file, limits, 1, &Watch::NONE).unwrap_err().to_string()
        );
        let tight = Limits::default().max_output(5999);
        let wrong = decompress_with::<u16>(&file, tight, 2, &Watch::NONE).unwrap_err();
        assert_eq!(
            wrong.to_string(),
            decompress_with::<u16>(&file, tight, 1, &Watch::NONE).unwrap_err().to_string()
        );
        for byte in 0..file.len() {
            file[byte] ^= 1 << (byte % 8);
            let expected =
                decompress_with::<u16>(&file, limits, 1, &Watch::NONE).map_err(|e| e.to_string());
            let found =
                decompress_with::<u16>(&file, limits, 2, &Watch::NONE).map_err(|e| e.to_string());
            assert_eq!(found, expected, "byte {byte}");
            assert!(expected.is_err());
            file[byte] ^= 1 << (byte % 8);
        }
        for len in 0..file.len() {
            let expected = decompress_with::<u16>(&file[..len], limits, 1, &Watch::NONE)
                .map_err(|e| e.to_string());
            let found =
                decompress_with(&file[..len], limits, 2, &Watch::NONE).map_err(|e| e.to_string());
            assert_eq!(found, expected, "cut to {len}");
        }
    }

    /// What is written to the caller's buffer in spite of an error is what one thread writes.
    #[test]
    fn after_an_error_the_buffer_is_that_of_one_thread() {
        let (numbers, listed) = file();
        let walked = compress(&numbers, &Config::default().chunk_n(700).checksum(false)).unwrap();
        let limits = Limits::default();
        for mut file in [listed, walked] {
            let both = |file: &[u8], what: String| {
                let (mut one, mut many) = (vec![7u16; 3100], vec![7u16; 3100]);
                let expected = decompress_into(file, &mut one);
                for threads in [2, 4] {
                    many.fill(7);
                    let found =
                        decompress_into_with(file, &mut many, limits, threads, &Watch::NONE);
                    assert_eq!(one, many, "{what}");
                    match (&expected, found) {
                        (Ok(expected), Ok(found)) => assert_eq!(*expected, found, "{what}"),
                        (Err(expected), Err(found)) => {
                            assert_eq!(expected.to_string(), found.to_string(), "{what}");
                            assert_eq!(expected.values_before(), found.values_before(), "{what}");
                        }
                        other => panic!("{what}: {other:?}"),
                    }
                }
            };
            for byte in 0..file.len() {
                file[byte] ^= 1 << (byte % 8);
                both(&file, format!("byte {byte}"));
                file[byte] ^= 1 << (byte % 8);
            }
            for len in (0..file.len()).step_by(3) {
                both(&file[..len], format!("cut to {len}"));
            }
        }
    }
}
