//! One column chunk encoded in memory: the one place through which every page that is written
//! passes.

use crate::message::{Failure, Result};
use crate::table::model::Field;
use crate::table::piece::Piece;
use crate::table::source::{Column, PIECE_ROWS};
use bytes::Bytes;
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use super::convert::{Cooked, cook};
use super::schema::foreign;

/// A finished column chunk, to be appended to a row group.
pub(super) struct Chunk {
    pub(super) bytes: Bytes,
    pub(super) close: ColumnCloseResult,
}

/// Encode the next `rows` rows of a column.
///
/// # Errors
/// Those of the source; a null in a column that has none; a column that ends early.
pub(super) fn encode(
    descr: &ColumnDescPtr,
    props: &WriterPropertiesPtr,
    field: &Field,
    column: &mut dyn Column,
    rows: usize,
) -> Result<Chunk> {
    let mut sink = TrackedWrite::new(Vec::new());
    let close = {
        let pages = Box::new(SerializedPageWriter::new(&mut sink));
        let mut writer = get_column_writer(descr.clone(), props.clone(), pages);
        let mut left = rows;
        while left > 0 {
            let piece = column.next(left.min(PIECE_ROWS))?;
            if piece.rows == 0 {
                return Err(Failure::new(format!("truncated: {left} rows are missing")));
            }
            left -= piece.rows;
            write_piece(&mut writer, field, piece)?;
        }
        writer.close().map_err(foreign)?
    };
    let bytes = sink.into_inner().map_err(foreign)?;
    Ok(Chunk { bytes: bytes.into(), close })
}

fn write_piece(writer: &mut ColumnWriter<'_>, field: &Field, piece: Piece) -> Result<()> {
    let levels: Option<Vec<i16>> = match (field.nullable, &piece.valid) {
        (true, Some(valid)) => Some(valid.iter().map(|&valid| i16::from(valid)).collect()),
        (true, None) => Some(vec![1; piece.rows]),
        (false, None) => None,
        (false, Some(_)) => return Err(Failure::new("a null in a column without nulls")),
    };
    let levels = levels.as_deref();
    let written = match (writer, cook(piece.values, field.storage)) {
        (ColumnWriter::BoolColumnWriter(w), Cooked::Bool(v)) => w.write_batch(&v, levels, None),
        (ColumnWriter::Int32ColumnWriter(w), Cooked::Int32(v)) => w.write_batch(&v, levels, None),
        (ColumnWriter::Int64ColumnWriter(w), Cooked::Int64(v)) => w.write_batch(&v, levels, None),
        (ColumnWriter::Int96ColumnWriter(w), Cooked::Int96(v)) => w.write_batch(&v, levels, None),
        (ColumnWriter::FloatColumnWriter(w), Cooked::Float(v)) => w.write_batch(&v, levels, None),
        (ColumnWriter::DoubleColumnWriter(w), Cooked::Double(v)) => w.write_batch(&v, levels, None),
        (ColumnWriter::ByteArrayColumnWriter(w), Cooked::Bytes(v)) => {
            w.write_batch(&v, levels, None)
        }
        (ColumnWriter::FixedLenByteArrayColumnWriter(w), Cooked::Fixed(v)) => {
            w.write_batch(&v, levels, None)
        }
        _ => return Err(Failure::new("the values are not of the column's type")),
    };
    written.map(|_| ()).map_err(foreign)
}
