//! `latens bench`: sizes and speeds of codecs on the user's own file, in memory.

mod codec;
mod data;
mod held;

use bytes::Bytes;
use serde::Serialize;
use std::time::{Duration, Instant};

use crate::message::{Failure, Result};
use crate::parallel;
use codec::Codec;

pub use codec::NAMES;
pub use data::{Data, checkpoint, columns};

/// Rounds go on until a codec has taken so long, but at least three of them.
const ENOUGH: Duration = Duration::from_secs(3);
const ROUNDS: usize = 9;

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct BenchReport {
    /// Path as given.
    pub input: String,
    /// Bytes of the values in memory.
    pub bytes: u64,
    /// How many columns, or 0 for a checkpoint.
    pub columns: usize,
    /// Columns that no codec here is for.
    pub left_out: Vec<String>,
    /// Whether only the first part of a large input was measured.
    pub only_a_part: bool,
    /// Threads that columns, or a checkpoint's tensors, were shared among.
    pub threads: usize,
    /// In the order asked for.
    pub codecs: Vec<CodecReport>,
}

/// One codec.
#[derive(Clone, Debug, Serialize)]
pub struct CodecReport {
    /// `latens-8`, `zstd-3`, …
    pub codec: String,
    /// Sum of all columns.
    pub bytes: u64,
    /// Raw bytes to these.
    pub ratio: f64,
    /// Median over the rounds, in 10^6 bytes of values a second of wall time.
    pub compress_mb_s: f64,
    /// The same, back.
    pub decompress_mb_s: f64,
    /// Rounds taken.
    pub rounds: usize,
}

/// Measures these codecs by turns, on the threads of the pool at hand; every result is compared with what went in. `progress` is told
/// what is at hand.
///
/// # Errors
/// A codec that does not give back what went in.
pub fn run(
    input: String,
    data: &Data,
    names: &[String],
    progress: &dyn Fn(&str),
) -> Result<BenchReport> {
    let threads = rayon::current_num_threads();
    let of_each = (threads / data.items().max(1)).max(1);
    let codecs: Vec<Box<dyn Codec>> =
        names.iter().map(|name| codec::by_name(name, data, of_each)).collect::<Result<_>>()?;
    let mut measured: Vec<Measured> = codecs.iter().map(|_| Measured::default()).collect();
    for round in 0..ROUNDS {
        let mut any = false;
        for (codec, measured) in codecs.iter().zip(&mut measured) {
            if round < 3 || measured.spent < ENOUGH {
                progress(&format!("{}, round {}", codec.name(), round + 1));
                measured.round(&**codec, data, threads)?;
                any = true;
            }
        }
        if !any {
            break;
        }
    }
    let raw = data.bytes();
    let report = |(codec, measured): (&dyn Codec, &Measured)| CodecReport {
        codec: codec.name(),
        bytes: measured.bytes,
        ratio: raw as f64 / measured.bytes.max(1) as f64,
        compress_mb_s: megabytes(raw, &measured.compress),
        decompress_mb_s: megabytes(raw, &measured.decompress),
        rounds: measured.compress.len(),
    };
    Ok(BenchReport {
        input,
        bytes: raw,
        columns: data.columns(),
        left_out: data.left_out.clone(),
        only_a_part: data.only_a_part,
        threads,
        codecs: codecs.iter().map(|codec| &**codec).zip(&measured).map(report).collect(),
    })
}

/// Times of one codec.
#[derive(Default)]
struct Measured {
    bytes: u64,
    spent: Duration,
    compress: Vec<Duration>,
    decompress: Vec<Duration>,
}

impl Measured {
    fn round(&mut self, codec: &dyn Codec, data: &Data, threads: usize) -> Result<()> {
        let started = Instant::now();
        let packed = parallel::map(data.items(), &|index| codec.compress(index))?;
        let compress = started.elapsed();
        // To be shared: Parquet's reader keeps its bytes, and is not to copy them in its time.
        let packed: Vec<Bytes> = packed.into_iter().map(Bytes::from).collect();
        let mut decompress = Duration::ZERO;
        // No more at a time than threads: what comes back is held until it is compared.
        for start in (0..packed.len()).step_by(threads) {
            let some = &packed[start..packed.len().min(start + threads)];
            let started = Instant::now();
            let backs = parallel::map(some.len(), &|i| codec.decompress(start + i, &some[i]))?;
            decompress += started.elapsed();
            for (index, back) in (start..).zip(&backs) {
                if !data.same(index, back) {
                    let what = format!("{} does not give back what went in", codec.name());
                    return Err(Failure::new(what).within(data.name(index)));
                }
            }
        }
        self.bytes = packed.iter().map(|packed| packed.len() as u64).sum();
        self.spent += compress + decompress;
        self.compress.push(compress);
        self.decompress.push(decompress);
        Ok(())
    }
}

fn megabytes(bytes: u64, times: &[Duration]) -> f64 {
    let mut times = times.to_vec();
    times.sort_unstable();
    let median = times.get(times.len() / 2).map_or(0.0, Duration::as_secs_f64);
    if median > 0.0 { bytes as f64 / 1e6 / median } else { 0.0 }
}
