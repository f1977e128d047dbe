//! The fields of a CSV file, column by column, in a temporary file: larger than memory is fine.

use crate::io::section::SharedFile;
use crate::message::{Failure, Result};
use crate::output::Nameless;
use crate::table::piece::ByteValues;
use std::io::{BufWriter, Read, Write};

/// Fields being put away, a block of rows after the other.
pub(super) struct Spool {
    file: BufWriter<Nameless>,
    written: u64,
    blocks: Vec<Block>,
}

/// A block of rows.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) rows: usize,
    /// Offset and bytes of the text of each column; the ends of its fields stand before it.
    places: Vec<(u64, usize)>,
}

/// Fields put away.
pub(super) struct Fields {
    file: SharedFile,
    pub(super) blocks: Vec<Block>,
}

impl Spool {
    pub(super) fn new() -> Result<Self> {
        let file = BufWriter::with_capacity(1 << 18, Nameless::new()?);
        Ok(Spool { file, written: 0, blocks: Vec::new() })
    }

    /// Put a block away: one run of fields for each column, all of the same length.
    pub(super) fn push(&mut self, rows: usize, columns: &[ByteValues]) -> Result<()> {
        let mut places = Vec::with_capacity(columns.len());
        for column in columns {
            places.push((self.written, column.data.len()));
            for &end in &column.ends {
                let end = u32::try_from(end);
                let end = end.map_err(|_| Failure::new("fields of more than 4 GiB in a block"))?;
                self.file.write_all(&end.to_le_bytes())?;
            }
            self.file.write_all(&column.data)?;
            self.written += (column.ends.len() * 4 + column.data.len()) as u64;
        }
        self.blocks.push(Block { rows, places });
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Fields> {
        let file = self.file.into_inner().map_err(|e| Failure::from(e.into_error()))?;
        Ok(Fields { file: file.read_back()?, blocks: self.blocks })
    }
}

impl Fields {
    /// The fields of one column in one block.
    pub(super) fn read(&self, block: usize, column: usize) -> Result<ByteValues> {
        let gone = || Failure::new("no such block of fields");
        let block = self.blocks.get(block).ok_or_else(gone)?;
        let &(start, bytes) = block.places.get(column).ok_or_else(gone)?;
        let mut ends = vec![0; block.rows * 4];
        let mut data = vec![0; bytes];
        let mut reader = self.file.section(start, (ends.len() + bytes) as u64);
        reader.read_exact(&mut ends)?;
        reader.read_exact(&mut data)?;
        let ends = ends.as_chunks::<4>().0.iter().map(|&end| u32::from_le_bytes(end));
        let ends = ends.map(usize::try_from).collect::<std::result::Result<_, _>>();
        Ok(ByteValues { ends: ends.map_err(|_| gone())?, data })
    }

    /// Bytes of the fields of a column.
    pub(super) fn bytes(&self, column: usize) -> u64 {
        let places = self.blocks.iter().filter_map(|block| block.places.get(column));
        places.map(|&(_, bytes)| bytes as u64).sum()
    }
}
