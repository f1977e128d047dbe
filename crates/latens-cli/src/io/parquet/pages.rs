//! Where pages come from: the one place through which every page that is read passes.

use crate::io::section::SharedFile;
use crate::message::Result;
use parquet::column::page::PageReader;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;

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
