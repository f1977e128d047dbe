//! An array that lies in Fortran order, its numbers in C order.

use latens::with_number_type;

use crate::message::{Failure, Result};
use crate::report::Checksums;
use crate::table::model::{Schema, Storage};
use crate::table::piece::{Piece, Values, any_numbers};
use crate::table::source::{Column, PIECE_ROWS, Table, no_column};

/// Neighbours in one order are far apart in the other: the numbers are held in memory, but no more
/// of them than this.
const MOST_BYTES: u64 = 4 << 30;

/// The same array in C order, as NumPy counts its numbers.
pub struct COrder<'a> {
    table: &'a dyn Table,
    schema: Schema,
    shape: Vec<usize>,
}

impl<'a> COrder<'a> {
    /// `None` where the numbers lie in C order already, or there is no array.
    ///
    /// # Errors
    /// An array that is too large to be turned.
    pub fn new(table: &'a dyn Table) -> Result<Option<Self>> {
        let mut schema = table.schema().clone();
        let Some(array) = &mut schema.array else { return Ok(None) };
        if !array.fortran_order || array.shape.len() < 2 {
            return Ok(None);
        }
        array.fortran_order = false;
        let bytes = table.column_bytes(0);
        let shape = array.shape.iter().map(|&n| usize::try_from(n)).collect();
        match shape {
            Ok(shape) if bytes <= MOST_BYTES => Ok(Some(COrder { table, schema, shape })),
            _ => Err(Failure::new(format!(
                "an array of {bytes} bytes in Fortran order is not put into C order: {MOST_BYTES} is the most"
            ))
            .hint("write all of it as .npy, which keeps its order")),
        }
    }
}

impl Table for COrder<'_> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.table.rows()
    }

    fn column(&self, index: usize) -> Result<Box<dyn Column + '_>> {
        let field = self.schema.fields.get(index).ok_or_else(|| no_column(index))?;
        let Storage::Number(ty) = field.storage else { return Err(no_column(index)) };
        let mut column = self.table.column(index)?;
        let mut bytes = Vec::new();
        loop {
            let piece = column.next(PIECE_ROWS)?;
            if piece.rows == 0 {
                break;
            }
            bytes.extend(piece.values.to_le_bytes());
        }
        let turned = Turned { bytes, width: ty.bytes(), next: vec![0; self.shape.len()], at: 0 };
        Ok(Box::new(TurnedColumn { turned, shape: &self.shape, ty, left: self.rows() }))
    }

    fn checksums(&self) -> Result<Checksums> {
        self.table.checksums()
    }
}

/// Numbers in Fortran order, and which comes next in C order.
struct Turned {
    bytes: Vec<u8>,
    width: usize,
    /// Its indices.
    next: Vec<usize>,
    /// Where it lies, in numbers.
    at: usize,
}

impl Turned {
    fn take(&mut self, shape: &[usize], into: &mut Vec<u8>) -> Result<()> {
        let start = self.at * self.width;
        let number = self.bytes.get(start..start + self.width);
        into.extend(number.ok_or_else(|| Failure::new("corrupt: the array is too short"))?);
        // The last index runs fastest; its stride is the product of all extents before it.
        let mut stride: usize = shape.iter().product();
        for (index, &extent) in self.next.iter_mut().zip(shape).rev() {
            stride /= extent.max(1);
            *index += 1;
            self.at += stride;
            if *index < extent {
                break;
            }
            self.at -= stride * extent;
            *index = 0;
        }
        Ok(())
    }
}

struct TurnedColumn<'a> {
    turned: Turned,
    shape: &'a [usize],
    ty: latens::NumberType,
    left: u64,
}

impl Column for TurnedColumn<'_> {
    fn next(&mut self, rows: usize) -> Result<Piece> {
        let rows = usize::try_from(self.left).map_or(rows, |left| rows.min(left));
        let mut bytes = Vec::with_capacity(rows * self.turned.width);
        for _ in 0..rows {
            self.turned.take(self.shape, &mut bytes)?;
        }
        self.left -= rows as u64;
        let numbers = with_number_type!(self.ty, T => {
            any_numbers(crate::array::bytes::from_le::<T>(&bytes))
        });
        Ok(Piece::of(Values::Numbers(numbers)))
    }
}
