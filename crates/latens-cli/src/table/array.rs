//! An array as a table of one column.

use latens::with_number_type;
use std::io::{BufReader, Read};

use crate::array::bytes::from_le;
use crate::array::npy::NpyHeader;
use crate::format::Format;
use crate::io::section::{Section, SharedFile};
use crate::message::{Failure, Result};
use crate::table::flat::{wide_type, widen};
use crate::table::model::{ArrayShape, Field, Schema, Storage};
use crate::table::open::column_name;
use crate::table::piece::{Piece, Values, any_numbers};
use crate::table::reading::Reading;
use crate::table::source::{Column, Table, no_column};

/// A `.npy` file, or bare numbers.
pub struct ArrayTable {
    file: SharedFile,
    /// Where the numbers begin.
    start: u64,
    header: NpyHeader,
    rows: u64,
    schema: Schema,
    /// 8- and 16-bit integers are handed out as 32-bit ones.
    widened: bool,
}

impl ArrayTable {
    /// Read the header; bare numbers have their type from `reading`.
    ///
    /// # Errors
    /// A bad header; numbers that are cut short or continued.
    pub fn open(file: SharedFile, reading: &Reading<'_>) -> Result<Self> {
        let (header, start) = match reading.format {
            Format::Npy => NpyHeader::read(&mut file.buffered(0, file.len()))?,
            _ => {
                let ty = reading.number_type.ok_or_else(|| {
                    Failure::usage("bare numbers need their type")
                        .hint("add --type u8|u16|u32|u64|i8|i16|i32|i64|f16|f32|f64")
                })?;
                (NpyHeader::column(ty, file.len() / ty.bytes() as u64), 0)
            }
        };
        let end = start.saturating_add(header.data_bytes()?);
        if end > file.len() {
            return Err(Failure::new("truncated: the array ends before what its shape says")
                .at_byte(file.len())
                .hint("the file ends too early"));
        }
        if end < file.len() {
            return Err(Failure::new("corrupt: bytes follow the array").at_byte(end));
        }
        let name = column_name(reading.input);
        let schema = Schema {
            fields: vec![Field::numbers(name, header.ty)],
            metadata: Vec::new(),
            array: Some(ArrayShape {
                shape: header.shape.clone(),
                fortran_order: header.fortran,
                big_endian: header.big_endian,
            }),
        };
        let rows = header.count()?;
        Ok(ArrayTable { file, start, header, rows, schema, widened: false })
    }

    /// The numbers, in the order of the file, as a flat column for Parquet: without shape, and no
    /// type narrower than those that Parquet has.
    #[must_use]
    pub fn flat(mut self) -> Self {
        self.schema.array = None;
        self.widened = true;
        for field in &mut self.schema.fields {
            field.storage = Storage::Number(wide_type(self.header.ty));
        }
        self
    }
}

impl Table for ArrayTable {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn column(&self, index: usize) -> Result<Box<dyn Column + '_>> {
        if index > 0 {
            return Err(no_column(index));
        }
        let reader = self.file.buffered(self.start, self.file.len());
        Ok(Box::new(ArrayColumn { table: self, reader, left: self.rows }))
    }
}

struct ArrayColumn<'a> {
    table: &'a ArrayTable,
    reader: BufReader<Section>,
    left: u64,
}

impl Column for ArrayColumn<'_> {
    fn next(&mut self, rows: usize) -> Result<Piece> {
        let rows = usize::try_from(self.left).map_or(rows, |left| rows.min(left));
        let ty = self.table.header.ty;
        let mut bytes = vec![0; rows * ty.bytes()];
        self.reader.read_exact(&mut bytes)?;
        if self.table.header.big_endian {
            bytes.chunks_exact_mut(ty.bytes()).for_each(<[u8]>::reverse);
        }
        self.left -= rows as u64;
        let numbers = with_number_type!(ty, T => any_numbers(from_le::<T>(&bytes)));
        let numbers = if self.table.widened { widen(numbers) } else { numbers };
        Ok(Piece::of(Values::Numbers(numbers)))
    }
}
