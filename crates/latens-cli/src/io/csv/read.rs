//! A CSV file as a table: one pass over the file finds the types and puts the fields away by
//! column, and the columns are parsed where they are asked for.

use crate::message::{Failure, Result};
use crate::parallel;
use crate::render::units::counted;
use crate::table::model::{Field, LogicalType, Schema, Storage};
use crate::table::piece::{ByteValues, Piece, Values, any_numbers};
use crate::table::source::{Column, PIECE_BYTES, PIECE_ROWS, Table, no_column};
use csv::{ByteRecord, Reader, ReaderBuilder};
use latens::{AnyNumbers, Number, NumberType};
use std::io::Read;
use std::str::FromStr;

use super::fields::{Fields, Spool};
use super::infer::Inference;
use super::lines::Lines;

/// A CSV file that has been read.
pub struct CsvTable {
    schema: Schema,
    rows: u64,
    fields: Fields,
}

impl CsvTable {
    /// Read all of `input`; `progress` is told of bytes as they are read.
    ///
    /// # Errors
    /// Records of different lengths, a quote that is never closed, with their place; I/O.
    pub fn read(input: impl Read, progress: &dyn Fn(u64)) -> Result<Self> {
        let mut reader =
            ReaderBuilder::new().buffer_capacity(1 << 18).from_reader(Lines::new(input));
        let header = reader.byte_headers().map_err(|e| foreign(&e))?.clone();
        let names = header
            .iter()
            .map(|name| String::from_utf8(name.to_vec()))
            .collect::<std::result::Result<Vec<_>, _>>()
            .map_err(|_| {
                Failure::new("corrupt: the header line is not UTF-8")
                    .at_byte(0)
                    .hint("`iconv -t UTF-8` brings a file to it")
            })?;
        let mut types = vec![Inference::new(); names.len()];
        let mut spool = Spool::new()?;
        let mut rows = 0u64;
        let mut at = 0;
        loop {
            let block = block(&mut reader, names.len());
            // An open quote makes one field of all that follows: whatever else is wrong is due to it.
            if let Some(quote) = reader.get_ref().open_quote() {
                return Err(Failure::new("corrupt: a quote that is never closed")
                    .within(format!("line {}", quote.line))
                    .at_byte(quote.byte));
            }
            let Some(columns) = block? else { break };
            parallel::map_mut(&mut types, &|index, types| {
                columns[index].iter().for_each(|field| types.push(field));
                Ok(())
            })?;
            let n = columns.first().map_or(0, ByteValues::len);
            spool.push(n, &columns)?;
            rows += n as u64;
            let now = reader.position().byte();
            reader.get_mut().forget(now);
            progress(now - std::mem::replace(&mut at, now));
        }
        let fields = names.into_iter().zip(&types).map(|(name, inference)| {
            let (storage, logical) = inference.settle();
            Field { name, storage, logical, nullable: inference.nulls, id: None }
        });
        let schema = Schema { fields: fields.collect(), ..Schema::default() };
        Ok(CsvTable { schema, rows, fields: spool.finish()? })
    }
}

/// The next rows, by column; `None` after the last.
fn block<R: Read>(
    reader: &mut Reader<Lines<R>>,
    columns: usize,
) -> Result<Option<Vec<ByteValues>>> {
    let mut block = vec![ByteValues::default(); columns];
    let mut record = ByteRecord::new();
    let (mut rows, mut bytes) = (0, 0u64);
    while rows < PIECE_ROWS && bytes < PIECE_BYTES {
        if !reader.read_byte_record(&mut record).map_err(|e| placed(&e, reader.get_ref()))? {
            break;
        }
        block.iter_mut().zip(&record).for_each(|(column, field)| column.push(field));
        bytes += record.as_slice().len() as u64;
        rows += 1;
    }
    Ok((rows > 0).then_some(block))
}

/// An error of the `csv` crate with its place in the file.
fn placed<R: Read>(error: &csv::Error, lines: &Lines<R>) -> Failure {
    let byte = error.position().map(csv::Position::byte);
    of_kind(error, byte.map(|byte| lines.original(byte)))
}

/// An error of the `csv` crate.
pub(super) fn foreign(error: &csv::Error) -> Failure {
    of_kind(error, error.position().map(csv::Position::byte))
}

fn of_kind(error: &csv::Error, byte: Option<u64>) -> Failure {
    match error.kind() {
        csv::ErrorKind::Io(e) => Failure::from(std::io::Error::new(e.kind(), e.to_string())),
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let failure = Failure::new(format!(
                "corrupt: a record of {}; the header line has {expected_len}",
                counted(*len, "field")
            ))
            .hint("fields are parted by commas; one that holds a comma stands in quotes");
            match (pos, byte) {
                (Some(pos), Some(byte)) => {
                    failure.within(format!("line {}", pos.line())).at_byte(byte)
                }
                _ => failure,
            }
        }
        _ => Failure::new(format!("corrupt: {error}")),
    }
}

impl Table for CsvTable {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn column(&self, index: usize) -> Result<Box<dyn Column + '_>> {
        let field = self.schema.fields.get(index).ok_or_else(|| no_column(index))?;
        let rest = Piece::of(Values::Bytes(ByteValues::default()));
        Ok(Box::new(CsvColumn { fields: &self.fields, index, field, block: 0, rest }))
    }

    fn column_bytes(&self, index: usize) -> u64 {
        let width = self.schema.fields.get(index).map_or(0, |field| field.storage.width());
        self.rows.saturating_mul(width).max(self.fields.bytes(index))
    }
}

struct CsvColumn<'a> {
    fields: &'a Fields,
    index: usize,
    field: &'a Field,
    /// The next block.
    block: usize,
    /// Rows of the block before it that are still to be handed out.
    rest: Piece,
}

impl Column for CsvColumn<'_> {
    fn next(&mut self, rows: usize) -> Result<Piece> {
        if self.rest.rows == 0 && self.block < self.fields.blocks.len() {
            let fields = self.fields.read(self.block, self.index)?;
            self.rest = parse(self.field, &fields)?;
            self.block += 1;
        }
        Ok(self.rest.split_front(rows))
    }
}

/// Fields as values of the column's type.
fn parse(field: &Field, fields: &ByteValues) -> Result<Piece> {
    let numbers = || -> Result<AnyNumbers> {
        match field.storage {
            Storage::Number(NumberType::I64) => numbers::<i64>(fields),
            _ => numbers::<f64>(fields),
        }
    };
    let values = match field.logical {
        LogicalType::Text => texts(fields),
        LogicalType::None if field.storage == Storage::Bytes => texts(fields),
        _ => Values::Numbers(numbers()?),
    };
    let valid = fields.iter().map(|field| !field.is_empty()).collect();
    Ok(Piece::with_validity(valid, values))
}

fn texts(fields: &ByteValues) -> Values {
    let mut values = ByteValues::default();
    fields.iter().filter(|field| !field.is_empty()).for_each(|field| values.push(field));
    Values::Bytes(values)
}

fn numbers<T: Number + FromStr>(fields: &ByteValues) -> Result<AnyNumbers> {
    let parsed = fields.iter().filter(|field| !field.is_empty()).map(|field| {
        let text = std::str::from_utf8(field).ok();
        text.and_then(|text| text.parse().ok())
    });
    let parsed: Option<Vec<T>> = parsed.collect();
    parsed.map(any_numbers).ok_or_else(|| Failure::new("a field that was a number is none"))
}
