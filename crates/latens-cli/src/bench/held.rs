//! One column in memory, as a table: what is written to Parquet without reading its source again.

use latens::AnyNumbers;

use crate::message::Result;
use crate::table::model::{Field, Schema};
use crate::table::piece::{Piece, Values};
use crate::table::source::{Column, Table, no_column};

/// A table of one column.
pub(super) struct Held {
    schema: Schema,
    rows: u64,
    pieces: Vec<Piece>,
}

impl Held {
    pub(super) fn new(field: Field, pieces: Vec<Piece>) -> Self {
        let rows = pieces.iter().map(|piece| piece.rows as u64).sum();
        Held { schema: Schema { fields: vec![field], ..Schema::default() }, rows, pieces }
    }

    /// The column, while there is one.
    pub(super) fn field(&self) -> Option<&Field> {
        self.schema.fields.first()
    }

    pub(super) fn name(&self) -> &str {
        self.field().map_or("", |field| field.name.as_str())
    }
}

impl Table for Held {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn column(&self, index: usize) -> Result<Box<dyn Column + '_>> {
        match index {
            0 => Ok(Box::new(HeldColumn { left: &self.pieces, current: None })),
            _ => Err(no_column(index)),
        }
    }
}

struct HeldColumn<'a> {
    left: &'a [Piece],
    current: Option<Piece>,
}

impl Column for HeldColumn<'_> {
    fn next(&mut self, rows: usize) -> Result<Piece> {
        let mut piece = match self.current.take() {
            Some(piece) => piece,
            None => match self.left.split_first() {
                Some((first, left)) => {
                    self.left = left;
                    first.clone()
                }
                None => {
                    let none = AnyNumbers::new(latens::NumberType::U8);
                    return Ok(Piece::of(Values::Numbers(none)));
                }
            },
        };
        if piece.rows <= rows {
            return Ok(piece);
        }
        let front = piece.split_front(rows);
        self.current = Some(piece);
        Ok(front)
    }
}
