//! A table as CSV.

use crate::io::section::SharedFile;
use crate::message::{Failure, Result};
use crate::output::{OutputFile, not_for_terminals};
use crate::parallel;
use crate::table::model::Field;
use crate::table::piece::{ByteValues, Piece};
use crate::table::source::{Column, PIECE_ROWS, Table};
use csv::{ByteRecord, ReaderBuilder, WriterBuilder};

use super::read::foreign;
use super::text;

/// A column on its way to text.
struct Formatted<'a> {
    field: &'a Field,
    column: Box<dyn Column + 'a>,
    rest: Piece,
}

/// The fields of a table, a batch of rows after the other, columns formatted in parallel.
struct Batches<'a> {
    columns: Vec<Formatted<'a>>,
}

impl<'a> Batches<'a> {
    fn new(table: &'a dyn Table) -> Result<Self> {
        let fields = table.schema().fields.iter().enumerate();
        let columns = fields.map(|(index, field)| {
            let mut column = table.column(index)?;
            let rest = column.next(PIECE_ROWS)?;
            Ok(Formatted { field, column, rest })
        });
        Ok(Batches { columns: columns.collect::<Result<_>>()? })
    }

    /// The next rows, by column, and how many; `None` after the last.
    fn next(&mut self) -> Result<Option<(usize, Vec<ByteValues>)>> {
        parallel::map_mut(&mut self.columns, &|_, column| {
            if column.rest.rows == 0 {
                column.rest = column.column.next(PIECE_ROWS)?;
            }
            Ok(())
        })?;
        let rows = self.columns.iter().map(|column| column.rest.rows);
        let (least, most) = (rows.clone().min().unwrap_or(0), rows.max().unwrap_or(0));
        if least == 0 {
            return match most {
                0 => Ok(None),
                _ => Err(Failure::new("corrupt: columns of different lengths")),
            };
        }
        let columns = parallel::map_mut(&mut self.columns, &|_, column| {
            let piece = column.rest.split_front(least);
            text::fields(column.field, &piece)
                .map_err(|e| e.within(format!("column {}", column.field.name)))
        })?;
        Ok(Some((least, columns)))
    }
}

/// Write a table; a table without columns is an empty file.
///
/// # Errors
/// Those of the source and of the output; bytes that are no text for a terminal.
pub fn write(table: &dyn Table, out: &mut OutputFile) -> Result<()> {
    let fields = &table.schema().fields;
    if out.is_terminal() && !fields.iter().all(text::is_text) {
        return Err(not_for_terminals());
    }
    let mut writer = WriterBuilder::new().buffer_capacity(1 << 18).from_writer(out);
    if fields.is_empty() {
        return Ok(());
    }
    writer.write_record(fields.iter().map(|field| &field.name)).map_err(|e| foreign(&e))?;
    let mut batches = Batches::new(table)?;
    while let Some((rows, columns)) = batches.next()? {
        for row in 0..rows {
            let record = columns.iter().map(|column| column.get(row));
            writer.write_record(record).map_err(|e| foreign(&e))?;
        }
    }
    writer.flush()?;
    Ok(())
}

/// Whether a file that [`write()`] made holds the table, field by field.
///
/// # Errors
/// The first difference.
pub fn check(table: &dyn Table, written: &SharedFile) -> Result<()> {
    let differs = |row: u64| {
        Failure::new("what was written does not read back the same").within(format!("row {row}"))
    };
    let mut reader = ReaderBuilder::new().from_reader(written.section(0, written.len()));
    let names = reader.byte_headers().map_err(|e| foreign(&e))?;
    let fields = &table.schema().fields;
    if !names.iter().eq(fields.iter().map(|field| field.name.as_bytes())) {
        return Err(Failure::new("the header line that was written does not read back the same"));
    }
    let mut batches = Batches::new(table)?;
    let mut record = ByteRecord::new();
    let mut row = 0u64;
    while let Some((rows, columns)) = batches.next()? {
        for i in 0..rows {
            let there = reader.read_byte_record(&mut record).map_err(|e| foreign(&e))?;
            if !there || !record.iter().eq(columns.iter().map(|column| column.get(i))) {
                return Err(differs(row));
            }
            row += 1;
        }
    }
    match reader.read_byte_record(&mut record).map_err(|e| foreign(&e))? {
        true => Err(differs(row)),
        false => Ok(()),
    }
}
