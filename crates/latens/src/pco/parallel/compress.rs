//! Chunks encoded side by side, written in order.

use crate::error::{Error, Result};
use crate::number::Number;
use crate::pco::config::Config;
use crate::pco::simple::Watch;
use crate::pco::standalone::{EncodedChunk, Encoder, encode_chunk};
use std::io::Write;
use std::num::NonZero;
use std::sync::Mutex;
use std::thread::Builder;

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
    compress_to(Vec::new(), numbers, config, threads, watch)
}

/// Like [`compress_parallel`], to a writer, which is handed back. On one thread a chunk is written
/// before the next one is encoded; on several all are encoded before the first is written.
///
/// # Errors
/// As [`compress_parallel`], and I/O.
pub fn compress_to<T: Number, W: Write>(
    writer: W,
    numbers: &[T],
    config: &Config,
    threads: NonZero<usize>,
    watch: Watch<'_>,
) -> Result<W> {
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
        // Fewer where the system has no more: `scope.spawn` would panic.
        let spawned = |_| Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads).map_while(spawned).collect();
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
