//! Where pages come from: the one place through which every page that is read passes.

use crate::io::section::SharedFile;
use crate::message::{Failure, Result};
use parquet::column::page::PageReader;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use std::io::Read;

use super::delta_pages::DeltaPages;
use super::schema::foreign;

/// The pages of one column chunk, decompressed and with their checksums verified; those of the
/// delta encodings are decoded by our own codec.
///
/// # Errors
/// When the chunk's place in the file makes no sense.
pub(super) fn open(
    file: &SerializedFileReader<SharedFile>,
    group: usize,
    leaf: usize,
) -> Result<Box<dyn PageReader>> {
    let group = file.get_row_group(group).map_err(foreign)?;
    let pages = group.get_column_page_reader(leaf).map_err(foreign)?;
    let descr = group.metadata().column(leaf).column_descr_ptr();
    Ok(Box::new(DeltaPages::new(pages, descr)))
}

/// An error in a column chunk, with its place.
pub(super) fn placed(meta: &ParquetMetaData, group: usize, leaf: usize, e: Failure) -> Failure {
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

/// Where the footer begins; the end of a file that has none.
///
/// # Errors
/// I/O; a footer that is encrypted.
pub(super) fn footer_at(file: &SharedFile) -> Result<u64> {
    let mut end = Vec::new();
    file.section(file.len().saturating_sub(8), 8).read_to_end(&mut end)?;
    let start = match *end.as_slice() {
        [a, b, c, d, b'P', b'A', b'R', b'1'] => {
            let length = u64::from(u32::from_le_bytes([a, b, c, d]));
            (file.len() - 8).checked_sub(length)
        }
        [.., b'P', b'A', b'R', b'E'] => {
            return Err(Failure::new("the file is encrypted: not supported")
                .at_byte(file.len() - 4)
                .hint("decrypt it with what wrote it"));
        }
        _ => None,
    };
    Ok(start.unwrap_or(file.len()))
}
