//! What a column takes in each encoding, measured by writing it.

use parquet::schema::types::SchemaDescriptor;

use super::chunk::{self, MEASURED_BYTES, Run, Way};
use super::options::Compression;
use super::schema;
use super::write::GROUP_ROWS;
use crate::io::guard::guarded;
use crate::message::Result;
use crate::table::model::Schema;
use crate::table::source::{PIECE_ROWS, Table, no_column};

/// The encoding of split pages.
pub const SPLIT: &str = "byte_stream_split";

/// What a column takes in one encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Pages PLAIN, dictionary with indices, DELTA_BINARY_PACKED or BYTE_STREAM_SPLIT.
    pub encoding: &'static str,
    /// Whether pages are compressed with zstd.
    pub zstd: bool,
    /// Page headers included.
    pub bytes: u64,
}

/// All encodings that suit the column, each with and without zstd.
///
/// # Errors
/// Those of the source and of the writer.
pub fn measure(table: &dyn Table, index: usize) -> Result<Vec<Size>> {
    guarded(|| measure_column(table, index))
}

fn measure_column(table: &dyn Table, index: usize) -> Result<Vec<Size>> {
    let field = table.schema().fields.get(index).ok_or_else(|| no_column(index))?;
    // A schema of this column alone: each column of a wide table would make all of it.
    let alone = Schema { fields: vec![field.clone()], ..Schema::default() };
    let descr = SchemaDescriptor::new(schema::write(&alone)?).column(0);
    let mut sizes: Vec<(Way, Size)> = Vec::new();
    for &way in Way::of_type(descr.physical_type()) {
        let encoding = match way {
            Way::Plain => "plain",
            Way::Dictionary => "dictionary",
            Way::Delta => "delta_binary_packed",
            Way::Split => SPLIT,
        };
        // By itself a split page is as large as a plain one.
        let codecs: &[bool] = if way == Way::Split { &[true] } else { &[false, true] };
        for &zstd in codecs {
            sizes.push((way, Size { encoding, zstd, bytes: 0 }));
        }
    }
    let mut column = table.column(index)?;
    loop {
        let (mut runs, mut rows, mut bytes) = (Vec::new(), 0u64, 0u64);
        while rows < GROUP_ROWS && bytes < MEASURED_BYTES {
            let piece = column.next(PIECE_ROWS)?;
            if piece.rows == 0 {
                break;
            }
            rows += piece.rows as u64;
            let run = Run::of(field, piece)?;
            bytes += run.bytes;
            runs.push(run);
        }
        if runs.is_empty() {
            return Ok(sizes.into_iter().map(|(_, size)| size).collect());
        }
        for (way, size) in &mut sizes {
            let codec = if size.zstd { Compression::Zstd } else { Compression::None };
            size.bytes += chunk::size(&descr, codec, *way, &runs)?;
        }
    }
}
