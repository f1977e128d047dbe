//! Nested columns, decoded for the sake of their checks: no other part of the tool knows them.

use crate::io::section::SharedFile;
use crate::message::{Failure, Result};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::DataType;
use parquet::file::metadata::ParquetMetaData;

use super::pages;
use super::schema::foreign;

/// Records that are decoded at a time; each may hold any number of values.
const RECORDS: usize = 1 << 10;

/// What a column chunk turned out to hold.
#[derive(Default)]
struct Counts {
    records: u64,
    levels: u64,
}

/// Decode all levels and values of a leaf column.
///
/// # Errors
/// A page that is damaged; more or fewer rows than the footer says.
pub(super) fn verify(
    file: &SharedFile,
    meta: &ParquetMetaData,
    leaf: usize,
    done: &(dyn Fn(u64) + Sync),
) -> Result<()> {
    for group in 0..meta.num_row_groups() {
        chunk(file, meta, (group, leaf)).map_err(|e| pages::placed(meta, (group, leaf), e))?;
        let chunk = meta.row_group(group).columns().get(leaf);
        done(chunk.map_or(0, |chunk| u64::try_from(chunk.uncompressed_size()).unwrap_or(0)));
    }
    Ok(())
}

fn chunk(file: &SharedFile, all: &ParquetMetaData, (group, leaf): (usize, usize)) -> Result<()> {
    let rows = all.row_group(group).num_rows();
    let Some(meta) = all.row_group(group).columns().get(leaf) else {
        return Err(Failure::new("corrupt: a row group lacks a column"));
    };
    let reader = get_column_reader(meta.column_descr_ptr(), pages::open(file, all, (group, leaf))?);
    let found = match reader {
        ColumnReader::BoolColumnReader(r) => drain(r, meta),
        ColumnReader::Int32ColumnReader(r) => drain(r, meta),
        ColumnReader::Int64ColumnReader(r) => drain(r, meta),
        ColumnReader::Int96ColumnReader(r) => drain(r, meta),
        ColumnReader::FloatColumnReader(r) => drain(r, meta),
        ColumnReader::DoubleColumnReader(r) => drain(r, meta),
        ColumnReader::ByteArrayColumnReader(r) => drain(r, meta),
        ColumnReader::FixedLenByteArrayColumnReader(r) => drain(r, meta),
    }?;
    let promised = (u64::try_from(rows).ok(), u64::try_from(meta.num_values()).ok());
    match promised == (Some(found.records), Some(found.levels)) {
        true => Ok(()),
        false => Err(Failure::new(format!(
            "corrupt: {} rows of {} values; the footer says {rows} of {}",
            found.records,
            found.levels,
            meta.num_values()
        ))),
    }
}

fn drain<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    meta: &parquet::file::metadata::ColumnChunkMetaData,
) -> Result<Counts> {
    let descr = meta.column_descr();
    let (mut definitions, mut repetitions, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let mut counts = Counts::default();
    loop {
        definitions.clear();
        repetitions.clear();
        values.clear();
        let (records, _, levels) = reader
            .read_records(RECORDS, Some(&mut definitions), Some(&mut repetitions), &mut values)
            .map_err(foreign)?;
        if records == 0 && levels == 0 {
            return Ok(counts);
        }
        let beyond =
            |levels: &[i16], most: i16| levels.iter().any(|level| !(0..=most).contains(level));
        if beyond(&definitions, descr.max_def_level())
            || beyond(&repetitions, descr.max_rep_level())
        {
            return Err(Failure::new("corrupt: a level deeper than the schema"));
        }
        counts.records += records as u64;
        counts.levels += levels as u64;
    }
}
