//! A table that is read column by column, each column in pieces, by any number of threads.

use crate::args::quoted_name;
use crate::message::{Failure, Result};
use crate::report::Checksums;
use crate::table::model::{Field, Schema};
use crate::table::piece::Piece;

/// Rows that are handled at a time wherever nothing else sets the number.
pub const PIECE_ROWS: usize = 1 << 16;
/// Text and binary values of a piece stop growing here, whatever the rows asked for.
pub const PIECE_BYTES: u64 = 8 << 20;

/// A table: an open file of any format.
pub trait Table: Sync {
    /// Its columns.
    fn schema(&self) -> &Schema;
    /// Its rows.
    fn rows(&self) -> u64;
    /// Nested columns that were left out.
    fn left_out(&self) -> &[String] {
        &[]
    }
    /// Columns within those, named by their paths, that can be read as if they were not: null where
    /// anything around them is. They are numbered behind the schema's.
    fn inner(&self) -> &[Field] {
        &[]
    }
    /// What whoever reads the table should know.
    fn note(&self) -> Option<&str> {
        None
    }
    /// A reader of one column, from its first row.
    ///
    /// # Errors
    /// When the column cannot be opened, or there is none at `index`.
    fn column(&self, index: usize) -> Result<Box<dyn Column + '_>>;
    /// About how many bytes the values of a column take, for memory budgets.
    fn column_bytes(&self, index: usize) -> u64 {
        let width = self.schema().fields.get(index).map_or(0, |field| field.storage.width());
        self.rows().saturating_mul(width)
    }
    /// Decode the columns that were left out, for the sake of their checks; `done` is told of bytes.
    ///
    /// # Errors
    /// What is wrong with them.
    fn verify_left_out(&self, _done: &(dyn Fn(u64) + Sync)) -> Result<()> {
        Ok(())
    }
    /// What stands behind the values; whoever reads all of them has checked it.
    ///
    /// # Errors
    /// Bad input or I/O, where that has to be looked up.
    fn checksums(&self) -> Result<Checksums> {
        Ok(Checksums::None)
    }
}

/// A column being read.
pub trait Column: Send {
    /// The next rows: at most `rows` of them, at least one before the end, none after it. Fewer
    /// than asked for where their bytes would be more than about [`PIECE_BYTES`].
    ///
    /// # Errors
    /// Bad input or I/O.
    fn next(&mut self, rows: usize) -> Result<Piece>;

    /// Moves past `rows` rows, or to the end.
    ///
    /// # Errors
    /// Bad input or I/O, as far as it is looked at.
    fn skip(&mut self, mut rows: u64) -> Result<()> {
        while rows > 0 {
            let piece = self.next(usize::try_from(rows).unwrap_or(PIECE_ROWS).min(PIECE_ROWS))?;
            if piece.rows == 0 {
                break;
            }
            rows = rows.saturating_sub(piece.rows as u64);
        }
        Ok(())
    }
}

/// Some columns of a table, in the order asked for.
pub struct Projection {
    table: Box<dyn Table>,
    schema: Schema,
    indices: Vec<usize>,
}

/// Names as `--columns` takes them.
fn listed(names: &[&str]) -> String {
    names.iter().map(|name| quoted_name(name)).collect::<Vec<_>>().join(", ")
}

/// Why a nested column cannot be chosen, and what can be of it.
fn nested(name: &str, known: &[&str]) -> Failure {
    let failure = Failure::new(format!("column `{name}` is nested: not supported"));
    let within = known
        .iter()
        .filter(|path| path.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')));
    let within: Vec<&str> = within.copied().collect();
    match within.is_empty() {
        true => failure,
        false => failure.hint(format!("its fields can be chosen: {}", listed(&within))),
    }
}

impl Projection {
    /// The columns of these names.
    ///
    /// # Errors
    /// A name that the table does not have, with those it has; a nested column.
    pub fn new(table: Box<dyn Table>, names: &[String]) -> Result<Self> {
        let fields: Vec<&Field> = table.schema().fields.iter().chain(table.inner()).collect();
        let indices = names
            .iter()
            .map(|name| {
                fields.iter().position(|field| &field.name == name).ok_or_else(|| {
                    let known: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
                    if table.left_out().contains(name) {
                        return nested(name, &known);
                    }
                    Failure::usage(format!("there is no column `{name}`"))
                        .hint(format!("its columns are: {}", listed(&known)))
                })
            })
            .collect::<Result<Vec<usize>>>()?;
        let mut schema = table.schema().clone();
        let chosen = indices.iter().filter_map(|&index| fields.get(index));
        schema.fields = chosen.map(|&field| field.clone()).collect();
        // Both describe all columns of the file, by position: wrong for some of them.
        schema.metadata.retain(|entry| entry.key != "ARROW:schema" && entry.key != "pandas");
        Ok(Projection { table, schema, indices })
    }

    fn index(&self, index: usize) -> Result<usize> {
        self.indices.get(index).copied().ok_or_else(|| no_column(index))
    }
}

impl Table for Projection {
    fn schema(&self) -> &Schema {
        &self.schema
    }
    fn rows(&self) -> u64 {
        self.table.rows()
    }
    fn column(&self, index: usize) -> Result<Box<dyn Column + '_>> {
        self.table.column(self.index(index)?)
    }
    fn column_bytes(&self, index: usize) -> u64 {
        self.indices.get(index).map_or(0, |&index| self.table.column_bytes(index))
    }
    fn checksums(&self) -> Result<Checksums> {
        self.table.checksums()
    }
}

/// The first rows of a table; a part of an array is an array of one dimension.
pub struct Head<'a> {
    table: &'a dyn Table,
    schema: Schema,
    rows: u64,
}

impl<'a> Head<'a> {
    /// At most `rows` of them.
    pub fn new(table: &'a dyn Table, rows: u64) -> Self {
        let mut schema = table.schema().clone();
        if let Some(array) = schema.array.as_mut().filter(|_| rows < table.rows()) {
            array.shape = vec![rows];
            array.fortran_order = false;
        }
        Head { table, schema, rows: rows.min(table.rows()) }
    }
}

struct HeadColumn<'a> {
    column: Box<dyn Column + 'a>,
    left: u64,
}

impl Table for Head<'_> {
    fn schema(&self) -> &Schema {
        &self.schema
    }
    fn rows(&self) -> u64 {
        self.rows
    }
    fn column(&self, index: usize) -> Result<Box<dyn Column + '_>> {
        Ok(Box::new(HeadColumn { column: self.table.column(index)?, left: self.rows }))
    }
}

impl Column for HeadColumn<'_> {
    fn next(&mut self, rows: usize) -> Result<Piece> {
        let rows = usize::try_from(self.left).map_or(rows, |left| rows.min(left));
        let piece = self.column.next(rows)?;
        self.left = self.left.saturating_sub(piece.rows as u64);
        Ok(piece)
    }
}

/// No such column.
#[cold]
pub fn no_column(index: usize) -> Failure {
    Failure::new(format!("the table has no column {index}"))
}
