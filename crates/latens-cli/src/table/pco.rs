//! Standalone Pco files as tables of one column.

use latens::Limits;
use latens::pco::standalone::{Checksum, Decoder};

use crate::array::pco::{ending, no_type, pass};
use crate::io::section::{Reader, SharedFile};
use crate::message::Result;
use crate::report::Checksums;
use crate::table::model::{Field, Schema};
use crate::table::piece::{Piece, Values};
use crate::table::source::{Column, Table, no_column};

/// A `.pco` file.
pub struct PcoTable {
    file: SharedFile,
    rows: u64,
    schema: Schema,
    checksum: bool,
    trailing_bytes: u64,
}

fn decoder(file: &SharedFile) -> Result<Decoder<Reader>> {
    let reader: Reader = Box::new(file.buffered(0, file.len()));
    Ok(Decoder::new(reader, Limits::default())?)
}

impl PcoTable {
    /// Decode all of it once: what it says of how many numbers it holds is only a hint.
    ///
    /// # Errors
    /// A file that is damaged, or cut short, or names no type; bytes behind it, unless allowed.
    pub fn open(file: SharedFile, name: String, allow_trailing: bool) -> Result<Self> {
        let mut decoder = decoder(&file)?;
        let Some(ty) = decoder.number_type()? else {
            return Err(no_type(&mut decoder, allow_trailing));
        };
        let rows = pass(&mut decoder, ty, &|_| ())?;
        let ending = ending(&mut decoder, allow_trailing)?;
        let checksum = ending.checksum == Checksum::Verified;
        let schema =
            Schema { fields: vec![Field::numbers(name, ty)], metadata: Vec::new(), array: None };
        Ok(PcoTable { file, rows, schema, checksum, trailing_bytes: ending.trailing_bytes })
    }

    /// Bytes behind the end, where they are allowed.
    pub fn trailing_bytes(&self) -> u64 {
        self.trailing_bytes
    }
}

impl Table for PcoTable {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn column(&self, index: usize) -> Result<Box<dyn Column + '_>> {
        match self.schema.fields.get(index) {
            Some(_) => Ok(Box::new(Stream { decoder: decoder(&self.file)?, left: self.rows })),
            None => Err(no_column(index)),
        }
    }

    fn checksums(&self) -> Result<Checksums> {
        Ok(if self.checksum { Checksums::All } else { Checksums::None })
    }
}

struct Stream {
    decoder: Decoder<Reader>,
    left: u64,
}

impl Column for Stream {
    fn next(&mut self, rows: usize) -> Result<Piece> {
        let rows = usize::try_from(self.left).map_or(rows, |left| rows.min(left));
        match self.decoder.read_any(rows)? {
            Some(numbers) => {
                self.left = self.left.saturating_sub(numbers.len() as u64);
                Ok(Piece::of(Values::Numbers(numbers)))
            }
            None => Ok(Piece::of(Values::Numbers(latens::AnyNumbers::U8(Vec::new())))),
        }
    }
}
