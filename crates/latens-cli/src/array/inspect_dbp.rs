//! What is inside of a bare DELTA_BINARY_PACKED stream, as `--json` shows it.

use latens::delta_binary_packed::inspect;
use serde::Serialize;

use crate::message::{Failure, Result};

/// A stream.
#[derive(Clone, Debug, Serialize)]
pub struct DbpInspection {
    /// `dbp`
    pub kind: &'static str,
    /// As given with `--type`; the stream does not say it.
    #[serde(rename = "type")]
    pub number_type: Option<String>,
    /// Numbers.
    pub n: u64,
    /// Values of a full block.
    pub block_size: usize,
    /// Of a block.
    pub miniblocks: usize,
    /// The first number, as written.
    pub first_value: i64,
    /// Bytes of the file.
    pub bytes: usize,
    /// In order.
    pub blocks: Vec<Block>,
}

/// A block of a [`DbpInspection`].
#[derive(Clone, Debug, Serialize)]
pub struct Block {
    /// Offset of its first byte.
    pub at: usize,
    /// As written.
    pub min_delta: i64,
    /// Bits of a field in each miniblock that holds values.
    pub widths: Vec<u8>,
}

/// Look into the stream that `bytes` are.
///
/// # Errors
/// A stream that is cut short or damaged; bytes behind it.
pub fn read(bytes: &[u8], number_type: Option<latens::NumberType>) -> Result<DbpInspection> {
    let report = inspect(bytes)?;
    if report.consumed < bytes.len() {
        return Err(Failure::new("bytes follow the end of the stream")
            .at_byte(report.consumed as u64)
            .hint("the file is damaged or of another format"));
    }
    let block = |(index, summary): (usize, &latens::delta_binary_packed::BlockSummary)| Block {
        at: summary.at,
        min_delta: summary.min_delta,
        widths: report.block_widths(index).to_vec(),
    };
    Ok(DbpInspection {
        kind: "dbp",
        number_type: number_type.map(|ty| ty.name().to_string()),
        n: report.header.total_count,
        block_size: report.header.layout.block_size(),
        miniblocks: report.header.layout.miniblocks(),
        first_value: report.header.first_value,
        bytes: bytes.len(),
        blocks: report.blocks.iter().enumerate().map(block).collect(),
    })
}
