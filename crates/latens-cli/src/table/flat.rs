//! A table as Parquet and CSV hold it: columns and rows, no array, and no type narrower than those
//! that Parquet has.

use latens::{AnyNumbers, NumberType};

use crate::message::{Failure, Result};
use crate::report::Checksums;
use crate::table::model::{Schema, Storage};
use crate::table::piece::{Piece, Values};
use crate::table::source::{Column, Table};

/// Any table, flat.
pub struct Flat<'a> {
    table: &'a dyn Table,
    schema: Schema,
}

impl<'a> Flat<'a> {
    /// Of an array of one dimension a column.
    ///
    /// # Errors
    /// An array of any other shape.
    pub fn new(table: &'a dyn Table) -> Result<Self> {
        let mut schema = table.schema().clone();
        if let Some(array) = schema.array.take() {
            one_dimension(&array.shape)?;
        }
        for field in &mut schema.fields {
            if let Storage::Number(ty) = &mut field.storage {
                *ty = wide_type(*ty);
            }
        }
        Ok(Flat { table, schema })
    }
}

/// Wrong usage where an array is no column.
///
/// # Errors
/// That one.
pub fn one_dimension(shape: &[u64]) -> Result<()> {
    if shape.len() == 1 {
        return Ok(());
    }
    let extents: Vec<String> = shape.iter().map(u64::to_string).collect();
    Err(Failure::usage(format!("an array of shape ({}) is no column", extents.join(", ")))
        .hint("a .pco.zip and a .npy hold arrays of any shape"))
}

/// The type in which Parquet holds numbers of this one.
pub fn wide_type(ty: NumberType) -> NumberType {
    match ty {
        NumberType::U8 | NumberType::U16 => NumberType::U32,
        NumberType::I8 | NumberType::I16 => NumberType::I32,
        other => other,
    }
}

/// Integers narrower than 32 bits as such of 32.
pub fn widen(numbers: AnyNumbers) -> AnyNumbers {
    match numbers {
        AnyNumbers::U8(v) => AnyNumbers::U32(v.into_iter().map(u32::from).collect()),
        AnyNumbers::U16(v) => AnyNumbers::U32(v.into_iter().map(u32::from).collect()),
        AnyNumbers::I8(v) => AnyNumbers::I32(v.into_iter().map(i32::from).collect()),
        AnyNumbers::I16(v) => AnyNumbers::I32(v.into_iter().map(i32::from).collect()),
        numbers => numbers,
    }
}

impl Table for Flat<'_> {
    fn schema(&self) -> &Schema {
        &self.schema
    }
    fn rows(&self) -> u64 {
        self.table.rows()
    }
    fn column(&self, index: usize) -> Result<Box<dyn Column + '_>> {
        let column = self.table.column(index)?;
        // Booleans are bytes in memory, and stay so.
        let numbers = self.schema.fields.get(index).map(|field| field.storage);
        Ok(match numbers {
            Some(Storage::Number(_)) => Box::new(Widened(column)),
            _ => column,
        })
    }
    fn column_bytes(&self, index: usize) -> u64 {
        self.table.column_bytes(index)
    }
    fn checksums(&self) -> Result<Checksums> {
        self.table.checksums()
    }
}

struct Widened<'a>(Box<dyn Column + 'a>);

impl Column for Widened<'_> {
    fn next(&mut self, rows: usize) -> Result<Piece> {
        let Piece { rows, valid, values } = self.0.next(rows)?;
        let values = match values {
            Values::Numbers(numbers) => Values::Numbers(widen(numbers)),
            values => values,
        };
        Ok(Piece { rows, valid, values })
    }
    fn skip(&mut self, rows: u64) -> Result<()> {
        self.0.skip(rows)
    }
}
