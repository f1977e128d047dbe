//! Reading and writing fields of whole bytes.

use crate::bits::varint;
use crate::error::{Error, Result};

/// A position in a slice of bytes; offsets in errors count from the slice's start.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Where the next field begins.
    pub(crate) fn at(&self) -> u64 {
        self.at as u64
    }

    /// Bytes that are left.
    pub(crate) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The next `count` bytes; `field` names them in the error.
    pub(crate) fn bytes(&mut self, count: u64, field: &'static str) -> Result<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        match usize::try_from(count).ok().and_then(|count| rest.get(..count)) {
            Some(bytes) => {
                self.at += bytes.len();
                Ok(bytes)
            }
            None => Err(Error::truncated(
                self.bytes.len() as u64,
                format!("the input ends inside of {field}"),
            )),
        }
    }

    /// The next `N` bytes.
    pub(crate) fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N]> {
        let bytes = self.bytes(N as u64, field)?;
        Ok(std::array::from_fn(|i| bytes[i]))
    }

    pub(crate) fn u8(&mut self, field: &'static str) -> Result<u8> {
        Ok(self.array::<1>(field)?[0])
    }

    pub(crate) fn u16(&mut self, field: &'static str) -> Result<u16> {
        self.array(field).map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self, field: &'static str) -> Result<u32> {
        self.array(field).map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self, field: &'static str) -> Result<u64> {
        self.array(field).map(u64::from_le_bytes)
    }

    /// 32 bytes of a SHA-256.
    pub(crate) fn hash(&mut self, field: &'static str) -> Result<[u8; 32]> {
        self.array(field)
    }

    /// A varint in its shortest form.
    pub(crate) fn varint(&mut self, field: &'static str) -> Result<u64> {
        let start = self.at;
        let value = varint::read(self.bytes, &mut self.at, field)?;
        if self.at - start > 1 && self.bytes[self.at - 1] == 0 {
            return Err(Error::corrupt(
                start as u64,
                format!("the varint of {field} is not in its shortest form"),
            ));
        }
        Ok(value)
    }

    /// The bytes of so many varints.
    pub(crate) fn varints(&mut self, count: u64, field: &'static str) -> Result<&'a [u8]> {
        let start = self.at;
        for _ in 0..count {
            self.varint(field)?;
        }
        Ok(&self.bytes[start..self.at])
    }

    /// A varint that is at most `most`.
    pub(crate) fn varint_up_to(&mut self, most: u64, field: &'static str) -> Result<u64> {
        let at = self.at();
        let value = self.varint(field)?;
        if value > most {
            return Err(Error::corrupt(at, format!("{field} is {value}; at most {most} is legal")));
        }
        Ok(value)
    }

    /// A varint that counts things of at least `least` bytes each, all of them still to come.
    pub(crate) fn count(&mut self, least: usize, field: &'static str) -> Result<usize> {
        let at = self.at();
        let count = self.varint(field)?;
        match usize::try_from(count) {
            Ok(n) if n.checked_mul(least).is_some_and(|bytes| bytes <= self.left()) => Ok(n),
            _ => Err(Error::corrupt(
                at,
                format!("{field} is {count}; the {} bytes that are left hold fewer", self.left()),
            )),
        }
    }

    /// A varint that fits in memory as a number of bytes or elements.
    pub(crate) fn size(&mut self, field: &'static str) -> Result<usize> {
        let at = self.at();
        let size = self.varint(field)?;
        usize::try_from(size).ok().filter(|&n| n <= MAX_SIZE).ok_or_else(|| {
            Error::corrupt(at, format!("{field} is {size}; more than {MAX_SIZE} is not possible"))
        })
    }

    /// UTF-8 of at most `most` bytes.
    pub(crate) fn string(&mut self, most: u64, field: &'static str) -> Result<&'a str> {
        let length = self.varint_up_to(most, field)?;
        let at = self.at();
        let bytes = self.bytes(length, field)?;
        std::str::from_utf8(bytes).map_err(|e| {
            Error::corrupt(at + e.valid_up_to() as u64, format!("{field} is not UTF-8"))
        })
    }

    /// Nothing may be left.
    pub(crate) fn finish(&self, what: &'static str) -> Result<()> {
        match self.left() {
            0 => Ok(()),
            left => Err(Error::corrupt(self.at(), format!("{left} bytes too many in {what}"))),
        }
    }
}

/// Most elements or bytes of a tensor: sizes and their sums by eights stay far from overflow.
pub(crate) const MAX_SIZE: usize = (isize::MAX / 64) as usize;

/// Appends a string with its length.
pub(crate) fn write_string(text: &str, out: &mut Vec<u8>) {
    varint::write(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_shortest_varint_is_legal() {
        assert_eq!(Fields::new(&[0x80, 1]).varint("x").unwrap(), 128);
        assert!(Fields::new(&[0x80, 0]).varint("x").is_err());
        assert_eq!(Fields::new(&[0]).varint("x").unwrap(), 0);
    }

    #[test]
    fn counts_must_fit_in_what_is_left() {
        assert_eq!(Fields::new(&[2, 0, 0, 0, 0]).count(2, "things").unwrap(), 2);
        let error = Fields::new(&[3, 0, 0, 0, 0]).count(2, "things").unwrap_err();
        assert_eq!(error.at(), Some(0));
    }
}
