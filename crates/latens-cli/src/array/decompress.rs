//! Standalone Pco to `.npy` or bare numbers, by chunks on all threads or in batches.

use latens::pco::standalone::{Checksum, Decoder, check_start};
use latens::{Limits, NumberType};
use std::fs::File;
use std::io::Write;
use std::time::Instant;

use super::by_chunks::ByChunks;
use super::npy::NpyHeader;
use super::pco::{ending, next_pco, no_type};
use super::source;
use crate::format::Format;
use crate::io::section::Reader;
use crate::job::{DecompressJob, Input};
use crate::message::{Failure, Result};
use crate::output::OutputFile;
use crate::report::DecompressReport;

/// Numbers that are decoded at a time.
const BATCH: usize = 1 << 16;

/// Decompress one column to `out`.
///
/// # Errors
/// Bad input, I/O, a limit passed.
pub fn decompress(job: &DecompressJob, out: &mut OutputFile) -> Result<DecompressReport> {
    let started = Instant::now();
    let named = |e: Failure| match &job.input {
        Input::Stdin => e.in_file("standard input"),
        Input::File(path) => e.in_file(path),
    };
    let start = start(job).map_err(named)?;
    let mut decoder = source::open(&job.input)
        .and_then(|reader| Ok(Decoder::new(reader, Limits::default())?))
        .map_err(named)?;
    let ty = match (decoder.number_type().map_err(|e| named(e.into()))?, job.to) {
        (Some(ty), _) => ty,
        // No numbers, no type: no bytes.
        (None, Format::Raw) => NumberType::U8,
        (None, _) => return Err(named(no_type(&mut decoder, job.allow_trailing))),
    };
    if job.to == Format::Npy {
        out.write_all(&NpyHeader::column(ty, 0).to_bytes())?;
    }
    let (mut n, is_all) = write_by_chunks(job, ty, out)?;
    if !is_all {
        n = write_from(n, job, &mut decoder, ty, out)?;
    }
    if job.to == Format::Npy {
        out.patch(0, &NpyHeader::column(ty, n).to_bytes())?;
    }
    let said = |checksum: Checksum| match checksum {
        Checksum::Verified => "verified",
        _ => "absent",
    };
    let (checksum, trailing_bytes) = match job.limit.is_some_and(|limit| n >= limit) {
        true => (start.map_or("not checked", said), 0),
        false if is_all => (said(Checksum::Verified), 0),
        false => {
            let ending = ending(&mut decoder, job.allow_trailing).map_err(named)?;
            (said(ending.checksum), ending.trailing_bytes)
        }
    };
    Ok(DecompressReport {
        input: job.input.name(),
        output: job.output.name(),
        input_bytes: job.input.size().unwrap_or(0),
        output_bytes: out.written(),
        seconds: started.elapsed().as_secs_f64(),
        what: format!("{n} {ty}"),
        checksum: checksum.into(),
        trailing_bytes,
    })
}

/// What checksums say of the numbers up to `--limit`, where the file can be read at any place: at its
/// end they are not compared then.
fn start(job: &DecompressJob) -> Result<Option<Checksum>> {
    match (&job.input, job.limit) {
        (Input::File(path), Some(limit)) if std::fs::metadata(path).is_ok_and(|m| m.is_file()) => {
            Ok(Some(check_start(&mut File::open(path)?, limit)?))
        }
        _ => Ok(None),
    }
}

/// Writes a file's chunks as all threads decode them, where they can be found; how many numbers that were, and whether
/// they are all and the file is sound.
fn write_by_chunks(
    job: &DecompressJob,
    ty: NumberType,
    out: &mut OutputFile,
) -> Result<(u64, bool)> {
    if job.limit.is_some() {
        return Ok((0, false));
    }
    let Some(chunks) = ByChunks::of_input(&job.input, ty) else { return Ok((0, false)) };
    let mut n = 0;
    let is_all = chunks.each(&|numbers| numbers, &mut |numbers| {
        let bytes = numbers.as_any_slice().le_bytes();
        out.write_all(&bytes)?;
        n += numbers.len() as u64;
        job.progress.add(bytes.len() as u64);
        Ok(())
    })?;
    Ok((n, is_all))
}

/// Writes all numbers but the first `written`, up to the limit; how many there are with those.
fn write_from(
    written: u64,
    job: &DecompressJob,
    decoder: &mut Decoder<Reader>,
    ty: NumberType,
    out: &mut OutputFile,
) -> Result<u64> {
    let mut n = 0u64;
    loop {
        let left = if n < written { written } else { job.limit.unwrap_or(u64::MAX) } - n;
        let want = usize::try_from(left).map_or(BATCH, |left| left.min(BATCH));
        let bytes = next_pco(decoder, ty, want).map_err(|e| match &job.input {
            Input::Stdin => e.in_file("standard input"),
            Input::File(path) => e.in_file(path),
        })?;
        if bytes.is_empty() {
            return Ok(n);
        }
        if n >= written {
            out.write_all(&bytes)?;
            job.progress.add(bytes.len() as u64);
        }
        n += (bytes.len() / ty.bytes()) as u64;
    }
}
