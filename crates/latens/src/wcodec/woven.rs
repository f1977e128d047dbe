//! Headers of source files without the names of tensors and files, which the index has too.
//!
//! Such a text ends with zeros, the number of these in a byte, and its marker, a byte. Where that stands elsewhere, a
//! varint is behind it: 0 for a byte that is the marker, else 1, how the name is written, and four times as much as, by
//! zigzag, the number of the name differs from that behind the entry that was named before. Entries have their own
//! numbers, files count down from -1. Several headers may be parts of one text.

mod form;
mod in_parts;
mod named;

use crate::bits::zigzag;
use crate::error::{Error, ErrorKind, Result};
use crate::watch::Watch;
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::layout::fields::{Fields, MAX_SIZE};
use crate::wcodec::layout::file::Woven;
use crate::wcodec::open_tensor::OpenTensor;
use crate::wcodec::reader::Reader;
use std::borrow::Cow;
use std::io::Write;
use std::ops::Range;

pub(crate) use form::Form;
pub(crate) use in_parts::InParts;
pub(crate) use named::Named;

/// What a text is made of.
pub(crate) enum Piece<'a> {
    Bytes(&'a [u8]),
    Name(Called, Form),
}

/// Whose name it is, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Called {
    /// An entry, which is a tensor.
    Entry(usize),
    /// A source file.
    File(usize),
}

impl Called {
    /// Both as one number: those of files are below 0.
    fn number(self) -> i64 {
        match self {
            Self::Entry(entry) => entry as i64,
            Self::File(file) => !(file as i64),
        }
    }
}

/// The pieces of a text, in order.
pub(crate) struct Pieces<'a> {
    marker: u8,
    left: &'a [u8],
    /// The number behind that of the entry before.
    next: i64,
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
        let number = self.next.checked_add(zigzag::decode(apart));
        let far = || Error::corrupt(0, "a name whose number no file has");
        let number =
            number.filter(|number| number.unsigned_abs() < MAX_SIZE as u64).ok_or_else(far)?;
        let size = |number: i64| usize::try_from(number).map_err(|_| far());
        if number < 0 {
            return Ok(Piece::Name(Called::File(size(!number)?), form));
        }
        self.next = number + 1;
        Ok(Piece::Name(Called::Entry(size(number)?), form))
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Result<Piece<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.left.is_empty()).then(|| self.piece())
    }
}

impl<S: ReadAt> Reader<S> {
    /// Writes what is woven, or the first `most` bytes of that. The text is in memory.
    pub(crate) fn weave(&self, woven: Woven, most: u64, out: &mut dyn Write) -> Result<()> {
        if let Some(bytes) = woven.part.and_then(|_| self.part(woven)) {
            let most = usize::try_from(most).map_or(bytes.len(), |most| most.min(bytes.len()));
            out.write_all(&bytes[..most])?;
            return self.watch.done(woven.length);
        }
        let text = self.watched(&Watch::NONE).aside(woven.of, "a header without its names")?;
        let done = Pieces::of(&text).and_then(|pieces| self.weave_pieces(pieces, woven, most, out));
        done.map_err(|e| match (OpenTensor::open(self, woven.of), e.kind()) {
            (Ok(open), ErrorKind::Corrupt | ErrorKind::Truncated) => {
                open.claim()(e).within(self.place(woven.of))
            }
            _ => e,
        })?;
        self.watch.done(woven.length)
    }

    fn weave_pieces(
        &self,
        pieces: Pieces<'_>,
        woven: Woven,
        most: u64,
        out: &mut dyn Write,
    ) -> Result<()> {
        let Range { start, end } = woven.bytes();
        let wanted = start..end.min(start.saturating_add(most));
        let mut at = 0u64;
        for piece in pieces {
            if at >= wanted.end && (wanted.end < end || woven.part.is_some()) {
                return Ok(());
            }
            let name;
            let bytes = match piece? {
                Piece::Bytes(bytes) => bytes,
                Piece::Name(called, form) => {
                    name = self.name(called, &form)?;
                    &name
                }
            };
            let place = |of: u64| {
                usize::try_from(of.saturating_sub(at))
                    .map_or(bytes.len(), |place| place.min(bytes.len()))
            };
            out.write_all(&bytes[place(wanted.start)..place(wanted.end)])?;
            at += bytes.len() as u64;
            if at > end && woven.part.is_none() {
                let what = format!("more than {end} bytes are woven of it");
                return Err(Error::corrupt(0, what));
            }
        }
        if at < end {
            let what = format!("{at} bytes are woven of it, not {end}");
            return Err(Error::corrupt(0, what));
        }
        Ok(())
    }

    /// The name of a tensor or a file that a text names.
    fn name(&self, called: Called, form: &Form) -> Result<Vec<u8>> {
        let bad = |what: String| Error::corrupt(0, what);
        let (name, of) = match called {
            Called::Entry(number) => {
                let entry = self.open.index.entry(number);
                let entry = entry.filter(|entry| entry.record.dtype().is_some());
                let none = || bad(format!("it names entry {number}, which is no tensor"));
                (Cow::Owned(entry.ok_or_else(none)?.name), format!("entry {number}"))
            }
            Called::File(number) => {
                let file = self.open.index.file(number);
                let none = || bad(format!("it names file {number}, which is not there"));
                (Cow::Borrowed(file.ok_or_else(none)?.name), format!("file {number}"))
            }
        };
        let part = || bad(format!("a part that the name of {of} does not have"));
        form.of(&name).map(Cow::into_owned).ok_or_else(part)
    }
}

#[cfg(test)]
mod tests;
