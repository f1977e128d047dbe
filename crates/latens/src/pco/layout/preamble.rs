//! What stands before the wrapped header of a standalone file.
//!
//! | bits | field | where |
//! |---|---|---|
//! | 32 | magic `pco!` | always |
//! | 8 | standalone version | from 2 on; a byte below 2 here is already the wrapped header |
//! | 8 | uniform number type, 0 for none | from 3 on |
//! | 6 | p − 1 | from 2 on |
//! | p | count of numbers, a hint | from 2 on |
//! | 0–7 | zero padding | from 2 on |

use crate::bits::reader::BitReader;
use crate::bits::writer::BitWriter;
use crate::error::{Error, Result};
use crate::number::{Latent, NumberType};

const MAGIC: &[u8; 4] = b"pco!";
const NEWEST: u8 = 3;

/// The start of a standalone file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Preamble {
    /// 0 to 3; 0 and 1 equal the wrapped version that follows.
    pub(crate) standalone_version: u8,
    /// The type of all chunks, where the file says so.
    pub(crate) uniform_type: Option<NumberType>,
    /// Count of numbers; may be wrong.
    pub(crate) n_hint: u64,
}

impl Preamble {
    /// Reads up to the wrapped header.
    pub(crate) fn read(r: &mut BitReader<'_>) -> Result<Self> {
        let mut magic = [0u8; 4];
        for byte in &mut magic {
            *byte = r.read_u8("the magic bytes")?;
        }
        if magic != *MAGIC {
            return Err(Error::corrupt(
                0,
                "not a standalone Pco file: it does not begin with `pco!`",
            ));
        }
        let at = r.byte();
        let mut ahead = r.clone();
        let standalone_version = ahead.read_u8("the standalone version")?;
        if standalone_version < 2 {
            return Ok(Self { standalone_version, uniform_type: None, n_hint: 0 });
        }
        *r = ahead;
        if standalone_version > NEWEST {
            return Err(Error::corrupt(
                at,
                format!(
                    "standalone version {standalone_version} is newer than {NEWEST}, the newest known"
                ),
            ));
        }
        let uniform_type = if standalone_version >= 3 { read_uniform_type(r)? } else { None };
        let p = 1 + r.read_u32(6, "the width of the count hint")?;
        let n_hint = r.read(p, "the count hint")?;
        r.align("the count hint")?;
        Ok(Self { standalone_version, uniform_type, n_hint })
    }

    /// The bytes of a preamble of the newest version.
    pub(crate) fn bytes(uniform_type: Option<NumberType>, n_hint: u64) -> Vec<u8> {
        let mut w = BitWriter::append_to(MAGIC.to_vec());
        w.write(NEWEST.into(), 8);
        w.write(uniform_type.map_or(0, NumberType::pco_byte).into(), 8);
        let p = n_hint.bit_length().max(1);
        w.write(u64::from(p - 1), 6);
        w.write(n_hint, p);
        w.finish()
    }
}

fn read_uniform_type(r: &mut BitReader<'_>) -> Result<Option<NumberType>> {
    let at = r.byte();
    let byte = r.read_u8("the uniform number type")?;
    if byte == 0 {
        return Ok(None);
    }
    match NumberType::from_pco_byte(byte) {
        Some(ty) => Ok(Some(ty)),
        None => Err(Error::corrupt(at, format!("{byte} is not a number type"))),
    }
}
