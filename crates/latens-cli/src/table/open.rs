//! An input as a table.

use crate::array::source as bytes;
use crate::format::Format;
use crate::io::csv::CsvTable;
use crate::io::parquet::ParquetTable;
use crate::io::pco_zip::PcoZipTable;
use crate::job::Input;
use crate::message::{Failure, Result};
use crate::report::Checksums;
use crate::table::array::ArrayTable;
use crate::table::dbp::DbpTable;
use crate::table::model::{Field, Schema};
use crate::table::pco::PcoTable;
use crate::table::piece::Piece;
use crate::table::reading::{Reading, named, shared};
use crate::table::source::{Column, Projection, Table};

/// Open a table; nested columns are left out of it.
///
/// # Errors
/// Bad input, I/O; a format that holds no table.
pub fn open(reading: &Reading<'_>) -> Result<Box<dyn Table>> {
    let table: Result<Box<dyn Table>> = match reading.format {
        Format::Csv => {
            let progress = |n| reading.progress.add(n);
            bytes::open(reading.input)
                .and_then(|reader| CsvTable::read(reader, &progress))
                .map(|table| Box::new(table) as _)
        }
        Format::Parquet => shared(reading.input)
            .and_then(|file| ParquetTable::open(file, true))
            .map(|table| Box::new(table) as _),
        Format::PcoZip => {
            shared(reading.input).and_then(PcoZipTable::open).map(|table| Box::new(table) as _)
        }
        Format::Npy | Format::Raw => shared(reading.input)
            .and_then(|file| ArrayTable::open(file, reading))
            .map(|table| Box::new(table) as _),
        Format::Pco => shared(reading.input)
            .and_then(|file| PcoTable::open(file, column_name(reading.input), false))
            .map(|table| Box::new(table) as _),
        Format::Dbp => {
            let ty = reading.number_type.ok_or_else(|| {
                Failure::usage("a .dbp does not say of which type its numbers are")
                    .hint("add --type i32|i64|u32|u64")
            })?;
            shared(reading.input)
                .and_then(|file| DbpTable::open(&file, ty, column_name(reading.input)))
                .map(|table| Box::new(table) as _)
        }
        other => Err(Failure::usage(format!("{other} is not read as a table"))),
    };
    let table = table.map_err(|e| named(e, reading.input))?;
    Ok(Box::new(Named { table, input: reading.input.clone() }))
}

/// Open these columns of a table, in this order; whether others are nested does not matter then.
/// Of a table of which all are wanted, nested ones are refused, with `advice`, or left out.
///
/// # Errors
/// As [`open`]; a column that is not there; nested columns.
pub fn open_columns(
    reading: &Reading<'_>,
    columns: Option<&[String]>,
    advice: &str,
) -> Result<Box<dyn Table>> {
    let all = open(reading)?;
    if let Some(names) = columns {
        let chosen = Projection::new(all, names).map_err(|e| named(e, reading.input))?;
        return Ok(Box::new(chosen));
    }
    if !reading.skip_nested && !all.left_out().is_empty() {
        let nested = all.left_out().join(", ");
        let failure = Failure::new(format!("nested columns are not supported: {nested}"));
        return Err(named(failure, reading.input).hint(advice));
    }
    Ok(all)
}

/// What the column of an input is called that has no name for it.
pub fn column_name(input: &Input) -> String {
    match input {
        Input::Stdin => "values".to_string(),
        Input::File(path) => Format::stem(path),
    }
}

/// A table whose errors name their file.
struct Named {
    table: Box<dyn Table>,
    input: Input,
}

struct NamedColumn<'a> {
    column: Box<dyn Column + 'a>,
    input: &'a Input,
}

impl Table for Named {
    fn schema(&self) -> &Schema {
        self.table.schema()
    }
    fn rows(&self) -> u64 {
        self.table.rows()
    }
    fn note(&self) -> Option<&str> {
        self.table.note()
    }
    fn left_out(&self) -> &[String] {
        self.table.left_out()
    }
    fn inner(&self) -> &[Field] {
        self.table.inner()
    }
    fn column(&self, index: usize) -> Result<Box<dyn Column + '_>> {
        let column = self.table.column(index).map_err(|e| named(e, &self.input))?;
        Ok(Box::new(NamedColumn { column, input: &self.input }))
    }
    fn column_bytes(&self, index: usize) -> u64 {
        self.table.column_bytes(index)
    }
    fn verify_left_out(&self, done: &(dyn Fn(u64) + Sync)) -> Result<()> {
        self.table.verify_left_out(done).map_err(|e| named(e, &self.input))
    }
    fn checksums(&self) -> Result<Checksums> {
        self.table.checksums().map_err(|e| named(e, &self.input))
    }
}

impl Column for NamedColumn<'_> {
    fn next(&mut self, rows: usize) -> Result<Piece> {
        self.column.next(rows).map_err(|e| named(e, self.input))
    }
    fn skip(&mut self, rows: u64) -> Result<()> {
        self.column.skip(rows).map_err(|e| named(e, self.input))
    }
}
