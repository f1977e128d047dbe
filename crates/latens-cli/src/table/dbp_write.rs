//! One column of integers as a bare DELTA_BINARY_PACKED stream.

use latens::delta_binary_packed::{Element, Layout, Options, decode, encode};
use latens::{AnyNumbers, Limits, Number, NumberType};
use std::io::Write;
use std::time::Instant;

use crate::array::bytes::from_le;
use crate::array::source::Source;
use crate::format::Format;
use crate::job::{CompressJob, Input};
use crate::message::{Failure, Result};
use crate::output::OutputFile;
use crate::report::{ColumnReport, CompressReport, bits_per_value};
use crate::table::compress::opened;
use crate::table::dbp::read_all;
use crate::table::flat::widen;
use crate::table::one::OnlyColumn;
use crate::table::piece::any_numbers;
use crate::table::reading::named;
use crate::table::source::PIECE_ROWS;

/// Compress one column of integers, from an array or a table; all of it lies in memory.
///
/// # Errors
/// Bad input, I/O; values that are no integers, or null; an output that does not read back.
pub fn compress(job: &CompressJob, out: &mut OutputFile) -> Result<CompressReport> {
    let started = Instant::now();
    let (name, numbers) = match job.from {
        Format::Npy | Format::Raw | Format::Pco => from_array(job)?,
        _ => from_table(job)?,
    };
    let ty = numbers.number_type();
    let n = numbers.len() as u64;
    match &numbers {
        AnyNumbers::I32(v) => write(v, job.verify, out)?,
        AnyNumbers::I64(v) => write(v, job.verify, out)?,
        AnyNumbers::U32(v) => write(v, job.verify, out)?,
        AnyNumbers::U64(v) => write(v, job.verify, out)?,
        _ => return Err(no_integers(ty.name())),
    }
    let bytes = out.written();
    Ok(CompressReport {
        input: job.input.name(),
        output: job.output.name(),
        input_bytes: job.input.size().unwrap_or(0),
        output_bytes: bytes,
        seconds: started.elapsed().as_secs_f64(),
        verified: job.verify,
        columns: vec![ColumnReport {
            name,
            logical_type: ty.name().to_string(),
            n,
            nulls: 0,
            encoding: "delta".into(),
            mode: "-".into(),
            delta: "-".into(),
            bytes,
            bits_per_value: bits_per_value(bytes, n),
            raw_bytes: n * ty.bytes() as u64,
        }],
        left_out: Vec::new(),
        peers: Vec::new(),
    })
}

#[cold]
fn no_integers(ty: &str) -> Failure {
    Failure::usage(format!("a .dbp holds integers, not {ty}")).hint("write .pco or .pco.zip")
}

fn from_array(job: &CompressJob) -> Result<(String, AnyNumbers)> {
    let named = |e: Failure| named(e, &job.input);
    let mut source = Source::open(&job.input, job.from, job.to, job.number_type).map_err(named)?;
    let ty = source.number_type();
    if is_float(ty) {
        return Err(no_integers(ty.name()));
    }
    let mut bytes = Vec::new();
    loop {
        let more = source.next(PIECE_ROWS).map_err(named)?;
        if more.is_empty() {
            break;
        }
        job.progress.add(more.len() as u64);
        bytes.extend(more);
    }
    let numbers = latens::with_number_type!(ty, T => any_numbers(from_le::<T>(&bytes)));
    let name = match &job.input {
        Input::Stdin => "-".to_string(),
        Input::File(path) => Format::stem(path),
    };
    Ok((name, widen(numbers)))
}

fn from_table(job: &CompressJob) -> Result<(String, AnyNumbers)> {
    let table = opened(job)?;
    let mut column = OnlyColumn::open(&*table, job.to, &job.input)?;
    let ty = column.number_type();
    if is_float(ty) {
        return Err(no_integers(ty.name()));
    }
    let mut bytes = Vec::new();
    loop {
        let numbers = column.next(PIECE_ROWS)?;
        if numbers.is_empty() {
            break;
        }
        bytes.extend(numbers.to_le_bytes());
    }
    let numbers = latens::with_number_type!(ty, T => any_numbers(from_le::<T>(&bytes)));
    Ok((column.name().to_string(), widen(numbers)))
}

fn is_float(ty: NumberType) -> bool {
    matches!(ty, NumberType::F16 | NumberType::F32 | NumberType::F64)
}

fn write<T: Element + Number>(numbers: &[T], verify: bool, out: &mut OutputFile) -> Result<()> {
    out.write_all(&encode(numbers, Layout::default_for::<T>()))?;
    if !verify {
        return Ok(());
    }
    let bytes = read_all(&out.read_back()?)?;
    let back = decode::<T>(&bytes, Limits::default(), Options::STRICT)?;
    match back.1 == bytes.len() && back.0 == numbers {
        true => Ok(()),
        false => Err(Failure::new("what was written does not read back as what was read")
            .hint("nothing is kept; this is a bug of latens, or a fault of the disk or memory")),
    }
}
