//! A Parquet file as a table.

use crate::io::guard::guarded;
use crate::io::section::SharedFile;
use crate::message::{Failure, Result};
use crate::parallel;
use crate::report::Checksums;
use crate::table::model::{Field, Schema};
use crate::table::piece::Piece;
use crate::table::source::{Column, PIECE_ROWS, Table, no_column};
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;

use super::convert::Gathered;
use super::footer::footer_at;
use super::schema::{self, foreign};
use super::{checksums, nested, pages};

/// An open Parquet file.
pub struct ParquetTable {
    file: SerializedFileReader<SharedFile>,
    schema: Schema,
    /// Which leaf column of the file each field is.
    leaves: Vec<usize>,
    nested: Vec<String>,
    nested_leaves: Vec<usize>,
    inner: Vec<Field>,
    inner_leaves: Vec<usize>,
    rows: u64,
    bytes: SharedFile,
}

impl ParquetTable {
    /// Read the footer. Nested columns are left out, and named; without `skip_nested` they are an
    /// error.
    ///
    /// # Errors
    /// No Parquet file, or one that is cut short or damaged; nested columns.
    pub fn open(bytes: SharedFile, skip_nested: bool) -> Result<Self> {
        let footer = footer_at(&bytes)?;
        guarded(|| {
            let file = SerializedFileReader::new(bytes.clone()).map_err(foreign)?;
            let meta = file.metadata();
            let flat = schema::read(meta.file_metadata())?;
            if !skip_nested && !flat.nested.is_empty() {
                return Err(Failure::new("nested columns are not supported"));
            }
            let mut rows = 0u64;
            for group in meta.row_groups() {
                let n = u64::try_from(group.num_rows()).map_err(|_| no_sum())?;
                rows = rows.checked_add(n).ok_or_else(no_sum)?;
            }
            for &leaf in &flat.leaves {
                one_value_a_row(meta, leaf)?;
            }
            Ok(ParquetTable {
                schema: flat.schema,
                leaves: flat.leaves,
                nested: flat.nested,
                nested_leaves: flat.nested_leaves,
                inner: flat.inner,
                inner_leaves: flat.inner_leaves,
                rows,
                file,
                bytes,
            })
        })
        .map_err(|e| e.at_byte(footer))
    }
}

impl Table for ParquetTable {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn left_out(&self) -> &[String] {
        &self.nested
    }

    fn inner(&self) -> &[Field] {
        &self.inner
    }

    fn column(&self, index: usize) -> Result<Box<dyn Column + '_>> {
        let (leaf, field) = self.leaf(index).ok_or_else(|| no_column(index))?;
        if index >= self.leaves.len() {
            one_value_a_row(self.file.metadata(), leaf)?;
        }
        Ok(Box::new(ParquetColumn { table: self, leaf, field, group: 0, open: None }))
    }

    fn column_bytes(&self, index: usize) -> u64 {
        let Some((leaf, field)) = self.leaf(index) else { return 0 };
        let groups = self.file.metadata().row_groups().iter();
        let stored: u64 = groups
            .filter_map(|group| group.columns().get(leaf))
            .map(|chunk| u64::try_from(chunk.uncompressed_size()).unwrap_or(0))
            .fold(0, u64::saturating_add);
        stored.max(self.rows.saturating_mul(field.storage.width()))
    }

    fn verify_left_out(&self, done: &(dyn Fn(u64) + Sync)) -> Result<()> {
        let verify = |index: usize| match self.nested_leaves.get(index) {
            Some(&leaf) => {
                guarded(|| nested::verify(&self.bytes, self.file.metadata(), leaf, done))
            }
            None => Ok(()),
        };
        parallel::map(self.nested_leaves.len(), &verify).map(|_| ())
    }

    fn checksums(&self) -> Result<Checksums> {
        guarded(|| checksums::of(&self.bytes, self.file.metadata()))
    }
}

impl ParquetTable {
    /// The file's leaf column of a field; those of structures are numbered behind the others.
    fn leaf(&self, index: usize) -> Option<(usize, &Field)> {
        let (leaves, fields, index) = match index.checked_sub(self.leaves.len()) {
            None => (&self.leaves, &self.schema.fields, index),
            Some(index) => (&self.inner_leaves, &self.inner, index),
        };
        Some((*leaves.get(index)?, fields.get(index)?))
    }
}

/// Each row group must have the column, and with as many values, or nulls, as it has rows.
fn one_value_a_row(meta: &ParquetMetaData, leaf: usize) -> Result<()> {
    for group in meta.row_groups() {
        let lacks = || Failure::new("corrupt: a row group lacks a column");
        let chunk = group.columns().get(leaf).ok_or_else(lacks)?;
        if chunk.num_values() != group.num_rows() {
            return Err(no_sum());
        }
    }
    Ok(())
}

fn no_sum() -> Failure {
    Failure::new("corrupt: the row groups do not add up")
}

struct ParquetColumn<'a> {
    table: &'a ParquetTable,
    leaf: usize,
    field: &'a Field,
    /// The next row group.
    group: usize,
    open: Option<OpenChunk>,
}

/// A column chunk being read.
struct OpenChunk {
    reader: ColumnReader,
    left: u64,
}

impl Column for ParquetColumn<'_> {
    fn next(&mut self, rows: usize) -> Result<Piece> {
        guarded(|| self.gather(rows)).map_err(|e| self.placed(e))
    }

    /// Row groups that are passed as a whole are not looked at.
    fn skip(&mut self, mut rows: u64) -> Result<()> {
        while rows > 0 {
            let left = self.open.as_ref().map_or(0, |chunk| chunk.left);
            let next = self.table.file.metadata().row_groups().get(self.group);
            match next.and_then(|group| u64::try_from(group.num_rows()).ok()) {
                Some(n) if left == 0 && n <= rows => {
                    self.group += 1;
                    rows -= n;
                }
                _ => {
                    let most = usize::try_from(rows).unwrap_or(PIECE_ROWS).min(PIECE_ROWS);
                    match self.next(most)?.rows {
                        0 => break,
                        n => rows = rows.saturating_sub(n as u64),
                    }
                }
            }
        }
        Ok(())
    }
}

impl ParquetColumn<'_> {
    fn gather(&mut self, rows: usize) -> Result<Piece> {
        let descr = self.table.file.metadata().file_metadata().schema_descr();
        let mut gathered = Gathered::new(self.field, descr.column(self.leaf).max_def_level());
        while gathered.rows() < rows && !gathered.is_large() {
            let want = (rows - gathered.rows()).min(gathered.step());
            let Some(chunk) = self.chunk()? else { break };
            let want = usize::try_from(chunk.left).map_or(want, |left| want.min(left));
            let got = gathered.read(&mut chunk.reader, want).map_err(foreign)?;
            chunk.left -= got as u64;
            if got < want {
                return Err(Failure::new(format!("truncated: {} rows are missing", chunk.left)));
            }
        }
        gathered.into_piece(self.field)
    }

    /// The chunk that holds the next row, `None` after the last.
    fn chunk(&mut self) -> Result<Option<&mut OpenChunk>> {
        while self.open.as_ref().is_none_or(|chunk| chunk.left == 0) {
            let all = self.table.file.metadata();
            let Some(meta) = all.row_groups().get(self.group) else {
                return Ok(None);
            };
            self.group += 1;
            let pages = pages::open(&self.table.bytes, all, (self.group - 1, self.leaf))?;
            let descr = meta.column(self.leaf).column_descr_ptr();
            let left = u64::try_from(meta.num_rows()).unwrap_or(0);
            self.open = Some(OpenChunk { reader: get_column_reader(descr, pages), left });
        }
        Ok(self.open.as_mut())
    }

    /// An error in the column chunk that was read last.
    fn placed(&self, e: Failure) -> Failure {
        let group = self.group.saturating_sub(1);
        pages::placed(self.table.file.metadata(), (group, self.leaf), e)
    }
}
