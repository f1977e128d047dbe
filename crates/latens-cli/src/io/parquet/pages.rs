//! Where pages come from: the one place through which every page that is read passes.

use crate::io::section::SharedFile;
use crate::message::{Failure, Result};
use parquet::column::page::PageReader;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::serialized_reader::SerializedPageReader;
use std::sync::Arc;

use super::delta_pages::DeltaPages;
use super::schema::foreign;

/// The pages of one column chunk, decompressed and with their checksums verified; those of the
/// delta encodings are decoded by our own codec.
///
/// # Errors
/// When the chunk's place in the file makes no sense.
pub(super) fn open(
    file: &SharedFile,
    meta: &ParquetMetaData,
    place: (usize, usize),
) -> Result<Box<dyn PageReader>> {
    let pages = of_chunk(file, meta, place)?;
    let descr = pages.1.column_descr_ptr();
    Ok(Box::new(DeltaPages::new(Box::new(pages.0), descr)))
}

/// The pages of one column chunk, decompressed, and what the footer says of it.
///
/// The crate's reader of a row group has them too, but looks at all columns each time that it is made.
///
/// # Errors
/// When there is no such chunk, or its place in the file makes no sense.
pub(super) fn of_chunk<'a>(
    file: &SharedFile,
    meta: &'a ParquetMetaData,
    (group, leaf): (usize, usize),
) -> Result<(SerializedPageReader<SharedFile>, &'a ColumnChunkMetaData)> {
    let lacks = || Failure::new("corrupt: a row group lacks a column");
    let group = meta.row_groups().get(group).ok_or_else(lacks)?;
    let chunk = group.columns().get(leaf).ok_or_else(lacks)?;
    let rows = usize::try_from(group.num_rows()).unwrap_or(0);
    let pages = SerializedPageReader::new(Arc::new(file.clone()), chunk, rows, None);
    Ok((pages.map_err(foreign)?, chunk))
}

/// An error in a column chunk, with its place.
pub(super) fn placed(meta: &ParquetMetaData, (group, leaf): (usize, usize), e: Failure) -> Failure {
    // The crate does not tell encrypted columns, which a footer in the clear may have.
    let e = match e.what().contains("corrupt") {
        true => e.hint("damaged, or encrypted; --columns takes the others"),
        false => e,
    };
    let e = e.within(format!("row group {group}"));
    let group = meta.row_groups().get(group);
    let Some(chunk) = group.and_then(|group| group.columns().get(leaf)) else { return e };
    let e = e.within(format!("column {}", chunk.column_path().string()));
    let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
    match u64::try_from(start) {
        Ok(start) => e.at_byte(start),
        Err(_) => e,
    }
}
