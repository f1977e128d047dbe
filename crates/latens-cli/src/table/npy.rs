//! A table of one column of numbers as `.npy`, or as bare numbers.

use std::io::Write;

use crate::array::npy::NpyHeader;
use crate::format::Format;
use crate::job::Input;
use crate::message::Result;
use crate::table::one::OnlyColumn;
use crate::table::source::{PIECE_ROWS, Table};

/// Write the numbers; in a `.npy` in the shape and order that the table remembers.
///
/// # Errors
/// A table that is no array: several columns, nulls, or other values than numbers.
pub fn write(table: &dyn Table, to: Format, input: &Input, mut out: impl Write) -> Result<()> {
    let mut column = OnlyColumn::open(table, to, input)?;
    let ty = column.number_type();
    let shape = table.schema().array.as_ref().filter(|_| to == Format::Npy);
    let big_endian = shape.is_some_and(|shape| shape.big_endian);
    if to == Format::Npy {
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
    loop {
        let mut bytes = column.next(PIECE_ROWS)?.to_le_bytes();
        if bytes.is_empty() {
            return Ok(());
        }
        if big_endian {
            bytes.chunks_exact_mut(ty.bytes()).for_each(<[u8]>::reverse);
        }
        out.write_all(&bytes)?;
    }
}
