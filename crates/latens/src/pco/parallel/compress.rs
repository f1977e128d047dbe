//! Chunks encoded side by side, written in order.

use crate::error::{Error, Result};
use crate::number::Number;
use crate::pco::config::Config;
use crate::pco::standalone::{EncodedChunk, Encoder, encode_chunk};
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
    compress_to(numbers, config, Vec::new(), threads, watch)
}

/// Like [`compress_with`], to a writer, which is handed back. On one thread a chunk is written
/// before the next one is encoded; on several all are encoded before the first is written.
///
/// # Errors
/// As [`compress_with`], and I/O.
pub fn compress_to<T: Number, W: Write>(
    numbers: &[T],
    config: &Config,
    writer: W,
    threads: usize,
    watch: &Watch,
) -> Result<W> {
    let asking;
    let config = match *watch == Watch::NONE {
        true => config,
        false => {
            asking = Config { watch: watch.clone(), ..config.clone() };
            &asking
        }
    };
    let mut encoder = Encoder::new(writer, T::TYPE, numbers.len() as u64, config)?;
    let mut jobs = Vec::new();
    let mut rest = numbers;
    for len in config.chunk_lens(numbers.len()) {
        let (chunk, behind) = rest.split_at(len);
        jobs.push(chunk);
        rest = behind;
    }
    let encode = |chunk: &[T]| {
        let encoded = encode_chunk(chunk, config)?;
        watch.done(chunk.len() as u64)?;
        Ok(encoded)
    };
    let threads = if jobs.len() < 2 { 1 } else { crate::threads::count(threads).min(jobs.len()) };
    if threads < 2 {
        for chunk in jobs {
            encoder.write_encoded(encode(chunk)?)?;
        }
        return encoder.finish();
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
        true => encoder.finish(),
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
