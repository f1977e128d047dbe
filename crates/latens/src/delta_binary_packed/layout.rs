//! The header of a stream, and the shape of its blocks.

use latens_kernels::delta::MINIBLOCK_STEP;

use super::Element;
use crate::bits::{varint, zigzag};
use crate::error::{Error, Result};

/// Block sizes are multiples of this many values.
const BLOCK_STEP: usize = 128;

/// How the values behind the first one are cut up: blocks of [`Layout::block_size`] values, each
/// of [`Layout::miniblocks`] miniblocks with a bit width of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    block_size: usize,
    miniblocks: usize,
    /// `block_size / miniblocks`: asked for in every block, and divisions are slow.
    step: usize,
}

impl Layout {
    /// Largest block that [`Layout::new`] takes. Streams with larger ones are read; writing one
    /// would pad its last miniblock with up to gigabytes of zeros.
    pub const MAX_BLOCK_SIZE: usize = 1 << 24;

    const DEFAULT_32: Self = Self { block_size: 128, miniblocks: 4, step: 32 };
    const DEFAULT_64: Self = Self { block_size: 256, miniblocks: 4, step: 64 };

    /// Blocks of `block_size` values in `miniblocks` miniblocks.
    ///
    /// # Errors
    /// Invalid argument where `block_size` is no positive multiple of 128 or above
    /// [`Layout::MAX_BLOCK_SIZE`], or where `miniblocks` does not divide it into multiples of 32
    /// values.
    ///
    /// ```
    /// use latens::delta_binary_packed::Layout;
    /// assert_eq!(Layout::new(2048, 8)?.values_per_miniblock(), 256);
    /// assert!(Layout::new(128, 8).is_err());
    /// # Ok::<(), latens::Error>(())
    /// ```
    pub fn new(block_size: usize, miniblocks: usize) -> Result<Self> {
        if block_size > Self::MAX_BLOCK_SIZE {
            return Err(Error::invalid(format!(
                "a block size of {block_size} values is above {}",
                Self::MAX_BLOCK_SIZE
            )));
        }
        Self::check_block_size(block_size)
            .and_then(|()| Self::checked(block_size, miniblocks))
            .map_err(Error::invalid)
    }

    /// What the `parquet` crate and pyarrow write: 128 values in 4 miniblocks for numbers of 32
    /// bits, 256 in 4 for 64 bits.
    pub const fn default_for<T: Element>() -> Self {
        if size_of::<T>() == 4 { Self::DEFAULT_32 } else { Self::DEFAULT_64 }
    }

    /// Values in a full block.
    pub fn block_size(self) -> usize {
        self.block_size
    }

    /// Miniblocks in a block, i.e. bytes of widths.
    pub fn miniblocks(self) -> usize {
        self.miniblocks
    }

    /// Values in a full miniblock: a multiple of 32.
    pub fn values_per_miniblock(self) -> usize {
        self.step
    }

    fn check_block_size(block_size: usize) -> std::result::Result<(), String> {
        if block_size == 0 || !block_size.is_multiple_of(BLOCK_STEP) {
            return Err(format!("a block of {block_size} values; it takes a multiple of 128"));
        }
        Ok(())
    }

    /// The shape with a block size that is checked.
    fn checked(block_size: usize, miniblocks: usize) -> std::result::Result<Self, String> {
        if miniblocks == 0
            || !block_size.is_multiple_of(miniblocks)
            || !(block_size / miniblocks).is_multiple_of(MINIBLOCK_STEP)
        {
            return Err(format!(
                "{miniblocks} miniblocks in a block of {block_size} values; \
                 each must have a multiple of 32 values"
            ));
        }
        Ok(Self { block_size, miniblocks, step: block_size / miniblocks })
    }
}

/// What a stream says before its first block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// The shape of the blocks.
    pub layout: Layout,
    /// Values in the stream, the first one included. Nothing vouches for it but the blocks.
    pub total_count: u64,
    /// The first value, as written: for numbers of 32 bits its low half counts.
    pub first_value: i64,
    /// Bytes that the header takes: where the first block begins.
    pub size: usize,
}

impl Header {
    /// Values in blocks: all but the first one.
    pub fn count_in_blocks(&self) -> u64 {
        self.total_count.saturating_sub(1)
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        varint::write(self.layout.block_size as u64, out);
        varint::write(self.layout.miniblocks as u64, out);
        varint::write(self.total_count, out);
        varint::write(zigzag::encode(self.first_value), out);
    }
}

/// Reads the header at the start of `bytes`. An empty input is a stream of no values, with a
/// header of size 0.
///
/// # Errors
/// Truncated where `bytes` end within the header, corrupt where block size or miniblocks are not
/// legal or a varint has more than 10 bytes or 64 bits; each with the byte offset of the field, and
/// judged before the next field is read.
///
/// ```
/// let header = latens::delta_binary_packed::header(&[0x80, 0x01, 4, 5, 2])?;
/// assert_eq!(header.layout.block_size(), 128);
/// assert_eq!((header.total_count, header.first_value, header.size), (5, 1, 5));
/// # Ok::<(), latens::Error>(())
/// ```
pub fn header(bytes: &[u8]) -> Result<Header> {
    if bytes.is_empty() {
        return Ok(Header { layout: Layout::DEFAULT_32, total_count: 0, first_value: 0, size: 0 });
    }
    let mut at = 0;
    let size = |value: u64, at: usize, what: &str| {
        usize::try_from(value)
            .map_err(|_| Error::corrupt(at as u64, format!("{what} of {value} is beyond memory")))
    };
    let block_size = varint::read(bytes, &mut at, "the block size")?;
    let block_size = size(block_size, 0, "a block size")?;
    Layout::check_block_size(block_size).map_err(|e| Error::corrupt(0, e))?;
    let start = at;
    let miniblocks = varint::read(bytes, &mut at, "the number of miniblocks")?;
    let miniblocks = size(miniblocks, start, "a number of miniblocks")?;
    let wrong = |e| Error::corrupt(start as u64, e);
    let layout = Layout::checked(block_size, miniblocks).map_err(wrong)?;
    let total_count = varint::read(bytes, &mut at, "the number of values")?;
    let first_value = zigzag::decode(varint::read(bytes, &mut at, "the first value")?);
    Ok(Header { layout, total_count, first_value, size: at })
}

/// Where the count and where the first value stand in a header that was read: for messages.
#[cold]
pub(super) fn places(bytes: &[u8]) -> (u64, u64) {
    let (mut starts, mut at) = ([0; 4], 0);
    for start in &mut starts {
        *start = at as u64;
        // Of no byte at all there is a header too.
        if varint::read(bytes, &mut at, "a field").is_err() {
            break;
        }
    }
    (starts[2], starts[3])
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn takes_the_legal_shapes_alone() {
        let legal =
            [(128, 1), (128, 2), (128, 4), (256, 4), (256, 8), (1024, 1), (2048, 8), (20096, 4)];
        for (size, miniblocks) in legal {
            let layout = Layout::new(size, miniblocks).unwrap();
            assert_eq!((layout.block_size(), layout.miniblocks()), (size, miniblocks));
        }
        let illegal =
            [(0, 0), (0, 1), (128, 0), (128, 3), (128, 8), (128, 16), (64, 1), (130, 1), (384, 4)];
        let mut refused = 0;
        for (size, miniblocks) in illegal {
            // 384 / 4 = 96 is a multiple of 32, the odd one out.
            refused += usize::from(Layout::new(size, miniblocks).is_err());
        }
        assert_eq!(refused, illegal.len() - 1);
        assert!(Layout::new(Layout::MAX_BLOCK_SIZE + 128, 1).is_err());
    }

    #[test]
    fn headers_round_trip() {
        let layout = Layout::new(2048, 8).unwrap();
        for (total_count, first_value) in [(0, 0), (1, -1), (u64::MAX, i64::MIN), (300, i64::MAX)] {
            let mut bytes = Vec::new();
            let header_in = Header { layout, total_count, first_value, size: 0 };
            header_in.write(&mut bytes);
            bytes.push(0xee);
            let out = header(&bytes).unwrap();
            assert_eq!(out, Header { size: bytes.len() - 1, ..header_in });
        }
    }
}
