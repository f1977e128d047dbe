//! An input as a table.

use crate::array::source as bytes;
use crate::format::Format;
use crate::io::csv::CsvTable;
use crate::io::parquet::ParquetTable;
use crate::io::pco_zip::PcoZipTable;
use crate::job::Input;
use crate::message::{Failure, Result};
use crate::table::array::ArrayTable;
use crate::table::dbp::DbpTable;
use crate::table::model::Schema;
use crate::table::piece::Piece;
use crate::table::reading::{Reading, named, shared};
use crate::table::source::{Column, Table};

/// Open a table.
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
            .and_then(|file| ParquetTable::open(file, reading.skip_nested))
            .map(|table| Box::new(table) as _),
        Format::PcoZip => {
            shared(reading.input).and_then(PcoZipTable::open).map(|table| Box::new(table) as _)
        }
        Format::Npy | Format::Raw => shared(reading.input)
            .and_then(|file| ArrayTable::open(file, reading))
            .map(|table| Box::new(table) as _),
        Format::Dbp => {
            let ty = reading.number_type.ok_or_else(|| {
                Failure::usage("a .dbp does not say of which type its numbers are")
                    .hint("add --type i32|i64|u32|u64")
            })?;
            let name = match reading.input {
                Input::Stdin => "values".to_string(),
                Input::File(path) => Format::stem(path),
            };
            shared(reading.input)
                .and_then(|file| DbpTable::open(&file, ty, name))
                .map(|table| Box::new(table) as _)
        }
        other => Err(Failure::usage(format!("{other} is not read as a table"))),
    };
    let table = table.map_err(|e| named(e, reading.input))?;
    Ok(Box::new(Named { table, input: reading.input.clone() }))
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
    fn left_out(&self) -> &[String] {
        self.table.left_out()
    }
    fn column(&self, index: usize) -> Result<Box<dyn Column + '_>> {
        let column = self.table.column(index).map_err(|e| named(e, &self.input))?;
        Ok(Box::new(NamedColumn { column, input: &self.input }))
    }
    fn column_bytes(&self, index: usize) -> u64 {
        self.table.column_bytes(index)
    }
}

impl Column for NamedColumn<'_> {
    fn next(&mut self, rows: usize) -> Result<Piece> {
        self.column.next(rows).map_err(|e| named(e, self.input))
    }
}
