//! What stands before the chunk metadata in a standalone file.
//!
//! | bits | field |
//! |---|---|
//! | 8 | number type; 0 ends the file |
//! | 24 | n − 1 |

use crate::bits::reader::BitReader;
use crate::error::{Error, Result};
use crate::number::NumberType;

/// Bytes of a chunk head.
pub(crate) const BYTES: usize = 4;
/// Ends the chunks of a file.
pub(crate) const TERMINATOR: u8 = 0;

/// Type and count of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkHead {
    /// The type of its numbers.
    pub(crate) number_type: NumberType,
    /// Numbers in the chunk, 1 to 2^24.
    pub(crate) n: usize,
}

impl ChunkHead {
    /// Reads a head, or `None` at the terminator.
    pub(crate) fn read(r: &mut BitReader<'_>, uniform: Option<NumberType>) -> Result<Option<Self>> {
        let at = r.byte();
        let byte = r.read_u8("the number type of a chunk, or the end of the file")?;
        if byte == TERMINATOR {
            return Ok(None);
        }
        let Some(number_type) = NumberType::from_pco_byte(byte) else {
            return Err(Error::corrupt(at, format!("{byte} is not a number type")));
        };
        if uniform.is_some_and(|u| u != number_type) {
            return Err(Error::corrupt(
                at,
                format!("a chunk of {number_type} in a file that announces another type for all"),
            ));
        }
        let n = r.read_u32(24, "the count of a chunk")? as usize + 1;
        Ok(Some(Self { number_type, n }))
    }

    /// The four bytes.
    pub(crate) fn bytes(self) -> [u8; BYTES] {
        let n = (self.n - 1).to_le_bytes();
        [self.number_type.pco_byte(), n[0], n[1], n[2]]
    }
}
