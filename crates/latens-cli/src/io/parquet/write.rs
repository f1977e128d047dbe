//! A table as a Parquet file.

use crate::io::guard::guarded;
use crate::message::{Failure, Result};
use crate::parallel;
use crate::table::model::Field;
use crate::table::source::{Column, Table};
use parquet::basic::Encoding as PageEncoding;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use std::io::Write;
use std::sync::Arc;

use super::chunk;
use super::options::Options;
use super::schema::{self, foreign};

/// Rows of one row group.
pub(super) const GROUP_ROWS: u64 = 1 << 20;

/// What was written for one column.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// Bytes of its chunks.
    pub bytes: u64,
    /// Names of the encodings of its pages, as Parquet names them.
    pub encoding: String,
}

/// Write a table; columns are encoded in parallel, row group after row group.
///
/// # Errors
/// Those of the source and of the writer; a table that Parquet cannot hold.
pub fn write(
    table: &dyn Table,
    options: &Options,
    out: &mut (dyn Write + Send),
) -> Result<Vec<Written>> {
    guarded(|| write_file(table, options, out))
}

fn write_file(
    table: &dyn Table,
    options: &Options,
    out: &mut (dyn Write + Send),
) -> Result<Vec<Written>> {
    let fields = &table.schema().fields;
    let root = schema::write(table.schema())?;
    let props = properties(table);
    let out = Footed { out, end: None };
    let mut writer = SerializedFileWriter::new(out, root, props).map_err(foreign)?;
    let descrs = writer.schema_descr().columns().to_vec();
    // Columns that go on in the next row group; of a wide table that has one they are not all open.
    let mut open: Vec<Option<Box<dyn Column + '_>>> = fields.iter().map(|_| None).collect();
    let mut written = vec![Written::default(); fields.len()];
    // Finished chunks wait in memory for their turn: no more of them than are made at a time.
    let at_a_time = rayon::current_num_threads().max(1);
    let mut left = table.rows();
    while left > 0 && !fields.is_empty() {
        let rows = usize::try_from(left.min(GROUP_ROWS)).unwrap_or(usize::MAX);
        let mut group = writer.next_row_group().map_err(foreign)?;
        let mut start = 0;
        let is_last = left == rows as u64;
        for batch in open.chunks_mut(at_a_time) {
            let chunks = parallel::map_mut(batch, &|i, open| {
                let (Some(descr), Some(field)) = (descrs.get(start + i), fields.get(start + i))
                else {
                    return Err(Failure::new("a column is missing"));
                };
                let mut column = match open.take() {
                    Some(column) => column,
                    None => table.column(start + i)?,
                };
                let chunk = encode(descr, options, field, column.as_mut(), rows);
                *open = (!is_last).then_some(column);
                chunk
            })?;
            for chunk in chunks {
                if let Some(written) = written.get_mut(start) {
                    written.bytes += chunk.close.bytes_written;
                    let name = encoding_name(&chunk.close.metadata);
                    if written.encoding.is_empty() {
                        written.encoding = name.to_string();
                    } else if !written.encoding.split('+').any(|known| known == name) {
                        written.encoding = format!("{}+{name}", written.encoding);
                    }
                }
                group.append_column(&chunk.bytes, chunk.close).map_err(foreign)?;
                start += 1;
            }
        }
        group.close().map_err(foreign)?;
        left -= rows as u64;
    }
    writer.inner_mut().end = Some(Vec::new());
    let Footed { out, end } = writer.into_inner().map_err(foreign)?;
    let mut end = end.unwrap_or_default();
    order_by_type(&mut end, descrs.len());
    out.write_all(&end)?;
    Ok(written)
}

/// The file, and its end, which waits to be changed.
struct Footed<'a> {
    out: &'a mut (dyn Write + Send),
    end: Option<Vec<u8>>,
}

impl Write for Footed<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match &mut self.end {
            Some(end) => end.write(bytes),
            None => self.out.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// Says of all columns that their statistics are in the order of their types, at the end of a file.
///
/// Of floats the `parquet` crate says IEEE 754's total order and nothing else. Readers that do not know
/// it refuse the file, as polars up to 1.41 does; its extremes are within what those of the older
/// order may be: no NaN but where all are, and then it is ignored.
fn order_by_type(end: &mut [u8], columns: usize) -> Option<()> {
    // Unions of an empty struct: field 1 or 2, its end, the union's.
    const BY_TYPE: [u8; 3] = [0x1c, 0, 0];
    const TOTAL: [u8; 3] = [0x2c, 0, 0];
    // Behind them the end of the footer, its length, `PAR1`.
    let stop = end.len().checked_sub(9)?;
    let (orders, _) = end.get_mut(stop.checked_sub(3 * columns)?..)?.as_chunks_mut::<3>();
    let orders = orders.get_mut(..columns)?;
    // INT96 has an order of its own. What is of another shape stays as it is.
    if orders.iter().any(|order| order[0] & 0x0f != 0x0c || order[1..] != [0, 0]) {
        return None;
    }
    for order in orders.iter_mut().filter(|order| **order == TOTAL) {
        *order = BY_TYPE;
    }
    Some(())
}

fn encode(
    descr: &parquet::schema::types::ColumnDescPtr,
    options: &Options,
    field: &Field,
    column: &mut dyn Column,
    rows: usize,
) -> Result<chunk::Chunk> {
    guarded(|| chunk::encode(descr, options, field, column, rows))
        .map_err(|e| e.within(format!("column {}", field.name)))
}

/// What concerns the whole file; pages have properties of their own.
fn properties(table: &dyn Table) -> WriterPropertiesPtr {
    let builder = WriterProperties::builder()
        // As the format says it: some readers trust no statistics of a writer that they cannot parse.
        .set_created_by(
            concat!("latens version ", env!("CARGO_PKG_VERSION"), " (build release)").into(),
        )
        .set_key_value_metadata(schema::write_metadata(table.schema()));
    Arc::new(builder.build())
}

/// `dictionary`, `delta`, `byte_stream_split`, `plain` of what a chunk's data pages hold.
fn encoding_name(meta: &parquet::file::metadata::ColumnChunkMetaData) -> &'static str {
    let encodings: Vec<PageEncoding> = meta.encodings().collect();
    let has = |encoding| encodings.contains(&encoding);
    if has(PageEncoding::RLE_DICTIONARY) || has(PageEncoding::PLAIN_DICTIONARY) {
        "dictionary"
    } else if has(PageEncoding::DELTA_BINARY_PACKED) {
        "delta"
    } else if has(PageEncoding::BYTE_STREAM_SPLIT) {
        super::SPLIT
    } else {
        "plain"
    }
}
