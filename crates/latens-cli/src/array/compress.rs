//! A column to standalone Pco: chunks encoded side by side, written in order, read back.

use latens::pco::Config;
use latens::pco::standalone::{ChunkSummary, Decoder, EncodedChunk, Encoder, encode_chunk};
use latens::{Limits, Number, NumberType, with_number_type};
use std::time::Instant;

use super::by_chunks::ByChunks;
use super::bytes::{fingerprint, from_le};
use super::pco::next_pco;
use super::source::Source;
use crate::format::Format;
use crate::io::section::Reader;
use crate::job::{CompressJob, Input};
use crate::message::{Failure, Result};
use crate::output::OutputFile;
use crate::parallel;
use crate::report::{ColumnReport, CompressReport};
use crate::table::reading::named;
use crate::zstd_peer::ZstdSize;

/// Compress one column to `out`. Memory: a few chunks for each thread.
///
/// # Errors
/// Bad input, I/O, or an output that does not read back as what was written.
pub fn compress(job: &CompressJob, out: &mut OutputFile) -> Result<CompressReport> {
    let source = Source::open(&job.input, job.from, job.to, job.number_type);
    let name = match &job.input {
        Input::Stdin => "-".to_string(),
        Input::File(path) => Format::stem(path),
    };
    compress_from(job, source.map_err(|e| named(e, &job.input))?, name, out)
}

/// The same for a column that is open already, of this name.
///
/// # Errors
/// As [`compress`].
pub fn compress_from(
    job: &CompressJob,
    source: Source<'_>,
    name: String,
    out: &mut OutputFile,
) -> Result<CompressReport> {
    let started = Instant::now();
    let ty = source.number_type();
    job.config.validate(ty).map_err(|e| Failure::usage(e.what()))?;
    let (done, peer) = write_all(job, source, out)?;
    if job.verify {
        read_back(&done, ty, out)?;
    }
    let raw_bytes = done.n * ty.bytes() as u64;
    Ok(CompressReport {
        input: job.input.name(),
        output: job.output.name(),
        input_bytes: job.input.size().unwrap_or(done.read_bytes(job, raw_bytes)),
        output_bytes: out.written(),
        seconds: started.elapsed().as_secs_f64(),
        verified: job.verify,
        columns: vec![done.column(name, ty.name(), out.written(), raw_bytes)],
        left_out: Vec::new(),
        peers: peer.into_iter().map(|bytes| ("zstd -3".to_string(), bytes)).collect(),
    })
}

/// What has been written.
#[derive(Default)]
struct Done {
    n: u64,
    chunks: Vec<Chunk>,
    largest: Option<ChunkSummary>,
}

struct Chunk {
    n: usize,
    fingerprint: u64,
}

impl Done {
    fn add(&mut self, summary: ChunkSummary, fingerprint: u64) {
        self.n += summary.n as u64;
        self.chunks.push(Chunk { n: summary.n, fingerprint });
        if self.largest.as_ref().is_none_or(|largest| summary.n > largest.n) {
            self.largest = Some(summary);
        }
    }

    /// Bytes of an input whose size cannot be asked for.
    fn read_bytes(&self, job: &CompressJob, raw_bytes: u64) -> u64 {
        match job.from {
            Format::Npy => raw_bytes + super::npy::COLUMN_HEADER_BYTES,
            _ => raw_bytes,
        }
    }

    fn column(&self, name: String, ty: &str, bytes: u64, raw_bytes: u64) -> ColumnReport {
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
        ColumnReport {
            name,
            logical_type: ty.to_string(),
            n: self.n,
            nulls: 0,
            encoding: "pco".into(),
            mode: or_dash(self.largest.as_ref().map(|chunk| chunk.mode.to_string())),
            delta: or_dash(self.largest.as_ref().map(|chunk| chunk.delta.to_string())),
            bytes,
            bits_per_value: crate::report::bits_per_value(bytes, self.n),
            raw_bytes,
        }
    }
}

/// A chunk on its way to the output.
struct Encoded {
    chunk: EncodedChunk,
    fingerprint: u64,
    /// How many bytes its numbers are.
    read: u64,
    /// These, where they are wanted.
    bytes: Option<Vec<u8>>,
}

/// A chunk of numbers that come as bytes, which go as soon as they can, unless they are to be kept.
fn encode<T: Number>(
    bytes: Vec<u8>,
    config: &Config,
    keep: bool,
) -> latens::Result<(EncodedChunk, Option<Vec<u8>>)> {
    let numbers = from_le::<T>(&bytes);
    let bytes = keep.then_some(bytes);
    Ok((encode_chunk(&numbers, config)?, bytes))
}

fn write_all(
    job: &CompressJob,
    mut source: Source<'_>,
    out: &mut OutputFile,
) -> Result<(Done, Option<u64>)> {
    let mut encoder = Encoder::new(&mut *out, source.number_type(), source.n_hint(), &job.config)?;
    let encode = with_number_type!(source.number_type(), T => encode::<T>);
    let mut peer = if job.peers { Some(ZstdSize::new()?) } else { None };
    let mut done = Done::default();
    let mut lens = job.config.chunk_lens(usize::try_from(source.n_hint()).unwrap_or(0));
    // Where nobody says how many numbers there are, chunks are of the largest length.
    let most = job.config.chunk_lens(1 << 40).next().unwrap_or(1).max(1);
    let mut next = || -> Result<Option<Vec<u8>>> {
        let bytes = source.next(lens.next().unwrap_or(most)).map_err(|e| named(e, &job.input))?;
        Ok(Some(bytes).filter(|bytes| !bytes.is_empty()))
    };
    let work = |bytes: Vec<u8>| -> latens::Result<Encoded> {
        let (fingerprint, read) = (fingerprint(&bytes), bytes.len() as u64);
        let (chunk, bytes) = encode(bytes, &job.config, job.peers)?;
        Ok(Encoded { chunk, fingerprint, read, bytes })
    };
    parallel::in_order(&mut next, &work, &mut |encoded| {
        let Encoded { chunk, fingerprint, read, bytes } = encoded?;
        done.add(encoder.write_encoded(chunk)?, fingerprint);
        if let (Some(peer), Some(bytes)) = (&mut peer, bytes) {
            peer.add(&bytes)?;
        }
        job.progress.add(read);
        Ok(true)
    })?;
    encoder.finish()?;
    let peer = peer.map(ZstdSize::finish).transpose()?;
    Ok((done, peer))
}

/// Decode what was written and compare it, chunk by chunk, with what was read.
fn read_back(done: &Done, ty: NumberType, out: &mut OutputFile) -> Result<()> {
    let differs = |chunk: usize| {
        Failure::new("what was written does not read back as what was read; nothing is kept")
            .within(format!("chunk {chunk}"))
            .hint("this is a bug of latens, or a fault of the disk or memory: please report it")
    };
    let unreadable =
        |e: Failure| e.hint("what was just written does not read back: please report it");
    let written = out.read_back()?;
    if let Some(chunks) = ByChunks::of(written.clone(), ty)
        && chunks.lens().eq(done.chunks.iter().map(|chunk| chunk.n))
    {
        let mut index = 0;
        let is_all = chunks.each(
            &|numbers| fingerprint(&numbers.as_any_slice().le_bytes()),
            &mut |fingerprint| {
                match done.chunks[index].fingerprint == fingerprint {
                    true => index += 1,
                    false => return Err(differs(index)),
                }
                Ok(())
            },
        )?;
        // Otherwise it is told below what is wrong.
        if is_all {
            return Ok(());
        }
    }
    let reader: Reader = Box::new(written.buffered(0, u64::MAX));
    let mut decoder = Decoder::new(reader, Limits::default()).map_err(|e| unreadable(e.into()))?;
    for (index, chunk) in done.chunks.iter().enumerate() {
        let bytes = next_pco(&mut decoder, ty, chunk.n).map_err(unreadable)?;
        if bytes.len() != chunk.n * ty.bytes() || fingerprint(&bytes) != chunk.fingerprint {
            return Err(differs(index));
        }
    }
    if !next_pco(&mut decoder, ty, 1).map_err(unreadable)?.is_empty() {
        return Err(differs(done.chunks.len()));
    }
    let ending = decoder.finish().map_err(|e| unreadable(e.into()))?;
    match ending.trailing || ending.consumed != written.len() {
        true => Err(differs(done.chunks.len())),
        false => Ok(()),
    }
}
