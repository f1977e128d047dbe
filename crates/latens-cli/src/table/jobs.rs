//! The verbs on tables: an input opened as a table, an output that pulls from it, and the check.

use std::time::Instant;

use crate::format::Format;
use crate::io::section::SharedFile;
use crate::io::{csv, parquet, pco_zip};
use crate::job::{CompressJob, DecompressJob, Input};
use crate::message::{Failure, Result};
use crate::output::OutputFile;
use crate::parallel;
use crate::progress::Progress;
use crate::report::{ColumnReport, CompressReport, DecompressReport, Verified, bits_per_value};
use crate::table::array::ArrayTable;
use crate::table::compare::compare;
use crate::table::open::open;
use crate::table::reading::{Reading, named, shared};
use crate::table::source::{Head, PIECE_ROWS, Projection, Table};
use crate::table::{npy, peers};

/// Compress a table, or an array of any shape, to `.pco.zip`, Parquet or CSV.
///
/// # Errors
/// Bad input, I/O, or an output that does not read back as what was read.
pub fn compress(job: &CompressJob, out: &mut OutputFile) -> Result<CompressReport> {
    let started = Instant::now();
    let reading = Reading {
        input: &job.input,
        format: job.from,
        number_type: job.number_type,
        skip_nested: job.skip_unsupported,
        progress: &job.progress,
    };
    let array = matches!(job.from, Format::Npy | Format::Raw);
    let all: Box<dyn Table> = match array && job.to != Format::PcoZip {
        true => {
            let file = shared(&job.input).map_err(|e| named(e, &job.input))?;
            let table = ArrayTable::open(file, &reading).and_then(ArrayTable::flat);
            Box::new(table.map_err(|e| named(e, &job.input))?)
        }
        false => open(&reading)?,
    };
    let chosen = job.columns.as_ref().map(|names| Projection::new(&*all, names)).transpose()?;
    let table = chosen.as_ref().map_or(&*all, |chosen| chosen as &dyn Table);
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
            csv::write(table, &mut *out)?;
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

/// Decompress `.pco.zip` or Parquet to Parquet, CSV, `.npy`, or bare numbers.
///
/// # Errors
/// Bad input, I/O, a limit passed.
pub fn decompress(job: &DecompressJob, out: &mut OutputFile) -> Result<DecompressReport> {
    let started = Instant::now();
    let all = open(&Reading {
        input: &job.input,
        format: job.from,
        number_type: job.number_type,
        skip_nested: false,
        progress: &job.progress,
    })?;
    let chosen = job.columns.as_ref().map(|names| Projection::new(&*all, names)).transpose()?;
    let table = chosen.as_ref().map_or(&*all, |chosen| chosen as &dyn Table);
    let head = job.limit.map(|rows| Head::new(table, rows));
    let table = head.as_ref().map_or(table, |head| head as &dyn Table);
    let written = match job.to {
        Format::Parquet => parquet::write(table, &parquet::Options::default(), out).map(|_| ()),
        Format::Csv => csv::write(table, &mut *out),
        Format::Npy => npy::write(table, true, &mut *out),
        Format::Raw => npy::write(table, false, &mut *out),
        other => Err(Failure::usage(format!("a table is not written as {other}"))),
    };
    written?;
    job.progress.add(job.input.size().unwrap_or(0));
    let whole = table.rows() == all.rows();
    let checksum = match job.from {
        Format::PcoZip if whole => "verified",
        Format::PcoZip => "not checked",
        _ => "absent",
    };
    Ok(DecompressReport {
        input: job.input.name(),
        output: job.output.name(),
        input_bytes: job.input.size().unwrap_or(0),
        output_bytes: out.written(),
        seconds: started.elapsed().as_secs_f64(),
        what: what(table),
        checksum: checksum.into(),
    })
}

/// `336776 rows of 19 columns`, `6 f64`.
fn what(table: &dyn Table) -> String {
    let rows = table.rows();
    match (&table.schema().array, table.schema().fields.as_slice()) {
        (Some(_), [field]) => format!("{rows} {}", field.type_name()),
        (_, fields) => {
            let s = |n: u64| if n == 1 { "" } else { "s" };
            let columns = fields.len() as u64;
            format!("{rows} row{} of {columns} column{}", s(rows), s(columns))
        }
    }
}

/// Decode everything and check every checksum.
///
/// # Errors
/// What is wrong with the file.
pub fn verify(input: &Input, format: Format, progress: &Progress) -> Result<Verified> {
    // All widths are legal for numbers of 64 bits: any stream is one of these.
    let number_type = (format == Format::Dbp).then_some(latens::NumberType::I64);
    let reading = Reading { input, format, number_type, skip_nested: true, progress };
    let table = open(&reading)?;
    let fields = &table.schema().fields;
    let read = |index: usize| -> Result<()> {
        let mut column = table.column(index)?;
        loop {
            let piece = column.next(PIECE_ROWS)?;
            if piece.rows == 0 {
                return Ok(());
            }
            progress.add(piece.values.bytes());
        }
    };
    parallel::map(fields.len(), &read)?;
    Ok(Verified {
        what: what(&*table),
        n: table.rows(),
        number_type: match (&table.schema().array, fields.as_slice()) {
            (Some(_), [field]) => Some(field.type_name()),
            _ => None,
        },
        checksum: format == Format::PcoZip,
    })
}

/// What `decompress` writes where no format is named: to a file, and to standard output.
///
/// # Errors
/// Bad input, I/O.
pub fn default_output(input: &Input) -> Result<(Format, Format)> {
    // A pipe cannot be looked into and then read again.
    if input.size().is_none() {
        return Ok((Format::Parquet, Format::Csv));
    }
    let table = shared(input).and_then(pco_zip::PcoZipTable::open).map_err(|e| named(e, input))?;
    Ok(match table.schema().array {
        Some(_) => (Format::Npy, Format::Raw),
        None => (Format::Parquet, Format::Csv),
    })
}
