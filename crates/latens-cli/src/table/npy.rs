//! A table of one column of numbers as `.npy`, or as bare numbers.

use std::io::Write;

use crate::array::npy::NpyHeader;
use crate::message::{Failure, Result};
use crate::table::model::{Field, Storage};
use crate::table::source::{PIECE_ROWS, Table};

/// Write the numbers; with `header` in the shape and order that the table remembers.
///
/// # Errors
/// A table that is no array: several columns, nulls, or other values than numbers.
pub fn write(table: &dyn Table, header: bool, mut out: impl Write) -> Result<()> {
    let field = only_field(table)?;
    let Storage::Number(ty) = field.storage else {
        return Err(no_array(&format!("its column is of type {}", field.type_name())));
    };
    let shape = table.schema().array.as_ref();
    let big_endian = header && shape.is_some_and(|shape| shape.big_endian);
    if header {
        let header = match shape {
            Some(shape) => NpyHeader {
                ty,
                big_endian,
                fortran: shape.fortran_order,
                shape: shape.shape.clone(),
            },
            None => NpyHeader::column(ty, table.rows()),
        };
        out.write_all(&header.to_bytes())?;
    }
    let mut column = table.column(0)?;
    loop {
        let piece = column.next(PIECE_ROWS)?;
        if piece.rows == 0 {
            return Ok(());
        }
        if piece.nulls() > 0 {
            return Err(no_array("its column holds nulls"));
        }
        let mut bytes = piece.values.to_le_bytes();
        if big_endian {
            bytes.chunks_exact_mut(ty.bytes()).for_each(<[u8]>::reverse);
        }
        out.write_all(&bytes)?;
    }
}

fn only_field(table: &dyn Table) -> Result<&Field> {
    match table.schema().fields.as_slice() {
        [field] => Ok(field),
        fields => Err(no_array(&format!("it has {} columns", fields.len()))),
    }
}

#[cold]
fn no_array(why: &str) -> Failure {
    Failure::usage(format!("the table is no array: {why}"))
        .hint("write .parquet or .csv, or choose one column with --columns")
}
