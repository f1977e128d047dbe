//! Chunks encoded side by side, written in order.

use crate::error::Result;
use crate::number::{AnySlice, Number};
use crate::pco::config::Config;
use crate::pco::standalone::{Encoder, encode_any_chunk};
use crate::threads::line::in_order;
use crate::watch::Watch;
use std::io::Write;

/// Like [`compress`](crate::pco::compress), on `threads` threads (0 for as many as there are cores),
/// this one included, and with a [`Watch`]. The bytes are the same.
///
/// ```
/// use latens::{Watch, pco};
/// let numbers: Vec<u32> = (0..600_000).collect();
/// let config = pco::Config::default();
/// let file = pco::compress_with(&numbers, &config, 2, &Watch::NONE)?;
/// assert_eq!(file, pco::compress(&numbers, &config)?);
/// # Ok::<(), latens::Error>(())
/// ```
///
/// # Errors
/// As [`compress`](crate::pco::compress), and that of `watch`.
pub fn compress_with<T: Number>(
    numbers: &[T],
    config: &Config,
    threads: usize,
    watch: &Watch,
) -> Result<Vec<u8>> {
    compress_any_with(numbers.into(), config, threads, watch)
}

/// [`compress_with`] for numbers whose type is known only at run time.
///
/// ```
/// use latens::{AnyNumbers, Limits, Watch, pco};
/// let numbers = AnyNumbers::from((0..1000).collect::<Vec<i16>>());
/// let config = pco::Config::default();
/// let file = pco::compress_any_with(numbers.as_any_slice(), &config, 0, &Watch::NONE)?;
/// assert_eq!(pco::decompress_any_with(&file, None, Limits::default(), 0, &Watch::NONE)?, numbers);
/// # Ok::<(), latens::Error>(())
/// ```
///
/// # Errors
/// Those of [`compress_with`].
pub fn compress_any_with(
    numbers: AnySlice<'_>,
    config: &Config,
    threads: usize,
    watch: &Watch,
) -> Result<Vec<u8>> {
    let mut file = Vec::new();
    compress_any_to(numbers, config, &mut file, threads, watch)?;
    Ok(file)
}

/// Like [`compress_with`], to a writer, which is handed back. Chunks are written by this thread, in order, while
/// others are encoded; only a few for each thread wait to be.
///
/// # Errors
/// As [`compress_with`], and I/O.
pub fn compress_to<T: Number, W: Write>(
    numbers: &[T],
    config: &Config,
    mut writer: W,
    threads: usize,
    watch: &Watch,
) -> Result<W> {
    compress_any_to(numbers.into(), config, &mut writer, threads, watch)?;
    Ok(writer)
}

/// [`compress_to`] for numbers whose type is known only at run time.
///
/// # Errors
/// Those of [`compress_to`].
pub fn compress_any_to(
    numbers: AnySlice<'_>,
    config: &Config,
    writer: &mut dyn Write,
    threads: usize,
    watch: &Watch,
) -> Result<()> {
    let asking;
    let config = match *watch == Watch::NONE {
        true => config,
        false => {
            asking = Config { watch: watch.clone(), ..config.clone() };
            &asking
        }
    };
    let n = numbers.len();
    let mut encoder = Encoder::new(writer, numbers.number_type(), n as u64, config)?;
    let mut from = 0;
    let chunk = |len| {
        from += len;
        numbers.range(from - len..from)
    };
    let chunks: Vec<AnySlice<'_>> = config.chunk_lens(n).map(chunk).collect();
    let encode = |(): &mut (), i: usize| {
        let encoded = encode_any_chunk(chunks[i], config)?;
        watch.done(chunks[i].len() as u64)?;
        Ok(encoded)
    };
    let write = |encoded| encoder.write_encoded(encoded).map(|_| ());
    in_order(chunks.len(), crate::threads::count(threads), || (), encode, write)?;
    encoder.finish().map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Knows how many chunks are encoded when bytes come.
    struct Written<'a>(&'a AtomicU64, Vec<u64>);

    impl Write for Written<'_> {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.1.push(self.0.load(Ordering::Relaxed));
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn chunks_are_written_while_others_are_encoded() {
        const CHUNKS: u64 = 60;
        let numbers: Vec<u64> = (0..256 * CHUNKS).map(|i| (i * i) >> 9).collect();
        let config = Config::default().chunk_n(256);
        for threads in [1, 2, 3] {
            let done = Arc::new(AtomicU64::new(0));
            let own = Arc::clone(&done);
            let watch = Watch::new(move |step| {
                own.fetch_add(u64::from(step.done > 0), Ordering::Relaxed);
                Ok(())
            });
            let writer = Written(&done, Vec::new());
            let Written(_, at) = compress_to(&numbers, &config, writer, threads, &watch).unwrap();
            assert_eq!(done.load(Ordering::Relaxed), CHUNKS);
            // The header comes before all of them.
            assert_eq!(at[0], 0);
            let early = at.iter().filter(|&&done| done > 0 && done < CHUNKS / 2).count();
            assert!(early > 0, "{threads} threads: {at:?}");
        }
    }

    #[test]
    fn a_single_chunk_asks_on_its_way() {
        let numbers: Vec<u64> = (0..50_000).map(|i| i * i % 7919).collect();
        let config = Config::default();
        let calls_until = |last: u64| {
            let calls = Arc::new(AtomicU64::new(0));
            let own = Arc::clone(&calls);
            let watch =
                Watch::new(move |_| match own.fetch_add(1, Ordering::Relaxed) + 1 == last {
                    true => Err(Error::stopped()),
                    false => Ok(()),
                });
            let made = compress_with(&numbers, &config, 1, &watch);
            (calls.load(Ordering::Relaxed), made)
        };
        let (all, made) = calls_until(u64::MAX);
        assert_eq!(made.unwrap(), crate::pco::compress(&numbers, &config).unwrap());
        assert!(all >= 5, "{all}");
        for last in 1..=all {
            let (calls, made) = calls_until(last);
            assert!(made.unwrap_err().is_stopped());
            assert_eq!(calls, last);
        }
    }
}
