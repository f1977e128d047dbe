//! Chunks encoded side by side, written in order.

use crate::error::{Error, Result};
use crate::number::{AnySlice, Number};
use crate::pco::config::Config;
use crate::pco::standalone::{EncodedChunk, Encoder, encode_any_chunk};
use crate::threads::{Jobs, side_by_side};
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

/// Like [`compress_with`], to a writer, which is handed back. On one thread a chunk is written
/// before the next one is encoded; on several all are encoded before the first is written.
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
    let mut jobs = Vec::new();
    let mut from = 0;
    for len in config.chunk_lens(n) {
        jobs.push(numbers.range(from..from + len));
        from += len;
    }
    let encode = |chunk: AnySlice<'_>| {
        let encoded = encode_any_chunk(chunk, config)?;
        watch.done(chunk.len() as u64)?;
        Ok(encoded)
    };
    let threads = if jobs.len() < 2 { 1 } else { crate::threads::count(threads).min(jobs.len()) };
    if threads < 2 {
        for chunk in jobs {
            encoder.write_encoded(encode(chunk)?)?;
        }
        return encoder.finish().map(|_| ());
    }
    let count = jobs.len();
    let jobs = Jobs::new(jobs);
    let work = || {
        let mut done: Vec<(usize, Result<EncodedChunk>)> = Vec::new();
        while let Some((i, chunk)) = jobs.next() {
            let encoded = encode(chunk);
            if encoded.is_err() {
                jobs.end();
            }
            done.push((i, encoded));
        }
        done
    };
    let mut all = side_by_side(threads, work).into_iter().flatten().collect::<Vec<_>>();
    all.sort_unstable_by_key(|(i, _)| *i);
    let mut written = 0;
    for (_, chunk) in all {
        encoder.write_encoded(chunk?)?;
        written += 1;
    }
    match written == count {
        true => encoder.finish().map(|_| ()),
        false => Err(Error::invalid("chunks were left out")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

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
