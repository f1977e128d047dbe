//! The first 128 and the last 32 bytes of a file.

use crate::bits::checksum::crc32;
use crate::error::{Error, Result};
use crate::wcodec::layout::fields::Fields;

/// What entries' data, bank and index are aligned to.
pub(crate) const ALIGN: u64 = 128;
/// What the data of plain entries are aligned to.
pub(crate) const PLAIN_ALIGN: u64 = 4;
/// Bytes of a header.
pub(crate) const HEADER_BYTES: usize = 128;
/// Bytes of a footer.
pub(crate) const FOOTER_BYTES: usize = 32;
pub(crate) const MAGIC: &[u8; 8] = b"WCODEC\0\0";
const END_MAGIC: &[u8; 8] = b"WCODEC\0\x01";
const MAJOR: u16 = 1;
const MINOR: u16 = 0;

/// What most weights of a checkpoint are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BaseQuantisation {
    /// Neither of the two.
    #[default]
    Neither,
    /// Eight bits.
    Int8,
    /// Four bits.
    Int4,
}

/// | at | size | field |
/// |---|---|---|
/// | 0 | 8 | magic |
/// | 8 | 4 | major, minor |
/// | 12 | 32 | model hash |
/// | 44 | 1 | base quantisation |
/// | 45 | 2 | default tile |
/// | 47 | 4 | tensors |
/// | 51 | 8 | offset of the index |
/// | 59 | 69 | zero |
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) base_quantisation: BaseQuantisation,
    /// What only a writer that can seek knows in time.
    pub(crate) known: Option<Known>,
}

/// The fields of a header that are known at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) model_hash: [u8; 32],
    pub(crate) tensors: u32,
    pub(crate) index_offset: u64,
}

impl Header {
    pub(crate) fn bytes(&self) -> [u8; HEADER_BYTES] {
        let mut out = [0; HEADER_BYTES];
        out[..8].copy_from_slice(MAGIC);
        out[8..10].copy_from_slice(&MAJOR.to_le_bytes());
        out[10..12].copy_from_slice(&MINOR.to_le_bytes());
        out[44] = match self.base_quantisation {
            BaseQuantisation::Neither => 0,
            BaseQuantisation::Int8 => 1,
            BaseQuantisation::Int4 => 2,
        };
        out[45..47].copy_from_slice(&[16, 16]);
        if let Some(known) = &self.known {
            out[12..44].copy_from_slice(&known.model_hash);
            out[47..51].copy_from_slice(&known.tensors.to_le_bytes());
            out[51..59].copy_from_slice(&known.index_offset.to_le_bytes());
        }
        out
    }

    pub(crate) fn read(bytes: &[u8; HEADER_BYTES]) -> Result<Self> {
        let mut fields = Fields::new(bytes);
        if fields.bytes(8, "the magic")? != MAGIC {
            return Err(Error::corrupt(
                0,
                "this is not a .wcodec file: its first bytes are not WCODEC",
            ));
        }
        let (major, minor) = (fields.u16("the version")?, fields.u16("the version")?);
        if major != MAJOR {
            return Err(Error::corrupt(
                8,
                format!(
                    "version {major}.{minor} of WCodec; this reader knows {MAJOR}.x: get a newer one"
                ),
            ));
        }
        let model_hash = fields.hash("the model hash")?;
        let base_quantisation = match fields.u8("the base quantisation")? {
            0 => BaseQuantisation::Neither,
            1 => BaseQuantisation::Int8,
            2 => BaseQuantisation::Int4,
            other => return Err(Error::corrupt(44, format!("{other} is not a base quantisation"))),
        };
        fields.u16("the default tile")?;
        let known = Known {
            model_hash,
            tensors: fields.u32("the number of tensors")?,
            index_offset: fields.u64("the index's offset")?,
        };
        check_zero(&bytes[59..], 59, "the header")?;
        let unset = Known { model_hash: [0; 32], tensors: 0, index_offset: 0 };
        Ok(Self { base_quantisation, known: (known != unset).then_some(known) })
    }
}

/// All of `bytes` must be zero; `at` is where they begin.
pub(crate) fn check_zero(bytes: &[u8], at: u64, behind: &str) -> Result<()> {
    match bytes.iter().position(|&b| b != 0) {
        Some(i) => {
            Err(Error::corrupt(at + i as u64, format!("the padding behind {behind} is not zero")))
        }
        None => Ok(()),
    }
}

/// | at | size | field |
/// |---|---|---|
/// | 0 | 8 | offset of the index |
/// | 8 | 8 | length of the file |
/// | 16 | 4 | CRC of the index |
/// | 20 | 4 | CRC of the 20 bytes before |
/// | 24 | 8 | magic |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Footer {
    pub(crate) index_offset: u64,
    pub(crate) file_length: u64,
    pub(crate) index_crc: u32,
}

impl Footer {
    pub(crate) fn bytes(self) -> [u8; FOOTER_BYTES] {
        let mut out = [0; FOOTER_BYTES];
        out[..8].copy_from_slice(&self.index_offset.to_le_bytes());
        out[8..16].copy_from_slice(&self.file_length.to_le_bytes());
        out[16..20].copy_from_slice(&self.index_crc.to_le_bytes());
        let crc = crc32(&out[..20]);
        out[20..24].copy_from_slice(&crc.to_le_bytes());
        out[24..].copy_from_slice(END_MAGIC);
        out
    }

    /// Reads the last bytes of a file of `file_length`; offsets in errors count from its start.
    pub(crate) fn read(bytes: &[u8; FOOTER_BYTES], file_length: u64) -> Result<Self> {
        let start = file_length - FOOTER_BYTES as u64;
        let mut fields = Fields::new(bytes);
        let footer = Self {
            index_offset: fields.u64("the footer")?,
            file_length: fields.u64("the footer")?,
            index_crc: fields.u32("the footer")?,
        };
        let crc = fields.u32("the footer")?;
        if fields.bytes(8, "the footer")? != END_MAGIC {
            return Err(Error::truncated(
                file_length,
                "the file does not end as a .wcodec file does: it is cut off or has bytes behind its end",
            ));
        }
        if crc != crc32(&bytes[..20]) {
            return Err(Error::corrupt(
                start + 20,
                "the footer does not have the checksum it states",
            ));
        }
        if footer.file_length != file_length {
            return Err(Error::corrupt(
                start + 8,
                format!("the file has {file_length} bytes and should have {}", footer.file_length),
            ));
        }
        let fits = footer.index_offset >= ALIGN
            && footer.index_offset <= start
            && footer.index_offset.is_multiple_of(ALIGN);
        if !fits {
            return Err(Error::corrupt(
                start,
                format!("{} is no place for an index", footer.index_offset),
            ));
        }
        Ok(footer)
    }
}

impl Footer {
    /// The last footer in `tail`, what ends at `file_length`, that is the end of a file; and that end.
    pub(crate) fn followed(tail: &[u8], file_length: u64) -> Option<(Self, u64)> {
        let ends = (FOOTER_BYTES..tail.len()).rev();
        ends.filter(|&end| tail[..end].ends_with(END_MAGIC)).find_map(|end| {
            let footer = tail[..end].last_chunk::<FOOTER_BYTES>()?;
            let end = file_length - (tail.len() - end) as u64;
            Some((Self::read(footer, end).ok()?, end))
        })
    }

    /// The checksum of the index by what is left of a footer, from its beginning on.
    pub(crate) fn states(left: &[u8]) -> Option<u32> {
        left.get(16..)?.first_chunk().map(|crc| u32::from_le_bytes(*crc))
    }

    /// The footer of which a bit was flipped, and at which byte of the file.
    pub(crate) fn mended(bytes: &[u8; FOOTER_BYTES], file_length: u64) -> Option<(Self, u64)> {
        (0..FOOTER_BYTES * 8).find_map(|bit| {
            let mut bytes = *bytes;
            bytes[bit / 8] ^= 1 << (bit % 8);
            let footer = Self::read(&bytes, file_length).ok()?;
            Some((footer, file_length - (FOOTER_BYTES - bit / 8) as u64))
        })
    }
}

/// The next multiple of `to` from `at` on.
pub(crate) fn align(at: u64, to: u64) -> u64 {
    at.saturating_add(to - 1) / to * to
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_and_footers_come_back() {
        let known = Known { model_hash: [9; 32], tensors: 7, index_offset: 1 << 40 };
        for known in [None, Some(known)] {
            let header = Header { base_quantisation: BaseQuantisation::Int4, known };
            assert_eq!(Header::read(&header.bytes()).unwrap(), header);
        }
        let footer = Footer { index_offset: 256, file_length: 1000, index_crc: 3 };
        assert_eq!(Footer::read(&footer.bytes(), 1000).unwrap(), footer);
        let tail = [&[1; 9], &footer.bytes()[..], &[2; 5]].concat();
        assert_eq!(Footer::followed(&tail, 1005), Some((footer, 1000)));
        assert_eq!(Footer::followed(&tail, 1006), None);
        for bit in 0..FOOTER_BYTES * 8 {
            let mut bytes = footer.bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(Footer::read(&bytes, 1000).is_err());
        }
    }
}
