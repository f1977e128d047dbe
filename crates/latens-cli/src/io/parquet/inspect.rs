//! What is inside of a Parquet file: encodings of its pages, and the blocks of its delta pages.

use latens::delta_binary_packed::inspect as inspect_stream;
use parquet::basic::Compression;
use parquet::column::page::Page;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::schema::types::ColumnDescPtr;
use serde::Serialize;
use std::collections::BTreeMap;

use super::delta_pages::{is_ours, values_at, within};
use super::footer::footer_at;
use super::pages::{of_chunk, placed};
use super::schema::foreign;
use crate::io::guard::guarded;
use crate::io::section::SharedFile;
use crate::message::{Failure, Result};

/// A file.
#[derive(Clone, Debug, Serialize)]
pub struct ParquetInspection {
    /// `parquet`
    pub kind: &'static str,
    /// Of the file.
    pub rows: u64,
    /// Of the file.
    pub bytes: u64,
    /// How many.
    pub row_groups: usize,
    /// The program that wrote it, as it says.
    pub created_by: Option<String>,
    /// Leaf columns in order.
    pub columns: Vec<ColumnInspection>,
}

/// A leaf column.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnInspection {
    /// Its path, with dots.
    pub name: String,
    /// Physical type.
    #[serde(rename = "type")]
    pub physical_type: String,
    /// Values and nulls of all row groups.
    pub n: u64,
    /// Bytes of its column chunks as stored.
    pub bytes: u64,
    /// Codecs of its column chunks.
    pub compression: Vec<String>,
    /// Data pages by encoding.
    pub pages: BTreeMap<String, u64>,
    /// Of DELTA_BINARY_PACKED pages, and of the lengths of the other two delta encodings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub delta: Vec<DeltaPage>,
    /// Over all blocks of those, listed or not.
    #[serde(skip)]
    pub all: AllBlocks,
}

/// What the blocks of a column have together.
#[derive(Clone, Debug, Default)]
pub struct AllBlocks {
    /// How many.
    pub count: u64,
    /// How many miniblocks have which width.
    pub widths: BTreeMap<u8, u64>,
    /// Least and greatest of their minima.
    pub min_deltas: Option<(i64, i64)>,
}

/// One page that begins with a DELTA_BINARY_PACKED stream.
#[derive(Clone, Debug, Serialize)]
pub struct DeltaPage {
    /// Which row group it is in.
    pub row_group: usize,
    /// Which of the column chunk's data pages it is.
    pub page: usize,
    /// Of the page.
    pub encoding: String,
    /// Values of the stream.
    pub n: u64,
    /// Bytes of the stream.
    pub bytes: usize,
    /// Values of a full block.
    pub block_size: usize,
    /// Of a block.
    pub miniblocks: usize,
    /// In order.
    pub blocks: Vec<Block>,
    /// How many more there are that are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub blocks_left_out: u64,
}

/// A block of a [`DeltaPage`].
#[derive(Clone, Debug, Serialize)]
pub struct Block {
    /// As written.
    pub min_delta: i64,
    /// Bits of a field in each miniblock that holds values.
    pub widths: Vec<u8>,
}

/// Widths of miniblocks that are listed for a file: blocks that are all alike take next to nothing
/// of a page that is compressed, and a hundred bytes each of a report.
const LISTED: usize = 1 << 16;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Look into a file; every page is decompressed.
///
/// # Errors
/// No Parquet file, or one that is damaged: column and page are named.
pub fn inspect(bytes: SharedFile) -> Result<ParquetInspection> {
    let footer = footer_at(&bytes)?;
    let found = guarded(|| {
        let file = SerializedFileReader::new(bytes.clone()).map_err(foreign)?;
        let meta = file.metadata();
        let about = meta.file_metadata();
        let leaves = about.schema_descr().num_columns();
        let mut room = LISTED;
        let column = |leaf| {
            let descr = about.schema_descr().column(leaf);
            column(&bytes, meta, leaf, &descr, &mut room)
        };
        Ok(ParquetInspection {
            kind: "parquet",
            rows: u64::try_from(about.num_rows()).unwrap_or(0),
            bytes: bytes.len(),
            row_groups: meta.num_row_groups(),
            created_by: about.created_by().map(Into::into),
            columns: (0..leaves).map(column).collect::<Result<_>>()?,
        })
    });
    found.map_err(|e| e.at_byte(footer))
}

fn column(
    file: &SharedFile,
    all: &ParquetMetaData,
    leaf: usize,
    descr: &ColumnDescPtr,
    room: &mut usize,
) -> Result<ColumnInspection> {
    let mut found = ColumnInspection {
        name: descr.path().string(),
        physical_type: format!("{:?}", descr.physical_type()),
        n: 0,
        bytes: 0,
        compression: Vec::new(),
        pages: BTreeMap::new(),
        delta: Vec::new(),
        all: AllBlocks::default(),
    };
    for group in 0..all.num_row_groups() {
        let meta = all.row_group(group);
        if leaf >= meta.num_columns() {
            return Err(Failure::new("corrupt: a row group lacks a column"));
        }
        let chunk = meta.column(leaf);
        found.n += u64::try_from(chunk.num_values()).unwrap_or(0);
        found.bytes += u64::try_from(chunk.compressed_size()).unwrap_or(0);
        let codec = codec_name(chunk.compression());
        if !found.compression.contains(&codec) {
            found.compression.push(codec);
        }
        pages_of(file, all, (group, leaf), &mut found, room)
            .map_err(|e| placed(all, (group, leaf), e))?;
    }
    Ok(found)
}

fn pages_of(
    file: &SharedFile,
    meta: &ParquetMetaData,
    place: (usize, usize),
    found: &mut ColumnInspection,
    room: &mut usize,
) -> Result<()> {
    let (pages, chunk) = of_chunk(file, meta, place)?;
    let descr = chunk.column_descr_ptr();
    let mut index = 0;
    for page in pages {
        let page = page.map_err(foreign)?;
        if !page.is_data_page() {
            continue;
        }
        let encoding = page.encoding();
        *found.pages.entry(encoding.to_string()).or_insert(0) += 1;
        if is_ours(encoding, descr.physical_type()) {
            let delta = delta_page(&page, &descr, (place.0, index), &mut found.all, room);
            found.delta.push(delta.map_err(|e| e.within(format!("page {index}")))?);
        }
        index += 1;
    }
    Ok(())
}

/// `zstd`, `snappy`, `uncompressed`: without the level, which files do not store.
fn codec_name(codec: Compression) -> String {
    let name = format!("{codec:?}").to_lowercase();
    name.split('(').next().unwrap_or_default().to_string()
}

fn delta_page(
    page: &Page,
    descr: &ColumnDescPtr,
    at: (usize, usize),
    all: &mut AllBlocks,
    room: &mut usize,
) -> Result<DeltaPage> {
    let start = values_at(page, descr)?;
    let values = page.buffer().get(start..).unwrap_or_default();
    let most = u64::from(page.num_values());
    let report = within(values, most).and_then(|()| inspect_stream(values)).map_err(|e| {
        let byte = e.at().unwrap_or(0).saturating_add(start as u64);
        Failure::new(format!("{} (byte {byte} of the page, decompressed)", e.what()))
            .hint("the file is damaged")
    })?;
    let mut blocks = Vec::new();
    for (index, block) in report.blocks.iter().enumerate() {
        let widths = report.block_widths(index);
        all.add(block.min_delta, widths);
        // A block without widths takes its place too.
        let takes = widths.len().max(1);
        if blocks.len() == index && takes <= *room {
            *room -= takes;
            blocks.push(Block { min_delta: block.min_delta, widths: widths.to_vec() });
        }
    }
    Ok(DeltaPage {
        row_group: at.0,
        page: at.1,
        encoding: page.encoding().to_string(),
        n: report.header.total_count,
        bytes: report.consumed,
        block_size: report.header.layout.block_size(),
        miniblocks: report.header.layout.miniblocks(),
        blocks_left_out: (report.blocks.len() - blocks.len()) as u64,
        blocks,
    })
}

impl AllBlocks {
    fn add(&mut self, min_delta: i64, widths: &[u8]) {
        self.count += 1;
        let (least, greatest) = self.min_deltas.unwrap_or((min_delta, min_delta));
        self.min_deltas = Some((least.min(min_delta), greatest.max(min_delta)));
        for &width in widths {
            *self.widths.entry(width).or_insert(0) += 1;
        }
    }
}
