//! What `zstd -3` makes of the same bytes, for the line of the total.

use std::io::{self, Write};

use crate::message::Result;

/// Counts what it is given.
#[derive(Debug, Default)]
pub struct Count(u64);

impl Count {
    /// Bytes so far.
    pub fn bytes(&self) -> u64 {
        self.0
    }
}

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A zstd stream of which only the length is kept.
pub struct ZstdSize(zstd::stream::Encoder<'static, Count>);

impl ZstdSize {
    /// At level 3, the default of `zstd`.
    ///
    /// # Errors
    /// When zstd cannot get its memory.
    pub fn new() -> Result<Self> {
        Ok(ZstdSize(zstd::stream::Encoder::new(Count::default(), 3)?))
    }

    /// More bytes.
    ///
    /// # Errors
    /// Those of zstd.
    pub fn add(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.0.write_all(bytes)?)
    }

    /// The length of the whole.
    ///
    /// # Errors
    /// Those of zstd.
    pub fn finish(self) -> Result<u64> {
        Ok(self.0.finish()?.0)
    }
}
