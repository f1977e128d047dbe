//! Headers of source files without the names of tensors, which the index has too.
//!
//! Such a text ends with zeros, the number of these in a byte, and its marker, a byte. Where that stands elsewhere, a
//! varint is behind it: 0 for a byte that is the marker, else 1, how the name is written, and four times as much as, by
//! zigzag, the number of the entry whose name it is differs from that behind the one that was named before.

mod form;
mod named;

use crate::bits::zigzag;
use crate::error::{Error, ErrorKind, Result};
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::layout::fields::{Fields, MAX_SIZE};
use crate::wcodec::open_tensor::OpenTensor;
use crate::wcodec::reader::Reader;
use std::borrow::Cow;
use std::io::Write;

pub(crate) use form::Form;
pub(crate) use named::Named;

/// What a text is made of.
pub(crate) enum Piece<'a> {
    Bytes(&'a [u8]),
    /// The name of an entry.
    Name(usize, Form),
}

/// The pieces of a text, in order.
pub(crate) struct Pieces<'a> {
    marker: u8,
    left: &'a [u8],
    /// The number behind that of the name before.
    next: u64,
}

impl<'a> Pieces<'a> {
    pub(crate) fn of(text: &'a [u8]) -> Result<Self> {
        let none = || Error::corrupt(0, "a text that does not end with zeros and a marker");
        let (text, &[zeros, marker]) = text.split_last_chunk().ok_or_else(none)?;
        let end = text.len().checked_sub(zeros.into()).ok_or_else(none)?;
        match text.split_at(end) {
            (left, zeros) if zeros.iter().all(|&byte| byte == 0) => {
                Ok(Self { marker, left, next: 0 })
            }
            _ => Err(none()),
        }
    }

    /// What `left` begins with, which is something.
    fn piece(&mut self) -> Result<Piece<'a>> {
        let plain = self.left.iter().position(|&byte| byte == self.marker);
        let (bytes, marked) = self.left.split_at(plain.unwrap_or(self.left.len()));
        self.left = marked;
        let Some((byte, behind)) = marked.split_first().filter(|_| bytes.is_empty()) else {
            return Ok(Piece::Bytes(bytes));
        };
        let mut fields = Fields::new(behind);
        let told = match fields.varint("the number of a name")?.checked_sub(1) {
            Some(told) => Some(Form::read(told, &mut fields)?),
            None => None,
        };
        self.left = &behind[behind.len() - fields.left()..];
        let Some((apart, form)) = told else {
            return Ok(Piece::Bytes(std::slice::from_ref(byte)));
        };
        let number = self.next.checked_add_signed(zigzag::decode(apart));
        let far = || Error::corrupt(0, "the name of an entry that no file has");
        let number = number.filter(|&number| number < MAX_SIZE as u64).ok_or_else(far)?;
        self.next = number + 1;
        Ok(Piece::Name(usize::try_from(number).map_err(|_| far())?, form))
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Result<Piece<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.left.is_empty()).then(|| self.piece())
    }
}

impl<S: ReadAt> Reader<S> {
    /// Writes what is woven of entry `of`, which is `length` bytes, or the first `most` of these. The text is in memory.
    pub(crate) fn weave(
        &self,
        (of, length): (usize, u64),
        most: u64,
        out: &mut dyn Write,
    ) -> Result<()> {
        let text = self.aside(of, "a header without its names")?;
        let woven = Pieces::of(&text).and_then(|pieces| {
            let mut woven = 0u64;
            for piece in pieces {
                if woven >= most {
                    return Ok(());
                }
                let name;
                let bytes = match piece? {
                    Piece::Bytes(bytes) => bytes,
                    Piece::Name(number, form) => {
                        name = self.name(number, &form)?;
                        &name
                    }
                };
                let left = most.min(length) - woven;
                woven += bytes.len() as u64;
                if woven > length {
                    let what = format!("more than {length} bytes are woven of it");
                    return Err(Error::corrupt(0, what));
                }
                let now = usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
                out.write_all(&bytes[..now])?;
            }
            if woven < length {
                let what = format!("{woven} bytes are woven of it, not {length}");
                return Err(Error::corrupt(0, what));
            }
            // Of the text its decoder has told.
            self.watch.done(length.saturating_sub(text.len() as u64))
        });
        woven.map_err(|e| match (OpenTensor::open(self, of), e.kind()) {
            (Ok(open), ErrorKind::Corrupt | ErrorKind::Truncated) => {
                open.claim()(e).within(self.place(of))
            }
            _ => e,
        })
    }

    /// The name of a tensor that a text names.
    fn name(&self, number: usize, form: &Form) -> Result<Vec<u8>> {
        let entry = self.open.index.entry(number).filter(|entry| entry.record.dtype().is_some());
        let none = || Error::corrupt(0, format!("it names entry {number}, which is no tensor"));
        let name = entry.ok_or_else(none)?.name;
        let part =
            || Error::corrupt(0, format!("a part that the name of entry {number} does not have"));
        form.of(&name).map(Cow::into_owned).ok_or_else(part)
    }
}

#[cfg(test)]
mod tests;
