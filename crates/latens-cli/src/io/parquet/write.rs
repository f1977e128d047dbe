//! A table as a Parquet file.

use crate::io::guard::guarded;
use crate::message::{Failure, Result};
use crate::table::model::{Field, Storage};
use crate::table::source::{Column, Table};
use latens::NumberType;
use parquet::basic::{Compression as Codec, Encoding as PageEncoding, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;
use rayon::prelude::*;
use std::io::Write;
use std::sync::Arc;

use super::chunk;
use super::schema::{self, foreign};

/// Rows of one row group.
const GROUP_ROWS: u64 = 1 << 20;

/// `--compression`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Compression {
    /// Pages as they are.
    None,
    /// Fast.
    Snappy,
    /// Small.
    #[default]
    Zstd,
}

/// `--encoding`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Encoding {
    /// A dictionary where values repeat, PLAIN where they do not.
    #[default]
    Auto,
    /// DELTA_BINARY_PACKED for integers, PLAIN for the rest.
    Delta,
    /// PLAIN for all.
    Plain,
}

/// How a Parquet file is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Codec of the pages.
    pub compression: Compression,
    /// Encoding of the values.
    pub encoding: Encoding,
}

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
pub fn write<W: Write + Send>(
    table: &dyn Table,
    options: &Options,
    out: W,
) -> Result<(W, Vec<Written>)> {
    guarded(|| write_file(table, options, out))
}

fn write_file<W: Write + Send>(
    table: &dyn Table,
    options: &Options,
    out: W,
) -> Result<(W, Vec<Written>)> {
    let fields = &table.schema().fields;
    let root = schema::write(table.schema())?;
    let props = properties(table, options);
    let mut writer = SerializedFileWriter::new(out, root, props.clone()).map_err(foreign)?;
    let descrs = writer.schema_descr().columns().to_vec();
    let mut columns =
        (0..fields.len()).map(|index| table.column(index)).collect::<Result<Vec<_>>>()?;
    let mut written = vec![Written::default(); fields.len()];
    // Finished chunks wait in memory for their turn: no more of them than are made at a time.
    let at_a_time = rayon::current_num_threads().max(1);
    let mut left = table.rows();
    while left > 0 && !fields.is_empty() {
        let rows = usize::try_from(left.min(GROUP_ROWS)).unwrap_or(usize::MAX);
        let mut group = writer.next_row_group().map_err(foreign)?;
        let mut start = 0;
        for batch in columns.chunks_mut(at_a_time) {
            let chunks = batch
                .par_iter_mut()
                .enumerate()
                .map(|(i, column)| {
                    let (Some(descr), Some(field)) = (descrs.get(start + i), fields.get(start + i))
                    else {
                        return Err(Failure::new("a column is missing"));
                    };
                    encode(descr, &props, field, column.as_mut(), rows)
                })
                .collect::<Result<Vec<_>>>()?;
            for chunk in chunks {
                if let Some(written) = written.get_mut(start) {
                    written.bytes += chunk.close.bytes_written;
                    written.encoding = encoding_name(&chunk.close.metadata);
                }
                group.append_column(&chunk.bytes, chunk.close).map_err(foreign)?;
                start += 1;
            }
        }
        group.close().map_err(foreign)?;
        left -= rows as u64;
    }
    let out = writer.into_inner().map_err(foreign)?;
    Ok((out, written))
}

fn encode(
    descr: &parquet::schema::types::ColumnDescPtr,
    props: &WriterPropertiesPtr,
    field: &Field,
    column: &mut dyn Column,
    rows: usize,
) -> Result<chunk::Chunk> {
    guarded(|| chunk::encode(descr, props, field, column, rows))
        .map_err(|e| e.within(format!("column {}", field.name)))
}

fn properties(table: &dyn Table, options: &Options) -> WriterPropertiesPtr {
    let codec = match options.compression {
        Compression::None => Codec::UNCOMPRESSED,
        Compression::Snappy => Codec::SNAPPY,
        Compression::Zstd => Codec::ZSTD(ZstdLevel::try_new(3).unwrap_or_default()),
    };
    let mut builder = WriterProperties::builder()
        .set_created_by(concat!("latens ", env!("CARGO_PKG_VERSION")).to_string())
        .set_compression(codec)
        .set_dictionary_enabled(options.encoding == Encoding::Auto)
        .set_key_value_metadata(schema::write_metadata(table.schema()));
    if options.encoding == Encoding::Delta {
        for field in table.schema().fields.iter().filter(|field| is_integer(field)) {
            let path = ColumnPath::new(vec![field.name.clone()]);
            builder = builder.set_column_encoding(path, PageEncoding::DELTA_BINARY_PACKED);
        }
    }
    Arc::new(builder.build())
}

/// Whether Parquet holds it as INT32 or INT64.
fn is_integer(field: &Field) -> bool {
    use NumberType::{F16, F32, F64};
    matches!(field.storage, Storage::Number(t) if !matches!(t, F16 | F32 | F64))
}

/// `dictionary`, `delta`, `plain` of what a chunk's data pages hold.
fn encoding_name(meta: &parquet::file::metadata::ColumnChunkMetaData) -> String {
    let encodings: Vec<PageEncoding> = meta.encodings().collect();
    let has = |encoding| encodings.contains(&encoding);
    let name = if has(PageEncoding::RLE_DICTIONARY) || has(PageEncoding::PLAIN_DICTIONARY) {
        "dictionary"
    } else if has(PageEncoding::DELTA_BINARY_PACKED) {
        "delta"
    } else {
        "plain"
    };
    name.to_string()
}
