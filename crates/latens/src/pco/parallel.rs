//! Whole files on several threads.
//!
//! Where chunks begin and how many numbers they hold is said by the checksum trailer ([`listed`]),
//! or found out by walking through the file ([`walked`]), so that each can be decoded by itself.
//! Nothing of it is believed: what does not prove right in every point is decoded once more in
//! order, which finds the error, or that there is none.

use crate::error::Result;
use crate::limits::Limits;
use crate::number::Number;
use crate::pco::layout::trailer::Trailer;
use crate::pco::parallel::kept::Kept;
use crate::pco::simple::{Decompressed, Watch, earned, watched, watched_into};
use std::num::NonZero;

mod compress;
mod kept;
mod listed;
mod walked;

pub use compress::{compress_parallel, compress_to};

/// All numbers of a standalone file, decoded by `threads` threads, this one included.
///
/// Answers and errors are those of [`decompress_with`](crate::pco::decompress_with). Files of one
/// chunk are decoded by one thread. Without a checksum trailer one thread has to find out where
/// chunks begin, before it decodes as well, and there is less to gain. Memory is that of one decoder
/// for each thread; [`Limits::max_alloc`] bounds each of them.
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
        && let Some(chunks) = Chunks::of(file)
        && let Some(numbers) = decode(file, &chunks, limits, threads.get(), watch)
    {
        return Ok(numbers);
    }
    watched(file, limits, watch)
}

/// Like [`decompress_into`](crate::pco::decompress_into), within limits, on `threads` threads where
/// the file has chunks of known places and `dst` has room for all of them, and with a [`Watch`].
///
/// # Errors
/// As [`decompress_into`](crate::pco::decompress_into), invalid argument when a limit is passed, and
/// that of `watch`; of `dst` then only the first
/// [`Error::values_before`](crate::Error::values_before) numbers have changed.
pub fn decompress_into_watched<T: Number>(
    file: &[u8],
    dst: &mut [T],
    limits: &Limits,
    threads: NonZero<usize>,
    watch: Watch<'_>,
) -> Result<Decompressed> {
    if threads.get() > 1
        && let Some(chunks) = Chunks::of(file)
        && let Some(dst) = dst.get_mut(..chunks.n())
        && limits.check_output(size_of_val(dst) as u64).is_ok()
    {
        let kept = Kept::new();
        if chunks.decode(file, dst, limits, threads.get(), watch, Some(&kept)).is_some() {
            return Ok(Decompressed { count: dst.len(), finished: true });
        }
        kept.restore(dst);
    }
    watched_into(file, dst, limits, watch)
}

/// How the chunks of a file are found.
enum Chunks {
    Listed(listed::Table),
    Walked(walked::Opening),
}

impl Chunks {
    /// `None` where there are not two chunks or more in good order, as far as the ends tell.
    fn of(file: &[u8]) -> Option<Self> {
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
        limits: &Limits,
        threads: usize,
        watch: Watch<'_>,
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
    limits: &Limits,
    threads: usize,
    watch: Watch<'_>,
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
    use crate::pco::{Config, compress, decompress_into, decompress_with};
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn two() -> NonZero<usize> {
        NonZero::new(2).unwrap()
    }

    fn file() -> (Vec<u16>, Vec<u8>) {
        let numbers: Vec<u16> = (0..3000u32).map(|i| (i * i % 977) as u16).collect();
        let config = Config::default().chunk_n(1000);
        let file = compress(&numbers, &config).unwrap();
        assert!(matches!(Chunks::of(&file), Some(Chunks::Listed(_))));
        (numbers, file)
    }

    #[test]
    fn the_same_numbers() {
        let (numbers, file) = file();
        let chunks = Chunks::of(&file).unwrap();
        assert_eq!(
            decode(&file, &chunks, &Limits::default(), 2, &|_| Ok(())).as_ref(),
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
            let done =
                decompress_into_watched(&file, &mut room, &limits, threads, &|_| Ok(())).unwrap();
            assert_eq!(done, Decompressed { count: 3000, finished: true });
            assert_eq!((&room[..3000], &room[3000..]), (&numbers[..], &[0; 1000][..]));
            let done =
                decompress_into_watched(&file, &mut room[..9], &limits, threads, &count).unwrap();
            assert_eq!(done, Decompressed { count: 9, finished: false });
            assert_eq!(seen.load(Ordering::Relaxed), 6009);
            let stop = |_| Err(Error::invalid("enough"));
            for error in [
                compress_parallel(&numbers, &config, threads, &stop).unwrap_err(),
                decompress_watched::<u16>(&file, &limits, threads, &stop).unwrap_err(),
                decompress_into_watched(&file, &mut room[..3000], &limits, threads, &stop)
                    .unwrap_err(),
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
                    let threads = NonZero::new(threads).unwrap();
                    let quiet = &|_: usize| Ok(());
                    let found = decompress_into_watched(file, &mut many, &limits, threads, quiet);
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
