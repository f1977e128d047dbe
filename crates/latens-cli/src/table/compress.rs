//! `compress` on tables: an input opened as a table, an output that pulls from it, and the check.

use std::time::Instant;

use crate::format::Format;
use crate::io::section::SharedFile;
use crate::io::{csv, parquet, pco_zip};
use crate::job::CompressJob;
use crate::message::{Failure, Result};
use crate::output::OutputFile;
use crate::parallel;
use crate::report::{ColumnReport, CompressReport, bits_per_value};
use crate::table::compare::compare;
use crate::table::flat::Flat;
use crate::table::open::open_columns;
use crate::table::peers;
use crate::table::reading::{Reading, named};
use crate::table::source::{PIECE_ROWS, Table};
use crate::verb::say_note;

/// The columns of the input that are asked for.
///
/// # Errors
/// Bad input, I/O; nested columns, unless they are left out or not chosen.
pub fn opened(job: &CompressJob) -> Result<Box<dyn Table>> {
    let reading = Reading {
        input: &job.input,
        format: job.from,
        number_type: job.number_type,
        skip_nested: job.skip_unsupported,
        progress: &job.progress,
    };
    let nested = "--skip-unsupported leaves them out, --columns names those to take";
    let table = open_columns(&reading, job.columns.as_deref(), nested)?;
    if let Some(note) = table.note().filter(|_| job.peers) {
        say_note(&job.input.name(), note);
    }
    Ok(table)
}

/// Compress a table, or an array of any shape, to `.pco.zip`, Parquet or CSV.
///
/// # Errors
/// Bad input, I/O, or an output that does not read back as what was read.
pub fn compress(job: &CompressJob, out: &mut OutputFile) -> Result<CompressReport> {
    let started = Instant::now();
    let all = opened(job)?;
    let flat = match job.to {
        Format::PcoZip => None,
        _ => Some(Flat::new(&*all).map_err(|e| named(e, &job.input))?),
    };
    let table = flat.as_ref().map_or(&*all, |flat| flat as &dyn Table);
    let done = |bytes| match job.from {
        // Its bytes have been counted as they were read.
        Format::Csv => {}
        _ => job.progress.add(bytes),
    };
    let columns = match job.to {
        Format::PcoZip => pco_zip::write(table, &job.config, out, &done)?,
        Format::Parquet => {
            let written = parquet::write(table, &job.parquet, out)?;
            parquet_columns(table, &written)?
        }
        Format::Csv => {
            csv::write(table, out)?;
            plain_columns(table, "text")?
        }
        other => return Err(Failure::usage(format!("a table is not written as {other}"))),
    };
    if job.verify {
        let written = out.read_back()?;
        check(table, written, job.to)?;
    }
    let peers = match job.peers {
        true => peers::measure(table)?,
        false => Vec::new(),
    };
    Ok(CompressReport {
        input: job.input.name(),
        output: job.output.name(),
        input_bytes: job.input.size().unwrap_or(0),
        output_bytes: out.written(),
        seconds: started.elapsed().as_secs_f64(),
        verified: job.verify,
        columns,
        left_out: all.left_out().to_vec(),
        peers,
    })
}

/// Read what was written and compare it with its source.
fn check(table: &dyn Table, written: SharedFile, format: Format) -> Result<()> {
    let report = |e: Failure| {
        e.hint("this is a bug of latens, or a fault of the disk or memory: please report it")
    };
    match format {
        Format::Csv => csv::check(table, &written).map_err(report),
        Format::Parquet => {
            let copy = parquet::ParquetTable::open(written, false).map_err(report)?;
            compare(table, &copy)
        }
        _ => {
            let copy = pco_zip::PcoZipTable::open(written).map_err(report)?;
            compare(table, &copy)
        }
    }
}

fn parquet_columns(table: &dyn Table, written: &[parquet::Written]) -> Result<Vec<ColumnReport>> {
    let mut columns = plain_columns(table, "plain")?;
    for (column, written) in columns.iter_mut().zip(written) {
        column.bytes = written.bytes;
        column.bits_per_value = bits_per_value(written.bytes, column.n);
        if !written.encoding.is_empty() {
            column.encoding.clone_from(&written.encoding);
        }
    }
    Ok(columns)
}

/// Reports of columns of which only the source is known.
fn plain_columns(table: &dyn Table, encoding: &str) -> Result<Vec<ColumnReport>> {
    let fields = &table.schema().fields;
    parallel::map(fields.len(), &|index| {
        let field = &fields[index];
        let mut column = table.column(index)?;
        let (mut nulls, mut raw_bytes) = (0u64, 0u64);
        loop {
            let piece = column.next(PIECE_ROWS)?;
            if piece.rows == 0 {
                break;
            }
            nulls += piece.nulls() as u64;
            raw_bytes += field.raw_bytes(&piece.values);
        }
        Ok(ColumnReport {
            name: field.name.clone(),
            logical_type: field.type_name(),
            n: table.rows(),
            nulls,
            encoding: encoding.into(),
            mode: "-".into(),
            delta: "-".into(),
            bytes: 0,
            bits_per_value: 0.0,
            raw_bytes,
        })
    })
}
