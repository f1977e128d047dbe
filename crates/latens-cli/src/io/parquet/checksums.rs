//! Which pages of a file have a checksum. The `parquet` crate checks those that have, and does not
//! say which they are.

use bytes::Bytes;
use parquet::column::page::PageReader;
use parquet::errors::Result as ParquetResult;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use std::io::{BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};

use super::page_writer::has_checksum;
use super::pages::placed;
use super::schema::foreign;
use crate::io::section::{Section, SharedFile};
use crate::message::Result;
use crate::parallel;
use crate::report::Checksums;

/// The first three fields of a page header and the byte of the next one take no more.
const HEADER: u64 = 24;

/// A file that notes where it is read from: where only page headers are read, those are there.
struct Noted {
    file: SharedFile,
    headers: Mutex<Vec<u64>>,
}

impl Length for Noted {
    fn len(&self) -> u64 {
        self.file.len()
    }
}

impl ChunkReader for Noted {
    type T = BufReader<Section>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        self.headers.lock().unwrap_or_else(PoisonError::into_inner).push(start);
        // Headers are short, unless statistics are in them.
        Ok(BufReader::with_capacity(256, self.file.section(start, self.file.len())))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        self.file.get_bytes(start, length)
    }
}

/// Look at the headers of all pages.
///
/// # Errors
/// A header that is damaged; I/O.
pub(super) fn of(file: &SharedFile, meta: &ParquetMetaData) -> Result<Checksums> {
    let groups = meta.row_groups().iter().enumerate();
    let chunks: Vec<(usize, usize)> = groups
        .flat_map(|(group, meta)| (0..meta.num_columns()).map(move |leaf| (group, leaf)))
        .collect();
    let counts = parallel::map(chunks.len(), &|index| {
        let &(group, leaf) = chunks.get(index).unwrap_or(&(0, 0));
        let group_meta = meta.row_group(group);
        let rows = usize::try_from(group_meta.num_rows()).unwrap_or(0);
        chunk(file, group_meta.column(leaf), rows).map_err(|e| placed(meta, (group, leaf), e))
    })?;
    let sum = counts.iter().fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    Ok(Checksums::of(sum.0, sum.1))
}

/// Pages with a checksum, and all of them.
fn chunk(file: &SharedFile, chunk: &ColumnChunkMetaData, rows: usize) -> Result<(u64, u64)> {
    let noted = Arc::new(Noted { file: file.clone(), headers: Mutex::new(Vec::new()) });
    let reader = SerializedPageReader::new(Arc::clone(&noted), chunk, rows, None);
    let mut pages = reader.map_err(foreign)?;
    while pages.peek_next_page().map_err(foreign)?.is_some() {
        pages.skip_next_page().map_err(foreign)?;
    }
    let headers = noted.headers.lock().unwrap_or_else(PoisonError::into_inner);
    let mut with = 0;
    for &at in headers.iter() {
        let mut header = Vec::new();
        file.section(at, HEADER).read_to_end(&mut header)?;
        with += u64::from(has_checksum(&header) == Some(true));
    }
    Ok((with, headers.len() as u64))
}
