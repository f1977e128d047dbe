//! `decompress` on tables: one that is open already, and an output that pulls from it.

use std::time::Instant;

use crate::format::Format;
use crate::io::{csv, parquet};
use crate::job::DecompressJob;
use crate::message::{Failure, Result};
use crate::output::OutputFile;
use crate::render::units::noun;
use crate::report::{Checksums, DecompressReport};
use crate::table::flat::Flat;
use crate::table::npy;
use crate::table::one::is_plain;
use crate::table::order::COrder;
use crate::table::reading::named;
use crate::table::source::{Head, Table};

/// Write a table, or the first rows of it, as Parquet, CSV, `.npy`, or bare numbers.
///
/// # Errors
/// Bad input, I/O, a limit passed.
pub fn decompress(
    job: &DecompressJob,
    table: &dyn Table,
    out: &mut OutputFile,
) -> Result<DecompressReport> {
    let started = Instant::now();
    let whole = job.limit.is_none_or(|rows| rows >= table.rows());
    let (flat, turned);
    let all = match job.to {
        Format::Parquet | Format::Csv => {
            flat = Flat::new(table).map_err(|e| named(e, &job.input))?;
            &flat as &dyn Table
        }
        // A .npy says how its numbers lie. Bare ones do not, and the first few are those of C order.
        Format::Npy if whole => table,
        _ => {
            turned = COrder::new(table).map_err(|e| named(e, &job.input))?;
            turned.as_ref().map_or(table, |turned| turned as &dyn Table)
        }
    };
    let head = job.limit.map(|rows| Head::new(all, rows));
    let shown = head.as_ref().map_or(all, |head| head as &dyn Table);
    match job.to {
        Format::Parquet => parquet::write(shown, &parquet::Options::default(), out).map(|_| ()),
        Format::Csv => csv::write(shown, out),
        Format::Npy | Format::Raw => npy::write(shown, job.to, &job.input, &mut *out),
        other => Err(Failure::usage(format!("a table is not written as {other}"))),
    }?;
    job.progress.add(job.input.size().unwrap_or(0));
    let checksum = match whole {
        false => "not checked",
        true => match table.checksums()? {
            Checksums::All => "verified",
            Checksums::Some => "partly",
            Checksums::None => "absent",
        },
    };
    Ok(DecompressReport {
        input: job.input.name(),
        output: job.output.name(),
        input_bytes: job.input.size().unwrap_or(0),
        output_bytes: out.written(),
        seconds: started.elapsed().as_secs_f64(),
        what: what(shown, job.from),
        checksum: checksum.into(),
        trailing_bytes: 0,
    })
}

/// `336776 rows of 19 columns`, `6 f64`.
pub fn what(table: &dyn Table, from: Format) -> String {
    let rows = table.rows();
    // Arrays and what holds nothing but numbers have no rows and columns.
    let numbers = matches!(from, Format::Pco | Format::Dbp) || table.schema().array.is_some();
    match table.schema().fields.as_slice() {
        [field] if numbers => format!("{rows} {}", field.type_name()),
        fields => {
            let columns = (fields.len() + table.left_out().len()) as u64;
            format!("{rows} {} of {columns} {}", noun(rows, "row"), noun(columns, "column"))
        }
    }
}

/// The format of a file that no name is given for.
pub fn default_for_file(table: &dyn Table, from: Format) -> Format {
    match from {
        Format::PcoZip if table.schema().array.is_some() => Format::Npy,
        Format::PcoZip => Format::Parquet,
        Format::Dbp => Format::Npy,
        _ => Format::Csv,
    }
}

/// What goes to standard output: bare numbers of one column, CSV of a table.
///
/// # Errors
/// Bad input, I/O.
pub fn default_for_stdout(table: &dyn Table) -> Result<Format> {
    Ok(if is_plain(table)? { Format::Raw } else { Format::Csv })
}
