//! The only column of a table, as numbers: for formats that hold one column and nothing else.

use latens::{AnyNumbers, NumberType};

use crate::format::Format;
use crate::job::Input;
use crate::message::{Failure, Result};
use crate::table::model::Field;
use crate::table::own_type;
use crate::table::piece::Values;
use crate::table::reading::named;
use crate::table::source::{Column, PIECE_ROWS, Table};

/// A column of numbers without nulls, in the type that it means.
pub struct OnlyColumn<'a> {
    field: &'a Field,
    ty: NumberType,
    column: Box<dyn Column + 'a>,
    to: Format,
    input: &'a Input,
}

impl<'a> OnlyColumn<'a> {
    /// That of a table from `input` which is to become `to`.
    ///
    /// # Errors
    /// Several columns, or one of other values than numbers.
    pub fn open(table: &'a dyn Table, to: Format, input: &'a Input) -> Result<Self> {
        Self::of(table, to, input).map_err(|e| named(e, input))
    }

    fn of(table: &'a dyn Table, to: Format, input: &'a Input) -> Result<Self> {
        let [field] = table.schema().fields.as_slice() else {
            let n = table.schema().fields.len();
            return Err(Failure::usage(format!("a .{to} holds one column, the table has {n}"))
                .hint(format!("choose one with --columns, or write {}", tables(to))));
        };
        let Some(ty) = own_type::of(field) else {
            return Err(Failure::usage(format!(
                "a .{to} holds numbers, not {}",
                field.type_name()
            ))
            .within(format!("column {}", field.name))
            .hint(format!("write {}", tables(to))));
        };
        Ok(OnlyColumn { field, ty, column: table.column(0)?, to, input })
    }

    /// Its name in the table.
    pub fn name(&self) -> &str {
        &self.field.name
    }

    /// Of its numbers.
    pub fn number_type(&self) -> NumberType {
        self.ty
    }

    /// The next numbers, at most so many; none after the last.
    ///
    /// # Errors
    /// A null; bad input, I/O.
    pub fn next(&mut self, most: usize) -> Result<AnyNumbers> {
        self.numbers(most).map_err(|e| named(e, self.input))
    }

    fn numbers(&mut self, most: usize) -> Result<AnyNumbers> {
        let piece = self.column.next(most.min(PIECE_ROWS))?;
        if piece.nulls() > 0 {
            let to = self.to;
            return Err(Failure::usage(format!("the column holds nulls, a .{to} none"))
                .within(format!("column {}", self.field.name))
                .hint(format!("write {}", tables(to))));
        }
        match piece.values {
            Values::Numbers(numbers) => own_type::narrow(self.field, numbers),
            _ => Err(Failure::new("values of another storage")),
        }
    }
}

/// What holds what `to` does not, by the verb that writes it.
fn tables(to: Format) -> &'static str {
    match to {
        Format::Npy | Format::Raw => ".parquet or .csv",
        _ => ".pco.zip or .parquet",
    }
}

/// Whether the table is one column of numbers that mean themselves, and none of them is null.
///
/// # Errors
/// Bad input, I/O: where nulls may be, all of the column is read.
pub fn is_plain(table: &dyn Table) -> Result<bool> {
    let [field] = table.schema().fields.as_slice() else { return Ok(false) };
    if !own_type::is_plain(field) || !field.nullable {
        return Ok(own_type::is_plain(field));
    }
    let mut column = table.column(0)?;
    loop {
        let piece = column.next(PIECE_ROWS)?;
        if piece.rows == 0 || piece.nulls() > 0 {
            return Ok(piece.rows == 0);
        }
    }
}
