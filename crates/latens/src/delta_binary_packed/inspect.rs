//! The structure of a stream, without its values.

use super::{Decoder, Header, Options};
use crate::bits::{varint, zigzag};
use crate::error::{Error, Result};

/// What [`inspect`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The header.
    pub header: Header,
    /// All blocks, in order.
    pub blocks: Vec<BlockSummary>,
    /// The widths in bits of all miniblocks of all blocks: [`super::Layout::miniblocks`] for each
    /// block, those that the last block does not need included, as they stand.
    pub widths: Vec<u8>,
    /// Bytes that the stream takes.
    pub consumed: usize,
}

/// One block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockSummary {
    /// Offset of its first byte.
    pub at: usize,
    /// The minimum delta, as written.
    pub min_delta: i64,
}

impl Report {
    /// The widths of block `index`, those of miniblocks that hold values; none where there is no
    /// such block.
    pub fn block_widths(&self, index: usize) -> &[u8] {
        let layout = self.header.layout;
        let from = index.saturating_mul(layout.miniblocks());
        let before = (index as u64).saturating_mul(layout.block_size() as u64);
        let values = self.header.count_in_blocks().saturating_sub(before);
        let needed = values.div_ceil(layout.values_per_miniblock() as u64);
        let needed = usize::try_from(needed).unwrap_or(usize::MAX).min(layout.miniblocks());
        self.widths.get(from..from.saturating_add(needed)).unwrap_or_default()
    }
}

/// The structure of the stream at the start of `bytes`, read leniently as 64-bit numbers; 32-bit
/// ones have the same.
///
/// # Errors
/// As [`super::decode`].
///
/// ```
/// use latens::delta_binary_packed::{Layout, encode, inspect};
/// let squares: Vec<i64> = (0..257).map(|i| i * i).collect();
/// let report = inspect(&encode(&squares, Layout::default_for::<i64>()))?;
/// assert_eq!(report.header.total_count, 257);
/// assert_eq!(report.blocks.len(), 1);
/// assert_eq!(report.blocks[0].min_delta, 1);
/// assert_eq!(report.block_widths(0), [7, 8, 9, 9]);
/// # Ok::<(), latens::Error>(())
/// ```
pub fn inspect(bytes: &[u8]) -> Result<Report> {
    let mut walk = Decoder::<i64>::new(bytes, Options::default())?;
    let header = *walk.header();
    // Walked first: an input in error costs no memory.
    let total = walk.remaining();
    if walk.skip(total)? < total {
        walk.skip(1)?;
    }
    let layout = header.layout;
    let block_size = layout.block_size() as u64;
    let count = usize::try_from(header.count_in_blocks().div_ceil(block_size))
        .map_err(|_| Error::invalid("more blocks than memory has room for"))?;
    let mut blocks = Vec::with_capacity(count);
    let mut widths = Vec::with_capacity(count.saturating_mul(layout.miniblocks()));
    let mut at = header.size;
    let mut left = header.count_in_blocks();
    while left > 0 {
        let start = at;
        let min_delta = zigzag::decode(varint::read(bytes, &mut at, "a minimum delta")?);
        blocks.push(BlockSummary { at: start, min_delta });
        let here = bytes.get(at..at + layout.miniblocks()).unwrap_or_default();
        widths.extend_from_slice(here);
        let step = layout.values_per_miniblock() as u64;
        let needed = usize::try_from(left.min(block_size).div_ceil(step)).unwrap_or(usize::MAX);
        let bits: usize = here.iter().take(needed).map(|&w| usize::from(w)).sum();
        at = at.saturating_add(layout.miniblocks());
        at = at.saturating_add(bits.saturating_mul(layout.values_per_miniblock() / 8));
        left = left.saturating_sub(block_size);
    }
    Ok(Report { header, blocks, widths, consumed: walk.consumed() })
}
