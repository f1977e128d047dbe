//! Bare DELTA_BINARY_PACKED streams: one column of integers, and nothing that says their type.

use latens::delta_binary_packed::{Decoder, Element, Options};
use latens::{Number, NumberType};
use std::io::Read;

use crate::io::section::SharedFile;
use crate::message::{Failure, Result};
use crate::table::dbp_width;
use crate::table::model::{Field, Schema};
use crate::table::piece::{Piece, Values, any_numbers};
use crate::table::source::{Column, Table, no_column};

/// The bytes of a whole file.
///
/// # Errors
/// I/O.
pub fn read_all(file: &SharedFile) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.section(0, file.len()).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// An error where a file is empty: a stream begins with a header, also where it holds no numbers.
/// Only within a Parquet page may nothing stand for no numbers.
///
/// # Errors
/// That one.
pub fn has_header(bytes: &[u8]) -> Result<()> {
    match bytes.is_empty() {
        true => Err(Failure::new("truncated: the stream has no header")
            .at_byte(0)
            .hint("the file ends too early")),
        false => Ok(()),
    }
}

/// A `.dbp` file.
pub struct DbpTable {
    bytes: Vec<u8>,
    ty: NumberType,
    rows: u64,
    schema: Schema,
    note: Option<String>,
}

impl DbpTable {
    /// Walk through the whole stream, of numbers of type `ty`.
    ///
    /// # Errors
    /// A stream that is cut short or damaged; bytes behind it; a type that it cannot hold, or that its
    /// numbers do not fit.
    pub fn open(file: &SharedFile, ty: NumberType, name: String) -> Result<Self> {
        let bytes = read_all(file)?;
        has_header(&bytes)?;
        let rows = match ty {
            NumberType::I32 => walk::<i32>(&bytes)?,
            NumberType::I64 => walk::<i64>(&bytes)?,
            NumberType::U32 => walk::<u32>(&bytes)?,
            NumberType::U64 => walk::<u64>(&bytes)?,
            other => {
                return Err(Failure::usage(format!("a .dbp does not hold {other}"))
                    .hint("--type is one of i32 i64 u32 u64"));
            }
        };
        let note = match ty {
            NumberType::I32 | NumberType::U32 => dbp_width::check(&bytes, ty)?,
            _ => None,
        };
        let schema =
            Schema { fields: vec![Field::numbers(name, ty)], metadata: Vec::new(), array: None };
        Ok(DbpTable { bytes, ty, rows, schema, note })
    }
}

/// How many values there are, every block seen.
fn walk<T: Element>(bytes: &[u8]) -> Result<u64> {
    let mut decoder = Decoder::<T>::new(bytes, Options::default())?;
    let total = decoder.remaining();
    if decoder.skip(total)? < total {
        decoder.skip(1)?;
    }
    match decoder.consumed() {
        end if end < bytes.len() => Err(Failure::new("bytes follow the end of the stream")
            .at_byte(end as u64)
            .hint("the file is damaged or of another format")),
        _ => Ok(total),
    }
}

impl Table for DbpTable {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    fn column(&self, index: usize) -> Result<Box<dyn Column + '_>> {
        let options = Options::default();
        Ok(match (index, self.ty) {
            (0, NumberType::I32) => Box::new(Stream(Decoder::<i32>::new(&self.bytes, options)?)),
            (0, NumberType::I64) => Box::new(Stream(Decoder::<i64>::new(&self.bytes, options)?)),
            (0, NumberType::U32) => Box::new(Stream(Decoder::<u32>::new(&self.bytes, options)?)),
            (0, NumberType::U64) => Box::new(Stream(Decoder::<u64>::new(&self.bytes, options)?)),
            _ => return Err(no_column(index)),
        })
    }
}

struct Stream<'a, T: Element>(Decoder<'a, T>);

impl<T: Element + Number> Column for Stream<'_, T> {
    fn next(&mut self, rows: usize) -> Result<Piece> {
        let left = self.0.remaining();
        let rows = usize::try_from(left).map_or(rows, |left| rows.min(left));
        let mut numbers = vec![T::default(); rows];
        let got = self.0.read(&mut numbers)?;
        numbers.truncate(got);
        if got < rows {
            return Err(Failure::new(format!("truncated: {left} values are missing")));
        }
        Ok(Piece::of(Values::Numbers(any_numbers(numbers))))
    }
}
